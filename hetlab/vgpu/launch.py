"""One kernel, ready to run: PTX text in, results, counters and hazards out.

This is the engine's whole public face; front ends (Numba, NVRTC, Triton, TVM) end here.

>>> kernel = Kernel(ptx_text)                        # compiled once, cached by text
>>> memory = Memory()
>>> a = memory.adopt(array, "a")
>>> run = kernel.run((4,), (256,), [a, array.size], memory=memory)
>>> run.counters["global_load_requests"], run.hazards
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hetlab.errors import HetlabError
from hetlab.vgpu.memory import Memory

__all__ = ["COUNTERS", "ArrayArg", "Hazard", "Kernel", "LaunchError", "Param", "RawLaunch"]

COUNTERS = (
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
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
    "instructions_sync",
    "instructions_other",
    "flops",
    "branches",
    "divergent_branches",
    "barriers",
    "atomics",
)
"""The names in ``RawLaunch.counters``; all are exact ints.

Requests, instructions, branches and barriers count warps; ``thread_instructions`` and ``flops``
count threads (an fma is two operations); ``*_bytes`` are the bytes that threads asked for (bytes
moved are sectors x 32); ``atomics`` counts warp-level ``atom`` and ``red`` instructions.
"""


class LaunchError(HetlabError):
    """A launch that no GPU would accept: block too large, too much shared memory, wrong arguments."""


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter: its PTX name, size and alignment in bytes, offset, PTX type (``u64``)."""

    name: str
    size: int
    align: int
    offset: int
    kind: str


@dataclass(frozen=True, slots=True)
class ArrayArg:
    """An array behind a pointer parameter: what names, bounds and indices in reports come from.

    Attributes
    ----------
    param_index : int
        Which parameter holds the address of element 0.
    name : str
        The Python name.
    base : int
        Virtual address of element 0.
    nbytes : int
        Size in bytes of a contiguous array; for strided ones the bounds follow from `shape` and
        `strides`.  A view's bounds are the view's own: a kernel handed ``a[10:20]`` must not
        touch ``a[20]``.
    itemsize : int
        Bytes an element.
    shape, strides : tuple of int
        As NumPy's; strides in bytes.
    """

    param_index: int
    name: str
    base: int
    nbytes: int
    itemsize: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


@dataclass(slots=True)
class Hazard:
    """Something that makes a kernel wrong, or wrong on another day.

    Attributes
    ----------
    kind : str
        ``out-of-bounds``, ``misaligned``, ``uninitialised-read``, ``read-only-write``, ``race``,
        ``divergent-barrier``, ``deadlock``, ``trap``; as warnings ``wrapped-index`` and
        ``same-value-store``.
    array : str
        Name of the array, or of the shared variable; may be empty.
    index : int, tuple of int or None
        The element, counted as in Python; negative or past the end when out of bounds.
    threads : list of dict
        ``{"block": [x, y, z], "thread": [x, y, z]}``; two for a race, the earlier one first.
    lines : list of tuple
        ``(file, line)``, in the order of `threads`.
    space : str
        ``global``, ``shared``, ``local``, or empty.
    message : str
        The sentence for the learner.
    count : int
        How many thread accesses (or warps, for barriers) showed it.
    """

    kind: str
    array: str = ""
    index: object = None
    threads: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    space: str = ""
    message: str = ""
    count: int = 1

    def to_json(self) -> dict:
        """A dictionary that ``json.dumps`` accepts."""
        index = list(self.index) if isinstance(self.index, tuple) else self.index
        return {
            "kind": self.kind,
            "array": self.array,
            "index": index,
            "threads": self.threads,
            "lines": [list(line) for line in self.lines],
            "space": self.space,
            "message": self.message,
            "count": self.count,
        }


@dataclass(slots=True)
class RawLaunch:
    """What one launch did.

    Attributes
    ----------
    counters : dict of str to int
        The names of `COUNTERS`, exact; all zero with ``count=False``.
    lines : dict
        ``{(file, line): {counter: int}}``, only counters that are not zero.
    hazards, warnings : list of Hazard
    seconds : float
        Host time of the run (not a device time).
    printf : list of str
        What the kernel printed, one entry a call and thread.
    blocks, blocks_run : int
        Blocks of the grid, and how many of them ran (``sample``).
    sites : list of dict
        Each memory instruction: ``line, space, op, array, size, requests, transactions, bytes,
        lanes, pattern`` (the address offsets of one warp's 32 lanes, None for idle lanes).
    """

    counters: dict
    lines: dict
    hazards: list
    warnings: list
    seconds: float
    printf: list
    blocks: int
    blocks_run: int
    sites: list = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True without hazards (warnings do not count)."""
        return not self.hazards


class Kernel:
    """An entry of a PTX module.

    Parameters
    ----------
    ptx_text : str
        A whole PTX module.
    entry : str, optional
        The kernel's name; may be left out when the module has one entry.

    Attributes
    ----------
    name : str
    params : list of Param
    shared_bytes : int
        Static shared memory a block.
    source_lines : set of (file, line)
        The source lines that have instructions.

    Raises
    ------
    hetlab.vgpu.ptx.PtxError
        When the text is not PTX, or uses what the virtual GPU does not know.
    """

    def __init__(self, ptx_text: str, entry: str | None = None) -> None:
        raise NotImplementedError

    def run(
        self,
        grid,
        block,
        params,
        *,
        memory: Memory,
        dynamic_shared: int = 0,
        count: bool = True,
        hazards: bool = True,
        arrays=(),
        sample: float | None = None,
        order_seed: int | None = None,
        cooperative: bool = False,
        step_budget: int | None = None,
    ) -> RawLaunch:
        """Run the kernel to its end.

        Parameters
        ----------
        grid, block : int or tuple of up to three ints
        params : bytes or sequence
            The parameter buffer as the driver would get it, or one value a parameter: an int, a
            float, or bytes for a struct.
        memory : Memory
        dynamic_shared : int
            Bytes of ``extern`` shared memory a block.
        count, hazards : bool
            Count traffic and instructions; look for hazards.  Out-of-bounds, misaligned and
            deadlock are found in either case, because the result would be wrong without.
        arrays : sequence of ArrayArg
        sample : float, optional
            Run only this fraction of the blocks, evenly spread, always the same ones.
        order_seed : int, optional
            Run blocks in an order drawn from this seed.
        cooperative : bool
            Grid-wide synchronisation is allowed; the grid must be resident at one time.
        step_budget : int, optional
            Basic-block visits a batch of blocks may take before the launch ends as a deadlock.

        Raises
        ------
        LaunchError
            When no GPU would accept the launch.
        """
        raise NotImplementedError
