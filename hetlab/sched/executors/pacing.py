"""Paced devices that warm up, slow down or stop: how long a task takes from now on.

The executor on this machine asks before a task starts and reports when it ended; the rules are
those of the simulation, the clock is real.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Pacing"]


@dataclass
class _State:
    """A device at a time."""

    at: float
    degrees: float
    hot: bool = False
    busy: bool = False


class Pacing:
    """Temperature and speed of paced devices over time.

    Parameters
    ----------
    devices : iterable of Device
        Those that are paced.
    incidents : iterable of Incident
        What happens to them; a factor of 0 is the executor's business.
    """

    def __init__(self, devices, incidents=()) -> None:
        self._devices = {d.name: d for d in devices}
        self._incidents = {
            name: [i for i in incidents if i.device == name and i.factor] for name in self._devices
        }
        self._state = {
            name: _State(0.0, d.heat.ambient if d.heat else 0.0)
            for name, d in self._devices.items()
        }
        self._series = {n: [(0.0, d.heat.ambient)] for n, d in self._devices.items() if d.heat}

    def start(self, device: str, now: float, seconds: float) -> float:
        """A task of so many modelled seconds starts now; how long it will really take."""
        self._bring(device, now)
        state = self._state[device]
        state.busy = True
        trial, left = _State(**vars(state)), seconds
        while left > 0:
            pace, until = self._pace(device, trial), self._next(device, trial)
            step = min(left / pace, until - trial.at)
            left -= step * pace
            left = 0.0 if left < 1e-12 else left
            self._step(device, trial, trial.at + step)
        return trial.at - now

    def stop(self, device: str, now: float) -> None:
        """It works no longer."""
        if device in self._state:
            self._bring(device, now)
            self._state[device].busy = False

    def speed(self, device: str, now: float) -> float:
        """Its speed now, as a share of the modelled one."""
        self._bring(device, now)
        return self._pace(device, self._state[device])

    def change(self, now: float) -> float:
        """When the next device crosses a limit by itself; inf when none will."""
        found = math.inf
        for name, device in self._devices.items():
            if device.heat:
                self._bring(name, now)
                found = min(found, self._next(name, self._state[name], incidents=False))
        return found

    def degrees(self, now: float) -> dict[str, float]:
        """Degrees Celsius of the devices that have a thermal model."""
        for name in self._series:
            self._bring(name, now)
        return {name: self._state[name].degrees for name in self._series}

    @property
    def series(self) -> dict[str, tuple]:
        """Time and degrees of each, as they were asked for."""
        return {name: tuple(points) for name, points in self._series.items()}

    def _bring(self, device: str, now: float) -> None:
        state, series = self._state[device], self._series.get(device)
        while state.at < now:
            self._step(device, state, min(now, self._next(device, state)))
            if series is not None:
                series.append((state.at, state.degrees))

    def _step(self, device: str, state: _State, until: float) -> None:
        """Nothing changes on the way but the temperature."""
        heat = self._devices[device].heat
        if heat:
            watts, seconds = self._watts(device, state), until - state.at
            state.degrees = heat.after(state.degrees, watts, seconds)
            if not state.hot and state.degrees >= heat.limit - 1e-6:
                state.hot = True
            elif state.hot and state.degrees <= heat.recover + 1e-6:
                state.hot = False
        state.at = until

    def _next(self, device: str, state: _State, incidents: bool = True) -> float:
        """When the device's speed may change next."""
        heat, found = self._devices[device].heat, math.inf
        if heat:
            target = heat.recover if state.hot else heat.limit
            reach = heat.reaches(state.degrees, self._watts(device, state), target)
            found = state.at + max(reach, 1e-6)
        for one in self._incidents[device] if incidents else ():
            found = min([found, *(t for t in (one.at, one.until) if t > state.at)])
        return found

    def _pace(self, device: str, state: _State) -> float:
        heat, pace = self._devices[device].heat, 1.0
        for one in self._incidents[device]:
            if one.at <= state.at < one.until:
                pace = one.factor
        return pace * (heat.slowed if heat and state.hot else 1.0)

    def _watts(self, device: str, state: _State) -> float:
        chip = self._devices[device]
        if not state.busy:
            return chip.idle_watts
        share = chip.heat.slowed_watts if state.hot else 1.0
        return max(chip.idle_watts, chip.busy_watts * share)
