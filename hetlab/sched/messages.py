"""What crosses between executors, the scheduler and a policy: plain, frozen messages.

Events tell the scheduler what happened; instructions tell an executor what to do; decisions are
what a policy says.  Tasks, data, devices and memories are named in all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

__all__ = [
    "Backup",
    "Cancel",
    "CancelMove",
    "Drop",
    "Failed",
    "Finished",
    "Lost",
    "Move",
    "Moved",
    "Run",
    "Sensed",
    "Start",
    "Wait",
    "Wake",
    "Woke",
]

Name = Hashable


# Events: from an executor to the scheduler.
@dataclass(frozen=True, slots=True)
class Finished:
    """A task ended well; its outputs lie in the device's memory."""

    task: Name
    device: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A task raised; it would raise again, so it is not tried again."""

    task: Name
    device: str
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Data arrived in a memory."""

    data: Name
    memory: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A device is gone, and with it what only its memory held."""

    device: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sensed:
    """What sensors say: degrees Celsius, and speed as a share of the modelled one."""

    temperatures: Mapping[str, float] = field(default_factory=dict)
    speeds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Woke:
    """The time that a policy waited for has come."""


# Instructions: from the scheduler to an executor.
@dataclass(frozen=True, slots=True)
class Start:
    """Run a task; its inputs lie in the device's memory.  ``setup``: reconfigure first."""

    task: Name
    device: str
    setup: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """Copy data from one memory to another."""

    data: Name
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Free a copy."""

    data: Name
    memory: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop a running task: a second copy of it was faster, or its inputs are gone."""

    task: Name
    device: str


@dataclass(frozen=True, slots=True)
class CancelMove:
    """Forget a copy on its way: its source or target is gone."""

    data: Name
    target: str


@dataclass(frozen=True, slots=True)
class Wake:
    """Send `Woke` at this time."""

    at: float


# Decisions: from a policy.  A pair (task, device) means Run(task, device).
@dataclass(frozen=True, slots=True)
class Run:
    """Put a task at the end of a device's queue, or at its front.

    A task that waits in another queue moves from there.  A task may be queued before those it
    needs are done; the device then waits for it, in the order of its queue.
    """

    task: Name
    device: str
    front: bool = False


@dataclass(frozen=True, slots=True)
class Backup:
    """Run a second copy of a running task on another device; the first to end counts."""

    task: Name
    device: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask me again after so many seconds, even if nothing happens until then."""

    seconds: float
