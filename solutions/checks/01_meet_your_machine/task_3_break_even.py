"""Checks of lesson 01: break even."""

import bisect
from fractions import Fraction

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


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
