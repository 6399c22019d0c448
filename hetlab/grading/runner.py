"""Run one submission in a sandbox and judge its tasks: the trusted side.

The sandbox runs the student's cells.  This process holds the clock, the inputs and the
expected values; at each check cell it asks a snapshot of the sandbox for values by name
and compares.  What a student wrote can cost that student points and nobody else anything.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import one_line
from . import wire
from .judge import SEED, judge
from .sandbox import Gone, Sandbox
from .sandbox_submission import SandboxSubmission, plain_text
from .suspicions import suspicions
from .task import Task
from .tiers import Limits, Tier, probe, tier_named
from .verdict import Finding, Verdict

__all__ = ["Graded", "run_notebook"]


@dataclass(frozen=True)
class Graded:
    """What became of one submission.

    Attributes
    ----------
    verdicts : tuple of Verdict
        One a task, in the order of the tasks.
    reason : str
        Why the notebook did not run to its end, for the student; empty when it did.
    notes : tuple of str
        What else the student should know: cells that failed, and how.
    sandbox : str
        The tier it ran in.
    seconds : float
        Wall clock of the whole.
    incidents : tuple of str
        What an instructor may want to look at.  None of it costs a point by itself.
    """

    verdicts: tuple[Verdict, ...]
    reason: str = ""
    notes: tuple[str, ...] = ()
    sandbox: str = ""
    seconds: float = 0.0
    incidents: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return sum(v.points for v in self.verdicts)


def run_notebook(
    notebook: Any,
    tasks: Sequence[tuple[str, Task]],
    *,
    seed: int = SEED,
    limits: Limits | None = None,
    tier: Tier | str | None = None,
    hidden: Sequence[Any] = (),
) -> Graded:
    """Run a notebook's cells in a sandbox and judge each task where its check cell stands.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Normalised; ``metadata.hetlab`` of its cells says which task they answer (``task``) and
        which they check (``check``).  Only those of the given tasks count.
    tasks : sequence of (str, Task)
        Lesson id and task, in the order of the verdicts.
    seed : int
        Of the inputs.  A batch gives each student one that nobody can foresee.
    limits : Limits, optional
    tier : Tier or str, optional
        Default: the strongest that works here.
    hidden : sequence of path
        Folders that the sandbox must not see, such as a track inside the interpreter's own.

    Returns
    -------
    Graded
        Whatever the notebook holds: nothing that a student wrote raises.

    Raises
    ------
    HetlabError
        When the sandbox itself does not start: that is the machine's fault.
    """
    begin = time.perf_counter()
    tier = probe() if tier is None else tier_named(tier) if isinstance(tier, str) else tier
    run = _Run(notebook, list(tasks), seed, limits or Limits())
    with Sandbox(tier, run.limits, hidden) as sandbox:
        run.all(sandbox)
    incidents = [*run.incidents, *sandbox.incidents]
    return Graded(
        verdicts=tuple(run.verdicts[key] for key in run.tasks),
        reason=run.reason,
        notes=tuple(run.notes),
        sandbox=tier.name,
        seconds=time.perf_counter() - begin,
        incidents=tuple(dict.fromkeys(incidents)),
    )


@dataclass
class _Run:
    notebook: Any
    given: list[tuple[str, Task]]
    seed: int
    limits: Limits
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    reason: str = ""
    spent: float = 0.0
    faults: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks = {(lesson, task.name): task for lesson, task in self.given}
        self.names = {task.name: (lesson, task.name) for lesson, task in self.given}

    def all(self, sandbox: Sandbox) -> None:
        """Every cell, then every task that no cell checked."""
        for number, cell in enumerate(self.notebook.cells, 1):
            if cell.cell_type != "code":
                continue
            kind, name = _role(cell)
            if kind == "check" and name in self.names:
                # The first check of a task counts, and a copied check cell does not.
                if self.names[name] not in self.verdicts:
                    self._judge(sandbox, self.names[name])
            elif not sandbox.death:
                self._cell(sandbox, number, cell, name if kind == "solution" else "")
        for key in self.tasks:
            if key not in self.verdicts:
                self._judge(sandbox, key)
        self.reason = sandbox.death

    def _cell(self, sandbox: Sandbox, number: int, cell: Any, task: str) -> None:
        source = cell.source if isinstance(cell.source, str) else ""
        self.incidents += [f"cell {number} {what}" for what in suspicions(source)]
        left = self.limits.notebook - self.spent
        if left <= 0:
            sandbox.end(f"the notebook took more than {self.limits.notebook:g} s")
            return
        begin = time.monotonic()
        fault = self._execute(sandbox, number, source, min(self.limits.cell, left))
        self.spent += time.monotonic() - begin
        if fault:
            self.notes.append(f"cell {number}: {fault}")
            self.faults.setdefault(task, f"cell {number}: {fault}")

    def _execute(self, sandbox: Sandbox, number: int, source: str, seconds: float) -> str:
        """Run a cell; how it failed, in a few words, if it did."""
        request = {"do": "cell", "source": source}
        late = f"it did not end within {seconds:g} s and was stopped"
        try:
            try:
                reply = sandbox.ask(request, seconds)
            except wire.TimedOut:
                sandbox.interrupt()
                sandbox.hear(self.limits.grace)
                return late
        except wire.TimedOut:
            sandbox.end(f"cell {number} ignored the interrupt after {seconds:g} s")
            return late
        except Gone as gone:
            what, bracket, how = str(gone).partition(" (")
            sandbox.death = f"{what} in cell {number}{bracket}{how}"
            return sandbox.death
        status = reply.get("status") if isinstance(reply, dict) else None
        if status == "flood":
            return "it printed without end and was stopped"
        if status == "error":
            name, text = plain_text(reply.get("error"), 100), plain_text(reply.get("message"), 300)
            return f"{name}: {text}".rstrip(": ") or "it failed"
        return ""

    def _judge(self, sandbox: Sandbox, key: tuple[str, str]) -> None:
        lesson, task = key[0], self.tasks[key]
        if sandbox.death:
            self.verdicts[key] = self._lost(key, sandbox.death)
            return
        with SandboxSubmission(sandbox, task.time_limit) as submission:
            try:
                verdict = judge(task, submission, lesson=lesson, seed=self.seed)
            except Exception as fault:
                self.incidents.append(f"judging {task.name} failed: {one_line(fault)}")
                verdict = self._lost(key, "it could not be judged")
        self.verdicts[key] = self._with_fault(verdict, task.name)

    def _lost(self, key: tuple[str, str], reason: str) -> Verdict:
        task = self.tasks[key]
        finding = Finding("right values", 0, task.points, False, reason, "died")
        return Verdict(f"{key[0]}/{task.name}", "failed", (finding,), title=task.title)

    def _with_fault(self, verdict: Verdict, name: str) -> Verdict:
        """Add why the student's own cell failed to a verdict that misses its function."""
        fault = self.faults.get(name)
        if not fault or verdict.passed or not verdict.findings:
            return verdict
        first, *rest = verdict.findings
        return replace(verdict, findings=(replace(first, details=(*first.details, fault)), *rest))


def _role(cell: Any) -> tuple[str, str]:
    """("solution" or "check", task) from a cell's metadata, or two empty texts."""
    own = cell.metadata.get("hetlab") if isinstance(cell.metadata, dict) else None
    if isinstance(own, dict):
        for kind, key in (("solution", "task"), ("check", "check")):
            if isinstance(own.get(key), str):
                return kind, own[key]
    return "", ""
