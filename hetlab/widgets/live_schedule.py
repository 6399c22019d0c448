"""The live picture of a schedule (needs anywidget)."""

from __future__ import annotations

from dataclasses import asdict

import traitlets

from hetlab.widgets.gantt import WHY, Gantt
from hetlab.widgets.live import Live, script

__all__ = ["ScheduleWidget"]


class ScheduleWidget(Live):
    """A schedule that zooms, plays, and says why a device was idle.

    Attributes
    ----------
    now : float
        The time under the cursor; follows it and moves it.
    """

    _esm = script("schedule.js")
    figure_by = ("draw_schedule", "schedule_figure")
    schedule = traitlets.Dict().tag(sync=True)
    now = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, gantt: Gantt) -> None:
        self._shown = gantt
        rows = [
            {
                "name": name,
                "device": name in gantt.devices,
                "bars": [asdict(bar) for bar in bars],
                "gaps": [
                    {"start": g["start"], "end": g["end"], "why": g["why"], "says": g["says"]}
                    for g in gantt.gaps
                    if g["device"] == name
                ],
            }
            for name, bars in gantt.rows.items()
        ]
        data = {
            "title": gantt.title,
            "headline": gantt.headline,
            "unit": gantt.unit,
            "length": gantt.length,
            "rows": rows,
            "facts": list(gantt.facts),
            "why": WHY,
            "degrees": {name: [list(p) for p in points] for name, points in gantt.degrees.items()},
            "critical": gantt.critical,
            "left_out": gantt.left_out,
            "text": repr(gantt),
        }
        super().__init__(schedule=data, now=0.0)

    @property
    def shows(self) -> Gantt:
        return self._shown
