"""Random graphs and machines for hypothesis, and what must hold of every timeline."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import strategies as st

from hetlab.sched import Device, Heat, Link, Machine, TaskGraph
from hetlab.sched.timeline import RUN

COSTS = st.one_of(st.integers(0, 20), st.floats(0, 20, allow_nan=False)).map(float)


@st.composite
def graphs(draw, most=14, devices=3, memory=False, kinds=False):
    """A graph whose tasks may have gaps in their costs, shared data and data from home."""
    n = draw(st.integers(1, most))
    graph = TaskGraph("drawn", devices=[f"D{i}" for i in range(devices)])
    for t in range(n):
        costs = draw(st.lists(COSTS, min_size=devices, max_size=devices))
        gaps = draw(st.sets(st.integers(0, devices - 1), max_size=devices - 1))
        costs = [None if d in gaps else c for d, c in enumerate(costs)]
        before = draw(st.sets(st.integers(0, t - 1), max_size=3)) if t else set()
        sizes = {b: float(draw(st.integers(0, 9))) for b in sorted(before)}
        extra = draw(st.integers(0, 5)) if memory else 0
        kind = draw(st.sampled_from(["a", "b"])) if kinds else ""
        graph.add(t, costs, after=sizes, memory=extra, kind=kind)
    if draw(st.booleans()):
        readers = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=4))
        graph.put("first", float(draw(st.integers(0, 9))), to=sorted(readers))
    if n > 2 and draw(st.booleans()):
        readers = draw(st.sets(st.integers(1, n - 1), min_size=1, max_size=4))
        graph.put("shared", float(draw(st.integers(0, 9))), by=0, to=sorted(readers))
    return graph


@st.composite
def machines(draw, devices=3, memory=False, heat=False, setup=False):
    """Three devices in two or three memories, links of all kinds of contention."""
    together = draw(st.booleans())
    boxes = []
    for i in range(devices):
        warm = None
        if heat and draw(st.booleans()):
            warm = Heat(1.0, draw(st.floats(1, 20)), 60.0, 45.0, 0.5, 0.3, 25.0)
        boxes.append(
            Device(
                f"D{i}",
                memory="shared" if together and i < 2 else "",
                reconfigure=draw(st.sampled_from([0.0, 1.5])) if setup else 0.0,
                idle_watts=5.0,
                busy_watts=50.0,
                heat=warm,
            )
        )
    names = list(dict.fromkeys(d.memory for d in boxes))
    links = [
        Link(a, b, draw(st.sampled_from([0.5, 1.0, 4.0])), draw(st.sampled_from([0.0, 0.25])))
        for i, a in enumerate(names)
        for b in names[:i]
    ]
    room = {m: float(draw(st.integers(60, 120))) for m in names[1:]} if memory else {}
    contention = draw(st.sampled_from(["none", "queue", "share"]))
    return Machine(boxes, links, memories=room, contention=contention)


def assert_sound(timeline, quiet=True):
    """No overlap, nothing before its data, nothing above a memory's room, no miracle."""
    graph, machine = timeline.graph, timeline.machine
    near = 1e-9 * max(1.0, timeline.makespan)
    for spans in timeline.rows.values():
        for one, next_one in pairwise(spans):
            assert one.end <= next_one.start + near
    memory = {d.name: d.memory for d in machine.devices}
    copies = defaultdict(list)  # (data, memory): from when
    for data in graph.data.values():
        if data.by is None:
            copies[data.name, machine.home].append(0.0)
        for span in timeline.spans:
            if span.task == data.by and span.kind in (RUN, "lost"):
                copies[data.name, memory[span.device]].append(span.end)
    for move in timeline.transfers:
        assert move.end >= move.start - near
        least = machine.transfer(move.size, move.source, move.target)
        assert move.end - move.start >= least - near
        copies[move.data, move.target].append(move.end)
    for task, span in timeline.runs.items():
        for data in graph.reads(task):
            if data.by is not None and quiet:
                assert timeline.runs[data.by].end <= span.start + near
            if data.size:
                there = copies[data.name, memory[span.device]]
                assert any(when <= span.start + near for when in there)
        assert machine.seconds(graph.tasks[task], span.device) < float("inf")
        if quiet:
            modelled = machine.seconds(graph.tasks[task], span.device)
            assert span.seconds >= modelled - near
    for name, peak in timeline.peak_memory.items():
        assert peak <= machine.memories[name] * (1 + 1e-9)
    if timeline.complete and quiet:
        assert timeline.makespan >= timeline.bound.value - near
    assert sum(1 for s in timeline.spans if s.kind == RUN) == len(timeline.runs)
