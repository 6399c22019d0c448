"""Checks of lesson 01: fastest."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, unseen

from .common import NEARLY


### BEGIN PUBLIC SPEC
def fastest_spec(job, devices):
    rows = []
    for place, device in enumerate(devices):
        working = np.float64(job["work"]) / device["rate"]
        fetching = np.float64(job["touched"]) / device["bandwidth"]
        away = device["link"] is not None
        travel = np.float64(job["moved"]) / device["link"] if away else 0.0
        parts = [device["start"], travel, np.maximum(working, fetching)]
        rows.append((float(np.sum(parts)), place))
    seconds, place = sorted(rows)[0]
    return devices[place]["name"], seconds


### END PUBLIC SPEC
def device_of(name, rate, bandwidth, start, link=None):
    return {"name": name, "rate": rate, "bandwidth": bandwidth, "start": start, "link": link}


def job_of(work, touched, moved):
    return {"work": work, "touched": touched, "moved": moved}


def two_devices():
    cpu = device_of("CPU", 1e12, 1e11, 0.0)
    return [cpu, device_of("GPU", 2e13, 1e12, 1e-5, link=1e10)]


def fastest_cases(rng):
    yield Case("nothing to do", job_of(0.0, 0.0, 0.0), two_devices())
    yield Case("a long computation", job_of(1e13, 1e9, 1e9), two_devices())
    yield Case("a long transfer", job_of(1e11, 1e10, 1e10), two_devices())
    yield Case("a short job", job_of(4e6, 1e3, 1e3), two_devices())
    yield Case("memory decides", job_of(1e9, 3e9, 1e7), two_devices())
    yield Case("one device", job_of(3e9, 2e9, 1e9), two_devices()[1:])
    twins = [device_of(name, 1e12, 1e11, 1e-6) for name in ("left", "right")]
    yield Case("a tie", job_of(2e9, 1e6, 0.0), twins)
    for k in (3, 5):
        yield Case(f"{k} devices", *random_machines(rng, k))


def random_machines(rng, k):
    """A job whose parts are of similar size, so that each of them matters."""
    devices = []
    for i in range(k):
        rate, bandwidth, link = 10 ** rng.uniform([11, 10, 9], [13, 12, 11])
        link = None if i == 0 else float(link)
        start = float(10 ** rng.uniform(-4, -2))
        devices.append(device_of(f"device {i}", float(rate), float(bandwidth), start, link))
    work, touched, moved = 10 ** rng.uniform([9, 8, 7], [11, 10, 9])
    return job_of(float(work), float(touched), float(moved)), devices


fastest = Task(
    "fastest",
    title="Find the fastest device, with all that it costs",
    criteria=[Correct(fastest_spec, fastest_cases, points=3, agree=NEARLY)],
    hints=(
        "Write a helper that gives the seconds of the job on one device. Then look for the "
        "smallest.",
        "Three terms: the start; bytes moved / link, or 0 where link is None; and the larger of "
        "work / rate and touched / bandwidth.",
        "for device in devices: seconds = device['start'] + travel + max(...). Keep the first "
        "with the smallest seconds: replace it only by one that is really smaller (<).",
    ),
)
### BEGIN HIDDEN


def fastest_with(seconds, choose=None):
    """The same search with another idea of the time."""

    def function(job, devices):
        times = [seconds(job, d) for d in devices]
        best = (choose or (lambda t: t.index(min(t))))(times)
        return devices[best]["name"], times[best]

    return function


def time_of(job, d, start=1.0, travel=1.0, join=max):
    moved = job["moved"] / d["link"] if d["link"] else 0.0
    work = join(job["work"] / d["rate"], job["touched"] / d["bandwidth"])
    return start * d["start"] + travel * moved + work


def last_of_the_best(times):
    return max(i for i, t in enumerate(times) if t == min(times))


fastest.wrong += [
    Wrong(
        "the start is forgotten",
        fastest_with(lambda job, d: time_of(job, d, start=0.0)),
        says="Each device needs its start, also for the smallest job.",
    ),
    Wrong(
        "the transfer is forgotten",
        fastest_with(lambda job, d: time_of(job, d, travel=0.0)),
        says="Where link is a number, the data must come over it: moved / link.",
    ),
    Wrong(
        "work and memory added",
        fastest_with(lambda job, d: time_of(job, d, join=lambda a, b: a + b)),
        says="Computing and fetching go on at the same time. The slower one decides: max.",
    ),
    Wrong(
        "memory is forgotten",
        fastest_with(lambda job, d: time_of(job, d, join=lambda a, b: a)),
        says="A device cannot compute faster than its memory delivers: touched / bandwidth.",
    ),
    Wrong(
        "the way back counted again",
        fastest_with(lambda job, d: time_of(job, d, travel=2.0)),
        says="`moved` holds the bytes of both ways already.",
    ),
    Wrong(
        "the slowest instead of the fastest",
        fastest_with(time_of, lambda times: times.index(max(times))),
        says="You returned the device that needs the most time.",
    ),
    Wrong(
        "the last of several equal devices",
        fastest_with(time_of, last_of_the_best),
        says="When several are equally fast, the first in the list is asked for.",
    ),
]
unseen(fastest, lambda rng: [Case("more", *random_machines(rng, 4), public=False)] * 2)
### END HIDDEN
