"""What moving data between two memories costs: a start, and then a rate.

    seconds = latency + bytes / bandwidth

R. W. Hockney, "The communication challenge for MPP", Parallel Computing 20(3), 1994.  The size at
which half of the bandwidth is reached, ``latency * bandwidth``, is Hockney's n-half.
"""

from __future__ import annotations

from dataclasses import dataclass

from hetlab.errors import InvalidValue, UnknownName
from hetlab.models.domain import number, plain
from hetlab.units import quantity, seconds

__all__ = ["LINKS", "Link", "link", "transfer_seconds", "zero_copy_seconds"]


@dataclass(frozen=True)
class Link:
    """A way between two memories, one direction.

    Attributes
    ----------
    name : str
    bandwidth : float
        B/s.
    latency : float
        Seconds from the call to the first byte: assumed, not published by anybody.
    source : str
        Where the bandwidth comes from.
    """

    name: str
    bandwidth: float
    latency: float
    source: str

    @property
    def half_size(self) -> float:
        """Bytes at which half of the bandwidth is reached."""
        return self.latency * self.bandwidth

    def __str__(self) -> str:
        rate, start = quantity(self.bandwidth, "B/s"), seconds(self.latency)
        return f"{self.name}: {rate} one way ({self.source}), {start} to start (assumed)"

    __repr__ = __str__


# Transfers a second a lane x lanes x 128 / 130 bits that carry data / 8 bits a byte.
_PCIE = "PCI-SIG, PCI Express Base Specification: {} GT/s x 16 lanes x 128/130"


def _pcie(generation: int, rate: float) -> Link:
    bandwidth = rate * 1e9 * 16 * 128 / 130 / 8
    return Link(f"PCIe {generation}", bandwidth, 10e-6, _PCIE.format(f"{rate:g}"))


LINKS: dict[str, Link] = {
    found.name: found
    for found in (
        _pcie(3, 8),
        _pcie(4, 16),
        _pcie(5, 32),
        Link(
            "NVLink-C2C",
            450e9,
            5e-6,
            "NVIDIA, Grace Hopper Superchip Architecture, 2022: 900 GB/s both ways",
        ),
    )
}
"""Links by name.  Ten microseconds is what a copy call costs on usual systems, within a factor of
two; it is an assumption, to be replaced by a measurement where there is a GPU."""


def link(which: str | Link) -> Link:
    """A link by its name.

    Raises
    ------
    UnknownName
        With the names that are known.
    """
    if isinstance(which, Link):
        return which
    try:
        return LINKS[which]
    except KeyError:
        raise UnknownName("link", which, LINKS) from None


def transfer_seconds(nbytes, over: str | Link = "PCIe 4", *, pinned: bool = True):
    """The time of one copy: modelled.

    Parameters
    ----------
    nbytes : array_like
        Bytes, 0 or more.
    over : str or Link
        A key of `LINKS`, or a link of your own.
    pinned : bool
        False: the data lie in ordinary memory, which the operating system may move.  They are
        first copied to a pinned buffer, so every byte is moved twice: half of the bandwidth
        (assumed: the copy in main memory is taken to be as fast as the link).

    Returns
    -------
    float or ndarray
        Seconds.

    Raises
    ------
    InvalidValue
        For negative sizes.
    UnknownName
        For another link.
    """
    nbytes, way = number("nbytes", nbytes, least=0), link(over)
    rate = way.bandwidth if pinned else way.bandwidth / 2
    return plain(way.latency + nbytes / rate)


def zero_copy_seconds(nbytes, touches, over: str | Link = "PCIe 4", *, bandwidth: float):
    """A kernel that reads main memory over the link, against one that reads a copy: modelled.

    Parameters
    ----------
    nbytes : array_like
        Size of the data.
    touches : array_like
        How often the kernel reads each byte from memory.
    over : str or Link
    bandwidth : float
        Of the device's own memory, B/s.

    Returns
    -------
    (float or ndarray, float or ndarray)
        Seconds without a copy (each touch crosses the link) and with one (the data cross once,
        then each touch is served by the device's memory).
    """
    nbytes = number("nbytes", nbytes, least=0)
    touches = number("touches", touches, least=0)
    if not bandwidth > 0:
        raise InvalidValue("bandwidth", "above 0 B/s", bandwidth)
    way = link(over)
    direct = touches * nbytes / way.bandwidth
    copied = way.latency + nbytes / way.bandwidth + touches * nbytes / bandwidth
    return plain(direct), plain(copied)
