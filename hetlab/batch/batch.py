"""Grade a class: what is already graded stays, the rest is graded, one row after another."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hetlab

from ..grading import Task, settle
from ..tracks.files import digest
from ..tracks.manifest import Track
from ..tracks.notebooks import notebook_bytes
from ..tracks.tasks import find_task, load_tasks
from .collect import collect
from .job import Answer, Job, not_judged
from .ledger import Ledger, checks_hash, enter, key_of, new_record
from .plan import Plan, exercises_of, plan
from .pool import run_here

__all__ = ["Batch", "Options", "Progress"]

Runner = Callable[[list[Job]], Iterator[tuple[Job, Answer]]]


@dataclass(frozen=True)
class Options:
    """How a batch is graded.

    Attributes
    ----------
    lessons : tuple of str
        Default: those that anybody handed in.
    secret : int
        Mixed into the public seed, with the student's name.
    tier : str
        The sandbox.
    limits : dict
    jobs : int
        Notebooks at a time.
    regrade : str
        ``lesson/task``: judge that task again, for all.
    due : str
    """

    lessons: tuple[str, ...] = ()
    secret: int = 0
    tier: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    jobs: int = 1
    regrade: str = ""
    due: str = ""


@dataclass
class Progress:
    """Where a batch stands, for a display."""

    total: int = 0
    kept: int = 0
    done: int = 0
    faults: int = 0


@dataclass
class _Lesson:
    tasks: dict[str, Task]
    checks: str
    exercise: str


class Batch:
    """One run over a class.

    Parameters
    ----------
    submissions : path
    track : Track
    out : Path
        The results folder.
    options : Options
    """

    def __init__(self, submissions: Path, track: Track, out: Path, options: Options) -> None:
        self.track, self.options = track, options
        self.ledger = Ledger(out)
        self.submissions = submissions
        self.progress = Progress()
        self.plans: list[Plan] = []
        self.lessons: tuple[str, ...] = ()
        self._about: dict[str, _Lesson] = {}
        self._records: dict[str, dict[str, Any]] = {}
        self.before: dict[str, int] = {}

    def prepare(self, told: Callable[[str], None] = lambda _: None) -> list[Job]:
        """Read what was handed in and what is graded already; give back what is left to do."""
        options = self.options
        if options.regrade:
            find_task(self.track, options.regrade)
        known = tuple(lesson.id for lesson in self.track.lessons)
        for lesson in options.lessons:
            self.track.lesson(lesson)
        students = collect(self.submissions, known)
        self.plans, self.lessons = plan(
            students, self.track, lessons=options.lessons, secret=options.secret, due=options.due,
            told=told,
        )  # fmt: skip
        exercises = exercises_of(self.track, self.lessons)
        for lesson in self.lessons:
            entry = self.track.lesson(lesson)
            shape = digest(notebook_bytes(exercises[lesson], outputs=False))
            self._about[lesson] = _Lesson(load_tasks(self.track, lesson), checks_hash(entry), shape)
        self._remember_before()
        jobs = [job for p in self.plans for job in self._left(p)]
        self.progress.total = len(jobs) + self.progress.kept
        return jobs

    def run(self, jobs: list[Job], runner: Runner | None = None, *, root: Path | None = None,
            told: Callable[[Job, Answer], None] = lambda *_: None) -> None:  # fmt: skip
        """Grade what is left.  This process alone writes, a file at a time."""
        by_name = {p.student.name: p for p in self.plans}
        here = root or self.track.root
        runner = runner or (lambda left: run_here(left, here, count=self.options.jobs))
        for job, answer in runner(jobs) if jobs else ():
            self._store(by_name[job.student], job, answer)
            self.progress.done += 1
            self.progress.faults += bool(answer.fault)
            told(job, answer)

    def tasks(self) -> dict[str, int]:
        """Task id -> most points, in the track's order."""
        return {
            f"{lesson}/{name}": task.points
            for lesson in self.lessons
            for name, task in self._about[lesson].tasks.items()
        }

    def titles(self) -> dict[str, str]:
        return {
            f"{lesson}/{name}": task.title
            for lesson in self.lessons
            for name, task in self._about[lesson].tasks.items()
        }

    def _left(self, p: Plan) -> Iterable[Job]:
        """The jobs of one student.  What needs no kernel is settled here."""
        old = self.ledger.read(p.student.name)
        record = new_record(p)
        jobs = []
        for lesson in self.lessons:
            chosen, about = p.chosen[lesson], self._about[lesson]
            key = self._key(p, lesson)
            kept = self._kept(old, lesson, key)
            if chosen.fault or chosen.matched is None:
                for name, task in about.tasks.items():
                    verdict = not_judged(f"{lesson}/{name}", task.points, task.title, chosen.fault)
                    keys = {verdict.task: key}
                    enter(record, lesson, Answer(reason=chosen.fault), {verdict.task: verdict},
                          keys, about.checks)  # fmt: skip
                continue
            if kept:
                stored = old["lessons"][lesson]
                for part in ("reason", "notes", "incidents", "sandbox", "machine", "versions"):
                    if part in stored:
                        record["lessons"][lesson][part] = stored[part]
            for task_id, entry in kept.items():
                record["tasks"][task_id] = entry
            left = tuple(name for name in about.tasks if f"{lesson}/{name}" not in kept)
            if left:
                jobs.append(
                    Job(p.student.name, lesson, dict(chosen.matched.notebook), left, p.seed,
                        self.options.tier, self.options.limits)
                )  # fmt: skip
            else:
                self.progress.kept += 1
        # What a run that is killed now leaves behind is a row, not a gap.
        self.ledger.write(record, {})
        self._records[p.student.name] = record
        return jobs

    def _key(self, p: Plan, lesson: str) -> str:
        about = self._about[lesson]
        return key_of(p.chosen[lesson], p, about.checks, about.exercise, self.options.tier,
                      self.options.limits)  # fmt: skip

    def _kept(self, old: dict[str, Any], lesson: str, key: str) -> dict[str, Any]:
        """The stored verdicts of a lesson that still hold."""
        mine = {t: e for t, e in old.get("tasks", {}).items() if t.startswith(f"{lesson}/")}
        names = {f"{lesson}/{name}" for name in self._about[lesson].tasks}
        good = {t: e for t, e in mine.items() if t in names and e.get("key") == key}
        if self.options.regrade.startswith(f"{lesson}/") and mine:
            # Only the named task is judged again; the others stay, also under older checks.
            good = {t: e for t, e in mine.items() if t in names}
            good.pop(self.options.regrade, None)
        return good

    def _store(self, p: Plan, job: Job, answer: Answer) -> None:
        """Write the verdicts of one notebook into its student's record."""
        about, record = self._about[job.lesson], self._records[p.student.name]
        key = self._key(p, job.lesson)
        verdicts = {v.task: v for v in answer.verdicts}
        untouched = p.chosen[job.lesson].matched.untouched
        for name in job.tasks:
            task_id = f"{job.lesson}/{name}"
            task = about.tasks[name]
            why = answer.fault or answer.reason or "it was not judged"
            verdict = verdicts.get(task_id) or not_judged(task_id, task.points, task.title, why)
            verdicts[task_id] = settle(verdict, name in untouched)
        # The grader's own failure is tried again on the next run: its key fits nothing.
        keys = dict.fromkeys(verdicts, "" if answer.fault else key)
        sentences = enter(record, job.lesson, answer, verdicts, keys, about.checks)
        measured = self.ledger.measured(p.student.name)
        measured[job.lesson] = {"seconds": round(answer.seconds, 3), "speed": sentences}
        self.ledger.write(record, measured)

    def _remember_before(self) -> None:
        """The points of a task before it is judged again; kept over a killed run."""
        task = self.options.regrade
        if not task:
            return
        file = self.ledger.folder / f"regrade-{task.replace('/', '-')}.before.json"
        try:
            self.before = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.before = {
                r["student"]: r["tasks"][task]["points"]
                for r in self.ledger.all()
                if task in r["tasks"]
            }
            text = json.dumps(self.before, ensure_ascii=False, indent=1, sort_keys=True)
            self.ledger.put(file.name, text.encode())

    def differences(self) -> list[tuple[str, int | None, int]]:
        """Student, points before, points now, of the task that was judged again."""
        task = self.options.regrade
        rows = [
            (r["student"], self.before.get(r["student"]), r["tasks"][task]["points"])
            for r in self.ledger.all()
            if task in r["tasks"]
        ]
        name = f"regrade-{task.replace('/', '-')}.before.json"
        (self.ledger.folder / name).unlink(missing_ok=True)
        return rows

    def log(self, started: float, **more: Any) -> None:
        """Write ``run.json``: what no two runs share."""
        data = {
            "hetlab": hetlab.__version__,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "seconds": round(time.time() - started, 1),
            "graded": self.progress.done,
            "kept": self.progress.kept,
            "track": self.track.name,
            "track_version": self.track.version,
            "lessons": list(self.lessons),
            **more,
        }
        self.ledger.put(
            "run.json", (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode()
        )
