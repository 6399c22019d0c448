"""A launch that another process carries out: what has to cross, there and back.

In a graded notebook the student's process only compiles.  Its launches go, as PTX and
bytes, to a process that it cannot touch; that one executes and counts.  Both sides keep
the device's memory: what an allocation holds crosses with each launch.
"""

from __future__ import annotations

import hashlib
import linecache
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from hetlab.errors import HetlabError
from hetlab.vgpu.arguments import ArrayArg, LaunchError
from hetlab.vgpu.device import Options, Origin, Trace
from hetlab.vgpu.hazards import Hazard
from hetlab.vgpu.launch import Kernel, RawLaunch
from hetlab.vgpu.memory import Memory

__all__ = ["carry_out", "client"]

#: Hazards that are found whether or not anybody looks for them.
_ALWAYS = {"out-of-bounds", "misaligned", "deadlock", "trap", "divergent-barrier"}
_SOURCE = 200_000  # characters of source that cross
#: Compilers number the names that they make; the numbers in the code stay.
_NAMES = re.compile(r"[A-Za-z_$%.][\w$.]*")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def client(ask: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., RawLaunch]:
    """What :attr:`VirtualGPU.elsewhere` becomes in the process that only compiles.

    Parameters
    ----------
    ask : callable
        Takes a request of plain values and arrays to the other process and brings its reply.
    """
    known: dict[int, dict[str, Any]] = {}

    def run(
        origin: Origin, grid, block, params, *, memory: Memory, arrays=(), **how: Any
    ) -> RawLaunch:
        if id(origin) not in known:
            known[id(origin)] = {"origin": _described(origin), "keep": origin}
        reply = ask(
            {
                "do": "launch",
                "origin": known[id(origin)]["origin"],
                "grid": list(grid),
                "block": list(block),
                "params": [_plain(value) for value in params],
                "arrays": [asdict(arg) for arg in arrays],
                "memory": [_held(a) for a in memory.allocations()],
                "modules": memory.modules,
                "how": how,
            }
        )
        if "error" in reply:
            raise LaunchError(reply["error"], where=reply["where"], do=reply["do"])
        _take_over(memory, reply)
        raw = RawLaunch(**_back(reply["raw"]))
        if not how.get("hazards"):
            raw.hazards = [h for h in raw.hazards if h.kind in _ALWAYS]
        return raw

    return run


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float | bytes | np.generic) else int(value)


def _described(origin: Origin) -> dict[str, Any]:
    sources = dict(origin.sources)
    if origin.home and origin.home[0] not in sources:
        sources[origin.home[0]] = "".join(linecache.getlines(origin.home[0]))[:_SOURCE]
    return {
        "name": origin.name,
        "language": origin.language,
        "ptx": origin.ptx,
        "entry": origin.entry,
        "sources": sources,
        "home": list(origin.home) if origin.home else None,
        "names": dict(origin.names()) if origin.names else {},
        "shapes": {k: list(v) for k, v in origin.shapes().items()} if origin.shapes else {},
    }


def _held(allocation: Any) -> dict[str, Any]:
    return {
        "base": allocation.base,
        "data": allocation.data,
        "written": allocation.written,
        "name": allocation.name,
        "itemsize": allocation.itemsize,
        "readonly": allocation.readonly,
    }


def _take_over(memory: Memory, reply: Mapping[str, Any]) -> None:
    """What the launch did to the memory, done to this side's copy."""
    for held in reply["memory"]:
        mine = memory.find(held["base"])
        if mine is None:
            kind = {k: held[k] for k in ("written", "name", "itemsize", "readonly")}
            memory.place_at(held["base"], held["data"], **kind)
            continue
        if mine.data.flags.writeable:
            mine.data[:] = held["data"]
        mine.written = held["written"]
    for key, placed in reply["modules"].items():
        memory.modules.setdefault(key, {}).update(placed)


def _back(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a RawLaunch from their plain form."""
    found = dict(raw)
    found["lines"] = {(file, line): counters for file, line, counters in raw["lines"]}
    for name in ("hazards", "warnings"):
        found[name] = [_hazard(h) for h in raw[name]]
    found["timeline"] = []
    return found


def _hazard(plain: Mapping[str, Any]) -> Hazard:
    index = plain["index"]
    lines = [tuple(line) for line in plain["lines"]]
    shape = {"index": tuple(index) if isinstance(index, list) else index, "lines": lines}
    return Hazard(**{**plain, **shape})


def carry_out(request: Mapping[str, Any]) -> tuple[dict[str, Any], Trace | None, dict[str, Any]]:
    """The trusted side: run the launch that a request describes, counting and looking.

    Returns
    -------
    reply : dict
        For the process that asked.
    trace : Trace or None
        What was seen; None when the launch was refused.
    evidence : dict
        ``code``, a digest of the PTX but for its names; ``param_bytes``; and ``arrays``, for
        each allocation that was handed over its digests before and after, and its bytes.
    """
    try:
        return _carry_out(request)
    except HetlabError as fault:
        return {"error": fault.what, "where": fault.where, "do": fault.do}, None, {}


def _carry_out(request: Mapping[str, Any]) -> tuple[dict[str, Any], Trace | None, dict[str, Any]]:
    memory = Memory()
    for held in request["memory"]:
        kind = {k: held[k] for k in ("written", "name", "itemsize", "readonly")}
        memory.place_at(held["base"], held["data"], **kind)
    memory.modules = {key: dict(placed) for key, placed in request["modules"].items()}
    before = {a.base: (a, a.data.copy()) for a in memory.allocations()}
    origin = _origin(request["origin"])
    kernel = Kernel(origin.ptx, origin.entry)
    how = request["how"]
    options = Options(
        sample=how.get("sample"),
        order_seed=how.get("order_seed"),
        step_budget=how.get("step_budget"),
    )
    grid, block = tuple(request["grid"]), tuple(request["block"])
    arrays = [ArrayArg(**{**a, "shape": tuple(a["shape"])}) for a in request["arrays"]]
    shared = how.get("dynamic_shared", 0)
    raw = kernel.run(
        grid,
        block,
        request["params"],
        memory=memory,
        arrays=arrays,
        dynamic_shared=shared,
        sample=options.sample,
        order_seed=options.order_seed,
        cooperative=bool(how.get("cooperative")),
        step_budget=options.step_budget,
    )
    reply = {
        "raw": _plain_raw(raw),
        "memory": [_held(a) for a in memory.allocations() if _touched(a, before)],
        "modules": memory.modules,
    }
    evidence = {
        "code": _digest(_NAMES.sub("x", _COMMENTS.sub("", origin.ptx)).encode()),
        "param_bytes": kernel.param_bytes,
        "arrays": [
            [_digest(old.tobytes()), _digest(a.data.tobytes()), int(a.nbytes)]
            for a, old in before.values()
        ],
    }
    trace = Trace(origin, grid, block, kernel.shared_bytes, shared, raw, options)
    return reply, trace, evidence


def _touched(allocation: Any, before: Mapping[int, Any]) -> bool:
    held = before.get(allocation.base)
    return held is None or allocation.written is not None or bool((held[1] != held[0].data).any())


def _origin(plain: Mapping[str, Any]) -> Origin:
    names = {str(k): str(v) for k, v in plain["names"].items()}
    shapes = {str(k): tuple(map(int, v)) for k, v in plain["shapes"].items()}
    return Origin(
        str(plain["name"])[:100],
        str(plain["language"])[:20],
        plain["ptx"],
        plain["entry"],
        sources={str(k): str(v)[:_SOURCE] for k, v in plain["sources"].items()},
        home=tuple(plain["home"]) if plain["home"] else None,
        names=lambda: names,
        shapes=lambda: shapes,
    )


def _plain_raw(raw: RawLaunch) -> dict[str, Any]:
    return {
        "counters": raw.counters,
        "lines": [[file, line, counters] for (file, line), counters in raw.lines.items()],
        "hazards": [h.to_json() for h in raw.hazards],
        "warnings": [h.to_json() for h in raw.warnings],
        "seconds": raw.seconds,
        "printf": raw.printf,
        "blocks": raw.blocks,
        "blocks_run": raw.blocks_run,
        "sites": raw.sites,
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
