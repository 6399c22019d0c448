"""What holds for every graph, machine and policy."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hetlab.errors import HetlabError
from hetlab.sched import (
    POLICIES,
    Incident,
    Machine,
    Scenario,
    Stalled,
    heft,
    named,
    peft,
    problem,
    simulate,
)
from hetlab.sched.policies import slots

from .drawn import assert_sound, graphs, machines

SOME = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@SOME
@given(graphs(), machines(), st.sampled_from(sorted(POLICIES)))
def test_every_policy_makes_a_sound_schedule(graph, machine, policy):
    """No overlap, no task before its data, and never under a bound."""
    timeline = simulate(graph, machine, policy)
    assert timeline.complete
    assert_sound(timeline)


@SOME
@given(graphs(memory=True), machines(memory=True), st.sampled_from(sorted(POLICIES)))
def test_memory_is_never_exceeded(graph, machine, policy):
    """What lies in a memory never exceeds its capacity, by the executor's own account."""
    try:
        timeline = simulate(graph, machine, policy)
    except HetlabError as error:
        assert not isinstance(error, Stalled) or "Memory" in str(error)
        return
    assert timeline.complete
    assert_sound(timeline)


@SOME
@given(
    graphs(kinds=True),
    machines(heat=True, setup=True),
    st.sampled_from(sorted(POLICIES)),
    st.integers(0, 9),
)
def test_heat_reconfiguration_and_noise_keep_a_schedule_sound(graph, machine, policy, seed):
    """A day that is not quiet changes times, never the rules."""
    timeline = simulate(graph, machine, policy, scenario=Scenario(noise=0.3, seed=seed))
    assert timeline.complete
    assert_sound(timeline, quiet=False)
    for name, points in timeline.degrees.items():
        heat = machine[name].heat
        assert all(heat.ambient - 1e-6 <= x <= heat.limit + 1e-6 for _, x in points)


@SOME
@given(
    graphs(memory=True),
    machines(memory=True),
    st.sampled_from(sorted(POLICIES)),
    st.lists(
        st.builds(
            Incident,
            st.sampled_from(["D1", "D2"]),
            st.floats(0, 30),
            st.sampled_from([0.0, 0.0, 0.3]),
        ),
        max_size=3,
    ),
)
def test_lost_devices_lose_no_task_that_another_device_can_run(graph, machine, policy, incidents):
    """Every task is done, or failed or skipped with a reason that names the lost device."""
    try:
        timeline = simulate(graph, machine, policy, scenario=Scenario(incidents=tuple(incidents)))
    except HetlabError as error:
        assert not isinstance(error, Stalled) or "Memory" in str(error)
        return
    assert_sound(timeline, quiet=False)
    if not timeline.complete:
        assert timeline.failures
        dead = set(timeline.lost)
        assert all(
            any(d in why for d in dead) or "outputs" in why for why in timeline.failures.values()
        )
    able = [
        task
        for task in graph.tasks.values()
        if any(
            machine.seconds(task, d) < float("inf") for d in timeline.rows if d not in timeline.lost
        )
    ]
    if len(able) == len(graph):
        assert timeline.complete


@SOME
@given(graphs(), st.sampled_from([0.0, 0.25]), st.sampled_from([heft, peft]))
def test_a_plan_over_equal_links_is_that_of_the_general_way(graph, latency, planner):
    """The short cuts for equal links and simple costs change no digit."""
    machine = Machine.uniform([f"D{i}" for i in range(3)], bandwidth=2.0, latency=latency)
    p = problem(graph, machine)
    assert p.cost.tolist() == [[d.seconds(t) for d in machine.devices] for t in p.tasks]
    quick = planner(graph, machine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots, "_equal_links", lambda p: None)
        assert planner(graph, machine).to_dict() == quick.to_dict()


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_policy_repeats_itself(policy):
    """The same graph and machine give the same timeline, whatever ran before."""
    from hetlab.sched.examples import layered

    graph = layered(60, 4, seed=3)
    machine = Machine.uniform(4)
    first, second = (simulate(graph, machine, named(policy)) for _ in range(2))
    assert first.spans == second.spans
