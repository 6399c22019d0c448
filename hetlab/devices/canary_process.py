"""The process in which one compiler is tried: ``python -m hetlab.devices.canary_process KEY``.

A compiler may crash, hang, print, or end the process; then only this process is
lost.  The answer is the last line that starts with ``MARK``, as JSON.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys
import tempfile

__all__ = ["MARK", "MODES", "main"]

MARK = "hetlab-canary "
# Variables that put a simulator in a compiler's place; here the compiler itself is asked.
MODES = ("NUMBA_DISABLE_JIT", "NUMBA_ENABLE_CUDASIM", "TRITON_INTERPRET")


def main(key: str) -> None:
    """Run the canary of one compiler and print what came of it."""
    from hetlab.devices.compilers import adapter

    for name in MODES:
        os.environ.pop(name, None)
    module = adapter(key)
    told = {"versions": _versions(module.DISTRIBUTIONS)}
    try:
        # A dotted name imports its parents, which may be broken themselves.
        told["installed"] = importlib.util.find_spec(module.MODULE) is not None
    except ModuleNotFoundError:
        told["installed"] = False
    except (Exception, SystemExit) as error:
        told |= {"installed": True, "error": _line(error)}
    if told["installed"] and "error" not in told:
        # A result out of a cache would say nothing about the compiler.  The folder is the
        # parent's, who removes it whatever becomes of this process.
        os.environ |= {"TRITON_CACHE_DIR": tempfile.gettempdir(), "TRITON_ALWAYS_COMPILE": "1"}
        try:
            told |= module.canary()
        except (Exception, SystemExit) as error:
            told["error"] = _line(error)
    print(f"\n{MARK}{json.dumps(told)}", flush=True)  # noqa: T201


def _versions(distributions) -> dict[str, str]:
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


if __name__ == "__main__":
    main(sys.argv[1])
