"""What a probe returns: a device with its facts, or its absence with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

__all__ = ["Absent", "Device", "DeviceList"]


@dataclass(frozen=True)
class Device:
    """One device of this machine.

    Attributes
    ----------
    kind : str
        "cpu", "memory", "disk", "gpu", "virtual gpu", "worker".
    name : str
        What its maker or the operating system calls it.
    says : str
        The facts that matter, as one line.
    facts : dict
        Values in plain units; a key ends in its unit ("memory_bytes", "clock_hz").
    unread : dict of str to str
        Facts that could not be read, with the reason.
    do : str
        What to do next, when something about it asks for that.
    """

    kind: str
    name: str
    says: str
    facts: dict = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    do: str = ""

    def unread_lines(self) -> list[str]:
        """What could not be read, one line a reason."""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.unread.items():
            by_reason.setdefault(why, []).append(name.replace("_", " "))
        return [f"{', '.join(names)} ({why})" for why, names in by_reason.items()]

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {"present": True, **asdict(self)}


@dataclass(frozen=True)
class Absent:
    """A device that is not here.

    Attributes
    ----------
    kind, name : str
        As in `Device`; the name is that of the kind ("NVIDIA GPU").
    why : str
        The reason, as one sentence.
    do : str
        What to do next, as one sentence.
    """

    kind: str
    name: str
    why: str
    do: str

    @property
    def says(self) -> str:
        """Both sentences."""
        return f"{self.why} {self.do}"

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {"present": False, **asdict(self)}


class DeviceList(Sequence):
    """The devices of a machine, those that are absent included.

    Indexing, iteration and ``len`` see the devices that are present.

    Attributes
    ----------
    present : tuple of Device
    absent : tuple of Absent
    """

    def __init__(self, found: Sequence[Device | Absent]) -> None:
        self.present = tuple(d for d in found if isinstance(d, Device))
        self.absent = tuple(d for d in found if isinstance(d, Absent))

    def __len__(self) -> int:
        return len(self.present)

    def __getitem__(self, index):
        return self.present[index]

    def __iter__(self) -> Iterator[Device]:
        return iter(self.present)

    def of(self, kind: str) -> list[Device]:
        """Devices of one kind, such as ``"gpu"``."""
        return [d for d in self.present if d.kind == kind]

    def to_dict(self) -> list[dict]:
        """Plain data for JSON."""
        return [d.to_dict() for d in (*self.present, *self.absent)]

    def __repr__(self) -> str:
        wide = max((len(d.kind) for d in (*self.present, *self.absent)), default=0)
        margin = " " * (wide + 2)
        lines = []
        for d in self.present:
            lines.append(f"{d.kind:<{wide}}  {d.name}")
            lines += [f"{margin}{text}" for text in (d.says, d.do) if text]
            lines += [f"{margin}not read: {text}" for text in d.unread_lines()]
        if self.absent:
            lines.append("not here")
            for d in self.absent:
                lines += [f"  {d.name}: {d.why}", f"    {d.do}"]
        return "\n".join(lines)
