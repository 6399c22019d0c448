"""compare: exact under drift, honest about no difference."""

import json
import math
import random

import pytest
from clocks import Hand

from hetlab.errors import HetlabError, InvalidValue, UnknownName
from hetlab.timing import Comparison, compare


def against_itself(duration, seed, rounds=20, **options):
    """One function under two names on a simulated machine; was a difference claimed?"""
    hand = Hand()
    fn = hand.work(duration(random.Random(seed)))
    pair = compare({"a": fn, "b": fn}, clock=hand.clock, rounds=rounds, seed=seed + 1, **options)
    return pair.speedup("b").different


def drifting(draw):
    """Ever slower, with jumps: a machine that heats up."""
    level = [1.0]

    def duration(_):
        level[0] *= 1.003
        return 2e-3 * level[0] * (1 + 0.002 * draw.random())

    return duration


def autocorrelated(draw):
    """Samples in a row are alike: their logarithm forgets 2 % a call."""
    level = [0.0]

    def duration(_):
        level[0] = 0.98 * level[0] + 0.05 * draw.gauss(0, 1)
        return 2e-3 * math.exp(level[0])

    return duration


def alternating(draw):
    """Every second call is slower: the worst case for a fixed order."""
    turn = [0]

    def duration(_):
        turn[0] += 1
        return 2e-3 * (1.5 if turn[0] % 2 else 1.0) * (1 + 0.01 * draw.random())

    return duration


@pytest.mark.parametrize("machine", [drifting, autocorrelated, alternating])
def test_a_function_against_itself_is_called_different_no_oftener_than_stated(machine):
    """2,000 comparisons at 90 %, seeds fixed.

    20 rounds: the interval leaves out 1 with a probability of 2 P(Bin(20, 1/2) < 6) = 0.0414.
    """
    claims = sum(against_itself(machine, seed, confidence=0.9) for seed in range(2000))
    # The mean is 83 with a standard deviation of 8.9; the stated confidence allows 200.
    assert 50 <= claims <= 116


def test_a_fixed_order_would_fail_that_test(monkeypatch):
    """The order drawn anew is what makes it hold: without it a slope is a difference."""
    monkeypatch.setattr(random.Random, "sample", lambda self, items, k: list(items))
    assert sum(against_itself(drifting, seed, confidence=0.9) for seed in range(20)) == 20


def pair(**options):
    hand = Hand()
    return compare(
        {"slow": hand.work(6e-3), "fast": hand.work(2e-3), "same": hand.work(6e-3)},
        clock=hand.clock,
        **options,
    )


def test_ratio_says_how_many_times_faster_than_the_baseline():
    c = pair()
    fast = c.speedup("fast")
    assert float(fast) == pytest.approx(3.0)
    assert fast.different
    assert "3.00x faster" in fast.verdict
    assert c.ratios.keys() == {"fast", "same"}
    assert "no difference seen" in c.speedup("same").verdict
    assert c.fastest == "fast"


def test_slower_than_the_baseline_is_said_with_the_inverse():
    c = pair(baseline="fast")
    assert "3.00x slower" in c.speedup("slow").verdict
    assert float(c.speedup("slow", over="same")) == pytest.approx(1.0)


def test_too_few_rounds_claim_nothing():
    r = pair(rounds=7).speedup("fast")
    assert not r.different
    assert "too few rounds to tell: 7, at least 8" in r.verdict
    assert pair(rounds=8).speedup("fast").different


def test_every_candidate_runs_once_a_round_in_changing_order():
    hand, order = Hand(), []

    def candidate(name):
        def fn():
            order.append(name)
            hand.time += 2e-3

        return fn

    c = compare({n: candidate(n) for n in "abc"}, clock=hand.clock, rounds=12, seed=3)
    rounds = [tuple(order[-36:][i : i + 3]) for i in range(0, 36, 3)]
    assert all(sorted(r) == ["a", "b", "c"] for r in rounds)
    assert len(set(rounds)) > 2
    assert c.rounds == 12


def test_a_function_and_itself_get_the_same_number_of_calls_a_sample():
    hand = Hand()
    # The machine speeds up between the two calibrations.
    fn = hand.work(lambda now: 6e-6 if now < 4e-3 else 1e-6)
    c = compare({"a": fn, "b": fn}, clock=hand.clock)
    assert c["a"].calibration.loops >= 1000
    assert c["a"].calibration.loops == c["b"].calibration.loops


def test_very_different_candidates_get_their_own_number_of_calls():
    hand = Hand()
    c = compare({"slow": hand.work(0.5), "fast": hand.work(1e-6)}, clock=hand.clock)
    assert c["slow"].calibration.loops == 1
    assert c["fast"].calibration.loops > 500
    assert float(c.speedup("fast")) == pytest.approx(5e5)


def double(x):
    return [2 * v for v in x]


def test_results_that_must_agree_and_do_not_are_an_error_before_any_timing():
    calls = []

    def wrong(x):
        calls.append(1)
        return [3 * v for v in x]

    with pytest.raises(HetlabError, match=r"double and wrong compute different.*result\[1\]"):
        compare({"double": double, "wrong": wrong}, [0, 1], agree=True)
    assert len(calls) == 1
    assert "not compared" in compare({"a": double, "b": wrong}, [1], seconds=0).agreement
    ok = compare({"a": double, "b": double}, [1], seconds=0, agree=lambda a, b: a == b)
    assert "by the function given" in ok.agreement


def test_what_is_left_in_the_arguments_must_agree_too_and_the_caller_keeps_his():
    np = pytest.importorskip("numpy")
    x = np.ones(5)

    def twice(x):
        x *= 2

    def thrice(x):
        x *= 3

    with pytest.raises(HetlabError, match="arguments after the call"):
        compare({"twice": twice, "thrice": thrice}, x, agree=True)
    assert x.tolist() == [1.0] * 5


def test_json_there_and_back():
    c = pair()
    again = Comparison.from_json(c.to_json())
    assert again.measurements == c.measurements
    assert again.speedup("fast") == c.speedup("fast")
    with pytest.raises(InvalidValue):
        Comparison.from_json(c["fast"].to_json())


def test_candidates_of_different_machines_are_refused():
    c = pair()
    data = json.loads(c.to_json())
    data["measurements"]["fast"]["machine"] |= {"fingerprint": "0" * 12}
    with pytest.raises(HetlabError, match="different machines"):
        Comparison.from_json(json.dumps(data))
    for m in data["measurements"].values():
        m["machine"]["fingerprint"] = "0" * 12
    foreign = Comparison.from_json(json.dumps(data))
    assert foreign.label == "recorded"
    with pytest.raises(HetlabError, match="different machines"):
        c.merge(foreign)
    assert c.merge(c).rounds == 2 * c.rounds


@pytest.mark.parametrize("candidates", [{}, {"one": len}, [len, len], len, None])
def test_fewer_than_two_candidates_are_refused_with_an_example(candidates):
    with pytest.raises(InvalidValue, match=r"two or more functions.*For example"):
        compare(candidates)


def test_unknown_names_list_the_close_ones():
    with pytest.raises(UnknownName, match="'numba'"):
        compare({"numpy": len, "numba": len}, [], baseline="numbs")
    with pytest.raises(UnknownName, match="fast"):
        pair().speedup("fats")


def test_an_exception_says_which_candidate():
    with pytest.raises(ZeroDivisionError) as caught:
        compare({"good": lambda: 1, "bad": lambda: 1 / 0})
    assert "hetlab was timing bad" in caught.value.__notes__[0]


def test_text_is_a_table_with_verdicts_and_machine():
    text = repr(pair())
    assert "the baseline" in text
    assert "3.00x faster" in text
    assert "no difference seen" in text
    assert "machine:" in text


@pytest.mark.soak
def test_fifty_real_comparisons_of_a_function_with_itself():
    """At 99 % each claims a difference with a probability of at most 0.01.

    P(Bin(50, 0.01) >= 5) = 0.00015, so five claims mean that something is wrong.
    """
    items = list(range(3000))
    claims = sum(
        compare({"a": sum, "b": sum}, items, seconds=0.1).speedup("b").different for _ in range(50)
    )
    assert claims < 5
