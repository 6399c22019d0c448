"""Kernels are judged by their values, their hazards and their traffic, from one run."""

import numpy as np
import pytest

from hetlab.grading import (
    Case,
    Clean,
    Correct,
    HostKernel,
    Task,
    Within,
    Wrong,
    close,
    fits,
    judge,
    mutants,
    open_submission,
)

pytest.importorskip("numba_cuda")
import hetlab

hetlab.use_virtual_gpu()
from numba import cuda  # noqa: E402


def spec(x, out):
    out[...] = 2 * x


def cases(rng):
    for n in (1, 100, 1000):
        x = rng.random(n, dtype=np.float32)
        yield Case(f"n = {n}", x, np.zeros_like(x), grid=-(-n // 128), block=128)


@cuda.jit
def right(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


@cuda.jit
def no_guard(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


@cuda.jit
def one_thread_does_it_all(x, out):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            out[i] = 2 * x[i]


@cuda.jit
def forgets_two(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


def least(case):
    return -(-case.inputs[0].nbytes // 32)


def task(**more):
    criteria = [
        Correct(spec, cases, 2, agree=close(rtol=1e-6), changes=(1,)),
        Clean(1),
        Within("global_store_sectors", least, times=1.0),
    ]
    wrong = [
        Wrong("no guard", no_guard, "The last block has threads without an element.", "hazard"),
        Wrong("one thread does it all", one_thread_does_it_all, "Use i.", fails="traffic"),
        Wrong("no doubling", forgets_two, "Twice x is wanted."),
    ]
    return Task("double", "Double", criteria, ("a", "b", "c"), wrong=wrong, **more)


def verdict_on(kernel, judged=None):
    with open_submission({"double": kernel}) as submission:
        return judge(judged or task(), submission, lesson="00_x")


def test_a_right_kernel_gets_every_point_and_the_counts_are_shown():
    verdict = verdict_on(right)
    assert verdict.passed and verdict.points == 4, repr(verdict)
    assert "125 global store sectors, at most 125 allowed" in repr(verdict)


def test_a_missing_guard_is_a_hazard_with_thread_index_and_line():
    verdict = verdict_on(no_guard)
    assert verdict.points < 4 and verdict.misconception == "no guard"
    text = repr(verdict)
    assert "outside its" in text and "out[i] = 2 * x[i]" in text


def test_too_much_traffic_is_refused_though_the_values_are_right():
    verdict = verdict_on(one_thread_does_it_all)
    assert [f.kind for f in verdict.findings if f.passed is False] == ["traffic"]
    assert verdict.points == 3 and verdict.misconception == "one thread does it all"
    assert "of them:  out[i] = 2 * x[i]" in repr(verdict)


@pytest.mark.parametrize("wrong", [*task().wrong, *mutants(task())], ids=lambda w: w.name)
def test_each_wrong_answer_is_rejected_for_its_stated_reason(wrong):
    functions = wrong.function if isinstance(wrong.function, dict) else {"double": wrong.function}
    with open_submission(functions) as submission:
        assert fits(judge(task(), submission), wrong) == ""


def test_a_kernel_that_does_nothing_earns_nothing():
    @cuda.jit
    def nothing(x, out):
        pass

    assert verdict_on(nothing).points == 0


def test_values_computed_without_a_kernel_earn_no_point_for_cleanliness_or_traffic():
    verdict = verdict_on(HostKernel(spec))
    assert verdict.points == 2
    assert "no kernel was launched" in repr(verdict)


def test_a_hidden_case_shows_no_index_and_no_count():
    def hidden(rng):
        x = rng.random(77, dtype=np.float32)
        yield Case("n = 77", x, np.zeros_like(x), grid=1, block=128, public=False)

    judged = task()
    judged.criteria[0].cases = hidden
    text = repr(verdict_on(no_guard, judged))
    assert "a hidden input" in text and "77" not in text


def test_host_code_that_launches_is_watched_too():
    def host(x):
        out = np.zeros_like(x)
        no_guard[-(-x.size // 128), 128](x, out)
        return out

    host_cases = lambda rng: iter([Case("n = 5", rng.random(5, dtype=np.float32))])  # noqa: E731
    judged = Task("host", "Host", [Correct(lambda x: 2 * x, host_cases), Clean()])
    with open_submission({"host": host}) as submission:
        verdict = judge(judged, submission)
    assert [f.passed for f in verdict.findings] == [True, False]


def test_a_counter_that_does_not_exist_is_refused_with_the_close_ones():
    with pytest.raises(hetlab.errors.UnknownName, match="global_store_sectors"):
        Within("global_store_sector", least)


def test_a_kernel_without_its_decorator_is_told_so():
    def double(x, out):
        out[...] = 2 * x

    text = " ".join(repr(verdict_on(double)).split())
    assert "a kernel, marked by @cuda.jit" in text
    assert "Write the decorator" in text


def test_a_launch_that_is_refused_is_shown_at_the_learners_own_line():
    def host(x):
        right[x.size // 128, 128](x, x)  # no block at all for a short array

    host_cases = lambda rng: iter([Case("n = 5", rng.random(5, dtype=np.float32))])  # noqa: E731
    judged = Task("host", "Host", [Correct(lambda x: 2 * x, host_cases), Clean()])
    with open_submission({"host": host}) as submission:
        text = repr(judge(judged, submission))
    assert "right[x.size // 128, 128](x, x)" in text
    assert "raise _refused" not in text


def test_another_hazard_than_that_of_the_named_mistake_is_not_called_by_its_name():
    """Every thread writes out[0] as well: a race, where the only named hazard is out of bounds."""

    @cuda.jit
    def races(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[0] += 1
            cuda.syncthreads()
            out[i] = 2 * x[i]

    verdict = verdict_on(races)
    assert not verdict.passed and verdict.misconception == ""


def test_what_to_look_at_next_spells_the_launch_as_the_language_does():
    assert "hetlab.sanitize(kernel[grid, block], ...)" in verdict_on(no_guard).look
    x = np.ones(5, np.float32)
    tiles = Case("n = 5", x, np.zeros_like(x), grid=1, constants={"B": 8})

    def refused(*inputs):
        raise ValueError("no")

    judged = Task("tiles", "Tiles", [Correct(spec, lambda rng: iter([tiles]), changes=(1,))])
    with open_submission({"tiles": HostKernel(refused)}) as submission:
        assert judge(judged, submission).look.startswith("Launch it yourself")
    with open_submission({"tiles": refused}) as submission:
        assert "marked by @triton.jit" in judge(judged, submission).findings[0].text
