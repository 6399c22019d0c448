"""A verdict says what was proven, names the mistake, and is never given for nothing."""

import json

import numpy as np
import pytest

from hetlab.grading import (
    Case,
    Correct,
    Faster,
    Task,
    Verdict,
    Wrong,
    close,
    exact,
    fits,
    judge,
    mutants,
    open_submission,
)


def spec(a, x, y):
    return a * x + y


def cases(rng):
    for n in (0, 1, 3, 17):
        x, y = rng.random((2, n), dtype=np.float32)
        yield Case(f"n = {n}", np.float32(2), x, y)
    yield Case("secret", np.float32(77), *rng.random((2, 5), dtype=np.float32), public=False)


SWAPPED = Wrong("x and y swapped", lambda a, x, y: a * y + x, says="You scaled y.")
NO_SCALE = Wrong("a forgotten", lambda a, x, y: x + y, says="Where is a?")


def saxpy_task(**more):
    criteria = [Correct(spec, cases, points=2, agree=close(ulps=2))]
    return Task(
        "saxpy", "Write saxpy", criteria, ("one", "two", "three"), wrong=[SWAPPED, NO_SCALE], **more
    )


def verdict_of(task, *functions):
    with open_submission(dict(zip(task.hands_in, functions))) as submission:
        return judge(task, submission, lesson="01_test")


def test_a_right_answer_earns_all_points_and_says_what_was_proven():
    v = verdict_of(saxpy_task(not_checked="complex numbers"), spec)
    assert v.passed and (v.points, v.of) == (2, 2)
    text = " ".join(repr(v).split())
    assert (
        "5 inputs (n = 0 to n = 17; 1 hidden)" in text
        and "seed 1" in text
        and "Not checked: complex numbers" in text
    )


def test_the_smallest_failing_input_the_index_and_both_values_are_shown():
    v = verdict_of(saxpy_task(), lambda a, x, y: a * x + y + (x > 2) + (len(x) == 3))
    text = repr(v)
    assert v.points == 0 and "n = 3: saxpy(...)[0] should be" in text and "input   a = 2.0" in text


def test_a_misconception_is_named():
    v = verdict_of(saxpy_task(), lambda a, x, y: y * a + x)
    assert v.misconception == "x and y swapped" and "You scaled y." in repr(v)
    assert verdict_of(saxpy_task(), lambda a, x, y: x + y).misconception == "a forgotten"


def test_another_mistake_is_not_called_by_that_name():
    assert verdict_of(saxpy_task(), lambda a, x, y: a * x - y).misconception == ""


def test_a_failure_on_a_hidden_input_shows_none_of_its_values():
    v = verdict_of(saxpy_task(), lambda a, x, y: a * x + y if a == 2 else x)
    assert v.points == 0 and "a hidden input" in repr(v)
    assert "77" not in repr(v) + str(v.to_json()) + v._repr_html_()


def untouched(a, x, y):
    raise NotImplementedError("saxpy is not started")


def changes_y(a, x, y):
    y += a * x
    return y


@pytest.mark.parametrize(
    ("function", "status", "kind"),
    [
        (untouched, "not started", "not started"),
        (changes_y, "failed", "mutated"),
        (lambda a, x, y: None, "failed", "nothing"),
        (lambda a, x, y: (a * x + y).astype("f8"), "failed", "dtype"),
        (lambda a, x, y: (a * x + y)[:, None], "failed", "shape"),
        (lambda a, x, y: list(a * x + y), "failed", "type"),
        (lambda a, x, y: x[100], "failed", "raised"),
        (lambda a, x: a * x, "failed", "raised"),
        ("not a function", "failed", "missing"),
    ],
)
def test_each_way_to_fail_is_said_with_a_next_step(function, status, kind):
    v = verdict_of(saxpy_task(), function)
    assert (v.status, v.points, v.findings[0].kind) == (status, 0, kind)
    assert v.look


def test_a_fault_of_the_check_itself_is_not_the_learners():
    task = saxpy_task()
    task.criteria[0].spec = lambda a, x, y: 1 / 0
    v = verdict_of(task, spec)
    assert v.status == "error" and "not your mistake" in repr(v)


def test_in_place_answers_are_compared_after_the_call():
    def fill(out, x):
        out[:] = 2 * x

    def two(rng):
        yield Case("n = 4", np.zeros(4), rng.random(4))

    task = Task("fill", "Fill it", [Correct(fill, two, changes=(0,))])
    assert verdict_of(task, fill).passed
    assert verdict_of(task, lambda out, x: out.__setitem__(slice(None), 2 * x)).passed
    v = verdict_of(task, lambda out, x: 2 * x)
    assert v.points == 0 and "out[0] after fill(...) should be" in repr(v)


def test_every_mutant_is_rejected_as_a_wrong_result():
    task = saxpy_task()
    made = mutants(task)
    assert {m.name for m in made} >= {"does nothing", "always zero", "off by one"}
    for mutant in made:
        with open_submission(mutant.function) as submission:
            assert fits(judge(task, submission), mutant) == ""


def test_a_check_that_accepts_a_mutant_is_found_out():
    """With one case only, the remembered constant passes, and `fits` says so."""

    def one(rng):
        yield Case("the only one", 3)

    task = Task("square", "Square it", [Correct(lambda x: x * x, one, agree=exact())])
    mutant = next(m for m in mutants(task) if "always" in m.name and "first" in m.name)
    with open_submission(mutant.function) as submission:
        assert fits(judge(task, submission), mutant) == "it passes"


def test_a_race_is_recognised_by_what_it_does_to_the_answer():
    lost = Wrong("lost updates", None, "Two threads.", when=lambda due, got: got.sum() < due.sum())

    def histogram(x):
        return np.bincount(x, minlength=4)

    def two(rng):
        yield Case("n = 50", rng.integers(0, 4, 50))

    task = Task("h", "Count", [Correct(histogram, two)], wrong=[lost])
    assert verdict_of(task, lambda x: histogram(x[:-3])).misconception == "lost updates"
    assert verdict_of(task, lambda x: histogram(x) + 1).misconception == ""


def slow_sum(x):
    total = 0.0
    for v in x:
        total += v
    return total


def speed_task():
    def small(rng):
        yield Case("n = 5", rng.random(5))

    faster = Faster(slow_sum, lambda rng: (rng.random(200_000),), {3: 1, 10: 2}, "a Python loop")
    right = Correct(np.sum, small, agree=close(rtol=1e-9))
    return Task("total", "Sum", [right, faster])


def test_the_reference_against_itself_never_earns_a_band():
    """SEEN_IN_PUBLIC 31: noise must not make an unchanged program "faster"."""
    assert {verdict_of(speed_task(), slow_sum).points for _ in range(5)} == {1}


def test_a_real_gain_earns_its_band_and_wrong_values_earn_none():
    assert verdict_of(speed_task(), lambda x: float(x.sum())).points == 3
    v = verdict_of(speed_task(), lambda x: 0.0)
    assert v.points == 0 and v.findings[1].passed is None


def test_being_fast_only_by_being_wrong_on_the_timed_input_earns_nothing():
    v = verdict_of(speed_task(), lambda x: float(x[:5].sum()))
    assert v.points == 1 and v.findings[1].kind == "value"


def test_bands_that_noise_could_reach_are_refused():
    with pytest.raises(ValueError, match="3 or more"):
        Faster(slow_sum, lambda rng: (), {1.5: 1})


def test_a_verdict_survives_json():
    v = verdict_of(saxpy_task(), lambda a, x, y: a * y + x)
    assert Verdict.from_json(json.loads(json.dumps(v.to_json()))) == v


def test_html_escapes_what_the_learner_wrote():
    def f(a, x, y):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in verdict_of(saxpy_task(), f)._repr_html_()
