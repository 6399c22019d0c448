"""Kernels as the checks see them: how one is launched, and what the virtual GPU saw of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from types import FunctionType
from typing import Any

from ..errors import InvalidValue

__all__ = ["HostKernel", "Launched", "Recording", "configured"]

#: Source lines of a launch that a verdict may quote.
_LINES = 60


@dataclass(frozen=True)
class Launched:
    """One launch on the virtual GPU, as plain values that can cross between processes.

    Attributes
    ----------
    kernel : str
    grid, block : (int, int, int)
    counters : dict of str to int
        Exact counts, by the names of :data:`hetlab.vgpu.counters.COUNTERS`.
    hazards : tuple of dict
        As :meth:`hetlab.vgpu.hazards.Hazard.to_json` gives them.
    lines : tuple of dict
        ``{"line", "text", "counters"}`` of the source lines that did something.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    counters: Mapping[str, int]
    hazards: tuple[Mapping[str, Any], ...] = ()
    lines: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, report: Any) -> Launched:
        """From a report of the virtual GPU."""
        lines = [
            {"line": s.number, "text": s.text.strip(), "counters": dict(s.counters)}
            for s in report.source()
            if s.counters or s.hazards
        ]
        hazards = tuple(h.to_json() for h in report.hazards)
        return cls(
            report.name, report.grid, report.block, report.counters, hazards, tuple(lines[:_LINES])
        )

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Launched:
        """From what :meth:`to_plain` gave."""
        values = dict(plain)
        for name in ("grid", "block", "hazards", "lines"):
            values[name] = tuple(values[name])
        return cls(**values)

    def to_plain(self) -> dict[str, Any]:
        """A dictionary of plain values."""
        return asdict(self)

    def text_of(self, line: int) -> str:
        """The source of a line, where it is known."""
        return next((entry["text"] for entry in self.lines if entry["line"] == line), "")


class Recording:
    """A context in which every launch is watched.

    >>> with Recording() as seen:
    ...     kernel[4, 256](x)
    >>> seen.launches
    (Launched(kernel='kernel', ...),)
    """

    def __enter__(self) -> Recording:
        from ..vgpu.device import Options, watching

        self._context = watching(Options())
        self._traces = self._context.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._context.__exit__(*error)

    @property
    def launches(self) -> tuple[Launched, ...]:
        from ..vgpu.report import Launch

        return tuple(Launched.of(Launch(trace)) for trace in self._traces)


class HostKernel:
    """A Python function that is launched as a kernel is: it stands in for a wrong kernel."""

    def __init__(self, function: Callable) -> None:
        self.function = function

    def __getitem__(self, shape: object) -> Callable:
        return lambda *inputs, **constants: self.function(*inputs)


def configured(
    kernel: Any, grid: Any, block: Any = None, constants: Mapping[str, Any] | None = None
) -> Callable:
    """What launches `kernel` when it is called with the arrays.

    Parameters
    ----------
    kernel : object
        What is launched by indexing: ``kernel[grid, block](*inputs)``, or, without a block,
        ``kernel[grid](*inputs, **constants)`` as Triton's are.
    grid, block : int or iterable of int
    constants : mapping of str to object, optional
        Named arguments: Triton's compile-time constants.

    Returns
    -------
    callable
        It raises InvalidValue when `kernel` is a plain function: its decorator is missing.
    """
    from ..vgpu.frontends import on_virtual_gpu

    shape = _dims(grid) if block is None else (_dims(grid), _dims(block))
    named = dict(constants or {})

    def launch(*inputs: Any) -> None:
        if isinstance(kernel, FunctionType):
            raise InvalidValue(
                kernel.__name__,
                f"a kernel, marked by {'@triton.jit' if block is None else '@cuda.jit'}",
                "a plain function",
                do="Write the decorator on the line above def.",
            )
        on_virtual_gpu(kernel[shape])(
            *inputs, **named
        )  # what a launch returns is a framework's own affair

    return launch


def _dims(size: int | Iterable[int]) -> tuple[int, ...]:
    return (int(size),) if not isinstance(size, Iterable) else tuple(int(n) for n in size)
