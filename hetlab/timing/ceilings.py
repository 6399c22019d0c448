"""`peaks`: what this processor can do at best, measured.

The figures are the ceilings of a roofline.  A ceiling is a maximum, so each is the best of
several runs (as in STREAM), with the median beside it to show how often it is reached.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from hetlab.devices import this_cpu
from hetlab.devices.cgroup import memory_limit
from hetlab.devices.sources import here
from hetlab.errors import InvalidValue
from hetlab.timing import record
from hetlab.timing.doubts import no_gain, unsteady
from hetlab.timing.rate import Rate, span
from hetlab.timing.stamp import Machine, machine
from hetlab.timing.stats import median
from hetlab.units import quantity

__all__ = ["Peaks", "peaks"]

KEYS = ("bandwidth_one", "bandwidth_all", "fp32_one", "fp32_all", "fp64_one", "fp64_all")
# How long figures with a warning are kept.
DOUBTFUL_SECONDS = 600


@dataclass(frozen=True, repr=False)
class Peaks:
    """Measured ceilings of one processor.

    Attributes
    ----------
    samples : dict of str to tuple of float
        B/s and FLOP/s of every run, by "bandwidth_one", "bandwidth_all", "fp32_one", ...; what
        could not be measured is missing.
    threads : int
        How many threads "all" means.
    method : str
        "Numba", or "NumPy and BLAS" where Numba is missing (a lower bound, not a peak).
    notes : tuple of str
        What to know about the figures: array sizes, write-allocate, what was left out.
    machine : Machine
        Where.
    taken : str
        When: ISO 8601, UTC.
    """

    samples: dict[str, tuple[float, ...]]
    threads: int
    method: str
    notes: tuple[str, ...]
    machine: Machine
    taken: str

    def rate(self, key: str) -> Rate | None:
        """Best run of a key with the median as its spread; None when it was not measured."""
        if key not in KEYS:
            raise InvalidValue("key", f"one of {', '.join(KEYS)}", key)
        runs = self.samples.get(key)
        if not runs:
            return None
        best = max(runs)
        unit = "B/s" if key.startswith("bandwidth") else "FLOP/s"
        spread = f"median to best of {len(runs)} runs"
        return Rate(best, float(median(runs)), best, unit, spread, self.label, self.method)

    def _best(self, key: str) -> float:
        found = self.rate(key)
        return float("nan") if found is None else found.value

    @property
    def bandwidth(self) -> float:
        """B/s of the triad on all cores."""
        return self._best("bandwidth_all")

    def flops(self, precision: str = "fp64", cores: str = "all") -> float:
        """FLOP/s; ``precision`` is "fp32" or "fp64", ``cores`` "one" or "all".

        NaN when it was not measured.
        """
        if precision not in {"fp32", "fp64"}:
            raise InvalidValue("precision", '"fp32" or "fp64"', precision)
        if cores not in {"one", "all"}:
            raise InvalidValue("cores", '"one" or "all"', cores)
        return self._best(f"{precision}_{cores}")

    @property
    def label(self) -> str:
        """ "measured" here, "recorded" elsewhere."""
        here = machine().fingerprint == self.machine.fingerprint
        return "measured" if here else "recorded"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the figures; with any, `peaks` measures again after ten minutes."""
        again = "close other programs and call hetlab.peaks(fresh=True)"
        found = []
        if names := ", ".join(key.replace("_", " on ") for key in unsteady(self.samples)):
            found.append(f"unsteady: the median is below 80 % of the best run ({names}); {again}")
        if self.threads > 1 and (kinds := " and ".join(no_gain(self.samples))):
            found.append(
                f"{kinds}: {self.threads} threads are hardly faster than one. Either they are the "
                f"hardware threads of one core, or another program ran: {again}"
            )
        return tuple(found)

    def to_json(self) -> str:
        """Everything as JSON text, for `from_json`."""
        return record.dump("peaks", asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Peaks:
        """Read what `to_json` wrote.  Raises InvalidValue for anything else."""
        data = record.load("peaks", text)
        names = ("samples", "threads", "method", "notes", "machine", "taken")
        samples, threads, method, notes, stamp, taken = record.fields("peaks", data, names)
        try:
            runs = {key: tuple(float(x) for x in samples[key]) for key in samples}
        except (TypeError, ValueError) as error:
            raise InvalidValue("samples", "a table of numbers", samples) from error
        return cls(runs, int(threads), method, tuple(notes), Machine.from_dict(stamp), taken)

    def __repr__(self) -> str:
        every = f"all {self.threads} threads"
        rows = [("", "one thread", every)]
        for name, key in [
            ("memory bandwidth (triad)", "bandwidth"),
            ("arithmetic, fp64", "fp64"),
            ("arithmetic, fp32", "fp32"),
        ]:
            cells = []
            for cores in ("one", "all"):
                rate = self.rate(f"{key}_{cores}")
                if rate is None:
                    cells.append("not measured")
                else:
                    middle = quantity(rate.low, rate.unit).partition(" ")[0]
                    same = span(rate.low, rate.high, rate.unit).count(rate.unit) == 1
                    middle = middle if same else quantity(rate.low, rate.unit)
                    cells.append(f"{quantity(rate.value, rate.unit)} (median {middle})")
            rows.append((name, *cells))
        wide = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"Peaks of {self.machine.cpu}, {self.label} with {self.method}"]
        lines += [f"  {a:<{wide[0]}}  {b:<{wide[1]}}  {c:<{wide[2]}}".rstrip() for a, b, c in rows]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  ! {text}" for text in self.warnings]
        return "\n".join([*lines, f"  taken {self.taken}; machine {self.machine.fingerprint}"])


def cache_folder() -> Path:
    """Where peaks are kept: ``HETLAB_CACHE_DIR``, or the platform's folder for caches."""
    named = os.environ.get("HETLAB_CACHE_DIR")
    if named:
        return Path(named)
    system = platform.system()
    if system == "Windows" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "hetlab" / "cache"
    if system == "Darwin":
        return Path.home() / "Library" / "Caches" / "hetlab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hetlab"


def peaks(*, fresh: bool = False, progress: bool = True) -> Peaks:
    """Measure memory bandwidth and peak arithmetic of this processor.

    It takes a few seconds; the result is kept in a file for this machine.

    Parameters
    ----------
    fresh : bool
        Measure again even if a result is kept.
    progress : bool
        Show what is being measured, in a terminal or notebook.

    Returns
    -------
    Peaks
        B/s (STREAM triad, 24 bytes an element, arrays of at least four times the last cache
        level where memory allows) and FLOP/s (fp32 and fp64, a multiply-add counts two), on
        one thread and on all.  Without Numba: NumPy and BLAS, and labelled so.
    """
    try:
        import numba  # noqa: F401

        method = "Numba"
    except ImportError:
        method = "NumPy and BLAS"
    stamp, threads = machine(), _threads(method)
    place = cache_folder() / f"peaks-{stamp.fingerprint}-{threads}.json"
    if not fresh:
        kept = _kept(place, stamp, method, threads)
        if kept is not None:
            return kept
    if method == "Numba":
        from hetlab.timing.ceilings_numba import run
    else:
        from hetlab.timing.ceilings_numpy import run
    with _progress(progress) as step:
        samples, notes = run(threads, array_bytes(), step)
    # Only now: Numba is loaded, so the stamp names its version.
    found = Peaks(samples, threads, method, tuple(notes), machine(), record.now())
    _keep(place, found)
    return found


def _threads(method: str) -> int:
    cpu = this_cpu()
    threads = cpu.usable
    if cpu.quota is not None:
        threads = max(1, min(threads, round(cpu.quota)))
    if method == "Numba":
        from numba import config

        threads = min(threads, config.NUMBA_NUM_THREADS)
    return threads


def array_bytes() -> int:
    """Bytes of one of the triad's three arrays: four times the last cache level.

    STREAM's rule.  Where that is unknown 32 MiB are taken for it; the three arrays together
    never take more than a quarter of the memory that is free, or that a container grants.
    """
    import psutil

    last = this_cpu().last_level or 32 * 2**20
    free = psutil.virtual_memory().available
    granted = memory_limit(here()) or free
    return int(min(max(4 * last, 32 * 2**20), min(free, granted) // 12))


def _kept(place: Path, stamp: Machine, method: str, threads: int) -> Peaks | None:
    """The result in the file; None when there is none that fits (a damaged one is taken anew)."""
    try:
        found = Peaks.from_json(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if found.warnings:
        try:
            if time.time() - place.stat().st_mtime > DOUBTFUL_SECONDS:
                return None
        except OSError:
            return None
    fits = found.machine.fingerprint == stamp.fingerprint and found.threads == threads
    return found if fits and found.method == method else None


def _keep(place: Path, found: Peaks) -> None:
    """Write the file in one step; a read-only home only means measuring again next time."""
    partial = place.with_suffix(f".{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(found.to_json(), encoding="utf-8")
        partial.replace(place)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()


class _progress:
    """Says what is being measured: a line that goes away; silent where nobody looks."""

    def __init__(self, wanted: bool) -> None:
        self.status = None
        if wanted:
            try:
                from rich.console import Console
            except ImportError:
                return
            console = Console()
            if console.is_terminal and not console.is_jupyter:
                self.status = console.status("Measuring the peaks of this processor ...")
            elif console.is_jupyter:
                self.status = _Notebook()

    def __enter__(self):
        if self.status is not None:
            self.status.__enter__()
        return self.step

    def __exit__(self, *failure) -> None:
        if self.status is not None:
            self.status.__exit__(*failure)

    def step(self, what: str) -> None:
        """The next thing to measure."""
        if self.status is not None:
            self.status.update(f"Measuring the peaks of this processor: {what} ...")


class _Notebook:
    """One output of a notebook that is rewritten and then cleared."""

    def __enter__(self):
        return self

    def __exit__(self, *failure) -> None:
        from IPython.display import clear_output

        clear_output(wait=True)

    def update(self, text: str) -> None:
        from IPython.display import clear_output

        clear_output(wait=True)
        print(text)  # noqa: T201
