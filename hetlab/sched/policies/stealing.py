"""Work stealing: tasks stay near their data, and whoever has nothing to do takes some."""

from __future__ import annotations

from hetlab.sched.messages import Run

__all__ = ["WorkStealing"]


class WorkStealing:
    """A ready task goes where most of its inputs are; idle devices steal from the back of queues.

    R. D. Blumofe, C. E. Leiserson, "Scheduling multithreaded computations by work stealing",
    Journal of the ACM 46(5), 1999.  There a thief draws its victim; here it takes from the device
    that would be busy for the longest, so that runs repeat.  It goes on while what it takes would
    end earlier than the victim's whole queue, so it leaves with its share and not with one task.
    """

    name = "work stealing"

    def decide(self, view) -> list:
        """Place what is ready, then let idle devices steal."""
        if not view.ready and not view.idle:
            return []
        queues = {d: list(view.queue(d)) for d in view.devices}
        free = {d: view.available(d) for d in view.devices}
        placed: dict = {}
        for task in view.ready:
            able = [d for d in view.devices if view.can_run(task, d)]
            near = min(able, key=lambda d: (view.missing_bytes(task, d), view.cost(task, d)))
            placed[task] = near
            queues[near].append(task)
            free[near] += view.cost(task, near) / view.speed(near)
        for thief in [d for d in view.devices if view.running(d) is None and not queues[d]]:
            while (found := _loot(view, thief, queues, free)) is not None:
                task, victim = found
                queues[thief].append(task)
                free[victim] -= view.cost(task, victim) / view.speed(victim)
                free[thief] += view.cost(task, thief) / view.speed(thief)
                placed[task] = thief
        return [Run(task, device) for task, device in placed.items()]


def _loot(view, thief: str, queues: dict, free: dict) -> tuple | None:
    """Take the last task of the longest queue that would end earlier on the thief."""
    for victim in sorted(queues, key=lambda d: -free[d]):
        if victim == thief or not queues[victim]:
            continue
        for i in range(len(queues[victim]) - 1, max(-1, len(queues[victim]) - 9), -1):
            task = queues[victim][i]
            if not view.can_run(task, thief):
                continue
            start = max(free[thief], view.arrival(task, thief))
            if start + view.cost(task, thief) / view.speed(thief) < free[victim] * (1 - 1e-12):
                del queues[victim][i]
                return task, victim
            break
    return None
