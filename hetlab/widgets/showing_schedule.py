"""`show_schedule`: a run of the scheduler, live, drawn or written, as the place allows."""

from __future__ import annotations

from hetlab.widgets.gantt import gantt_of
from hetlab.widgets.showing import _best

__all__ = ["show_schedule"]


def show_schedule(timeline):
    """Show who ran what when, what moved, and why devices were idle.

    Parameters
    ----------
    timeline : Timeline
        From `hetlab.sched.simulate`, `run_here` or `run_on_dask`; or its ``to_dict()``.

    Returns
    -------
    ScheduleWidget or Shown
        In a notebook with anywidget a live widget that zooms and plays; elsewhere a figure with its
        text.

    Raises
    ------
    InvalidValue
        For anything else.
    """
    gantt = gantt_of(timeline)
    return _best(gantt, "live_schedule", "ScheduleWidget", "draw_schedule", "schedule_figure")
