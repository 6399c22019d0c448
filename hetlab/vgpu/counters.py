"""What a launch did, as numbers: per memory instruction, per source line, in total."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.lanes import Addresses
from hetlab.vgpu.traffic import least_wavefronts, sectors, turns, wavefronts

__all__ = ["COUNTERS", "Tally"]

COUNTERS = (
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "global_atomic_requests",
    "global_atomic_sectors",
    "shared_load_requests",
    "shared_load_wavefronts",
    "shared_store_requests",
    "shared_store_wavefronts",
    "shared_bank_conflicts",
    "local_load_requests",
    "local_store_requests",
    "global_load_bytes",
    "global_store_bytes",
    "instructions",
    "thread_instructions",
    "instructions_fp32",
    "instructions_fp64",
    "instructions_fp16",
    "instructions_integer",
    "instructions_memory",
    "instructions_control",
    "instructions_special",
    "instructions_tensor",
    "instructions_sync",
    "instructions_other",
    "flops",
    "flops_tensor",
    "branches",
    "divergent_branches",
    "barriers",
    "atomics",
    "atomic_turns",
)
"""The names in ``RawLaunch.counters``; all are exact ints.

Requests, instructions, branches and barriers count warps; ``thread_instructions`` and ``flops``
count threads (an fma is two operations; ``flops_tensor`` is the part of ``mma``); ``*_bytes`` are
the bytes that threads asked for (bytes moved are sectors x 32); ``atomics``
counts warp-level ``atom`` and ``red`` instructions in every space, ``global_atomic_*`` those in
global memory, which are neither loads nor stores (Nsight's
``l1tex__t_sectors_pipe_lsu_mem_global_op_atom`` and ``_red``); ``atomic_turns`` adds up, for each
of these instructions, the most lanes that update one address, which are served in turn.
"""

_REQUESTS, _COST, _LANES, _LEAST = range(4)


class Tally:
    """Counts of one launch.

    `rows` has, for each space and memory instruction, requests, their cost (sectors or
    wavefronts), active lanes, and the least cost possible.
    """

    def __init__(self, program) -> None:
        self.program = program
        n, blocks = len(program.sites), len(program.blocks)
        self.rows = {s: [[0, 0, 0, 0] for _ in range(n)] for s in ("global", "shared", "local")}
        self.atomics, self.turns = [0] * n, [0] * n
        self.patterns: dict[int, list] = {}
        self.warps, self.lanes, self.divergent = [0] * blocks, [0] * blocks, [0] * blocks

    def access(self, space: str, site, a: Addresses, offset: int) -> None:
        """Count one memory instruction of the threads of `a`."""
        row, lanes = self.rows[space][site.id], a.lanes
        row[_REQUESTS] += lanes.warps
        row[_LANES] += lanes.n
        if space == "shared":
            row[_COST] += wavefronts(a, offset, site.size)
            row[_LEAST] += least_wavefronts(a, site.size)
        elif space == "global":
            row[_COST] += sectors(a, offset, site.size)
        if site.atomic:
            self.atomics[site.id] += lanes.warps
            self.turns[site.id] += turns(a)
        if site.id not in self.patterns:
            self._pattern(site, a, offset)

    def _pattern(self, site, a: Addresses, offset: int) -> None:
        """Keep the first warp's addresses, for pictures."""
        lanes = a.lanes
        if lanes.groups(32)[2] is None:  # the first warp is whole
            uniform = not isinstance(a.ad, np.ndarray)
            values = [a.lo + offset] * 32 if uniform else (a.ad[:32] + offset).tolist()
            self.patterns[site.id] = values
            return
        slots = lanes.all_slots[:32]
        first = slots[:1] >> 5
        mine = slots[(slots >> 5) == first] & 31
        values = a.vector()[: len(mine)] + offset
        pattern: list = [None] * 32
        for lane, value in zip(mine.tolist(), values.tolist()):
            pattern[lane] = value
        self.patterns[site.id] = pattern

    # -- the result
    def _by_site(self):
        """``(site, counters)`` of each memory instruction."""
        for s in self.program.sites:
            out: dict[str, int] = {}
            for space, rows in self.rows.items():
                requests, cost, lanes, least = rows[s.id]
                if not requests:
                    continue
                if s.atomic:
                    if space == "global":
                        out["global_atomic_requests"] = requests
                        out["global_atomic_sectors"] = cost
                    continue
                out[f"{space}_{s.op}_requests"] = requests
                if space == "global":
                    out[f"global_{s.op}_sectors"] = cost
                    out[f"global_{s.op}_bytes"] = lanes * s.size
                elif space == "shared":
                    out[f"shared_{s.op}_wavefronts"] = cost
                    out["shared_bank_conflicts"] = cost - least
            if self.atomics[s.id]:
                out["atomics"] = self.atomics[s.id]
                out["atomic_turns"] = self.turns[s.id]
            yield s, out

    def lines(self) -> dict:
        """``{(file, line): {counter: int}}`` without zeros."""
        out: dict = {}

        def add(place, name, n) -> None:
            if n:
                row = out.setdefault(place, {})
                row[name] = row.get(name, 0) + n

        for n, block in enumerate(self.program.blocks):
            warps, lanes = self.warps[n], self.lanes[n]
            if not warps:
                continue
            for place, counts in self.program.lines[n].items():
                for name, k in counts.items():
                    add(place, name, k * (lanes if name.startswith("flops") else warps))
                add(place, "thread_instructions", counts.get("instructions", 0) * lanes)
            jump = block.jump
            if jump is not None and jump.pred is not None:
                place = jump.loc.place() if jump.loc else ("", 0)
                add(place, "branches", warps)
                add(place, "divergent_branches", self.divergent[n])
            if block.gate == "barrier":
                first = block.code[0]
                add(first.loc.place() if first.loc else ("", 0), "barriers", warps)
        for site, counts in self._by_site():
            for name, k in counts.items():
                add(site.place, name, k)
        return out

    def totals(self, lines: dict) -> dict:
        """The sum over the lines, all names present."""
        out = dict.fromkeys(COUNTERS, 0)
        for row in lines.values():
            for name, k in row.items():
                out[name] += int(k)
        return out

    def sites(self, describe) -> list[dict]:
        """Each memory instruction that ran; `describe` names the array it went to."""
        out = []
        for s in self.program.sites:
            for space, rows in self.rows.items():
                requests, cost, lanes, least = rows[s.id]
                if requests:
                    pattern = self.patterns.get(s.id)
                    first = next((x for x in pattern or [] if x is not None), None)
                    out.append(
                        {
                            "line": s.place,
                            "space": space,
                            "op": s.op,
                            "array": describe(space, s, first)[0] if first is not None else "",
                            "size": s.size,
                            "requests": requests,
                            "transactions": cost,
                            "least": least if space == "shared" else None,
                            "lanes": lanes,
                            "bytes": lanes * s.size,
                            "pattern": pattern,
                        }
                    )
        return out


def divergent_warps(lanes, p) -> int:
    """Warps in which a predicate holds for some lanes and not for others."""
    count, _, flat = lanes.groups(32)
    rows = p.reshape(count, 32) if flat is None else lanes.rows(p)
    return int(np.count_nonzero(rows.any(axis=1) & ~rows.all(axis=1)))
