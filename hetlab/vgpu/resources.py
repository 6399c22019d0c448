"""Registers, spills and shared memory of a kernel, as NVIDIA's own assembler counts them.

PTX has as many registers as it likes; how many a thread really gets is decided
when PTX is assembled for a chip.  nvJitLink contains that assembler and needs
neither a GPU nor a driver; ``-verbose`` makes it report what it allotted.
"""

from __future__ import annotations

import functools
import re
from dataclasses import asdict, dataclass

from hetlab.errors import HetlabError, UnknownName, optional

__all__ = ["AssemblyError", "Resources", "parse_log", "resources"]


class AssemblyError(HetlabError):
    """NVIDIA's assembler refused the PTX."""


@dataclass(frozen=True)
class Resources:
    """What a kernel takes of a multiprocessor.

    Attributes
    ----------
    entry : str
        The kernel's name in the PTX.
    arch : str
        The chip family it was assembled for, as in ``sm_80``.
    registers : int
        Registers a thread.
    shared : int
        Static shared memory a block, in bytes.
    stack : int
        Local memory a thread, in bytes: arrays that are indexed at run time, and
        spilled registers.
    spill_stores, spill_loads : int
        Bytes a thread moves because it ran out of registers.
    barriers : int
        Named barriers in use.
    constant : int
        Constant memory in bytes; the arguments of the kernel lie in it.
    """

    entry: str
    arch: str
    registers: int
    shared: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    barriers: int = 0
    constant: int = 0

    def __str__(self) -> str:
        parts = [f"{self.registers} registers a thread"]
        if self.shared:
            parts.append(f"{self.shared:,} B of static shared memory a block")
        if self.stack:
            parts.append(f"{self.stack:,} B of local memory a thread")
        if self.spill_stores or self.spill_loads:
            parts.append(f"spills {self.spill_stores} B out and {self.spill_loads} B in")
        return f"{', '.join(parts)} ({self.arch})"

    __repr__ = __str__

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return asdict(self)


_FIELDS = {
    "registers": re.compile(r"Used (\d+) registers"),
    "barriers": re.compile(r"used (\d+) barriers"),
    "shared": re.compile(r"(\d+) bytes smem"),
    "constant": re.compile(r"(\d+) bytes cmem\[0\]"),
    "stack": re.compile(r"(\d+) bytes stack frame"),
    "spill_stores": re.compile(r"(\d+) bytes spill stores"),
    "spill_loads": re.compile(r"(\d+) bytes spill loads"),
}


def parse_log(log: str, entry: str) -> Resources:
    """Read one kernel's figures out of the assembler's verbose log.

    Raises
    ------
    UnknownName
        When the log does not speak of ``entry``.
    """
    heads = list(re.finditer(r"Compiling entry function '([^']+)' for '([^']+)'", log))
    for here, after in zip(heads, [*heads[1:], None]):
        if here[1] != entry:
            continue
        text = log[here.end() : after.start() if after else len(log)]
        used = next((line for line in text.splitlines() if " Used " in line), "")
        # Device functions that stayed calls have properties of their own; the
        # frame of the entry is the block that carries its name.
        own = re.search(rf"Function properties for {re.escape(entry)}\n([^\n]*)", text)
        frame = own[1] if own else ""
        found = {
            name: int(match[1])
            for name, pattern in _FIELDS.items()
            if (match := pattern.search(used) or pattern.search(frame))
        }
        return Resources(entry, here[2], **{"registers": 0, **found})
    raise UnknownName("kernel in the assembler's log", entry, [head[1] for head in heads])


def resources(ptx: str, entry: str, arch: str = "sm_80") -> Resources:
    """Assemble PTX for a chip family and report what the kernel takes.

    Parameters
    ----------
    ptx : str
        A whole PTX module.
    entry : str
        Name of the kernel in it.
    arch : str
        As in ``sm_80``; not older than the ``.target`` of the PTX.

    Raises
    ------
    MissingLibrary
        When nvJitLink is not installed.
    AssemblyError
        When the assembler refuses the PTX, with its reason.
    """
    return parse_log(_assemble(ptx, arch), entry)


@functools.lru_cache(maxsize=256)
def _assemble(ptx: str, arch: str) -> str:
    why = "count a kernel's registers"
    linker = optional("cuda.bindings.nvjitlink", "cuda", why)
    code = ptx.encode()
    try:
        handle = linker.create(2, [f"-arch={arch}", "-verbose"])
    except Exception as cause:  # the wrapper raises its own kinds, which differ by release
        raise AssemblyError(
            f"NVIDIA's assembler did not start: {cause}",
            where=arch,
            do="Install it with: pip install 'hetlab[cuda]'",
        ) from cause
    try:
        try:
            linker.add_data(handle, linker.InputType.PTX, code, len(code), "kernel")
            linker.complete(handle)
        except Exception as cause:
            log = _log(linker.get_error_log_size, linker.get_error_log, handle)
            reason = next((line for line in log.splitlines() if line.strip()), str(cause))
            raise AssemblyError(
                f"NVIDIA's assembler refused the kernel: {reason.strip()}",
                where=arch,
                do="The counters do not need it; only registers and occupancy are unknown.",
            ) from cause
        return _log(linker.get_info_log_size, linker.get_info_log, handle)
    finally:
        linker.destroy(handle)


def _log(size, read, handle) -> str:
    buffer = bytearray(size(handle))
    if buffer:
        read(handle, buffer)
    return bytes(buffer).decode(errors="replace").strip("\x00")
