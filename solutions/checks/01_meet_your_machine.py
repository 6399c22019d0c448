"""Checks of lesson 01, meet your machine.

Every specification is slow and clear: it tries all possibilities, or follows the definition.  Wrong
answers and unseen inputs stay with the author.
"""

import bisect
import itertools
from fractions import Fraction

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, exact

### BEGIN HIDDEN


def unseen(task, cases):
    """Add inputs that feedback never shows."""
    judged = task.criteria[0]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
def whole(rng, low, high):
    """A whole number of Python's own kind."""
    return int(rng.integers(low, high))


NEARLY = close(ulps=0, rtol=1e-9, atol=1e-12)

# ------------------------------------------------------------------------------ read_sheet

SHEET = ("units", "multiply_adds", "clock_mhz", "memory_gb", "bandwidth_gb_s", "network_gbit_s")


def sheet_of(*values):
    return dict(zip((*SHEET, "cache_mib"), values))


### BEGIN PUBLIC SPEC
def read_sheet_spec(sheet):
    a_cycle = sum(2 for _ in range(sheet["units"])) * sheet["multiply_adds"]
    memory = sheet["memory_gb"] * 10**9
    network = sheet["network_gbit_s"] * 10**9 / 8
    return np.array(
        [
            a_cycle * sheet["clock_mhz"] * 1e6,
            memory / (sheet["bandwidth_gb_s"] * 10**9),
            memory / network,
            sheet["cache_mib"] * 1024 * 1024,
        ]
    )


### END PUBLIC SPEC
def read_sheet_cases(rng):
    yield Case("one unit", sheet_of(1, 1, 1000, 8, 1, 1, 1))
    yield Case("T4", sheet_of(40, 64, 1590, 16, 320, 100, 4))
    yield Case("A100 40GB", sheet_of(108, 64, 1410, 40, 1555, 200, 40))
    yield Case("H100 SXM", sheet_of(132, 128, 1980, 80, 3350, 400, 50))
    for name in ("chip A", "chip B"):
        yield Case(name, random_sheet(rng))


def random_sheet(rng):
    sizes = (20, 200), (16, 257), (800, 2500), (8, 200), (200, 5000), (10, 800), (2, 300)
    return sheet_of(*(int(rng.integers(*size)) for size in sizes))


read_sheet = Task(
    "read_sheet",
    title="Read a data sheet",
    criteria=[Correct(read_sheet_spec, read_sheet_cases, points=3, agree=NEARLY)],
    hints=(
        "Write the unit beside every number, and convert all of them to plain units first: "
        "Hz, bytes, bytes per second.",
        "A multiply-add is two operations, a byte has 8 bits, M and G are 10**6 and 10**9, and "
        "Mi is 2**20. A time is bytes divided by bytes per second.",
        "peak = units * multiply_adds * 2 * clock_mhz * 1e6; read = memory_gb / bandwidth_gb_s; "
        "fill = memory_gb * 8 / network_gbit_s; cache = cache_mib * 2**20.",
    ),
)
### BEGIN HIDDEN


def sheet_with(**factors):
    places = ("peak", "read", "fill", "cache")
    by = np.array([factors.get(place, 1.0) for place in places])
    return lambda sheet: read_sheet_spec(sheet) * by


read_sheet.wrong += [
    Wrong(
        "a multiply-add counted as one operation",
        sheet_with(peak=0.5),
        says="A multiply-add is a multiplication and an addition: 2 operations.",
    ),
    Wrong(
        "bits taken for bytes",
        sheet_with(fill=1 / 8),
        says="Networks are sold in Gb/s, gigaBITS per second. Eight of them make a byte.",
    ),
    Wrong(
        "MiB taken for MB",
        sheet_with(cache=1e6 / 2**20),
        says="1 MiB is 2**20 = 1,048,576 bytes, not a million.",
    ),
    Wrong(
        "MHz not converted",
        sheet_with(peak=1e-6),
        says="The clock is given in MHz, a million cycles a second.",
    ),
    Wrong(
        "GB taken for GiB",
        sheet_with(read=2**30 / 1e9, fill=2**30 / 1e9),
        says="A data sheet's GB are 10**9 bytes; only the cache here is given in powers of two.",
    ),
]
unseen(read_sheet, lambda rng: [Case("more", random_sheet(rng), public=False) for _ in range(2)])
### END HIDDEN


# --------------------------------------------------------------------------------- fastest


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


# ------------------------------------------------------------------------------ break_even


### BEGIN PUBLIC SPEC
def break_even_spec(host, device, limit):
    def pays(n):
        saved = Fraction(2 * n**3) / Fraction(host["rate"])
        travel = Fraction(12 * n**2) / Fraction(device["link"])
        work = Fraction(2 * n**3) / Fraction(device["rate"])
        return saved > Fraction(device["start"]) + travel + work

    sizes = range(1, limit + 1)
    place = bisect.bisect_left(sizes, True, key=pays)
    return sizes[place] if place < len(sizes) else None


### END PUBLIC SPEC
def machine_of(host, rate, link, start):
    return {"rate": host}, {"rate": rate, "link": link, "start": start}


def break_even_cases(rng):
    yield Case("a tie at n = 1", *machine_of(1, 2, 12, 0), 10)
    yield Case("no start, a wide link", *machine_of(10**9, 10**13, 10**15, 0), 100)
    yield Case("a large GPU", *machine_of(7 * 10**12, 3 * 10**14, 32 * 10**9, 1e-5), 10**6)
    yield Case("the same, small limit", *machine_of(7 * 10**12, 3 * 10**14, 32 * 10**9, 1e-5), 100)
    yield Case("a slower device", *machine_of(10**12, 10**11, 10**10, 1e-5), 10**6)
    yield Case("an equal device", *machine_of(10**12, 10**12, 10**10, 0), 10**6)
    yield Case("a limit of 0", *machine_of(1, 100, 100, 0), 0)
    yield Case("a device only just faster", *machine_of(10**12, 1.01e12, 10**6, 1), 10**10)
    for _ in range(3):
        yield random_offload(rng)


def random_offload(rng, public=True):
    host, faster, link, start = 10 ** rng.uniform([10, 0.3, 8, -6], [13, 2, 10, -2])
    host = round(host)
    given = machine_of(host, round(host * faster), round(link), float(start))
    return Case("a random pair", *given, 10**9, public=public)


break_even = Task(
    "break_even",
    title="Find the break-even size of offloading",
    criteria=[Correct(break_even_spec, break_even_cases, points=4, agree=exact())],
    hints=(
        "Write pays(n) first: is the device faster at this size? Then search. Once it pays, it "
        "pays for all larger sizes.",
        "Double n until it pays or the limit is reached. Then halve the gap between a size that "
        "does not pay and one that does: some 60 questions instead of a billion.",
        "First the cases without an answer: no size at all, or the limit itself does not pay. Then "
        "low = 0 (does not pay) and high = limit (pays). While they are not neighbours, ask "
        "pays((low + high) // 2) and move low or high there. high is the answer.",
    ),
    not_checked="how many sizes it looks at, as long as the time limit holds",
    time_limit=5.0,
)
### BEGIN HIDDEN


def search(pays, limit):
    place = bisect.bisect_left(range(1, limit + 1), True, key=pays)
    return place + 1 if place < limit else None


def offload(start=1, travel=1, slack=0, only_there=False):
    def function(host, device, limit):
        def pays(n):
            here = Fraction(2 * n**3) / host["rate"]
            there = start * Fraction(device["start"])
            there += travel * Fraction(12 * n**2) / Fraction(device["link"])
            there += Fraction(2 * n**3) / Fraction(device["rate"])
            return there <= here if slack else there < here

        return search(pays, limit)

    return function


def every_size(host, device, limit):
    return next((n for n in range(1, limit + 1) if pays_at(host, device, n)), None)


def pays_at(host, device, n):
    there = device["start"] + 12 * n**2 / device["link"] + 2 * n**3 / device["rate"]
    return there < 2 * n**3 / host["rate"]


def last_that_does_not(host, device, limit):
    found = break_even_spec(host, device, limit)
    return found - 1 if found is not None else None


def power_of_two(host, device, limit):
    found = break_even_spec(host, device, limit)
    return None if found is None else min(limit, 1 << (found - 1).bit_length())


def limit_for_never(host, device, limit):
    found = break_even_spec(host, device, limit)
    return limit if found is None else found


break_even.wrong += [
    Wrong(
        "the start is forgotten",
        offload(start=0),
        says="The device begins only after its start: add device['start'].",
    ),
    Wrong(
        "the transfer is forgotten",
        offload(travel=0),
        says="The matrices travel over the link: 3 * n**2 numbers of 4 bytes.",
    ),
    Wrong(
        "numbers counted instead of bytes",
        offload(travel=Fraction(1, 4)),
        says="A number has 4 bytes, and the link counts bytes.",
    ),
    Wrong(
        "only one matrix travels",
        offload(travel=Fraction(1, 3)),
        says="Two matrices go there and one comes back: 3 * n**2 numbers.",
    ),
    Wrong(
        "equally fast taken for faster",
        offload(slack=1),
        says="At a tie nothing is gained. The device must be really faster.",
    ),
    Wrong(
        "the last size that does not pay",
        last_that_does_not,
        says="You stopped one size too early: return the first n that pays.",
    ),
    Wrong(
        "the first power of two that pays",
        power_of_two,
        says="Doubling finds the right neighbourhood. Then halve the gap to find the first size.",
    ),
    Wrong(
        "a search that takes too long",
        every_size,
        says="Either a loop never ends, or every size is tried, and there are up to 10**10. If it "
        "does not pay at n, it does not pay below n either: halve the range with each question.",
        fails="timeout",
    ),
    Wrong(
        "the limit where it never pays",
        limit_for_never,
        says="When the device is not faster at any size up to the limit, return None.",
    ),
]
unseen(break_even, lambda rng: [random_offload(rng, public=False) for _ in range(3)])
### END HIDDEN


# ----------------------------------------------------------------------- useful_processors


### BEGIN PUBLIC SPEC
def useful_processors_spec(serial, divisible, worth):
    def seconds(p):
        return serial + Fraction(divisible, p)

    p = 1
    while seconds(p) - seconds(p + 1) >= worth:
        p += 1
    return p


### END PUBLIC SPEC
def useful_processors_cases(rng):
    yield Case("nothing can be divided", 10, 0, 1)
    yield Case("the second saves just enough", 3, 20, 10)
    yield Case("the second saves too little", 3, 19, 10)
    yield Case("60 s to divide, 1 s worth it", 40, 60, 1)
    yield Case("nothing is serial", 0, 1000, 2)
    yield Case("an hour", 360, 3240, 5)
    for _ in range(3):
        given = whole(rng, 1, 500), whole(rng, 100, 50_000), whole(rng, 1, 30)
        yield Case(f"{given[1]} s to divide", *given)


useful_processors = Task(
    "useful_processors",
    title="Find how many processors are useful",
    criteria=[Correct(useful_processors_spec, useful_processors_cases, points=2, agree=exact())],
    hints=(
        "Write the time on p processors as a function of p. What does one more save?",
        "The serial part is in both times, so it cancels: from p to p + 1 you save "
        "divisible / p - divisible / (p + 1) seconds.",
        "That is divisible / (p * (p + 1)). Start with p = 1 and raise it as long as this is at "
        "least `worth`. Multiply both sides by p * (p + 1), and nothing is rounded.",
    ),
)
### BEGIN HIDDEN


def amdahls_limit(serial, divisible, worth):
    return (serial + divisible) // serial if serial else divisible


useful_processors.wrong += [
    Wrong(
        "the mean of all instead of the last one",
        lambda serial, divisible, worth: max(1, divisible // worth),
        says="Each further processor saves less than the one before. Look at what the last one "
        "saves, not at the mean of all.",
    ),
    Wrong(
        "one too many",
        lambda s, d, worth: useful_processors_spec(s, d, worth) + 1,
        says="You returned the first processor that is no longer worth it.",
    ),
    Wrong(
        "the serial part divided too",
        lambda s, d, worth: useful_processors_spec(0, s + d, worth),
        says="More processors do not make the serial part shorter: only `divisible` is divided.",
    ),
    Wrong(
        "the limit of the speed-up taken for a number of processors",
        amdahls_limit,
        says="1/s is the speed-up that is never reached, not the number of useful processors.",
    ),
    Wrong(
        "just enough is not enough",
        lambda s, d, worth: next(p for p in itertools.count(1) if d <= worth * p * (p + 1)),
        says="At least `worth` seconds: saving exactly so many still counts.",
    ),
]
unseen(
    useful_processors,
    lambda rng: [
        Case("more", whole(rng, 1, 900), whole(rng, 10**5, 10**6), whole(rng, 1, 9), public=False)
    ],
)
### END HIDDEN


# ---------------------------------------------------------------------------- serial_share

NOTHING, SLOWER, FASTER = "says nothing", "slower than alone", "faster than possible"


### BEGIN PUBLIC SPEC
def serial_share_spec(t1, tp, p):
    if p == 1:
        return NOTHING
    if tp > t1:
        return SLOWER
    if tp * p < t1:
        return FASTER
    # Amdahl's time on p processors lies on a line between t1 / p (share 0) and t1 (share 1).
    return float(np.interp(tp, [t1 / p, t1], [0.0, 1.0]))


### END PUBLIC SPEC
def serial_share_cases(rng):
    yield Case("half is serial", 8.0, 6.0, 2)
    yield Case("all of it is serial", 8.0, 8.0, 4)
    yield Case("nothing is serial", 8.0, 2.0, 4)
    yield Case("whole seconds", 10, 4, 4)
    yield Case("slower than on one", 8.0, 9.0, 2)
    yield Case("more than p times faster", 8.0, 1.5, 4)
    yield Case("one processor", 8.0, 8.0, 1)
    for p in (2, 7, 64):
        yield Case(f"{p} processors", *random_times(rng, p))


def random_times(rng, p):
    share, t1 = rng.uniform(0.05, 0.9), rng.uniform(1, 100)
    return float(t1), float(t1 * (share + (1 - share) / p)), p


serial_share = Task(
    "serial_share",
    title="Find the serial share from two measurements",
    criteria=[Correct(serial_share_spec, serial_share_cases, points=3, agree=NEARLY)],
    hints=(
        "First sort out what Amdahl's law cannot explain. Then there is one equation with one "
        "unknown.",
        "tp / t1 = s + (1 - s) / p. Solve it for s. With p = 1 it holds for every s.",
        "s = (p * tp / t1 - 1) / (p - 1). Before that: p == 1, then tp > t1, then tp * p < t1, "
        "each with its text.",
    ),
)
### BEGIN HIDDEN


def share_by(formula):
    def function(t1, tp, p):
        told = serial_share_spec(t1, tp, p)
        return told if isinstance(told, str) else formula(t1, tp, p)

    return function


def clipped(t1, tp, p):
    if p == 1:
        return NOTHING
    return float(min(1.0, max(0.0, (p * tp / t1 - 1) / (p - 1))))


def unchecked(t1, tp, p):
    return (p * tp / t1 - 1) / (p - 1)


serial_share.wrong += [
    Wrong(
        "the time on p taken for the serial part",
        share_by(lambda t1, tp, p: tp / t1),
        says="The time on p processors holds the serial part *and* a piece of the divisible one.",
    ),
    Wrong(
        "the serial share counted twice",
        share_by(lambda t1, tp, p: tp / t1 - 1 / p),
        says="Of t1 / p a part is serial as well: divide by 1 - 1/p.",
    ),
    Wrong(
        "whole numbers divided without the rest",
        share_by(lambda t1, tp, p: float((1 / (t1 // tp) - 1 / p) / (1 - 1 / p))),
        says="// drops the rest of a division. A speed-up of 2.5 is not 2.",
    ),
    Wrong(
        "the efficiency taken for the share",
        share_by(lambda t1, tp, p: 1 - t1 / tp / p),
        says="1 - speed-up / p tells how much of the processors' time is lost, not how much of "
        "the program is serial.",
    ),
    Wrong(
        "impossible times squeezed between 0 and 1",
        clipped,
        says="No share explains these times. Say so, instead of returning 0 or 1 as if it were "
        "a finding.",
    ),
    Wrong(
        "impossible times not noticed",
        unchecked,
        says="A share below 0 or above 1, or a division by zero, is no share. Look at the "
        "measurements first.",
    ),
]
unseen(serial_share, lambda rng: [Case("more", *random_times(rng, 12), public=False)])
### END HIDDEN


# ------------------------------------------------------------------------------ split_work


### BEGIN PUBLIC SPEC
def split_work_spec(n, host, device, start):
    def end(there):
        return max((n - there) * host, start + there * device if there else 0)

    there = min(range(n + 1), key=end)  # the first of several equal ones
    return n - there, there


### END PUBLIC SPEC
def split_work_cases(rng):
    yield Case("nothing to do", 0, 5, 2, 100)
    yield Case("one item", 1, 10, 1, 5)
    yield Case("two equal devices", 10, 4, 4, 0)
    yield Case("two equal devices, odd", 11, 4, 4, 0)
    yield Case("a faster device", 100, 9, 1, 0)
    yield Case("a start", 100, 6, 2, 200)
    yield Case("a start that is too long", 20, 6, 2, 500)
    yield Case("a slower device", 90, 2, 7, 10)
    for n in (7, 250, 1000):
        yield Case(f"{n} items", n, *random_pair(rng, n))


def random_pair(rng, n):
    host, device = (int(v) for v in rng.integers(3, 40, 2))
    return host, device, int(rng.integers(1, n * host // 2))


split_work = Task(
    "split_work",
    title="Split work between two unequal devices",
    criteria=[Correct(split_work_spec, split_work_cases, points=3, agree=exact())],
    hints=(
        "If both end at the same time, nobody waits. Write down when each of them ends.",
        "The CPU ends at here * host, the device at start + there * device. Set them equal with "
        "here = n - there. The solution is seldom a whole number.",
        "there = (n * host - start) / (host + device). Try the whole numbers below and above it, "
        "between 0 and n, and 0 itself; keep the one that ends first, at a tie the smaller. Or "
        "try all n + 1 of them.",
    ),
    not_checked="how long it takes for millions of items",
)
### BEGIN HIDDEN


def by_shares(there_of):
    def function(n, host, device, start):
        there = min(n, max(0, there_of(n, host, device, start)))
        return n - there, there

    return function


def start_always(n, host, device, start):
    there = min(range(n + 1), key=lambda t: max((n - t) * host, start + t * device))
    return n - there, there


def rest_lost(n, host, device, start):
    if n == 0:
        return 0, 0
    there = max(0, (n * host - start) // (host + device))
    here = max(0, (n * device + start) // (host + device))
    return min(n, here), there


def sum_smallest(n, host, device, start):
    there = min(range(n + 1), key=lambda t: (n - t) * host + (start + t * device if t else 0))
    return n - there, there


split_work.wrong += [
    Wrong(
        "half for each",
        by_shares(lambda n, host, device, start: n // 2),
        says="The devices are not equally fast, so the slower one makes the other wait.",
    ),
    Wrong(
        "the start is forgotten",
        lambda n, host, device, start: split_work_spec(n, host, device, 0),
        says="While the device starts, the CPU works already: it should get more items.",
    ),
    Wrong(
        "more for the slower one",
        lambda n, host, device, start: split_work_spec(n, device, host, start),
        says="host and device are seconds for an item: the larger number is the slower one.",
    ),
    Wrong(
        "the rest of the division is lost",
        rest_lost,
        says="Both parts were rounded down, and an item is left to nobody.",
    ),
    Wrong(
        "the times added instead of the later end",
        sum_smallest,
        says="Both work at the same time. What counts is when the later one ends: max.",
    ),
    Wrong(
        "rounded down without a look at the neighbours",
        by_shares(lambda n, host, device, start: (n * host - start) // (host + device)),
        says="The equation gives a fraction. Of the whole numbers below and above it, the one "
        "that ends first is right.",
    ),
]
unseen(split_work, lambda rng: [Case("more", 777, *random_pair(rng, 777), public=False)])
### END HIDDEN


# ----------------------------------------------------------------------------- parallelism


### BEGIN PUBLIC SPEC
def parallelism_spec(program):
    size = len(program)
    after = np.zeros((size, size), bool)  # after[i, j]: step i must wait for step j
    for i, (_, needs) in enumerate(program):
        after[i, list(needs)] = True
    for _ in range(size):
        after |= after @ after
    free = ~(after | after.T | np.eye(size, dtype=bool))
    pairs = [(program[i][0], program[j][0]) for i, j in np.argwhere(free)]
    if not pairs:
        return "none"
    return "data" if all(a == b for a, b in pairs) else "task"


### END PUBLIC SPEC
def parallelism_cases(rng):
    yield Case("no step", [])
    yield Case("one step", [("read", [])])
    yield Case("a chain", [("read", []), ("scale", [0]), ("write", [1])])
    yield Case("four of the same kind", [("scale", [])] * 4)
    yield Case("two different jobs", [("shrink", []), ("check", [])])
    fan = [("read", []), ("scale", [0]), ("scale", [0]), ("scale", [0]), ("join", [1, 2, 3])]
    yield Case("read, three times scale, join", fan)
    diamond = [("read", []), ("blur", [0]), ("edges", [0]), ("join", [1, 2])]
    yield Case("read, blur and edges, join", diamond)
    yield Case("a chain of the same steps", [("scale", [])] + [("scale", [i]) for i in range(4)])
    apart = [("scale", []), ("scale", [0]), ("scale", []), ("join", [1, 2])]
    yield Case("the third does not need the second", apart)
    late = [("read", []), ("scale", [0]), ("join", [1]), ("check", [0])]
    yield Case("one step aside of a chain", late)
    far = [("scale", []), ("scale", []), ("check", [1])]
    yield Case("the third step does not need the first", far)
    for k in (5, 8, 12):
        yield Case(f"{k} random steps", random_program(rng, k))


def random_program(rng, k):
    names = ["scale", "blur", "check"][: int(rng.integers(1, 4))]
    program = []
    for i in range(k):
        needs = sorted(int(j) for j in range(i) if rng.random() < 0.4)
        program.append((names[int(rng.integers(len(names)))], needs))
    return program


parallelism = Task(
    "parallelism",
    title="Say which parallelism is in a program",
    criteria=[Correct(parallelism_spec, parallelism_cases, points=3, agree=exact())],
    hints=(
        "Two steps can run at the same time when neither waits for the other, directly or "
        "through steps in between.",
        "For each step collect all steps before it: those it needs, and all that are before "
        "those. Steps need only earlier ones, so one walk through the list is enough.",
        "Keep a list of sets. The set of a step holds its needs and everything in the sets of "
        "those needs. Then look at every pair j < i where j is not in the set of i, and compare "
        "the names of their operations.",
    ),
)
### BEGIN HIDDEN


def from_pairs(program, ordered, over_all=False):
    pairs = [(j, i) for i in range(len(program)) for j in range(i) if not ordered(j, i)]
    if not pairs:
        return "none"
    names = [name for name, _ in program]
    different = len(set(names)) > 1 if over_all else any(names[i] != names[j] for j, i in pairs)
    return "task" if different else "data"


def all_before(program):
    before = []
    for _, needs in program:
        before.append(set(needs).union(*(before[j] for j in needs)))
    return before


def direct_only(program):
    return from_pairs(program, lambda j, i: j in program[i][1])


def names_anywhere(program):
    before = all_before(program)
    return from_pairs(program, lambda j, i: j in before[i], over_all=True)


def adjacent_pairs(program):
    before = all_before(program)
    return from_pairs(program, lambda j, i: j in before[i] or i - j > 1)


def any_need(program):
    if any(needs for _, needs in program) or len(program) < 2:
        return "none"
    return "data" if len({name for name, _ in program}) == 1 else "task"


def turned(program):
    told = parallelism_spec(program)
    return {"data": "task", "task": "data"}.get(told, told)


parallelism.wrong += [
    Wrong(
        "only direct needs are seen",
        direct_only,
        says="If c needs b and b needs a, then c must wait for a as well.",
    ),
    Wrong(
        "different operations anywhere",
        names_anywhere,
        says="Compare only operations of steps that can run at the same time.",
    ),
    Wrong(
        "only neighbours in the list compared",
        adjacent_pairs,
        says="Steps that stand far apart in the list can run at the same time, too.",
    ),
    Wrong(
        "one need makes it a chain",
        any_need,
        says="A program with some needs may still have steps that do not wait for each other.",
    ),
    Wrong(
        "data and task exchanged",
        turned,
        says="The same operation on many data is data parallelism; different jobs are tasks.",
    ),
]
unseen(
    parallelism,
    lambda rng: [Case("more", random_program(rng, k), public=False) for k in (6, 9, 15)],
)
### END HIDDEN
