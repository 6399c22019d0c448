"""Checks of lesson 01: split work."""

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


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
