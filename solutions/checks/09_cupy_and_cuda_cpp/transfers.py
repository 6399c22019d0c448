"""Checks of lesson 09: transfers, and what overlaps with them."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

# ---------------------------------------------------------------------------- offload_pays


### BEGIN PUBLIC SPEC
def offload_pays_spec(n, cpu_rate, gpu_rate, bytes_in, bytes_out, latency, bandwidth):
    cpu = n / cpu_rate
    there = latency + bytes_in * n / bandwidth
    back = latency + bytes_out * n / bandwidth
    return there + n / gpu_rate + back < cpu


### END PUBLIC SPEC
def offload_pays_cases(rng):
    n = np.array([1, 10, 1_000, 3_000, 100_000, 10**7, 10**9])
    yield Case("a slow CPU", n, 1e8, 1e11, 4, 4, 10e-6, 3e10)
    yield Case("a fast CPU: never", n, 1e10, 1e12, 8, 8, 10e-6, 1e10)
    yield Case("much comes back", n, 1e9, 1e11, 4, 40, 10e-6, 4e10)
    yield Case("much goes there", n, 2.0e9, 1e11, 16, 1, 10e-6, 4e10)
    yield Case("a high latency", np.arange(1, 200) * 1000, 1e9, 1e11, 4, 4, 20e-6, 3e10)


offload_pays = Task(
    "offload_pays",
    title="Decide when offloading pays",
    criteria=[Correct(offload_pays_spec, offload_pays_cases, 2, agree=exact())],
    hints=(
        "Write the time of the CPU, and the time of the other way: there, compute, back.",
        "Each copy costs its latency once, and its bytes divided by the bandwidth.",
        "2 * latency + (bytes_in + bytes_out) * n / bandwidth + n / gpu_rate, compared with "
        "n / cpu_rate: an array of bool.",
    ),
)
### BEGIN HIDDEN
offload_pays.wrong += [
    Wrong(
        "the transfers are free",
        lambda n, c, g, i, o, t, b: n / g < n / c,
        "That compares the devices only. The data have to travel there and back.",
    ),
    Wrong(
        "the way back is forgotten",
        lambda n, c, g, i, o, t, b: t + i * n / b + n / g < n / c,
        "The result has to come back, with a latency of its own.",
    ),
    Wrong(
        "one latency for both copies",
        lambda n, c, g, i, o, t, b: t + (i + o) * n / b + n / g < n / c,
        "Two copies are started, so the latency is paid twice.",
    ),
    Wrong(
        "a latency for every element",
        lambda n, c, g, i, o, t, b: n * (2 * t + (i + o) / b) + n / g < n / c,
        "One copy moves all elements: its latency is paid once, not for each of them.",
    ),
]
unseen(
    offload_pays,
    lambda rng: [
        Case("more", np.logspace(1, 9, 200).round(), 7e8, 2e11, 12, 4, 13e-6, 2.5e10, public=False)
    ],
)
### END HIDDEN


# --------------------------------------------------------------------------- pipeline_time


### BEGIN PUBLIC SPEC
def pipeline_time_spec(chunks, copy_in, kernel, copy_out):
    inside = computed = outside = 0.0  # when each engine is done with its latest chunk
    for _ in range(chunks):
        inside = inside + copy_in
        computed = max(computed, inside) + kernel
        outside = max(outside, computed) + copy_out
    return outside


### END PUBLIC SPEC
def pipeline_time_cases(rng):
    for chunks, a, b, c in ((1, 2.0, 3.0, 1.0), (2, 1.0, 1.0, 1.0), (4, 1.0, 5.0, 1.0)):
        yield Case(f"{chunks} chunks of {a:g}, {b:g}, {c:g}", chunks, a, b, c)
    yield Case("the copy in is slowest", 5, 4.0, 1.0, 2.0)
    yield Case("the copy out is slowest", 7, 1.0, 2.0, 3.5)
    yield Case("no kernel at all", 3, 1.0, 0.0, 1.0)


pipeline_time = Task(
    "pipeline_time",
    title="Predict the time of a pipeline",
    criteria=[Correct(pipeline_time_spec, pipeline_time_cases, 2, agree=close(rtol=1e-9))],
    hints=(
        "Draw three rows, one for each engine, and put in two chunks by hand.",
        "A step starts when its engine is free and when the step before has finished this chunk.",
        "Keep three numbers: when each engine is done. For each chunk: inside += copy_in; "
        "computed = max(computed, inside) + kernel; outside = max(outside, computed) + copy_out.",
    ),
)
### BEGIN HIDDEN
pipeline_time.wrong += [
    Wrong(
        "nothing overlaps",
        lambda n, a, b, c: n * (a + b + c),
        "That is one stream: three engines can work at the same time, on different chunks.",
    ),
    Wrong(
        "only the slowest engine counts",
        lambda n, a, b, c: n * max(a, b, c),
        "The pipeline has to fill and to drain: the first chunk passes alone, and the last one.",
    ),
    Wrong(
        "copies in both directions share an engine",
        lambda n, a, b, c: b + (n - 1) * max(a + c, b) + a + c,
        "There is one engine for each direction.",
    ),
]
unseen(
    pipeline_time,
    lambda rng: [Case("more", int(rng.integers(8, 40)), *rng.random(3).tolist(), public=False)],
)
### END HIDDEN


# ------------------------------------------------------------------------------ best_chunks


### BEGIN PUBLIC SPEC
def best_chunks_spec(nbytes, compute, latency, bandwidth, most):
    def seconds(chunks):
        copy = latency + nbytes / chunks / bandwidth
        return pipeline_time_spec(chunks, copy, compute / chunks, copy)

    return min(range(1, most + 1), key=seconds)


### END PUBLIC SPEC
def best_chunks_cases(rng):
    yield Case("32 MB, 2 ms of computing", 32e6, 2e-3, 10e-6, 3.15e10, 64)
    yield Case("little data: one chunk", 1e5, 5e-6, 10e-6, 3.15e10, 64)
    yield Case("no latency: as many as allowed", 32e6, 2e-3, 0.0, 3.15e10, 16)
    yield Case("little computing", 64e6, 1e-4, 10e-6, 3.15e10, 100)
    yield Case("a high latency", 32e6, 2e-3, 2e-4, 3.15e10, 64)


best_chunks = Task(
    "best_chunks",
    title="Cut the work into the right number of chunks",
    criteria=[Correct(best_chunks_spec, best_chunks_cases, 2, agree=exact(strict=False))],
    hints=(
        "Your pipeline_time gives the time for a number of chunks. There are not many numbers.",
        "A chunk's copy costs the latency and its part of the bytes; its kernel costs its part of "
        "the computing.",
        "min(range(1, most + 1), key=...) with the time of so many chunks as its key.",
    ),
)
### BEGIN HIDDEN


def chosen(time):
    def choose(nbytes, compute, latency, bandwidth, most):
        return min(range(1, most + 1), key=lambda n: time(n, nbytes, compute, latency, bandwidth))

    return choose


best_chunks.wrong += [
    Wrong(
        "the more the better",
        lambda nbytes, compute, latency, bandwidth, most: most,
        "Each copy has a latency. At some number of chunks it costs more than overlapping saves.",
    ),
    Wrong(
        "the computing is not divided",
        chosen(
            lambda n, size, work, t, b: pipeline_time_spec(
                n, t + size / n / b, work, t + size / n / b
            )
        ),
        "A chunk has only its part of the computing.",
    ),
    Wrong(
        "nothing overlaps",
        chosen(lambda n, size, work, t, b: n * 2 * t + 2 * size / b + work),
        "Without overlap one chunk is best. Use the time of the pipeline.",
    ),
]
unseen(
    best_chunks,
    lambda rng: [Case("more", 2.1e8, 9e-3, 17e-6, 2.4e10, 80, public=False)],
)
### END HIDDEN
