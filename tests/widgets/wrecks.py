"""A benchmark to wreck of which every sample is known: no clock is read, nothing is compiled."""

import itertools
import random

from hetlab.widgets.wreck import NEW, OLD, ROUNDS, WARM, Wreck


def wreck(seed=3):
    draw = random.Random(seed)
    series = {}
    for dropped, cold in itertools.product((False, True), repeat=2):
        level = {OLD: 20e-6, NEW: 3e-7 if dropped else 3e-6}
        series[dropped, cold] = {
            name: tuple(
                (base * (5 if cold else 1)) * (1 + 0.1 * abs(draw.gauss(0, 1)))
                + (0.4 if name == NEW and i == 0 else 0.0)
                for i in range(WARM + ROUNDS)
            )
            for name, base in level.items()
        }
    return Wreck(series, "a machine made of numbers")
