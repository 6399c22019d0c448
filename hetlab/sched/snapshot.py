"""A view as plain data, and policies that are functions of it.

Plain data can cross to another process: so a policy of someone else may decide in a sandbox, and
the run stays here.
"""

from __future__ import annotations

from collections.abc import Callable

from hetlab.errors import InvalidValue
from hetlab.sched.messages import Backup, Run, Wait
from hetlab.sched.policies.ranks import by_rank, upward

__all__ = ["OnState", "on_state", "state_of"]

COPY, WAIT = "copy", "wait"


def state_of(view, urgency: dict | None = None) -> dict:
    """What a policy needs to know, as dicts, lists, numbers and text.

    Parameters
    ----------
    view : View
    urgency : dict, optional
        The place of each task in the order of falling upward rank; made anew otherwise.

    Returns
    -------
    dict
        ``time``; ``left``, the number of tasks that have not ended; ``ready``, tasks that could
        start and are not placed, the most urgent first; ``devices``, of each that is alive: kind,
        free (when it will have done all it runs and has queued), running, since, queue, copy (the
        task of which it will run a second copy), speed (a share of the modelled one), degrees,
        limit, recover and slowed (None without a thermal model); ``cost``, of each task that has
        not ended and is ready, queued, running or copied: seconds at full speed on the living
        devices that can run it; ``arrives``, of each ready task: when its inputs can be there.
    """
    urgency = _urgency(view) if urgency is None else urgency
    ready = sorted(view.ready, key=urgency.__getitem__)
    devices, shown = {}, list(ready)
    for name in view.devices:
        device, running, queue = view.machine[name], view.running(name), list(view.queue(name))
        heat, degrees = device.heat, view.temperature(name)
        devices[name] = {
            "kind": device.kind,
            "free": view.available(name),
            "running": running,
            "since": None if running is None else view.since(name),
            "queue": queue,
            "copy": view.copying(name),
            "speed": view.speed(name),
            "degrees": heat.ambient if heat and degrees is None else degrees,
            "limit": heat.limit if heat else None,
            "recover": heat.recover if heat else None,
            "slowed": heat.slowed if heat else None,
        }
        shown += queue + ([] if running is None else [running])
    cost = {t: {d: view.cost(t, d) for d in devices if view.can_run(t, d)} for t in shown}
    return {
        "time": view.time,
        "left": view.left,
        "ready": ready,
        "devices": devices,
        "cost": cost,
        "arrives": {t: {d: view.arrival(t, d) for d in cost[t]} for t in ready},
    }


class OnState:
    """A policy that asks a function of plain data; see `on_state`."""

    def __init__(self, function: Callable, name: str) -> None:
        self.function, self.name = function, name
        self._urgency: dict | None = None

    def decide(self, view) -> list:
        """Show the state, and take the answer."""
        if self._urgency is None:
            self._urgency = _urgency(view)
        answer = self.function(state_of(view, self._urgency))
        if not isinstance(answer, (list, tuple)):
            return answer  # the scheduler says what is wrong with it
        return [_decision(each) for each in answer]


def on_state(function: Callable, name: str = "") -> type:
    """A policy made of a function of a state, for any executor.

    Parameters
    ----------
    function : callable
        ``function(state)`` gets what `state_of` returns, and returns a list of:
        ``(task, device)``, to put the task at the end of the device's queue;
        ``(task, device, "copy")``, to run a second copy of a running task on an idle device;
        ``("wait", seconds)``, to be asked again.
    name : str, optional
        Of the policy; the function's own otherwise.

    Returns
    -------
    type
        A class, so that each run begins anew.
    """
    if not callable(function):
        raise InvalidValue("function", "a function of a state", function)
    label = name or getattr(function, "__name__", "a function")

    class Fresh(OnState):
        def __init__(self) -> None:
            super().__init__(function, label)

    Fresh.__name__ = Fresh.__qualname__ = label
    return Fresh


def _urgency(view) -> dict:
    names = view.problem.names
    return {names[t]: i for i, t in enumerate(by_rank(upward(view.problem)))}


def _decision(each):
    if isinstance(each, (tuple, list)):
        if len(each) == 2 and each[0] == WAIT and not isinstance(each[1], str):
            return Wait(each[1])
        if len(each) == 3 and each[2] == COPY:
            return Backup(*each[:2])
        if len(each) == 2:
            return Run(*each)
    return each
