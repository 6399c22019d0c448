"""The commands for a class: ``hetlab grade``, ``hetlab pack``, ``hetlab track export``.

Exit status of ``grade``: 0 when every student has a row and the grader itself never failed, 1
when it did for some (run it again: the rest stays), 2 for a wrong call or broken input.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from ..errors import HetlabError, InvalidValue
from ..tracks.commands import track

__all__ = ["grade", "pack", "track"]

_PLATFORMS = ("moodle", "canvas", "blackboard", "plain")


@click.command()
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option("--track", "track_at", type=click.Path(path_type=Path), default=".",
              show_default=True, help="The track, with its solutions.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default="results", show_default=True,
              help="Where results are written; what is graded there already stays.")  # fmt: skip
@click.option("--lesson", "lessons", multiple=True,
              help="Grade only this lesson (repeatable).  [default: those handed in]")  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Notebooks at a time.  [default: one a core]"
)
@click.option("--seed", type=int, default=0, show_default=True,
              help="Your number, mixed with each student's name into the inputs.")  # fmt: skip
@click.option("--regrade", metavar="LESSON/TASK", default="",
              help="Judge this task again for all, and write the differences.")  # fmt: skip
@click.option("--due", metavar="TIME", default="",
              help="2026-01-31T23:59: later files are late, where names carry a time.")  # fmt: skip
@click.option("--late-keeps", type=click.FloatRange(0, 100), default=100, show_default=True,
              metavar="PERCENT", help="What late work keeps of its points.")  # fmt: skip
@click.option("--lms", type=click.Choice(_PLATFORMS),
              help="The import file to write.  [default: as the names say]")  # fmt: skip
@click.option(
    "--cell-limit", type=float, default=60, show_default=True, help="Seconds a cell may take."
)
@click.option("--limit", type=float, default=600, show_default=True,
              help="Seconds a notebook may take.")  # fmt: skip
@click.option("--memory", type=float, default=2, show_default=True, help="GiB a notebook may take.")
@click.option("--weak-sandbox", is_flag=True,
              help="Grade although nothing here holds a notebook that means harm.")  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="Grade on this Dask cluster: tcp://host:port")
def grade(submissions: Path, track_at: Path, out: Path, lessons: tuple[str, ...], jobs: int | None,
          seed: int, regrade: str, due: str, late_keeps: float, lms: str | None, cell_limit: float,
          limit: float, memory: float, weak_sandbox: bool, dask: str | None) -> None:  # fmt: skip
    """Grade all that was handed in: one row a student, whatever they handed in.

    SUBMISSIONS is a folder or a zip of any layout: one file each, a folder each, packed work,
    or what a learning platform gives you.  A killed run goes on where it was.
    """
    from ..tracks.manifest import load_track
    from .batch import Batch, Options
    from .pool import cores
    from .report import write_reports
    from .tables import read_overrides

    started = time.time()
    found = load_track(track_at)
    if found.released:
        raise HetlabError(
            "this is a released track, which has no hidden checks",
            where=str(found.root),
            do="Grade with the track that has the solutions: --track FOLDER",
        )
    limits = _limits(cell=cell_limit, notebook=limit, memory=int(memory * 2**30))
    with _runner(dask, found, lessons, weak_sandbox) as (tier, runner):
        options = Options(tuple(lessons), seed, tier, limits, jobs or cores(), regrade, _time(due))
        batch = Batch(submissions, found, out, options)
        with batch.ledger.locked(), _Display() as display:
            left = batch.prepare(display.reading)
            read_overrides(out / "overrides.csv", batch.tasks())  # a mistake in it is said now
            display.begin(batch.progress)
            batch.run(left, runner, told=display.told)
            rows = write_reports(
                batch, late_keeps=late_keeps, platform=lms or "", told=display.step
            )
            batch.log(started, sandbox=tier, cluster=dask or "", faults=batch.progress.faults)
    _say(batch, rows, out, submissions)
    sys.exit(1 if batch.progress.faults else 0)


def _limits(**given: float) -> dict:
    from ..grading.tiers import Limits

    return asdict(Limits(**given))


def _time(due: str) -> str:
    if not due:
        return ""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?", due)
    if not found:
        raise InvalidValue("--due", "a time like 2026-01-31T23:59", due)
    date, hour, minute, second = found.groups()
    return f"{date}-{hour or '23'}-{minute or '59'}-{second or '59'}"


def _runner(dask: str | None, found, lessons: tuple[str, ...], weak: bool):
    """Where to grade, and in which sandbox: here, or on a cluster."""
    import contextlib

    @contextlib.contextmanager
    def opened():
        if dask is None:
            from ..grading.tiers import probe

            tier = probe()
            _hold(tier.name, tier.strong, tier.reason, tier.remedy, weak)
            yield tier.name, None
            return
        from .bundle import bundle_of
        from .cluster import Cluster

        wanted = lessons or tuple(x.id for x in found.lessons if x.exercise.is_file())
        with Cluster(dask, bundle_of(found, wanted)) as cluster:
            tiers = cluster.tiers()
            order = ("none", "rlimit", "bubblewrap")
            weakest = min(tiers.values(), key=order.index)
            where = next(w for w, t in tiers.items() if t == weakest)
            _hold(weakest, weakest == "bubblewrap", f"the worker {where} has no better one",
                  "Install bubblewrap on every worker.", weak)  # fmt: skip
            yield weakest, cluster.run

    return opened()


def _hold(name: str, strong: bool, reason: str, remedy: str, weak: bool) -> None:
    """Stop before a stranger's code runs where nothing holds it."""
    if strong or weak:
        return
    raise HetlabError(
        f"the only sandbox here is {name!r}, which holds accidents and no notebook that means "
        f"harm: {reason}",
        do=f"{remedy} Or, if you trust your students: --weak-sandbox",
    )


class _Display:
    """A progress bar on a terminal, and nothing that gets into a log file's way."""

    def __enter__(self) -> _Display:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True, markup=False, highlight=False)
        self.bar = Bar(
            TextColumn("{task.fields[what]}", markup=False), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), TextColumn("{task.fields[who]}", markup=False),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self.bar.start()
        self.task = self.bar.add_task("", what="Reading", who="", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def reading(self, student: str) -> None:
        self.bar.update(self.task, who=student[:40])

    def begin(self, progress) -> None:
        self.bar.update(self.task, what="Grading", total=progress.total, completed=progress.kept)

    def told(self, job, answer) -> None:
        self.bar.update(self.task, advance=1, who=job.name[:40])

    def step(self, what: str) -> None:
        self.bar.update(self.task, what=what.capitalize(), who="")


def _say(batch, rows: list, out: Path, submissions: Path) -> None:
    """What was done, in a few lines."""
    here = {p.student.name for p in batch.plans}
    progress = batch.progress
    click.echo(
        f"{len(rows)} students, {progress.done} notebooks graded, {progress.kept} as before."
    )
    remarks = sum(bool(r.reason) for r in rows)
    if remarks:
        click.echo(f"{remarks} with a remark: see the column reason.")
    elsewhere = [r.student for r in rows if r.student not in here]
    if elsewhere:
        click.echo(
            f"{len(elsewhere)} rows are from an earlier run and not in {submissions}; delete their "
            f"files in {out / 'students'} to drop them."
        )
    if progress.faults:
        click.echo(
            f"For {progress.faults} notebooks the grader itself failed; they are tried again on "
            "the next run.", err=True,
        )  # fmt: skip
    if batch.options.regrade:
        name = f"regrade-{batch.options.regrade.replace('/', '-')}.csv"
        click.echo(f"Differences: {out / name}")
    click.echo(f"Grades: {out / 'grades.csv'}   Summary: {out / 'summary.html'}")


@click.command()
@click.argument("lessons", nargs=-1)
@click.option("--name", required=True, prompt="Your name (it becomes part of the file's name)")
@click.option(
    "--work", type=click.Path(path_type=Path), help="Your work folder.  [default: found by itself]"
)
@click.option(
    "--file", type=click.Path(path_type=Path), help="The file to write.  [default: NAME-LESSON.zip]"
)
def pack(lessons: tuple[str, ...], name: str, work: Path | None, file: Path | None) -> None:
    """Make the file to hand in, from your exercises of LESSONS (04 is enough of a name).

    Without LESSONS all exercises of your work folder are packed.
    """
    from ..tracks.commands import existing_work
    from ..tracks.manifest import find_track
    from .pack import lesson_named
    from .pack import pack as write

    place = existing_work(work)
    found = find_track(place)
    done = write(found, place, tuple(lesson_named(found, x) for x in lessons), name, file)
    for lesson, (begun, of) in done.started.items():
        click.echo(f"{lesson}: {begun} of {of} tasks have an answer.")
    for warning in done.warnings:
        click.echo(f"  {warning}")
    click.echo(f"Hand in this file: {done.file}")


@track.command()
@click.option("--nbgrader", "folder", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="Write a course folder for nbgrader 0.9.")  # fmt: skip
def export(folder: Path) -> None:
    """Write the track for another grader."""
    from ..tracks.manifest import find_track
    from .nbgrader import export_course

    written = export_course(find_track(), folder)
    click.echo(f"Wrote {len(written)} files to {folder}.")
    click.echo(f"Next: cd {folder} && nbgrader generate_assignment LESSON")
