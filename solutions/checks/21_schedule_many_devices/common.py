"""Checks of lesson 21, schedule many devices.

Specifications try all ways or follow the definition, slowly.  The reference of HEFT is the answer
itself, so it stays with the author; what is public are the results that were published.
"""


def drawn(rng, tasks, devices, share=0.3):
    """A random graph: costs on every device, and the seconds of the transfers."""
    names = [f"t{i}" for i in range(tasks)]
    costs = {n: [int(c) for c in rng.integers(1, 30, devices)] for n in names}
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return costs, {pair: int(rng.integers(0, 30)) for pair in pairs if rng.random() < share}


def shuffled(rng, table):
    """The same dictionary in another order."""
    names = list(table)
    rng.shuffle(names)
    return {n: table[n] for n in names}


def published():
    """The graph of Topcuoglu, Hariri and Wu 2002: costs, and transfers by pair."""
    rows = (14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10)
    rows += (13, 16, 9), (7, 15, 11), (5, 11, 14), (18, 12, 20), (21, 7, 16)
    arrows = "1-2:18 1-3:12 1-4:9 1-5:11 1-6:14 2-8:19 2-9:16 3-7:23 4-8:27 4-9:23 5-9:13 6-8:15 "
    arrows += "7-10:17 8-10:11 9-10:13"
    edges = {}
    for arrow in arrows.split():
        pair, size = arrow.split(":")
        first, then = pair.split("-")
        edges[f"t{first}", f"t{then}"] = int(size)
    return {f"t{i}": list(row) for i, row in enumerate(rows, 1)}, edges
