"""The criterion of a scheduler: it finishes on machines that go wrong, and near a known policy.

The simulation runs here; the learner's function is asked for each decision where it lives, and
sees plain data only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .criteria import not_returned
from .submission import DirectSubmission, Outcome
from .task import Trial, Wrong
from .verdict import Finding

__all__ = ["Races"]


class _NoAnswer(Exception):
    """The learner's function gave no answer; the run ends."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.status)
        self.outcome = outcome


@dataclass
class Races:
    """A function of a state schedules a workload on several machines, in virtual time.

    Parameters
    ----------
    worlds : callable
        ``worlds()`` gives the `hetlab.sched.World`s.
    finish : int
        Points for a run in which every task is done, on every machine.
    near : int
        Points beside them when the mean ratio to the bound is low enough.
    than : str
        The policy that it is compared with.
    times : float
        How many times that policy's mean ratio is low enough.
    name : str
        Which of the names handed in it judges.  Default: the first.
    """

    worlds: Callable[[], Sequence[Any]]
    finish: int = 2
    near: int = 2
    than: str = "load"
    times: float = 1.0
    name: str = ""
    kind: str = "slow"
    needs_right: bool = True

    @property
    def points(self) -> int:
        return self.finish + self.near

    def title(self) -> str:
        return "finishes, near the bound"

    def judge(self, trial: Trial) -> Finding:
        from hetlab.sched.proving import race

        name = self.name or trial.task.hands_in[0]
        worlds, logs, longest = list(self.worlds()), [], (0.0, None)
        given = race(self.than, worlds)
        for world in worlds:
            line, finding = self._run(trial, name, world)
            if finding:
                trial.notes[id(self)] = (world, (finding.kind, finding.text))
                return finding
            logs.append(math.log(line.ratio))
            behind = line.ratio / given.ratios[world.name]
            longest = max(longest, (behind, (world, line)), key=lambda pair: pair[0])
        mean, due = math.exp(sum(logs) / len(logs)), given.ratio * self.times
        text = f"{len(worlds)} machines, {mean:.2f} x the bound in the mean (modelled)"
        text += f", at most {due:.2f} for all points; policy {self.than!r} has {given.ratio:.2f}"
        full = mean <= due * (1 + 1e-9)
        earned = self.points if full else self.finish
        world, line = longest[1]
        details = () if full else self._furthest(world.name, line, given)
        trial.notes[id(self)] = (world, (self.kind, round(line.makespan, 9)))
        return Finding(self.title(), earned, self.points, full, text, self.kind, details)

    def _run(self, trial: Trial, name: str, world: Any) -> tuple[Any, Finding | None]:
        """A run on one machine, or why there is none."""
        from hetlab.errors import HetlabError
        from hetlab.sched.snapshot import on_state

        def ask(state: dict) -> Any:
            outcome = trial.submission.call(name, state)
            if not outcome.returned:
                raise _NoAnswer(outcome)
            return outcome.value

        try:
            line = world.run(on_state(ask, name))
        except HetlabError as error:
            if isinstance(error.__cause__, _NoAnswer):
                return None, self._no_answer(name, world, error.__cause__.outcome)
            text = f"{world.name}: {error.what}"
            kind = "stalled" if type(error).__name__ == "Stalled" else "impossible"
            return None, self._fault(text, kind, (error.do,) if error.do else ())
        if not line.complete:
            left = len(world.graph) - len(line.runs)
            return None, self._fault(f"{world.name}: {left} tasks were not done", "stalled")
        return line, None

    def _no_answer(self, name: str, world: Any, outcome: Outcome) -> Finding:
        if outcome.not_started:
            return self._fault(f"{name} is not started", "not started")
        if outcome.status == "missing":
            return self._fault(f"no function named {name} was handed in", "missing")
        details = []
        if outcome.place:
            where, line, source = outcome.place
            details.append(f"line {line} of {where}:  {source}")
        text = f"{world.name}: {not_returned(name, outcome)}"
        return self._fault(text, outcome.status, tuple(details))

    def _fault(self, text: str, kind: str, details: tuple[str, ...] = ()) -> Finding:
        return Finding(self.title(), 0, self.points, False, text, kind, details)

    def recognise(self, trial: Trial) -> Wrong | None:
        """The wrong answer that does the same on the machine where this one failed."""
        if id(self) not in trial.notes:
            return None
        world, mark = trial.notes[id(self)]
        name = self.name or trial.task.hands_in[0]
        for wrong in trial.task.wrong:
            with DirectSubmission({name: wrong.function}, trial.task.time_limit) as peer:
                line, finding = self._run(Trial(trial.task, peer, trial.seed), name, world)
            did = (finding.kind, finding.text) if finding else (self.kind, round(line.makespan, 9))
            if did == mark:
                return wrong
        return None

    def _furthest(self, world: str, line: Any, given: Any) -> tuple[str, ...]:
        """The machine on which it falls behind most, and what its devices did there."""
        text = f"furthest behind on {world!r}: {line.ratio:.2f} x the bound, policy "
        text += f"{self.than!r} {given.ratios[world]:.2f}"
        longest = max(line.spans, key=lambda s: s.seconds)
        modelled = line.machine.seconds(line.graph.tasks[longest.task], longest.device)
        busy = ", ".join(f"{d} {share:.0%}" for d, share in line.utilisation.items())
        return (
            text,
            f"busy: {busy}",
            f"its longest piece: {longest.task} on {longest.device}, {longest.seconds:.1f} s; "
            f"modelled: {modelled:.1f} s",
        )
