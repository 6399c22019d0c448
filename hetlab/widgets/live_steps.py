"""The live picture of sums and scans, step by step (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.array_steps import ALGORITHMS, Steps

__all__ = ["StepsWidget"]


class StepsWidget(anywidget.AnyWidget):
    """An algorithm on a small array, and a slider for its steps.

    Attributes
    ----------
    algorithm : str
        A key of `hetlab.widgets.array_steps.ALGORITHMS`.
    step : int
        How many steps are done.
    """

    _esm = Path(__file__).with_name("array_steps.js")
    steps = traitlets.Dict().tag(sync=True)
    algorithm = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)

    def __init__(self, steps: Steps) -> None:
        self.text = repr(steps)
        every = {name: Steps(name, steps.values) for name in ALGORITHMS}
        data = {
            "text": self.text,
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
        super().__init__(steps=data, algorithm=steps.algorithm, step=1)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
