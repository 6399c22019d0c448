"""Lines of Triton's cached code, which may carry the file and the lines of another day.

Triton finds compiled code by the text of a kernel and the line it starts on.  Not in the key
are its file, which in a notebook has the number of the process in its name, and the length of
its decorators.  Both are put right here, in the PTX.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["home", "settled"]

_FILE = re.compile(r'^([ \t]*\.file\s+(\d+)\s+)"([^"\n]*)"', re.M)


def home(function) -> tuple[str, int, int] | None:
    """File, first and last line of a ``triton.jit`` function, its decorators included."""
    if function is None:
        return None
    first = function.starting_line_number
    return function.file_name, first, first + len(function.raw_src) - 1


def settled(ptx: str, function) -> str:
    """PTX of a kernel with the file and the lines that its source has now.

    Parameters
    ----------
    ptx : str
    function : triton.runtime.jit.JITFunction or None
        The kernel.
    """
    begin = re.search(r"\.entry\b.*?^\s*\.loc\s+(\d+)\s+(\d+)", ptx, re.S | re.M)
    if function is None or begin is None:
        return ptx
    number, line = begin[1], int(begin[2])
    here = Path(function.file_name)

    def file(found: re.Match) -> str:
        path = Path(found[3])
        if found[2] == number:
            path = here
        elif path.parent.name.startswith("ipykernel_") and here.parent.name.startswith(
            "ipykernel_"
        ):
            path = here.parent / path.name  # a cell's own name stays the same
        return f'{found[1]}"{path}"'

    ptx = _FILE.sub(file, ptx)
    shift = function.def_file_line_number - line
    if not shift:
        return ptx
    lines = range(line, line + len(function.raw_src))

    def moved(found: re.Match) -> str:
        at = int(found[2])
        return f"{found[1]}{at + shift if at in lines else at}"

    return re.sub(rf"(\b(?:loc|inlined_at)\s+{number}\s+)(\d+)", moved, ptx)
