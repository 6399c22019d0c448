"""Checks of lesson 01: read sheet."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, unseen

from .common import NEARLY

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
