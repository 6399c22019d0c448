"""Graphs with known answers, and generated ones; none is copied from a data set."""

from __future__ import annotations

import random

from hetlab.errors import InvalidValue
from hetlab.sched.graph import TaskGraph

__all__ = ["arabnejad", "fork_join", "graham", "layered", "topcuoglu"]


def topcuoglu() -> TaskGraph:
    """The ten tasks that HEFT and CPOP were explained with: HEFT 80, CPOP 86, optimum 73.

    H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Transactions on Parallel and Distributed Systems 13(3),
    2002, figure 2.  The size of data is their transfer time: use ``Machine.uniform(3)``.
    """
    rows = (
        "14 16 9, 13 19 18, 11 13 19, 13 8 17, 12 13 10, 13 16 9, 7 15 11, 5 11 14, 18 12 20, "
        "21 7 16"
    )
    edges = (
        "1-2:18 1-3:12 1-4:9 1-5:11 1-6:14 2-8:19 2-9:16 3-7:23 4-8:27 4-9:23 5-9:13 6-8:15 "
        "7-10:17 8-10:11 9-10:13"
    )
    return _paper("Topcuoglu 2002", rows, edges)


def arabnejad() -> TaskGraph:
    """The ten tasks that PEFT was explained with: PEFT 122, HEFT 133, optimum 113.

    H. Arabnejad, J. G. Barbosa, IEEE Transactions on Parallel and Distributed Systems 25(3), 2014,
    figure 1.  The size of data is their transfer time: use ``Machine.uniform(3)``.
    """
    rows = (
        "22 21 36, 22 18 18, 32 27 43, 7 10 4, 29 27 35, 26 17 24, 14 25 30, 29 23 36, 15 21 8, "
        "13 16 33"
    )
    edges = (
        "1-2:17 1-3:31 1-4:29 1-5:13 1-6:7 2-8:3 2-9:30 3-7:16 4-8:11 4-9:7 5-9:57 6-8:5 7-10:9 "
        "8-10:42 9-10:7"
    )
    return _paper("Arabnejad 2014", rows, edges)


def graham(*, less: float = 0.0, without: tuple[tuple[str, str], ...] = ()) -> TaskGraph:
    """Nine tasks that end later when they get shorter, freer, or get more processors.

    R. L. Graham, SIAM Journal on Applied Mathematics 17(2), 1969: 12 on three equal processors with
    list scheduling.

    Parameters
    ----------
    less : float
        Taken off every time.
    without : tuple of pairs
        Edges that are left out: ``(("t4", "t5"), ("t4", "t6"))``.
    """
    graph = TaskGraph("Graham 1969")
    after = {"t9": ["t1"], "t5": ["t4"], "t6": ["t4"], "t7": ["t4"], "t8": ["t4"]}
    for i, time in enumerate((3, 2, 2, 2, 4, 4, 4, 4, 9), 1):
        name = f"t{i}"
        graph.add(
            name, time - less, after=[b for b in after.get(name, ()) if (b, name) not in without]
        )
    return graph


def layered(
    tasks: int, devices: int = 8, *, seed: int = 0, width: int | None = None, ratio: float = 0.5
) -> TaskGraph:
    """Random layers with unlike costs, as scheduling papers draw them.

    Parameters
    ----------
    tasks, devices : int
    seed : int
    width : int, optional
        Tasks a layer; the square root of ``tasks`` otherwise.
    ratio : float
        Mean transfer time over mean cost.
    """
    for name, value in (("tasks", tasks), ("devices", devices)):
        if not isinstance(value, int) or value < 1:
            raise InvalidValue(name, "a whole number, at least 1", value)
    draw = random.Random(seed)
    width = width or max(1, round(tasks**0.5))
    graph = TaskGraph(f"layered {tasks}", devices=[f"P{i + 1}" for i in range(devices)])
    names = [f"t{i}" for i in range(tasks)]
    for i, name in enumerate(names):
        mean = draw.uniform(5, 15)
        costs = [round(mean * draw.uniform(0.5, 1.5), 3) for _ in range(devices)]
        layer = i // width
        above = names[(layer - 1) * width : layer * width] if layer else []
        chosen = draw.sample(above, min(len(above), draw.randint(1, 4)))
        sizes = {before: round(ratio * draw.uniform(5, 15), 3) for before in chosen}
        graph.add(name, costs, after=sizes)
    return graph


def fork_join(width: int, *, cost: float = 1.0, size: float = 0.0) -> TaskGraph:
    """One root, many equal children, one end."""
    graph = TaskGraph(f"fork-join {width}")
    graph.add("root", cost)
    for i in range(width):
        graph.add(f"child {i}", cost, after={"root": size})
    graph.add("end", cost, after={f"child {i}": size for i in range(width)})
    return graph


def _paper(name: str, rows: str, edges: str) -> TaskGraph:
    graph = TaskGraph(name, devices=["P1", "P2", "P3"])
    for i, row in enumerate(rows.split(","), 1):
        graph.add(f"t{i}", [float(cost) for cost in row.split()])
    for edge in edges.split():
        ends, _, size = edge.partition(":")
        before, _, after = ends.partition("-")
        graph.connect(f"t{before}", f"t{after}", float(size))
    return graph
