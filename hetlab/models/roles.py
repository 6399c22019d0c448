"""The time of a workload on a modelled device: start, transfer, then the slower of work and memory.

    seconds = start + (bytes in + bytes out) / link + max(work / rate, bytes touched / bandwidth)

The last term is the bound of S. Williams, A. Waterman, D. Patterson (Communications of the ACM
52(4), 2009); the first two are the linear cost of a message, R. W. Hockney ("The communication
challenge for MPP", Parallel Computing 20(3), 1994).

Left out: a CPU that stays on one core for a tiny job, caches, branches that are predicted wrongly,
transfers that overlap with work, and that no program reaches a published peak.  So a result says
who *can* win, never by how much someone will.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hetlab.errors import InvalidValue
from hetlab.models.domain import number
from hetlab.units import quantity

__all__ = [
    "Estimate",
    "Given",
    "ModelledDevice",
    "Workload",
    "break_even",
    "estimate",
]

DATA = ("device", "host")


@dataclass(frozen=True)
class Given:
    """One number that a model is fed with.

    Attributes
    ----------
    value, low, high : float
        In the plain unit.  What is published has no range: low = value = high.
    unit : str
    label : str
        "published": printed by the maker; "derived": a product of published numbers;
        "assumed": nobody prints it, and the range says how sure we are.
    source : str
        The document, or the reason for the assumption.
    """

    value: float
    unit: str
    label: str
    source: str
    low: float
    high: float

    def __str__(self) -> str:
        text = quantity(self.value, self.unit)
        if self.low != self.high:
            text += f" ({quantity(self.low, self.unit)} to {quantity(self.high, self.unit)})"
        return text


@dataclass(frozen=True)
class Workload:
    """What has to be done, for a size n.

    Attributes
    ----------
    name, says : str
        In two words, and in a sentence.
    kind : str
        Which of a device's rates counts: a key of `ModelledDevice.rates`.
    size_is : str
        What n counts: "numbers", "rows", "bytes".
    typical : int
        A large size, at which a start no longer matters.
    work, touched, moved : callable
        n -> units of work, bytes of the device's memory read or written, bytes that cross the
        link when the data lie in main memory (both ways together).
    serial : bool
        Each step needs the one before.
    """

    name: str
    says: str
    kind: str
    size_is: str
    typical: int
    work: Callable[[int], float]
    touched: Callable[[int], float]
    moved: Callable[[int], float]
    serial: bool = False


@dataclass(frozen=True, repr=False)
class ModelledDevice:
    """A device as the model sees it.

    Attributes
    ----------
    name : str
        Of its kind: "CPU", "GPU".
    chip : str
        Which chip the figures are of, with its year.
    rates : mapping of str to Given
        Units of work a second, by kind of work.  A kind that is missing it cannot do.
    cannot : mapping of str to str
        Why a kind is missing.
    bandwidth : Given
        Of its memory, B/s.
    start : Given
        Seconds from the call to the first operation.
    link : Given or None
        B/s between it and main memory; None when main memory is its own.
    power : Given or None
        Watts; None where no source tells.
    """

    name: str
    chip: str
    rates: Mapping[str, Given]
    bandwidth: Given
    start: Given
    link: Given | None = None
    power: Given | None = None
    cannot: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, Given]:
        """Every number of the device, by name."""
        named = {**self.rates, "memory": self.bandwidth, "link": self.link}
        named |= {"start": self.start, "power": self.power}
        return {name: given for name, given in named.items() if given}

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.chip}"]
        for name, given in self.numbers.items():
            lines += [f"  {name:<16} {given!s:<42} {given.label}", f"{'':19}{given.source}"]
        lines += [f"  {kind:<16} {why}" for kind, why in self.cannot.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Estimate:
    """A modelled time and its parts, in seconds.

    Attributes
    ----------
    seconds, low, high : float
        With the numbers as given; with the kindest and the harshest of each range.
    start, moving, working : float
        The three terms; they add up to ``seconds``.
    limit : str
        The largest part: "the start", "the link", "its memory" or "its rate".
    joules : float or None
        Time x design power, an upper bound; None without a published power.
    """

    seconds: float
    low: float
    high: float
    start: float
    moving: float
    working: float
    limit: str
    joules: float | None


def estimate(
    workload: Workload, n: int, device: ModelledDevice, data: str = "device"
) -> Estimate | None:
    """The modelled time of a workload on a device.

    Parameters
    ----------
    workload : Workload
    n : int
        Its size, at least 0.
    device : ModelledDevice
    data : str
        Where the data lie before and after: "device" (its own memory) or "host" (main memory).

    Returns
    -------
    Estimate or None
        None when the device cannot do this kind of work.

    Raises
    ------
    InvalidValue
        For a negative size, or another place.
    """
    n = float(number("n", n, least=0))
    if data not in DATA:
        raise InvalidValue("data", '"device" or "host"', data)
    rate = device.rates.get(workload.kind)
    if rate is None:
        return None

    def parts(pick: str) -> tuple[float, float, float, float]:
        slow = {"low": "high", "high": "low"}.get(pick, pick)  # a high rate makes a low time
        # One step after another runs where the call is made: a host has nobody to wake.
        own = device.link is None
        start = 0.0 if own and workload.serial else getattr(device.start, pick)
        moving = 0.0
        if data == "host" and not own:
            moving = workload.moved(n) / getattr(device.link, slow)
        work = workload.work(n) / getattr(rate, slow)
        return start, moving, work, workload.touched(n) / getattr(device.bandwidth, slow)

    start, moving, work, memory = parts("value")
    terms = {"the start": start, "the link": moving, "its rate": work, "its memory": memory}
    total = start + moving + max(work, memory)
    low, high = (a + b + max(c, d) for a, b, c, d in (parts("low"), parts("high")))
    joules = total * device.power.value if device.power else None
    limit = max(terms, key=terms.get)
    return Estimate(total, low, high, start, moving, max(work, memory), limit, joules)


def break_even(
    workload: Workload,
    device: ModelledDevice,
    host: ModelledDevice,
    data: str = "host",
    most: int = 10**12,
) -> int | None:
    """The smallest size from 1 on at which the device is faster than the host.

    Parameters
    ----------
    workload : Workload
    device, host : ModelledDevice
    data : str
        As in `estimate`; the host's data are always at home.
    most : int
        The largest size that is looked at.

    Returns
    -------
    int or None
        None when the device is not faster at any size up to ``most``, or cannot do the work.

    Notes
    -----
    It doubles the size, then halves the gap, so it takes for granted that a device that is faster
    stays so for larger sizes.  With one start and costs that grow as powers of n it does.
    """

    def pays(n: int) -> bool:
        here, there = estimate(workload, n, host), estimate(workload, n, device, data)
        return here is not None and there is not None and there.seconds < here.seconds

    high = 1
    while not pays(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2  # known not to pay
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if pays(middle) else (middle, high)
    return high
