"""`compare`: which of these programs is faster, or can that not be told?"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping

from hetlab.errors import HetlabError, InvalidValue, UnknownName
from hetlab.timing import record
from hetlab.timing.clock import Clock, calibrate, count, system_clock
from hetlab.timing.comparison import Comparison
from hetlab.timing.measurement import Calibration, Measurement
from hetlab.timing.measuring import how_many
from hetlab.timing.sampling import Subject, compile_log, quiet
from hetlab.timing.stamp import machine
from hetlab.timing.stats import check_confidence

__all__ = ["compare"]

# Candidates whose calls a sample come out within this factor share one number.  Otherwise a
# function compared with itself could get 64 calls here and 128 there, and the cost of reading the
# clock, spread over them, would be a true difference.
SAME_LOOPS = 16


def compare(
    candidates: Mapping[str, Callable],
    *args: object,
    baseline: str | None = None,
    seconds: float = 1.0,
    rounds: int | None = None,
    agree: bool | Callable[[object, object], bool] = False,
    setup: Callable | None = None,
    sync: Callable | None = None,
    confidence: float = 0.99,
    seed: int | None = None,
    clock: Clock | None = None,
) -> Comparison:
    """Time candidates in turn and say how many times faster each is than a baseline.

    In every round each candidate is timed once, in an order drawn anew, so that drift of the
    machine falls on all alike.  The interval of a ratio is that of the median of the ratios within
    the rounds; comparing a function with itself says "different" with a probability of at most
    ``1 - confidence``, however the machine drifts.

    Parameters
    ----------
    candidates : dict of str to callable
        Two or more, called as ``f(*args)``.
    *args
        The same arguments for all.  When a candidate changes them, use ``setup``.
    baseline : str, optional
        The candidate that the others are compared with; the first otherwise.
    seconds : float
        About how long to sample, in seconds, all candidates together.
    rounds : int, optional
        How many rounds, instead of ``seconds``.
    agree : bool or callable
        True: the candidates' results on the first call must agree (`hetlab.timing.agreement`);
        what they leave in their arguments is compared too.  A callable ``agree(expected, got)``
        decides itself.  The first call then gets copies of the arguments.
    setup, sync, confidence, clock
        As for `measure`.  A setup makes new inputs for every call and makes a sample one call.
    seed : int, optional
        Of the order within the rounds, to repeat a run exactly.

    Returns
    -------
    Comparison
        With `speedup`, `ratios` and every sample.

    Raises
    ------
    InvalidValue
        For fewer than two candidates, or an option out of its range.
    UnknownName
        For a baseline that is not a candidate.
    HetlabError
        When results must agree and do not.
    Exception
        Whatever a candidate raises, with a note saying which and when.

    Examples
    --------
    >>> x = list(range(500))
    >>> both = compare({"sorted": sorted, "copy": list}, x, agree=True, seconds=0.05)
    >>> both.baseline, both["copy"].unit
    ('sorted', 's')
    """
    check_confidence(confidence)
    if not isinstance(candidates, Mapping) or len(candidates) < 2:
        raise InvalidValue(
            "candidates",
            "a dict of two or more functions by name",
            candidates,
            do='For example: compare({"numpy": f, "numba": g}, x, y).',
        )
    if not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise InvalidValue("seconds", "a duration in seconds", seconds)
    names = [str(name) for name in candidates]
    baseline = names[0] if baseline is None else str(baseline)
    if baseline not in names:
        raise UnknownName("candidate", baseline, names)
    if rounds is not None:
        rounds = count("rounds", rounds, 1)
    if seed is None:
        seed = random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    clock = clock or system_clock()
    subjects = [
        Subject(name, fn, args, setup, sync, clock) for name, fn in zip(names, candidates.values())
    ]
    samples: dict[str, list[float]] = {name: [] for name in names}
    with quiet(), compile_log(clock) as compiling:
        first, compiled, agreement = _first_calls(subjects, compiling, agree, baseline)
        loops, calls = _loops(subjects)
        length = sum(s.sample(loops[s.name]) for s in subjects)
        before = compiling.seconds
        late = dict.fromkeys(names, 0.0)
        for i in range(rounds or how_many(length, seconds, confidence)):
            for subject in draw.sample(subjects, len(subjects)):
                name = subject.name
                subject.phase = f"round {i + 1}"
                samples[name].append(subject.sample(loops[name]) / loops[name])
                late[name] += compiling.seconds - before
                before = compiling.seconds
    stamp, taken = machine(), record.now()
    measurements = {}
    for name in names:
        warm = 1 + calls[name] + loops[name]
        how = Calibration(
            loops[name], warm, clock.name, clock.resolution, setup is not None, late[name]
        )
        measurements[name] = Measurement(
            name,
            tuple(samples[name]),
            confidence,
            first[name],
            compiled[name],
            how,
            stamp,
            taken,
        )
    return Comparison(measurements, baseline, agreement, seed)


def _first_calls(subjects: list[Subject], compiling, agree, baseline: str):
    """Seconds and compilation of each candidate's first call; whether the results agree."""
    first, compiled, results = {}, {}, {}
    shared = subjects[0].inputs() if agree else ()
    for subject in subjects:
        inputs = copy.deepcopy(shared) if agree else subject.inputs()
        before = compiling.seconds
        first[subject.name], result = subject.once(inputs)
        compiled[subject.name] = compiling.seconds - before
        if agree:
            results[subject.name] = (result, inputs)
    if not agree:
        return first, compiled, "not compared (agree=True does)"
    for subject in subjects:
        why = _differ(results[baseline], results[subject.name], agree)
        if why:
            raise HetlabError(
                f"{baseline} and {subject.name} compute different things: {why}",
                do="Make them agree first; a comparison of their durations would mean nothing.",
            )
    how = "by the function given" if callable(agree) else "within rounding"
    return first, compiled, f"they agree {how}"


def _differ(expected: tuple, got: tuple, agree) -> str:
    if callable(agree):
        return "" if agree(expected[0], got[0]) else "the function agree said no"
    from hetlab.timing.agreement import disagreement

    return disagreement(expected[0], got[0]) or disagreement(
        expected[1], got[1], "its arguments after the call"
    )


def _loops(subjects: list[Subject]) -> tuple[dict[str, int], dict[str, int]]:
    """Calls a sample, and calls made to find out, by candidate."""
    if subjects[0].setup is not None:
        return {s.name: 1 for s in subjects}, {s.name: 0 for s in subjects}
    loops, calls = {}, {}
    for subject in subjects:
        subject.phase = "the warm-up"
        loops[subject.name], calls[subject.name] = calibrate(subject.sample, subject.clock)
    if max(loops.values()) <= SAME_LOOPS * min(loops.values()):
        loops = dict.fromkeys(loops, max(loops.values()))
    return loops, calls
