"""`show_time` and `wreck_benchmark`: how a measurement comes about, and how it goes wrong."""

from __future__ import annotations

from hetlab.timing import Measurement
from hetlab.widgets.showing import _best
from hetlab.widgets.time_parts import time_parts
from hetlab.widgets.wreck import Wreck, measure_wreck

__all__ = ["show_time", "wreck_benchmark"]


def show_time(measurement: Measurement):
    """Show where the time of one measurement went: compiling, warm-up, runs, noise.

    Parameters
    ----------
    measurement : Measurement
        From `hetlab.measure`.

    Returns
    -------
    TimeWidget or Shown
        In a notebook with anywidget a live widget, with a second bar for a program of any number
        of calls; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        For anything but a Measurement.
    """
    return _best(time_parts(measurement), "live_time", "TimeWidget", "draw_time", "time_figure")


def wreck_benchmark(wreck: Wreck | None = None):
    """Measure a small benchmark once, with and without its mistakes, and let switches choose.

    Parameters
    ----------
    wreck : Wreck, optional
        Samples taken before; measured now otherwise (some seconds, most of them compilation).

    Returns
    -------
    WreckWidget or Shown
        In a notebook with anywidget a live widget with a switch for each mistake; elsewhere a
        figure with its text.

    Raises
    ------
    MissingLibrary
        Without Numba, when samples have to be taken.
    """
    wreck = measure_wreck() if wreck is None else wreck
    return _best(wreck, "live_wreck", "WreckWidget", "draw_wreck", "wreck_figure")
