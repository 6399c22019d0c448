"""Every widget once, with data of which each figure is known: no clock is read, nothing compiled.

`hetlab bench widgets` and the browser tests open one notebook that shows them all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

__all__ = ["GALLERY", "notebook"]


def _roofline():
    import hetlab
    from hetlab.models import Roofline

    roof = Roofline(
        {"main memory, 4 threads": 40e9, "one thread": 20e9},
        {"fp64, 4 threads": 200e9, "fp64, one thread": 50e9},
    )
    points = {"saxpy": (1 / 12, 3.1e9), "stencil": (0.5, 9e9), "matmul": (42.7, 170e9)}
    return hetlab.show_roofline(roof, points)


def _measurement(name: str, level: float, seed: int, slow: int = 0):
    from hetlab.timing import Calibration, Measurement, machine

    draw = random.Random(seed)
    samples = [level * (1 + 0.02 * abs(draw.gauss(0, 1))) for _ in range(60)]
    samples[:slow] = [4 * level] * slow
    how = Calibration(1, 10, "hand", 1e-9)
    taken = "2026-01-01T00:00:00+00:00"
    return Measurement(name, tuple(samples), 0.99, 0.4, 0.39, how, machine(), taken)


def _distribution():
    import hetlab

    rows = [_measurement("numpy", 1.4e-3, 1), _measurement("numba", 1e-3, 2, slow=2)]
    return hetlab.show_distribution(*rows)


def _time():
    import hetlab

    return hetlab.show_time(_measurement("numba", 1e-3, 3))


def _wreck():
    import hetlab
    from hetlab.widgets.wreck import NEW, OLD, ROUNDS, WARM, Wreck

    draw = random.Random(3)
    series = {}
    for dropped, cold in itertools.product((False, True), repeat=2):
        level = {OLD: 20e-6, NEW: 3e-7 if dropped else 3e-6}
        series[dropped, cold] = {
            name: tuple(
                base * (5 if cold else 1) * (1 + 0.1 * abs(draw.gauss(0, 1)))
                + (0.4 if name == NEW and i == 0 else 0.0)
                for i in range(WARM + ROUNDS)
            )
            for name, base in level.items()
        }
    return hetlab.wreck_benchmark(Wreck(series, "a machine made of numbers"))


def _schedule():
    import hetlab
    from hetlab.sched import Machine, simulate
    from hetlab.sched.examples import topcuoglu

    return hetlab.show_schedule(simulate(topcuoglu(), Machine.uniform(3), "heft"))


def _named(name: str, *values, **options) -> Callable:
    def show():
        import hetlab

        return getattr(hetlab, name)(*values, **options)

    return show


GALLERY: dict[str, Callable] = {
    "roofline": _roofline,
    "distribution": _distribution,
    "time": _time,
    "wreck": _wreck,
    "sizes": _named("show_sizes"),
    "access": _named("show_access", 2),
    "banks": _named("show_banks"),
    "steps": _named("show_steps"),
    "warps": _named("show_warps", 3),
    "lockstep": _named("show_lockstep", lambda i, g: i // g % 2 == 0, g=(1, 2, 4, 8, 16, 32)),
    "occupancy": _named("show_occupancy", 256, 40),
    "streams": _named("show_streams"),
    "schedule": _schedule,
}
"""The widgets by name: a function that shows each."""


def notebook():
    """A notebook with a cell for each widget.

    Returns
    -------
    nbformat.NotebookNode
    """
    from nbformat import v4

    cells = [v4.new_markdown_cell("# Widgets", id="title")]
    for name in GALLERY:
        source = f"from hetlab.bench._gallery import GALLERY; GALLERY[{name!r}]()"
        cells.append(v4.new_code_cell(source, id=name))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
