"""`measure`: how long does a call of this function take, here, today?"""

from __future__ import annotations

from collections.abc import Callable

from hetlab.errors import InvalidValue
from hetlab.timing import record
from hetlab.timing.clock import Clock, calibrate, count, sample_goal, system_clock
from hetlab.timing.measurement import Calibration, Measurement
from hetlab.timing.sampling import Subject, compile_log, name_of, quiet
from hetlab.timing.stamp import machine
from hetlab.timing.stats import check_confidence, fewest

__all__ = ["measure"]

MOST_SAMPLES = 200
# A slow function gets the samples its interval needs only if they take less than this (seconds).
PATIENCE = 20.0


def measure(
    fn: Callable,
    *args: object,
    seconds: float = 0.5,
    samples: int | None = None,
    loops: int | None = None,
    warmup: float = 0.05,
    setup: Callable | None = None,
    sync: Callable | None = None,
    confidence: float = 0.99,
    name: str | None = None,
    clock: Clock | None = None,
) -> Measurement:
    """Measure how long a call takes.

    The first call is timed on its own (with what Numba spends compiling), the function is warmed
    up, and an inner loop is sized so that one sample is far above the clock's resolution.
    Garbage collection is off while samples are taken.

    Parameters
    ----------
    fn : callable
        Called as ``fn(*args)``.  For keyword arguments wrap it in a lambda.
    *args
        Its arguments.  They are passed again and again: when ``fn`` changes them, use ``setup``.
    seconds : float
        About how long to sample, in seconds.
    samples : int, optional
        How many samples, instead of ``seconds``.
    loops : int, optional
        Calls a sample, instead of finding out.  1 with ``setup`` unless given.
    warmup : float
        Seconds of calls before the first sample.
    setup : callable, optional
        Called as ``setup(*args)`` before every call, outside the clock; returns fresh arguments.
    sync : callable, optional
        Waits, inside the clock at the end of each sample, for work that ``fn`` only started.
    confidence : float
        Of the interval of the median, between 0 and 1.
    name : str, optional
        What to call it; the function's name otherwise.
    clock : Clock, optional
        Another clock, for tests.

    Returns
    -------
    Measurement
        All samples in seconds a call, with machine, calibration and warnings.

    Raises
    ------
    InvalidValue
        For an option out of its range.
    Exception
        Whatever ``fn`` raises, with a note saying during which call.

    Examples
    --------
    >>> m = measure(sorted, list(range(1000)), seconds=0.05)
    >>> m.name, m.unit, m.median > 0
    ('sorted', 's', True)
    """
    check_confidence(confidence)
    for option, value in [("seconds", seconds), ("warmup", warmup)]:
        if not isinstance(value, (int, float)) or not value >= 0:
            raise InvalidValue(option, "a duration in seconds", value)
    if samples is not None:
        samples = count("samples", samples, 1)
    if loops is not None:
        loops = count("loops", loops, 1)
    clock = clock or system_clock()
    subject = Subject(name or name_of(fn), fn, args, setup, sync, clock)
    with quiet(), compile_log(clock) as compiling:
        first, _ = subject.once(subject.inputs())
        compiled = compiling.seconds
        loops, calls = warm_up(subject, loops, warmup)
        subject.phase = "sample 1"
        length = subject.sample(loops)  # the last of the warm-up, the yardstick for the number
        wanted = samples or how_many(length, seconds, confidence)
        late, taken = compiling.seconds, []
        for i in range(wanted):
            subject.phase = f"sample {i + 1}"
            taken.append(subject.sample(loops) / loops)
        late = compiling.seconds - late
    how = Calibration(
        loops, 1 + calls + loops, clock.name, clock.resolution, setup is not None, late
    )
    return Measurement(
        subject.name, tuple(taken), confidence, first, compiled, how, machine(), record.now()
    )


def warm_up(subject: Subject, loops: int | None, warmup: float) -> tuple[int, int]:
    """Call until ``warmup`` seconds are over; find the calls a sample needs when not given.

    Returns
    -------
    loops, calls : int
        Calls a sample, and calls made.
    """
    subject.phase = "the warm-up"
    calls, spent = 0, 0.0
    if loops is None and subject.setup is not None:
        loops = 1
    if loops is None:
        loops, calls = calibrate(subject.sample, subject.clock)
        spent = sample_goal(subject.clock)
    while spent < warmup:
        took = subject.sample(loops)
        calls += loops
        # A clock that stands still must not warm up for ever.
        spent += max(took, subject.clock.resolution, warmup / 10_000)
    return loops, calls


def how_many(length: float, seconds: float, confidence: float) -> int:
    """Samples that fill ``seconds``; at least what the interval needs, within patience."""
    least = fewest(confidence) + 1
    if length * least > PATIENCE:
        least = max(3, int(PATIENCE / length))
    fitting = int(seconds / length) if length > 0 else MOST_SAMPLES
    return max(least, min(MOST_SAMPLES, fitting))
