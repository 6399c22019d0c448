"""Orders of a task graph: each task after what it needs, or the cycle that forbids it."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable

from hetlab.errors import UnknownName
from hetlab.sched.faults import GraphError, listing

__all__ = ["cycles", "topological"]


def topological(graph) -> tuple[Hashable, ...]:
    """Tasks, each after all that it needs; among those that may come next, the first added.

    A. B. Kahn, "Topological sorting of large networks", Communications of the ACM 5(11), 1962,
    with a heap where he has a list, so that the order is always the same.

    Raises
    ------
    UnknownName
        For data that name a task that is not there.
    GraphError
        For cycles; each is listed.
    """
    names = list(graph.tasks)
    index = {name: i for i, name in enumerate(names)}
    after: list[list[int]] = [[] for _ in names]
    missing = [0] * len(names)
    for data in graph.data.values():
        ends = data.to if data.by is None else (data.by, *data.to)
        for end in ends:
            if end not in index:
                raise UnknownName("task", str(end), names, where=f"data {data.name!r}")
        if data.by is None:
            continue
        for reader in data.to:
            after[index[data.by]].append(index[reader])
            missing[index[reader]] += 1
    ready = [i for i, count in enumerate(missing) if count == 0]
    order: list[int] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for reader in after[i]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(names):
        left = set(range(len(names))) - set(order)
        found = [[names[i] for i in cycle] for cycle in cycles(left, after)]
        raise GraphError(_sentence(found), do="Remove one of its edges.")
    return tuple(names[i] for i in order)


def cycles(left: Iterable[int], after: list[list[int]], most: int = 3) -> list[list[int]]:
    """Up to ``most`` cycles that share no task.

    Parameters
    ----------
    left : iterable of int
        The tasks that no order reaches: each lies on a cycle or behind one.
    after : list of list of int
        The tasks that wait for each task.
    """
    left = set(left)
    before: dict[int, list[int]] = {i: [] for i in left}
    for i in left:
        for reader in after[i]:
            if reader in left:
                before[reader].append(i)
    found: list[list[int]] = []
    while left and len(found) < most:
        # Whoever waits for something that is left: walking backwards must come round.
        at, seen = min(left), {}
        while at not in seen:
            seen[at] = len(seen)
            waits = [b for b in before[at] if b in left]
            if not waits:
                break
            at = min(waits)
        else:
            walk = list(seen)[seen[at] :][::-1]
            first = walk.index(min(walk))
            found.append(walk[first:] + walk[:first])
            left -= set(walk)
            continue
        left.discard(at)
    return found


def _sentence(found: list[list]) -> str:
    loops = [f"{listing(cycle, 8)} and back to {cycle[0]!r}" for cycle in found]
    if len(found) == 1 and len(found[0]) == 1:
        return f"the task {found[0][0]!r} waits for itself"
    many = "a cycle" if len(found) == 1 else f"{len(found)} cycles"
    return f"the graph has {many}: {'; '.join(loops)}"
