"""The criterion of speed: a ratio to a reference that is timed in turn, in the same run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..units import ratio, seconds
from .agree import Agreement, close
from .criteria import not_returned
from .submission import Outcome
from .task import Trial
from .verdict import Finding

__all__ = ["Faster"]

#: Rounds after which the verdict falls, however near a band is.
_MOST = 25


@dataclass
class Faster:
    """The function is at least so many times faster than a reference, timed in turn.

    Both run in processes of their own, in random order within each round, on the same fresh
    inputs, and the judge's clock covers the whole call.  The best times of all rounds are
    compared: what disturbs a call can only make it longer.  Bands are coarse (a factor of three
    or more), so that noise does not decide and a reference against itself never earns one.

    Parameters
    ----------
    than : callable
        The reference.
    inputs : callable
        ``inputs(rng)`` gives the tuple of arguments of one round.
    bands : mapping of float to int
        From a ratio on, the points.
    against : str
        The reference in words: ``"NumPy's a * x + y"``.
    agree : Agreement
        Timed answers are compared with the reference's: being fast and wrong earns nothing.
    """

    than: Callable
    inputs: Callable[[Any], tuple]
    bands: Mapping[float, int]
    against: str = "the reference"
    agree: Agreement = field(default_factory=lambda: close(rtol=1e-4, atol=1e-6, strict=False))
    changes: tuple[int, ...] = ()
    name: str = ""
    rounds: int = 9
    kind: str = "speed"
    needs_right: bool = True

    def __post_init__(self) -> None:
        from ..errors import InvalidValue

        if not self.bands or min(self.bands) < 3:
            raise InvalidValue("bands", "ratios of 3 or more, which noise cannot reach", self.bands)

    @property
    def points(self) -> int:
        return max(self.bands.values())

    def title(self) -> str:
        return f"{min(self.bands):g} times as fast"

    def judge(self, trial: Trial) -> Finding:
        name = self.name or trial.task.hands_in[0]
        ratios: list[float] = []
        best: dict[str, float] = {}
        with trial.submission.beside({"reference": self.than}) as peer:
            order = trial.rng("order")
            for turn in itertools.count():
                given = self.inputs(trial.rng(f"round {turn}"))
                took, answers = {}, {}
                sides = [("learner", trial.submission, name), ("reference", peer, "reference")]
                for side, who, function in sides if order.random() < 0.5 else reversed(sides):
                    took[side], answers[side] = who.timed(function, *given)
                fault = self._fault(name, answers["learner"], answers["reference"])
                if fault:
                    return fault
                if turn == 0:
                    continue  # the first call compiles
                ratios.append(took["reference"] / took["learner"])
                best = {k: min(v, best.get(k, v)) for k, v in took.items()}
                gain = best["reference"] / best["learner"]
                if turn >= _MOST or self._clear(gain, ratios, turn):
                    break
        earned = max((p for r, p in self.bands.items() if gain >= r), default=0)
        text = (
            f"{ratio(gain)} the speed of {self.against} "
            f"({ratio(min(ratios))} to {ratio(max(ratios))} in {len(ratios)} rounds; "
            f"this time {seconds(took['learner'])}; measured)"
        )
        full = earned == self.points
        return Finding(self.title(), earned, self.points, full, text, self.kind)

    def _clear(self, gain: float, ratios: list[float], turn: int) -> bool:
        """Whether more rounds would change nothing.

        All bands earned in every round: three rounds are enough.  Otherwise all rounds are run, and
        more while a band is near: noise costs a learner more often than it helps.
        """
        if turn >= 3 and min(ratios) > 1.3 * max(self.bands):
            return True
        return turn >= self.rounds and not any(gain / 1.3 < r < gain * 1.3 for r in self.bands)

    def _fault(self, name: str, outcome: Outcome, reference: Outcome) -> Finding | None:
        if not reference.returned:
            raise RuntimeError(f"the reference failed: {not_returned('it', reference)}")
        if not outcome.returned:
            text, kind = not_returned(name, outcome), outcome.status
        else:
            got = [outcome.value, *(outcome.inputs[i] for i in self.changes)]
            due = [reference.value, *(reference.inputs[i] for i in self.changes)]
            if self.changes and reference.value is None:
                got[0] = None
            difference = self.agree(due, got)
            if not difference:
                return None
            text, kind = f"on the timed input, which is larger, {name} is wrong", "value"
        return Finding(self.title(), 0, self.points, False, text, kind)
