"""What a busy machine adds to a time is taken out, and nothing that a process could make itself."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.grading import busy
from hetlab.grading.busy import Clock, kept_waiting, own_seconds

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
times = st.floats(0, 1e3)

# A process that says how much processor time it has used whenever it is asked for some.
WORKER = """
import sys, time
for line in sys.stdin:
    end = time.process_time() + float(line)
    while time.process_time() < end: pass
    print("done", flush=True)
"""


@pytest.fixture
def worker():
    """``work(seconds)`` uses so much processor time in another process, ``work.pid``."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def work(seconds):
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"

        work.pid = process.pid
        work(0)
        yield work
        process.kill()


@given(times, times, times)
def test_a_time_never_grows_and_never_falls_below_the_work_in_it(seconds, waited, used):
    own = own_seconds(seconds, waited, used)
    assert min(seconds, used) <= own <= seconds
    assert own_seconds(seconds, 0, used) == seconds


@linux
def test_waiting_for_a_core_is_counted():
    """Two that want the same core: each waits while the other runs."""
    import os

    core = min(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in "12"]
    try:
        for one in both:
            one.stdout.readline()
        before = [kept_waiting(one.pid) for one in both]
        clocks = [Clock(one.pid) for one in both]
        for clock in clocks:
            clock.start()
        while min(kept_waiting(one.pid) for one in both) < max(before) + 0.05:
            pass  # as long as it takes
        assert all(clock.stop() > 0 for clock in clocks)
    finally:
        for one in both:
            one.kill()
            one.wait()
            one.stdout.close()


@linux
def test_a_helper_that_worked_meanwhile_or_came_and_went_leaves_the_time_as_it_is(
    worker, monkeypatch
):
    """Somebody who waits much and lets another process work gets no second back."""
    import os

    waits = iter(range(0, 10**6, 1000))
    monkeypatch.setattr(busy, "kept_waiting", lambda pid: float(next(waits)))  # waits for ever
    monkeypatch.setattr(busy, "_started", lambda: 7)

    def timed(work, others, forks=lambda: 7):
        clock = Clock(os.getpid(), others)
        clock.start()
        work()
        monkeypatch.setattr(busy, "_started", forks)
        return clock.stop()

    used = 0.2
    assert timed(lambda: worker(used), [worker.pid]) >= used
    assert timed(lambda: worker(used), [], forks=lambda: 8) >= used
    # An idle helper is none: what is left is the processor time of this process alone.
    monkeypatch.setattr(busy, "_started", lambda: 7)
    assert timed(lambda: worker(used), []) < used
