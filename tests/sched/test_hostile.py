"""Policies that are wrong, lazy or hostile: a sentence each, and nothing is harmed."""

import random
import sys
import threading
import time

import pytest

from hetlab.sched import (
    Backup,
    Device,
    Here,
    Link,
    Machine,
    PolicyError,
    Stalled,
    TaskGraph,
    Wait,
    simulate,
)
from hetlab.sched.examples import topcuoglu

THREE = Machine.uniform(3)


class Breaks:
    def __iter__(self):
        raise RuntimeError("no")


class Lies:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "l\n" * 100_000


class Endless:
    def __iter__(self):
        while True:
            yield ("t1", "P1")


# Seconds for one answer: short, so that many policies that never answer take little time.
PATIENCE = 0.05


def policy_of(seed, slow):
    """A policy that does something else, mostly something bad, at every call.

    ``slow``: whether it may also be one that does not answer in time.
    """
    draw = random.Random(seed)
    malice = draw.choice([0.02, 0.2, 0.7])

    def anything(view):
        tasks, devices = list(view.graph.tasks), [d.name for d in view.machine.devices]
        pick = lambda: (draw.choice(tasks), draw.choice(devices))  # noqa: E731
        everything = [(task, draw.choice(devices)) for task in view.ready]

        def clear_ready():
            view._board.ready.clear()
            return everything

        def break_board():
            view._board.queue = view._board.status = None
            return everything

        def break_later():
            threading.Timer(0.001, view._board.ready.clear).start()
            return everything

        def cheap():
            view.problem.cost[:] = 0
            object.__setattr__(view.machine.devices[0], "speed", 1e9)
            for task in view.graph.tasks.values():
                object.__setattr__(task, "cost", 0.0)
            return everything

        def recurse():
            return recurse()

        def endless():
            while True:
                time.sleep(0.001)

        def late():
            time.sleep(3 * PATIENCE)
            return everything

        choices = [
            lambda: None,
            list,
            lambda: 1 / 0,
            lambda: 7,
            lambda: "t1",
            lambda: "t" * 10_000_000,
            lambda: [("x" * 1_000_000, "P1")],
            lambda: [("x", "P1")],
            lambda: [("t1", "P9")],
            lambda: [(10**5000, "P1")],
            lambda: [(Lies(), Lies())],
            lambda: [([], {})],
            lambda: [(float("nan"), None)],
            lambda: [pick()],
            lambda: [pick()] * 3,
            lambda: [pick()] * 1_000_000,
            lambda: [Backup(*pick())],
            lambda: [Wait(-1)],
            lambda: [Wait("soon")],
            lambda: [Wait(float("inf"))],
            lambda: [Wait(draw.random())],
            lambda: (pick() for _ in iter(int, 1)),
            lambda: sys.exit(3),
            lambda: {"t1": "P1"},
            Breaks,
            Endless,
            recurse,
            clear_ready,
            break_board,
            break_later,
            cheap,
            lambda: view.graph._tasks.clear(),
            *([endless, late] if slow else []),
        ]
        return draw.choice(choices)() if draw.random() < malice else everything

    return anything


def ends_of(seeds, slow):
    """How the runs of these policies ended: {"done": ..., "sentence": ...}."""
    graph = topcuoglu()
    before, machine = graph.to_dict(), THREE.to_dict()
    ends = {"done": 0, "sentence": 0}
    for seed in seeds:
        # With nothing slow about it, a busy machine must not cut a policy short.
        patience = PATIENCE if slow and seed % 2 else 60.0
        try:
            policy = policy_of(seed, slow and seed % 2)
            timeline = simulate(graph, THREE, policy, patience=patience)
        except PolicyError as error:
            text = str(error)
            assert "\n" not in text and text.endswith((".", "?")) and 20 < len(text) < 700
            ends["sentence"] += 1
        else:
            assert timeline.complete and timeline.makespan >= 73
            for task, span in timeline.runs.items():
                assert abs(span.seconds - graph.tasks[task].cost[span.device]) < 1e-9
            ends["done"] += 1
    assert graph.to_dict() == before and THREE.to_dict() == machine
    assert simulate(graph, THREE, "heft").makespan == 80
    return ends


def test_two_hundred_random_policies_end_in_a_schedule_or_a_sentence():
    ends = ends_of(range(200), slow=False)
    assert ends["done"] > 20 and ends["sentence"] > 80


@pytest.mark.soak
def test_a_thousand_random_policies_end_in_a_schedule_or_a_sentence(capsys):
    """Every second one may also answer late or never."""
    ends = ends_of(range(1000), slow=True)
    with capsys.disabled():
        print(f"\n1,000 random policies: {ends['done']} schedules, {ends['sentence']} sentences")
    assert ends["done"] > 100 and ends["sentence"] > 400


def test_real_runs_outlive_random_policies():
    """Threads, and a process with a memory of its own, serve the next run as if nothing was."""
    graph = TaskGraph("short", devices=["P1", "P2", "P3"], unit="s")
    for i in range(1, 11):
        graph.add(f"t{i}", [1e-4] * 3, after={f"t{i // 2}": 100.0} if i > 1 else ())
    machine = Machine(
        [Device("P1", memory="m"), Device("P2", memory="m"), Device("P3", "gpu")],
        [Link("m", "P3", 1e9)],
    )
    ends = {"done": 0, "sentence": 0}
    with Here(machine) as here:
        for seed in range(40):
            try:
                timeline = here.run(graph, policy_of(seed, slow=False), limit=60)
            except PolicyError as error:
                assert "\n" not in str(error)
                ends["sentence"] += 1
            else:
                assert timeline.complete
                ends["done"] += 1
            assert here.run(graph, "heft", limit=60).complete
    assert ends["done"] and ends["sentence"]


class Nameless:
    @property
    def name(self):
        raise RuntimeError("I have none")

    def decide(self, view):
        return [("no such task", "P1")]


def test_a_policy_whose_name_raises_is_called_by_its_class():
    with pytest.raises(PolicyError, match=r"no task 'no such task'.*policy Nameless"):
        simulate(topcuoglu(), THREE, Nameless())


def test_a_policy_that_never_answers_ends_the_run_with_a_sentence():
    def endless(view):
        while True:
            time.sleep(0.001)

    with pytest.raises(PolicyError, match=r"longer than 0.2 s for one answer \(policy endless\)"):
        simulate(topcuoglu(), THREE, endless, patience=0.2)


def test_a_policy_that_only_waits_is_stalled_in_the_end():
    def lazy(view):
        return [Wait(1.0)]

    with pytest.raises(Stalled, match="10 tasks are left"):
        simulate(topcuoglu(), THREE, lazy)


def test_a_policy_that_returns_nothing_is_stalled_with_ready_tasks_and_idle_devices():
    """SEEN_IN_PUBLIC 41."""
    with pytest.raises(Stalled) as caught:
        simulate(topcuoglu(), THREE, lambda view: [])
    assert caught.value.ready == ("t1",) and caught.value.idle == ("P1", "P2", "P3")
    assert "ready tasks: 't1'; idle devices: 'P1', 'P2', 'P3'" in str(caught.value)


def test_a_plan_whose_queues_block_each_other_says_which():
    """SEEN_IN_PUBLIC 41: dependent tasks in the wrong order."""
    with pytest.raises(Stalled, match="P1 waits for 't10', which needs 't7', 't8', 't9'"):
        simulate(topcuoglu(), THREE, {"P1": ["t10", *(f"t{i}" for i in range(1, 10))]})


def test_the_error_has_what_had_happened_until_then():
    def once(view):
        return [("t1", "P3")]  # again and again

    with pytest.raises(PolicyError, match="it is done") as caught:
        simulate(topcuoglu(), THREE, once)
    assert caught.value.timeline.runs["t1"].end == 9


def test_the_line_of_a_policy_that_raises_is_named():
    def wrong(view):
        return view.no_such_thing

    with pytest.raises(PolicyError, match=r"AttributeError.*policy wrong, line \d+ of wrong"):
        simulate(topcuoglu(), THREE, wrong)
