"""What a compiler makes of one kernel, stage by stage, beside the source."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hetlab.errors import InvalidValue, UnknownName

__all__ = ["Assembly", "Row", "assembly"]

TITLES = {
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMDGCN",
}
"""Stages in order: tiles; tiles with a layout over threads; NVIDIA's virtual and real
instructions; AMD's instructions."""


@dataclass(frozen=True)
class Row:
    """One line of a stage, and the line of the source that it comes from (0: none)."""

    text: str
    line: int = 0


@dataclass(frozen=True)
class Assembly(Mapping):
    """The stages of one compiled kernel; ``found["ptx"]`` is a stage's text.

    Attributes
    ----------
    name : str
        The kernel.
    file : str
        Its source file.
    lines : (int, int)
        First and last line of its source.
    stages : dict of str to list of Row
        In the order of `TITLES`.
    missing : dict of str to str
        Stages that could not be made, and why.
    targets : str
        What they were compiled for.
    """

    name: str
    file: str
    lines: tuple[int, int]
    stages: dict[str, list[Row]]
    missing: dict[str, str] = field(default_factory=dict)
    targets: str = "sm_80 and gfx942"

    def __getitem__(self, stage: str) -> str:
        if stage not in self.stages:
            if stage in self.missing:
                raise UnknownName("stage", stage, self.stages, where=self.missing[stage])
            raise UnknownName("stage", stage, self.stages)
        return "\n".join(row.text for row in self.stages[stage])

    def __iter__(self) -> Iterator[str]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def source(self) -> list[tuple[int, str]]:
        """Number and text of the kernel's source lines."""
        numbers = range(self.lines[0], self.lines[1] + 1)
        return [(n, linecache.getline(self.file, n).rstrip("\n")) for n in numbers]

    def counts(self, stage: str) -> Counter:
        """How many lines of a stage come from each line of the source."""
        return Counter(row.line for row in self.stages[stage] if row.line)

    def __repr__(self) -> str:
        shown = list(self.stages)
        counts = [self.counts(stage) for stage in shown]
        totals = [sum(1 for row in self.stages[stage] if row.line) for stage in shown]
        wide = [max(len(TITLES[s]), len(str(n))) for s, n in zip(shown, totals)]

        def row(first: str, cells, source: str) -> str:
            inner = "  ".join(f"{cell:>{w}}" for cell, w in zip(cells, wide))
            return f"{first:>5}  {inner}  {source}".rstrip()

        out = [
            f"{self.name}: what each line became, compiled for {self.targets}",
            row("line", [TITLES[s] for s in shown], "source"),
        ]
        for n, text in self.source():
            out.append(row(str(n), [c[n] or "" for c in counts], text))
        out.append(row("all", totals, ""))
        out += [f"  no {TITLES.get(s, s)}: {why}" for s, why in self.missing.items()]
        first = shown[0] if shown else "ptx"
        out.append(f'  (lines of each stage; print(found["{first}"]) shows one as a whole)')
        return "\n".join(out)


def assembly(kernel, *args, grid=(1,), **constants) -> Assembly:
    """Compile a kernel and show every stage of the compiler's work beside its source.

    Nothing is launched, and no GPU is needed: the code is made for compute capability 8.0 and
    for AMD's gfx942.

    Parameters
    ----------
    kernel : triton.jit function
        Autotuned ones take the configuration that was picked, else their first.
    *args, grid, **constants
        As for a launch; types and alignment decide what is compiled.

    Returns
    -------
    Assembly

    Raises
    ------
    InvalidValue
        When `kernel` is no kernel of Triton.
    """
    if not type(kernel).__module__.startswith("triton."):
        raise InvalidValue(
            "kernel",
            "a function of @triton.jit",
            kernel,
            do="Write hetlab.assembly(kernel, x, y, n, BLOCK=1024), without [grid].",
        )
    from hetlab.vgpu.frontends.triton_assembly import compiled

    return compiled(kernel, args, grid, constants)
