"""Energy of a stretch of work, from the counters of the processor (RAPL) and of NVIDIA GPUs (NVML).

Both count for the whole chip, whoever uses it: what else runs meanwhile is counted too.

Sources: Linux, "Power Capping Framework" (powercap); Intel, Software Developer's Manual,
volume 3, "RAPL Interfaces"; NVIDIA, NVML API Reference, nvmlDeviceGetTotalEnergyConsumption.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hetlab.devices.device import Absent
from hetlab.devices.sources import BROKEN, Sources, here
from hetlab.errors import HetlabError, InvalidValue, one_line
from hetlab.timing.stamp import Machine, machine
from hetlab.units import quantity, seconds

__all__ = ["Counter", "Energy", "EnergyMeter"]

_ZONES = "/sys/class/powercap"
_RAPL_STEP = 1e-3  # seconds between two updates of RAPL's counter
_NVML_STEP = 0.1  # and of NVML's, at most
_STEPS = 20  # updates that a reading should span, for an error of about 5 %
# A counter of 32 bits in steps of 2**-16 J wraps at 65.5 kJ; a reading every 20 s catches
# each wrap up to 3 kW.
_LOOK_EVERY = 20.0


@dataclass(frozen=True)
class Energy:
    """Energy that was used, or the reason why it is not known.

    Attributes
    ----------
    joules : float or None
        All counters together; None when there is none that can be read.
    seconds : float
        Wall-clock time of the stretch.
    parts : dict of str to float
        Joules by counter.
    why : dict of str to str
        By kind ("cpu", "gpu"): why it is missing, and what to do.
    notes : tuple of str
        What makes the number less sure.
    machine : Machine
    """

    joules: float | None
    seconds: float
    parts: dict[str, float]
    why: dict[str, str]
    notes: tuple[str, ...]
    machine: Machine

    label = "measured"

    @property
    def watts(self) -> float | None:
        """Mean power in watts; None when the energy is not known."""
        return None if self.joules is None or not self.seconds else self.joules / self.seconds

    def __repr__(self) -> str:
        if self.joules is None:
            lines = ["energy: unknown"]
        else:
            lines = [
                f"energy: {quantity(self.joules, 'J')} in {seconds(self.seconds)}, "
                f"{quantity(self.watts, 'W')} on average ({self.label})"
            ]
            lines += [f"  {name}: {quantity(value, 'J')}" for name, value in self.parts.items()]
        lines += [f"  not read: {kind}: {why}" for kind, why in self.why.items()]
        lines += [f"  ! {note}" for note in self.notes]
        lines.append(f"  {self.machine.line}")
        return "\n".join(lines)


@dataclass
class Counter:
    """A counter that only grows, and starts again at zero after its largest value.

    Attributes
    ----------
    name : str
    read : callable
        The counter's value in its own steps.
    scale : float
        Joules of one step.
    step : float
        Seconds between two updates.
    largest : int or None
        After it the counter starts again; None when it never does.
    """

    name: str
    read: Callable[[], int]
    scale: float
    step: float
    largest: int | None = None
    _last: int = field(default=0, repr=False)
    _total: int = field(default=0, repr=False)

    def start(self) -> None:
        """Count from here."""
        self._last, self._total = self.read(), 0

    def look(self) -> None:
        """Add what was used since the last look; the counter may have wrapped once since."""
        now = self.read()
        used = now - self._last
        if used < 0:
            if self.largest is None:
                raise HetlabError(
                    f"the energy counter {self.name} went back",
                    do="Its driver was loaded anew; measure again.",
                )
            used += self.largest + 1
        self._total += used
        self._last = now

    @property
    def joules(self) -> float:
        """What was used between the start and the last look."""
        return self._total * self.scale


class EnergyMeter:
    """Measure the energy of what runs inside its ``with`` block.

    Parameters
    ----------
    kind : {"all", "cpu", "gpu"}
        Whose energy.
    sources : hetlab.devices.Sources, optional
        Where to look; this machine by default.

    Attributes
    ----------
    counters : list of Counter
        Those that can be read.
    why : dict of str to str
        By kind: why there is none, and what to do.
    energy : Energy or None
        The result; None before the block ends.

    Examples
    --------
    >>> with EnergyMeter() as meter:
    ...     total = sum(range(100_000))
    >>> meter.energy.seconds > 0
    True
    """

    def __init__(self, kind: str = "all", *, sources: Sources | None = None) -> None:
        if kind not in {"all", "cpu", "gpu"}:
            raise InvalidValue("kind", 'one of "all", "cpu" and "gpu"', kind)
        at = sources or here()
        self.counters: list[Counter] = []
        self.why: dict[str, str] = {}
        self.energy: Energy | None = None
        for name, find in [("cpu", _rapl), ("gpu", _nvml)]:
            if kind in {"all", name}:
                found, why = find(at)
                self.counters += found
                if not found:
                    self.why[name] = why
        self._failed: str = ""

    def __enter__(self) -> EnergyMeter:
        self.energy, self._failed = None, ""
        self._done = threading.Event()
        self._each(Counter.start)
        self._watch = threading.Thread(target=self._look_again, daemon=True)
        if self.counters:
            self._watch.start()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *error) -> None:
        elapsed = time.perf_counter() - self._start
        if self.counters:
            self._done.set()
            self._watch.join()
            self._each(Counter.look)
        parts = {c.name: c.joules for c in self.counters}
        known = parts and not self._failed
        notes = []
        for c in self.counters:
            if elapsed < _STEPS * c.step:
                notes.append(
                    f"{c.name} is updated every {seconds(c.step)}: measure at least "
                    f"{seconds(_STEPS * c.step)}, by repeating the work"
                )
        if self._failed:
            notes.append(self._failed)
        self.energy = Energy(
            joules=sum(parts.values()) if known else None,
            seconds=elapsed,
            parts=parts if known else {},
            why=dict(self.why),
            notes=tuple(notes),
            machine=machine(),
        )

    def _each(self, step: Callable[[Counter], None]) -> None:
        for counter in self.counters:
            try:
                step(counter)
            except BROKEN as error:  # a GPU may be lost in the midst of it
                self._failed = f"{counter.name} could not be read to the end: {one_line(error)}"

    def _look_again(self) -> None:
        while not self._done.wait(_LOOK_EVERY):
            self._each(Counter.look)


def _rapl(at: Sources) -> tuple[list[Counter], str]:
    """One counter a package, and one for its memory where that is counted apart."""
    if at.system != "Linux":
        return [], f"{at.system or 'this system'} offers no energy counter to programs"
    found, refused = [], False
    for zone in at.glob(f"{_ZONES}/intel-rapl:[0-9]*"):
        name = at.read(zone / "name") or ""
        parent = at.read(zone.parent / ":".join(zone.name.split(":")[:2]) / "name")
        if name.startswith("package"):
            label = f"RAPL {name}"
        elif name == "dram":  # "core" and "uncore" are parts of the package, "psys" holds all
            label = f"RAPL {name} of {parent}"
        else:
            continue
        if at.number(zone / "energy_uj") is None:
            refused = True
            continue
        found.append(
            Counter(
                label,
                _must(at, zone / "energy_uj"),
                scale=1e-6,
                step=_RAPL_STEP,
                largest=at.number(zone / "max_energy_range_uj"),
            )
        )
    if found:
        return found, ""
    if refused:
        return [], (
            "only root may read RAPL's counters here; an administrator can allow it with: "
            "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
        )
    if not at.exists(_ZONES):
        return [], (
            f"{_ZONES} does not exist here, as in virtual machines and most containers; "
            "measure on the machine itself"
        )
    return [], "the kernel offers no RAPL counter for this processor; try another machine"


def _must(at: Sources, path) -> Callable[[], int]:
    def read() -> int:
        value = at.number(path)
        if value is None:
            raise OSError(f"{path.name} cannot be read any more")
        return value

    return read


def _nvml(at: Sources) -> tuple[list[Counter], str]:
    """One counter a GPU; it is counted in millijoules since the driver was loaded."""
    from hetlab.devices.nvidia import nvidia_gpus

    present = nvidia_gpus(at)
    if isinstance(present[0], Absent):
        return [], present[0].why.rstrip(".")
    try:
        nvml = at.importer("pynvml")
        nvml.nvmlInit()
        found, ask = [], nvml.nvmlDeviceGetTotalEnergyConsumption
        for gpu in present:
            handle = nvml.nvmlDeviceGetHandleByIndex(gpu.facts["index"])
            ask(handle)  # refused by GPUs before Volta, and within MIG
            name = f"NVML {gpu.name} {gpu.facts['index']}"
            found.append(Counter(name, lambda h=handle: int(ask(h)), 1e-3, _NVML_STEP))
        return found, ""
    except BROKEN as error:
        return [], f"its energy counter cannot be read: {one_line(error)}"
