"""Figures of lesson 22 show what the timelines hold."""

import pytest

pytest.importorskip("matplotlib")
from hetlab import sched
from hetlab.errors import InvalidValue
from hetlab.sched.workloads import mixed_machine, stripes
from hetlab.widgets import figures_schedule as figures


@pytest.fixture(scope="module")
def lines():
    warm = mixed_machine(warm=True)
    return {p: sched.simulate(stripes(4), warm, p) for p in ("heft", "load")}


def test_use_over_time_has_a_line_a_run_and_the_temperatures(lines):
    figure = figures.use_over_time(lines)
    top, below = figure.axes
    assert [t.get_text() for t in top.get_legend().get_texts()] == ["heft", "load"]
    assert len(below.lines) == 2
    shares = top.lines[0].get_ydata()
    assert min(shares) >= 0 and max(shares) <= 100
    with pytest.raises(InvalidValue):
        figures.use_over_time({})


def test_useful_bars_are_no_longer_than_busy_ones(lines):
    for ax in figures.useful(lines).axes:
        widths = [bar.get_width() for bar in ax.patches]
        assert all(need <= busy + 1e-9 for busy, need in zip(widths[::2], widths[1::2]))


def test_ratios_and_energy_draw_every_point():
    worlds = sched.faulty_machines(2)[:2]
    figure = figures.ratios({p: sched.race(p, worlds) for p in ("heft", "load")})
    assert [len(line.get_xdata()) for line in figure.axes[0].lines[:2]] == [2, 2]
    points = [(1.0, 1.0, 10.0), (2.0, 2.0, 8.0)]
    assert list(figures.energy_by_deadline(points).axes[0].lines[0].get_ydata()) == [10.0, 8.0]
