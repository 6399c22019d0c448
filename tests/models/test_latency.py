"""Latency hiding: what a cycle-by-cycle run and the formula say must agree."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.models.latency import busy_share, issue_cycles, warps_needed

WARPS, LATENCY, WORK = st.integers(1, 16), st.integers(1, 60), st.integers(0, 12)


@given(WARPS, LATENCY, WORK)
def test_the_long_run_of_the_simulation_is_the_formula(warps, latency, work):
    cycles = 40 * (latency + work + warps * (work + 1))
    ran = issue_cycles(warps, latency, work, cycles)
    lost = ran.idle / cycles
    # The first and the last round are cut off somewhere: two rounds of forty.
    assert 1 - busy_share(warps, latency, work) == pytest.approx(lost, abs=0.06)


@given(LATENCY, WORK)
def test_with_the_warps_needed_no_cycle_is_idle_and_with_one_fewer_some_are(latency, work):
    enough = warps_needed(latency, work)
    assert issue_cycles(enough, latency, work, 500).idle == 0
    if enough > 1:
        assert issue_cycles(enough - 1, latency, work, 3 * (latency + work) + 3).idle > 0


@given(WARPS, LATENCY, WORK)
def test_every_warp_keeps_the_rules_of_its_round(warps, latency, work):
    ran = issue_cycles(warps, latency, work, 300)
    for w, states in enumerate(ran.states):
        issued = [(t, s) for t, s in enumerate(states) if s in "al"]
        assert [t for t, _ in issued] == [t for t, who in enumerate(ran.chosen) if who == w]
        kinds = "".join(s for _, s in issued)
        assert kinds == (("a" * work + "l") * 300)[: len(kinds)]
        for (t, kind), (later, _) in pairwise(issued):
            assert later - t >= (latency if kind == "l" else 1)
    # Idle only when every warp waits.
    for t, who in enumerate(ran.chosen):
        assert (who == -1) == all(states[t] == "w" for states in ran.states)


def test_one_warp_alone_works_a_little_and_waits_long():
    ran = issue_cycles(1, 5, 2, 14)
    assert ran.states == ("aalwwwwaalwwww",)
    assert ran.idle == 8


@pytest.mark.parametrize("wrong", [(0, 5, 1), (2, 0, 1), (2, 5, -1), (1.5, 5, 1)])
def test_impossible_numbers_are_refused_by_name(wrong):
    with pytest.raises(InvalidValue, match=r"whole number"):
        issue_cycles(*wrong, 10)
