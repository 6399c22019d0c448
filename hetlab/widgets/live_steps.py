"""The live picture of sums and scans, step by step (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.array_steps import ALGORITHMS, Steps
from hetlab.widgets.live import Live, script

__all__ = ["StepsWidget"]


class StepsWidget(Live):
    """An algorithm on a small array, and a slider for its steps.

    Attributes
    ----------
    algorithm : str
        A key of `hetlab.widgets.array_steps.ALGORITHMS`.
    step : int
        How many steps are done.
    """

    _esm = script("array_steps.js")
    figure_by = ("draw_steps", "steps_figure")
    steps = traitlets.Dict().tag(sync=True)
    algorithm = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)

    def __init__(self, steps: Steps) -> None:
        every = {name: Steps(name, steps.values) for name in ALGORITHMS}
        data = {
            "text": repr(steps),
            "values": list(steps.values),
            "algorithms": {
                name: {
                    "warp": one.warp,
                    "told": [one.told(k) for k in range(len(one.steps) + 1)],
                    "steps": [
                        {
                            "after": list(step.after),
                            "moves": [[m.thread, m.into, list(m.sources)] for m in step.moves],
                        }
                        for step in one.steps
                    ],
                }
                for name, one in every.items()
            },
        }
        self._values = steps.values
        super().__init__(steps=data, algorithm=steps.algorithm, step=1)

    @property
    def shows(self) -> Steps:
        return Steps(self.algorithm, self._values)
