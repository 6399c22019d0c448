"""The machine stamp that every measurement carries."""

from __future__ import annotations

import hashlib
import platform
import sys
from dataclasses import asdict, dataclass, field

from hetlab.devices import this_cpu
from hetlab.errors import InvalidValue

__all__ = ["Machine", "machine"]

# Libraries whose version changes what a timing means.  Only those already imported are named:
# finding out about the others would load them.
_LIBRARIES = ("numpy", "numba", "numba_cuda", "triton", "tvm", "cupy")


@dataclass(frozen=True)
class Machine:
    """Where a number was taken.

    Attributes
    ----------
    cpu : str
        The processor's name, or "unknown processor".
    physical, logical : int or None
        Cores, and hardware threads.
    usable : int
        Hardware threads that the process could run on.
    os : str
        Operating system and its release.
    python : str
        Implementation and version.
    versions : dict of str to str
        The libraries that were loaded, with their versions.
    fingerprint : str
        Twelve hexadecimal digits, the same on every run on one machine.  It is a hash of
        processor, cores, memory, operating system and host name; none of them can be read from it.
    unread : dict of str to str
        What the system did not tell, with the reason.
    """

    cpu: str
    physical: int | None
    logical: int | None
    usable: int
    os: str
    python: str
    versions: dict[str, str]
    fingerprint: str
    unread: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """One line for the foot of a table."""
        libraries = "".join(f", {name} {version}" for name, version in self.versions.items())
        return f"{self.cpu}, {self._cores}; {self.os}; {self.python}{libraries}"

    @property
    def _cores(self) -> str:
        if self.physical is None and self.logical is None:
            return f"{self.usable} usable threads"
        known = self.physical or self.logical
        text = f"{known} core{'s' * (known != 1)}"
        if self.logical not in {None, known}:
            text += f", {self.logical} threads"
        if self.usable != self.logical:
            text += f" ({self.usable} usable)"
        return text

    def __repr__(self) -> str:
        libraries = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = [
            f"{self.cpu}, {self._cores}",
            f"  system       {self.os}, {self.python}",
            f"  libraries    {libraries or 'none of those that matter is loaded yet'}",
            f"  fingerprint  {self.fingerprint}",
        ]
        lines += [f"  not read     {name}: {why}" for name, why in self.unread.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> Machine:
        """Read what `to_dict` wrote; raises InvalidValue when a field is missing."""
        try:
            return cls(**data)
        except TypeError as error:
            raise InvalidValue("machine", "a machine stamp written by hetlab", data) from error

    def difference(self, other: Machine) -> str:
        """Why numbers of the two must not be mixed, as a sentence; "" when they may be."""
        if self.fingerprint != other.fingerprint:
            return (
                f"they come from different machines: {self.line} [{self.fingerprint}] and "
                f"{other.line} [{other.fingerprint}]"
            )
        if self.python != other.python:
            return f"they come from different Pythons: {self.python} and {other.python}"
        for name in sorted(self.versions.keys() & other.versions.keys()):
            if self.versions[name] != other.versions[name]:
                return (
                    f"they come from different versions of {name}: {self.versions[name]} "
                    f"and {other.versions[name]}"
                )
        return ""


def machine() -> Machine:
    """Describe the machine this runs on.

    Returns
    -------
    Machine
        What could not be read is listed in ``unread`` with the reason.

    Examples
    --------
    >>> machine().fingerprint == machine().fingerprint
    True
    """
    cpu = this_cpu()
    system = f"{platform.system() or 'unknown system'} {platform.release()}".strip()
    # Memory in GiB: a kernel update moves the last megabytes of what it reports.
    memory = round((cpu.memory or 0) / 2**30)
    parts = [cpu.model, cpu.architecture, cpu.physical, cpu.logical, memory]
    parts += [platform.system(), platform.node()]
    versions = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version:
            versions[name] = str(version)
    return Machine(
        cpu=cpu.model or "unknown processor",
        physical=cpu.physical,
        logical=cpu.logical,
        usable=cpu.usable,
        os=system,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        versions=versions,
        fingerprint=hashlib.sha256(repr(parts).encode()).hexdigest()[:12],
        unread=dict(cpu.unread),
    )
