"""What a simulation shall meet: noise, slow devices, dead devices, tasks that raise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hetlab.errors import InvalidValue, UnknownName

__all__ = ["Incident", "Scenario"]


@dataclass(frozen=True)
class Incident:
    """Something that happens to a device.

    Attributes
    ----------
    device : str
    at : float
        When.
    factor : float
        Its speed from then on, as a share of the modelled one; 0: it dies.
    until : float
        When it is over; a dead device stays dead.
    reason : str
    """

    device: str
    at: float
    factor: float = 0.0
    until: float = math.inf
    reason: str = ""

    @property
    def says(self) -> str:
        """The reason, or a sentence in its place."""
        return self.reason or f"device {self.device} died at {self.at:g}"


@dataclass(frozen=True)
class Scenario:
    """What a policy does not know in advance.

    Attributes
    ----------
    noise : float
        Standard deviation of the logarithm of a duration; 0.1 is about 10 %.
    seed : int
        Of the noise; a task's duration on a device does not depend on when it runs.
    incidents : tuple of Incident
    raises : mapping
        Tasks that raise, with the reason.
    """

    noise: float = 0.0
    seed: int = 0
    incidents: tuple[Incident, ...] = ()
    raises: Mapping[Hashable, str] = field(default_factory=dict)

    def factors(self, shape: tuple[int, int]) -> np.ndarray | None:
        """What the duration of each task on each device is multiplied by; None without noise."""
        if not self.noise:
            return None
        return np.exp(self.noise * np.random.default_rng(self.seed).standard_normal(shape))

    def check(self, machine) -> None:
        """Raise for a device that is not there, or a number that makes no sense."""
        if not 0 <= self.noise < 3:
            raise InvalidValue("noise", "at least 0 and below 3", self.noise)
        names = [d.name for d in machine.devices]
        for incident in self.incidents:
            if incident.device not in names:
                raise UnknownName("device", incident.device, names, where="an incident")
            if not (0 <= incident.factor < math.inf and 0 <= incident.at <= incident.until):
                rule = "a time from 0 on, an end after it, and a factor of at least 0"
                raise InvalidValue("an incident", rule, incident)
