"""Checks of lesson 02: benchmark."""

import itertools
from statistics import median

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def benchmark_spec(facts, samples, warmup):
    start, work = facts["start"], facts["work"]
    later = itertools.islice(itertools.cycle(work), warmup, warmup + samples)
    extra = itertools.islice(itertools.chain(start, itertools.repeat(0)), warmup, None)
    return [a + b for a, b in zip(later, extra)]


### END PUBLIC SPEC
class PracticeMachine:
    """The machine of the exercise notebook."""

    def __init__(self, facts):
        self.facts, self.time, self.calls = facts, 0, 0

    def clock(self):
        return self.time

    def fresh(self):
        self.time += self.facts["making"]
        return {"used": False}

    def work(self, data):
        extra, steps = self.facts["start"], self.facts["work"]
        took = steps[self.calls % len(steps)]
        self.time += took // 10 if data["used"] else took
        self.time += extra[self.calls] if self.calls < len(extra) else 0
        self.calls, data["used"] = self.calls + 1, True


def facts_of(rng, start, n=12):
    return {
        "making": int(rng.integers(500, 900)),
        "start": start,
        "work": [int(t) for t in rng.integers(1000, 1100, n)],
    }


def benchmark_cases(rng):
    facts = {"making": 7, "start": [500, 50], "work": [100, 110, 120, 130]}
    yield Case("3 samples after 2 calls of warm-up", facts, 3, 2)
    yield Case("one sample", facts, 1, 2)
    yield Case("no sample", facts, 0, 2)
    yield Case("no warm-up wanted: the first call is a sample", facts, 3, 0)
    yield Case("nothing is compiled", facts_of(rng, []), 6, 1)
    yield Case("a long warm-up", facts_of(rng, [90_000, 800, 400, 200, 100]), 20, 5)


benchmark = Task(
    "benchmark",
    title="Repair a benchmark",
    criteria=[Correct(benchmark_spec, benchmark_cases, points=4, agree=exact())],
    hints=(
        "Go through the faulty function line by line: what does each call of work get, and what "
        "lies between the two readings of the clock?",
        "Warm up first, each time with a fresh input. Then for each sample: make the input, read "
        "the clock, work, read the clock.",
        "data = machine.fresh() stands inside the loop and above start = machine.clock(). Keep "
        "machine.clock() - start in a list, and return the list.",
    ),
    not_checked="how it behaves with a real clock",
)
### BEGIN HIDDEN


def benchmarking(*, warm=True, reuse=False, made_inside=False, clock_once=False, finish=list):
    def benchmark(facts, samples, warmup):
        m = PracticeMachine(facts)
        shared = m.fresh() if reuse else None
        for _ in range(warmup if warm else 0):
            m.work(shared or m.fresh())
        found, before = [], m.clock()
        for _ in range(samples):
            given = shared or (None if made_inside else m.fresh())
            if not clock_once:
                before = m.clock()
            m.work(given or m.fresh())
            found.append(m.clock() - before)
        return finish(found)

    return benchmark


benchmark.wrong += [
    Wrong(
        "the faulty benchmark as it was",
        benchmarking(warm=False, reuse=True, clock_once=True),
        says="This gives the times of the faulty function. Look for its three faults.",
    ),
    Wrong(
        "no warm-up",
        benchmarking(warm=False),
        says="The first calls are among your samples. Make `warmup` calls before, uncounted.",
    ),
    Wrong(
        "one input for all calls",
        benchmarking(reuse=True),
        says="work changes its input: from the second call on it has nearly nothing to do. "
        "Call machine.fresh() for each call.",
    ),
    Wrong(
        "making the input is timed too",
        benchmarking(made_inside=True),
        says="machine.fresh() lies between your two readings of the clock. Call it before.",
    ),
    Wrong(
        "the clock is started only once",
        benchmarking(clock_once=True),
        says="Each of your times holds all the calls before it. Read the clock for each sample.",
    ),
    Wrong(
        "the times are sorted",
        benchmarking(finish=sorted),
        says="The values are right and their order is lost. Without it nobody can see drift.",
    ),
    Wrong(
        "the median instead of all times",
        benchmarking(finish=lambda times: median(times) if times else 0),
        says="Return every sample, in order. One number can be made of them later.",
        fails="value",
    ),
]


def more_benchmark(rng):
    return [
        Case("more", facts_of(rng, [70_000, 7000, 700], 31), 40, 4, public=False),
        Case("and more", facts_of(rng, [70_000, 7000, 700, 70], 7), 20, 2, public=False),
    ]


unseen(benchmark, more_benchmark)
### END HIDDEN
