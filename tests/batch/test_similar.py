"""Copies are found after renaming and reformatting; honest work and scaffold are not."""

import random

from hetlab.batch.similar import fingerprints, similar, tokens
from hetlab.tracks.notebooks import code_cell

ONE = '''
def histogram(values, bins):
    """Count."""
    low, high = min(values), max(values)
    counts = [0] * bins
    for v in values:
        where = int((v - low) / (high - low) * bins)
        if where == bins:
            where = bins - 1
        counts[where] += 1
    total = sum(counts)
    return [c / total for c in counts]
'''
RENAMED = """
# my own work!
def histogram(data: list, n: int) -> list:
    a, b = min(data), max(data)
    result = ([0]
              * n)
    for item in data:
        k = int((item - a) / (b - a) * n)
        if k == n: k = n - 1     # the last one
        result[k] += 1
    s = sum(result)
    return [r / s for r in result]
"""
OTHER = """
def histogram(values, bins):
    counts = np.zeros(bins)
    edges = np.linspace(min(values), max(values), bins + 1)
    for i in range(bins):
        inside = (values >= edges[i]) & (values < edges[i + 1])
        counts[i] = inside.sum()
    counts[-1] += (values == edges[-1]).sum()
    return counts / counts.sum()
"""
SCAFFOLD = """
import numpy as np
def setup(n):
    rng = np.random.default_rng(0)
    x = rng.random(n)
    y = rng.random(n)
    for i in range(n):
        if x[i] > y[i]:
            x[i], y[i] = y[i], x[i]
    return x, y
"""


def prints(*sources):
    cells = [code_cell(f"c{i}", s, hetlab={"task": "histogram"}) for i, s in enumerate(sources)]
    return fingerprints(cells)


def test_a_copy_is_found_after_renaming_and_reformatting():
    mine = {"alice": prints(ONE), "bob": prints(RENAMED), "carl": prints(OTHER)}
    (pair,) = similar("01_a", mine, {})
    assert (pair.one, pair.other, pair.tasks) == ("alice", "bob", ("histogram",))
    assert pair.share > 0.9


def test_what_was_handed_out_is_nobodys_copy():
    mine = {"alice": prints(SCAFFOLD, ONE), "carl": prints(SCAFFOLD, OTHER)}
    assert similar("01_a", {n: prints(SCAFFOLD) for n in ("alice", "bob")}, prints(SCAFFOLD)) == []
    assert similar("01_a", mine, prints(SCAFFOLD)) == []


def test_what_many_wrote_is_how_one_writes_it():
    assert similar("01_a", {f"s{i}": prints(ONE) for i in range(10)}, {}) == []


def test_short_answers_say_nothing():
    short = "def saxpy(a, x, y):\n    return a * x + y"
    assert similar("01_a", {"alice": prints(short), "bob": prints(short)}, {}) == []


def test_a_copy_among_lines_of_ones_own_and_in_another_order_is_found():
    more = "def mine(q):\n    while q:\n        q = [x for x in q if x > min(q)]\n    return len(q)"
    found = similar("01_a", {"alice": prints(ONE), "bob": prints(more, RENAMED)}, {})
    assert [(p.one, p.other) for p in found] == [("alice", "bob")]


def test_code_that_is_not_python_is_compared_by_its_words():
    kernel = (
        "%%cuda\n__global__ void f(float *a, int n) { int i = blockIdx.x; if (i < n) a[i] *= 2; }"
    )
    renamed = kernel.replace("*a", "*out").replace("a[i]", "out[i]").replace("void f", "void g")
    assert tokens(kernel) == tokens(renamed)


def test_any_text_at_all_has_tokens():
    chance = random.Random(1)
    for _ in range(200):
        text = "".join(chance.choice("def x(): \n\t'\"[{%!#=+\0\udc80你") for _ in range(40))
        assert isinstance(tokens(text), list)
    tokens("(" * 3000 + ")" * 3000)
    tokens("x = " + "-" * 20000 + "1")
