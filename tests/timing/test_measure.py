"""measure, on a clock that tests move by hand, and once on the real one."""

import gc
import json
import math

import pytest
from clocks import Hand

from hetlab.errors import HetlabError, InvalidValue
from hetlab.timing import Measurement, measure


def one(duration=2e-6, resolution=1e-9, **options):
    hand = Hand(resolution)
    return measure(hand.work(duration), clock=hand.clock, name="f", **options)


def test_samples_are_seconds_a_call_whatever_the_inner_loop():
    m = one(2e-6)
    assert m.calibration.loops >= 256  # a sample is far above the clock's resolution
    assert m.median == pytest.approx(2e-6)
    assert m.unit == "s"


@pytest.mark.parametrize("resolution", [1e-9, 1e-6, 1e-4])
def test_a_sample_lasts_a_thousand_steps_of_the_clock(resolution):
    m = one(3e-6, resolution)
    assert m.median * m.calibration.loops >= 700 * resolution


def test_first_call_is_kept_apart():
    hand, calls = Hand(), []

    def slow_once():
        calls.append(1)
        hand.time += 5.0 if len(calls) == 1 else 1e-3

    m = measure(slow_once, clock=hand.clock)
    assert m.first_call == pytest.approx(5.0)
    assert max(m.samples) < 2e-3


def test_setup_makes_fresh_inputs_outside_the_clock_for_every_call():
    hand, seen = Hand(), []

    def setup(n):
        hand.time += 100.0
        return [n] * 3

    def consume(items):
        seen.append(len(items))
        items.clear()
        hand.time += 1e-3

    m = measure(consume, 7, setup=setup, clock=hand.clock, samples=9)
    assert set(seen) == {3}
    assert m.median == pytest.approx(1e-3)
    assert m.first_call == pytest.approx(1e-3)
    assert m.calibration.fresh_inputs
    loops = measure(consume, 7, setup=setup, clock=hand.clock, samples=9, loops=5)
    assert loops.median == pytest.approx(1e-3)


def test_sync_is_inside_the_clock():
    hand = Hand()

    def sync():
        hand.time += 1.0

    m = measure(hand.work(0.5), sync=sync, clock=hand.clock, samples=9, loops=2)
    assert m.median == pytest.approx((2 * 0.5 + 1.0) / 2)


def test_garbage_collection_is_off_meanwhile_and_back_afterwards():
    seen = set()
    measure(lambda: seen.add(gc.isenabled()), seconds=0.01)
    assert seen == {False}
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        measure(lambda: 1 / 0)
    assert gc.isenabled()


def test_an_exception_passes_through_with_a_note():
    calls = []

    def breaks_later():
        calls.append(1)
        if len(calls) > 5:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        measure(breaks_later)
    assert any("timing breaks_later" in note for note in caught.value.__notes__)
    with pytest.raises(ZeroDivisionError) as caught:
        measure(lambda: 1 / 0)
    assert any("the first call" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    "options",
    [
        {"samples": 0},
        {"samples": 2.5},
        {"samples": True},
        {"loops": -1},
        {"seconds": -1},
        {"seconds": "long"},
        {"warmup": float("nan")},
        {"confidence": 99},
        {"setup": 3},
        {"sync": "now"},
    ],
)
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(InvalidValue, match=next(iter(options))):
        measure(len, [], **options)


def test_something_that_is_no_function_is_refused():
    with pytest.raises(InvalidValue, match="fn must be something that can be called"):
        measure(3)


def test_a_clock_that_stands_still_does_not_hang():
    m = measure(lambda: None, clock=Hand().clock, samples=9, loops=1)
    assert m.median == 0
    assert any(w.startswith("too short") for w in m.warnings)


def warned(m, start):
    return any(w.startswith(start) for w in m.warnings)


def test_warnings_name_their_reason():
    assert one().warnings == ()
    assert warned(one(3e-6, resolution=1e-6, loops=1), "too short for the clock")
    assert warned(one(samples=5), "too few samples")
    slow = one(lambda t: 1e-3 * (1 + t), samples=100, warmup=0, loops=1)
    assert warned(slow, "slowing down")
    calls = [0]

    def levels(_):
        calls[0] += 1
        return 2e-3 if calls[0] % 3 else 3e-3

    assert warned(one(levels, samples=60), "two levels")


def test_a_slow_function_is_not_sampled_for_minutes():
    m = one(30.0)
    assert len(m.samples) == 3
    assert warned(m, "too few samples")
    assert m.interval == (-math.inf, math.inf)
    assert "no interval" in repr(m)


def test_json_there_and_back():
    m = one()
    again = Measurement.from_json(m.to_json())
    assert again == m
    assert json.loads(m.to_json())["unit"] == "s"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hetlab": "peaks"}', '{"hetlab":"measurement"}'])
def test_json_of_something_else_is_refused(text):
    with pytest.raises(InvalidValue):
        Measurement.from_json(text)


def elsewhere(m, **changes):
    data = json.loads(m.to_json())
    data["machine"] |= changes
    return Measurement.from_json(json.dumps(data))


def test_merge_joins_the_samples_of_one_machine_and_refuses_others():
    m = one()
    assert m.merge(m).samples == m.samples * 2
    other = elsewhere(m, fingerprint="0" * 12, cpu="Another")
    assert other.label == "recorded"
    assert m.label == "measured"
    with pytest.raises(HetlabError, match=r"different machines.*Another"):
        m.merge(other)
    with pytest.raises(HetlabError, match="different Pythons"):
        m.merge(elsewhere(m, python="CPython 2.7"))
    a, b = elsewhere(m, versions={"numba": "1"}), elsewhere(m, versions={"numba": "2"})
    with pytest.raises(HetlabError, match="different versions of numba: 1 and 2"):
        a.merge(b)
    with pytest.raises(HetlabError, match="different numbers of calls"):
        m.merge(one(loops=3))


def test_rate_turns_the_interval_over():
    rate = one(lambda t: 1e-3, samples=20).rate(1e6, "B/s")
    assert float(rate) == pytest.approx(1e9)
    assert rate.low <= rate.value <= rate.high
    assert "GB/s" in repr(rate)
    assert "99 % interval" in repr(rate)
    with pytest.raises(InvalidValue, match="amount"):
        one().rate(0, "B/s")


def test_text_names_unit_spread_and_machine():
    text = repr(one())
    assert "f: 2.00 µs a call (2.00 to 2.00 µs, 99 % interval), measured" in text
    assert "first call" in text
    assert "cores" in text or "core" in text


def test_numba_compilation_is_told_apart_from_the_first_call():
    numba = pytest.importorskip("numba")

    @numba.njit
    def inner(x):
        return x + 1

    @numba.njit
    def outer(x):
        return inner(x) * 2

    m = measure(outer, 3, seconds=0.01)
    assert 0 < m.compile < m.first_call  # nested compilations count once
    assert m.calibration.compiled_late == 0
    assert measure(outer, 3, seconds=0.01).compile == 0


def test_compilation_that_falls_into_the_samples_is_a_warning():
    numba = pytest.importorskip("numba")
    calls = []

    @numba.njit
    def f(x):
        return x

    def changes_type():
        calls.append(1)
        return f(1 if len(calls) < 8 else 1.0)

    m = measure(changes_type, samples=9, loops=1, warmup=0)
    assert m.calibration.compiled_late > 0
    assert warned(m, "compiled while timed")


def test_the_real_clock_times_a_real_function():
    m = measure(sorted, list(range(2000)), seconds=0.02)
    assert m.name == "sorted"
    assert 0 < m.fastest <= m.median <= max(m.samples)
    assert m.calibration.resolution > 0
