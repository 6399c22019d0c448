"""Copies and kernels in streams: what overlaps, what waits, and what is not in order."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.models.streams import ENGINES, StreamTimeline, chunked
from hetlab.models.transfer import Link

OWN = Link("own", 1e6, 0.25, "for this test")  # a byte a microsecond, a quarter second to start


def engines_in_order(chunks, copy, kernel):
    """Three engines, each with the chunks in order, when no stream ever holds anything up."""
    inside = computed = outside = 0.0
    for _ in range(chunks):
        inside += copy
        computed = max(computed, inside) + kernel
        outside = max(outside, computed) + copy
    return outside


@settings(max_examples=100, deadline=None)
@given(nbytes=st.integers(0, 10**7), took=st.floats(0, 20), chunks=st.integers(1, 12))
def test_with_a_stream_for_each_chunk_only_the_engines_count(nbytes, took, chunks):
    line = chunked(nbytes, took, chunks, streams=chunks, over=OWN)
    copy = 0.25 + nbytes / chunks / 1e6
    assert line.seconds == pytest.approx(engines_in_order(chunks, copy, took / chunks))


@settings(max_examples=100, deadline=None)
@given(
    nbytes=st.integers(0, 10**7),
    took=st.floats(0, 20),
    chunks=st.integers(1, 12),
    streams=st.integers(1, 5),
    pinned=st.booleans(),
)
def test_no_plan_beats_its_busiest_engine_or_is_worse_than_one_after_the_other(
    nbytes, took, chunks, streams, pinned
):
    line = chunked(nbytes, took, chunks, streams, over=OWN, pinned=pinned)
    total = sum(line.work.values())
    assert max(line.work.values()) <= line.seconds * (1 + 1e-12)
    assert line.seconds <= total * (1 + 1e-12) + 1e-12
    if streams == 1:
        assert line.seconds == pytest.approx(total)
    assert line.hazards() == []
    for key in ("engine", "stream"):  # an engine does one thing at a time, and so does a stream
        for name in {getattr(p, key) for p in line.pieces}:
            mine = sorted((p.start, p.end) for p in line.pieces if getattr(p, key) == name)
            assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(mine))


def test_copies_from_memory_that_is_not_pinned_overlap_with_nothing():
    line = chunked(8e6, 4.0, 4, streams=4, over=OWN, pinned=False)
    assert line.seconds == pytest.approx(sum(line.work.values()))


def test_an_event_orders_two_streams_and_nothing_else():
    line = StreamTimeline(OWN)
    a, b = line.stream("a"), line.stream("b")
    a.copy_in(750_000, "x")  # one second
    done = a.record()
    a.kernel(5.0, "long", reads=["x"])
    b.wait(done).kernel(1.0, "short", reads=["x"], writes=["y"])
    starts = {p.name: p.start for p in line.pieces}
    assert starts == {"x": 0.0, "long": 1.0, "short": 6.0}  # one engine for kernels
    assert line.hazards() == []


@pytest.mark.parametrize(
    ("first", "second", "fault"),
    [
        (("reads",), ("reads",), False),
        (("writes",), ("reads",), True),
        (("reads",), ("writes",), True),
        (("writes",), ("writes",), True),
    ],
)
def test_data_in_two_streams_without_order_are_a_hazard_unless_both_read(first, second, fault):
    for ordered in (False, True):
        line = StreamTimeline(OWN)
        a, b = line.stream("a"), line.stream("b")
        a.kernel(1.0, "f", **{first[0]: ["d"]})
        if ordered:
            b.wait(a.record())
        b.kernel(1.0, "g", **{second[0]: ["d"]})
        assert bool(line.hazards()) == (fault and not ordered)
        if line.hazards():
            assert "g in stream b and f in stream a both use d" in line.hazards()[0]


def test_order_passes_on_from_event_to_event():
    line = StreamTimeline(OWN)
    a, b, c = (line.stream(n) for n in "abc")
    a.copy_in(1, "x")
    b.wait(a.record())
    c.wait(b.record()).kernel(1.0, "f", reads=["x"])
    assert line.hazards() == []


def test_the_trace_has_a_track_a_stream_and_microseconds(tmp_path):
    line = chunked(2e6, 3.0, 2, streams=2, over=OWN)
    trace = line.to_perfetto(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")) == trace
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert names == {"stream 1", "stream 2"} and len(spans) == len(line.pieces) == 6
    assert max(e["ts"] + e["dur"] for e in spans) == pytest.approx(line.seconds * 1e6)
    assert all({"name", "ts", "dur", "pid", "tid", "cat"} <= set(e) for e in spans)
    assert {e["cat"] for e in spans} == set(ENGINES)


def test_the_text_lists_every_piece_and_every_hazard():
    line = StreamTimeline(OWN)
    line.stream("a").copy_in(1e6, "x")
    line.stream("b").kernel(1e-3, "f", reads=["x"])
    text = repr(line)
    assert "2 streams over own, 1.25 s in all (modelled)" in text
    assert "  ! f in stream b and x in stream a both use x" in text


def test_what_makes_no_timeline_is_refused():
    with pytest.raises(InvalidValue, match="chunks"):
        chunked(1, 1, 0)
    with pytest.raises(InvalidValue, match="kernel"):
        StreamTimeline(OWN).stream("a").kernel(-1.0)
