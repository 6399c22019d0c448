"""Refuse to grade with a compiler that no longer gives a known answer.

A compiler that works is tried once for each combination of versions; the result
is kept in the user's cache folder, since a try takes a second or two.  A failure
is never kept: what was mended must count at once.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import sys
import tempfile
from pathlib import Path

from hetlab.devices.canary import Compiler, try_compiler
from hetlab.devices.compilers import adapter
from hetlab.devices.sources import Sources, here
from hetlab.errors import HetlabError

__all__ = ["Untrusted", "trusted"]


class Untrusted(HetlabError):
    """A compiler gave no or a wrong answer, so nothing is graded with it.

    Attributes
    ----------
    compiler : Compiler
        What was found, with the versions.
    """

    def __init__(self, compiler: Compiler) -> None:
        versions = ", ".join(f"{name} {v}" for name, v in compiler.versions.items())
        super().__init__(
            f"{compiler.name} cannot be used for grading here: {compiler.why.rstrip('.')}",
            where=versions or "no version is installed",
            do=compiler.do,
        )
        self.compiler = compiler


def trusted(key: str, *, sources: Sources | None = None) -> Compiler:
    """Make sure that a compiler gives a known answer.

    Parameters
    ----------
    key : str
        "numba", "numba_cuda", "nvrtc", "triton", "tvm" or "cupy".
    sources : Sources, optional
        Where to look; this machine by default.

    Returns
    -------
    Compiler

    Raises
    ------
    Untrusted
        With the reason and the versions, when it does not.
    UnknownName
        When there is no compiler of that name.
    """
    at = sources or here()
    stamp = _stamp(key, at)
    found = _remembered(stamp, at)
    if found is None:
        found = try_compiler(key, at)
        if found.graded:
            _remember(stamp, found, at)
    if not found.graded:
        raise Untrusted(found)
    return found


def _stamp(key: str, at: Sources) -> str:
    """Changes with everything whose change asks for a new try."""
    parts = [sys.executable, sys.version, at.system, at.machine]
    for name in adapter(key).DISTRIBUTIONS:
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    # The canary itself is part of what was proven.
    for module in (adapter(key), sys.modules["hetlab.devices.canary"]):
        parts.append(Path(module.__file__).read_text(encoding="utf-8"))
    return f"{key}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}"


def _folder(at: Sources) -> Path | None:
    base = at.environ.get("XDG_CACHE_HOME") or at.environ.get("LOCALAPPDATA")
    home = at.environ.get("HOME") or at.environ.get("USERPROFILE")
    if base:
        return Path(base) / "hetlab" / "canaries"
    return Path(home) / ".cache" / "hetlab" / "canaries" if home else None


@functools.cache
def _in_process() -> dict[str, Compiler]:
    return {}


def _remembered(stamp: str, at: Sources) -> Compiler | None:
    if stamp in _in_process():
        return _in_process()[stamp]
    folder = _folder(at)
    try:
        told = json.loads((folder / f"{stamp}.json").read_text(encoding="utf-8"))
        return Compiler(**told) if told.get("state") == "works" else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _remember(stamp: str, found: Compiler, at: Sources) -> None:
    _in_process()[stamp] = found
    folder = _folder(at)
    told = {k: v for k, v in found.to_dict().items() if k != "graded"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(told, file)
        Path(name).replace(folder / f"{stamp}.json")
    except (OSError, AttributeError):
        return  # a home that cannot be written costs a second, nothing more
