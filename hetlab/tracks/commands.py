"""The commands for tracks and work folders; ``hetlab/cli.py`` hangs them into ``hetlab``.

Exit status: 0 when all is well, 1 when something that was checked is not, 2 for a wrong call or
broken input (as an exception of hetlab's, which the command line prints as one line).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from ..errors import TrackError, optional
from .files import Action

__all__ = ["existing_work", "lab", "restore", "save", "track", "update"]

_work_option = click.option(
    "--work", type=click.Path(path_type=Path), help="Your work folder.  [default: found by itself]"
)
_STYLES = {"written": "green", "stale": "red", "orphan": "yellow"}


def _console(stderr: bool = False):
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, soft_wrap=True)


@click.group()
def track() -> None:
    """Make, verify and release lesson tracks.

    All but "new" work on the track around the current folder.
    """


@track.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--title", help="The track's title.  [default: made from the folder's name]")
def new(folder: Path, title: str | None) -> None:
    """Make FOLDER into a new track."""
    from .scaffold import new_track

    made = new_track(folder, title)
    click.echo(f"Made the track {made.name!r} in {made.root}")
    click.echo(f"Next: cd {_quoted(folder)} && hetlab track add-lesson 01_my_topic")


@track.command("add-lesson")
@click.argument("lesson")
@click.option("--title", help="A sentence that begins with a verb.  [default: made from LESSON]")
def add_lesson(lesson: str, title: str | None) -> None:
    """Add a small lesson that works, LESSON (NN_my_topic), for you to make your own."""
    from .manifest import find_track
    from .scaffold import add_lesson as add

    made = add(find_track(), lesson, title)
    for path in (made.notebook, made.solution, made.checks, made.exercise):
        click.echo(f"  {path.relative_to(made.root)}")
    click.echo(f"Edit the first three, then: hetlab track build && hetlab track verify {made.id}")


@track.command("badges")
@click.argument("repository")
@click.option("--tag", required=True, help="The tag that the links open.")
def badges_(repository: str, tag: str) -> None:
    """Print links that open each lesson on Binder and Colab, for a page of yours.

    REPOSITORY is OWNER/NAME on GitHub.
    """
    from .badges import badges
    from .manifest import find_track

    click.echo(badges(find_track(), repository, tag), nl=False)


@track.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is not in step.")
def build(check: bool) -> None:
    """Generate the exercises from the solutions."""
    from rich.text import Text

    from .build import build as generate
    from .manifest import find_track

    found = find_track()
    results = generate(found, check=check)
    console = _console()
    for built in results:
        status = Text(f"{built.status:<10}", _STYLES.get(built.status, ""))
        console.print(status, _relative(built.path, found.root), sep="")
    orphans = [b for b in results if b.status == "orphan"]
    if orphans:
        click.echo("An orphan has no lesson in track.toml; delete it, or add the lesson.", err=True)
    stale = [b for b in results if b.status == "stale"]
    if stale:
        click.echo("Bring the stale ones into step with: hetlab track build", err=True)
    if check and (stale or orphans):
        sys.exit(1)


@track.command()
@click.argument("lessons", nargs=-1)
@click.option("--fresh", is_flag=True, help="Do not use the results of earlier runs.")
def verify(lessons: tuple[str, ...], fresh: bool) -> None:
    """Check that a track, or only some LESSONS of it, keeps what it promises.

    Exercises in step; untouched 0 points, solution all points; every wrong answer rejected for
    the stated reason; each lesson runs from top to bottom; no term before its lesson.
    """
    from .manifest import find_track
    from .verify import verify as verify_track

    found = find_track()
    with _console(stderr=True).status("Verifying ...") as status:
        report = verify_track(
            found,
            lessons or None,
            lambda lesson, step: status.update(f"{lesson}: {step}".replace("[", r"\[")),
            fresh=fresh,
        )
    _print_report(report)
    sys.exit(0 if report.passed else 1)


def _print_report(report) -> None:
    from rich.table import Table
    from rich.text import Text

    console = _console()
    if not report.lessons:
        console.print("The track has no lessons. Add one: hetlab track add-lesson 01_my_topic")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (("Lesson", "left"), ("", "left"), ("Seconds", "right"), ("", "left")):
        table.add_column(name, justify=justify, no_wrap=True)
    for r in report.lessons:
        mark = Text("verified", "green") if r.passed else Text("not in order", "red")
        seconds = "as before" if r.cached else f"{r.seconds:.1f}"
        table.add_row(Text(r.lesson), mark, seconds, f"{len(r.done)} steps")
    console.print(table)
    for r in report.lessons:
        for finding in r.findings:
            style = "red" if finding.level == "error" else "yellow"
            console.print(Text(f"{finding.level:<8}", style), f"{r.lesson}: {finding.text}", sep="")
            if finding.where:
                console.print(" " * 8 + finding.where, style="dim")
    good = sum(r.passed for r in report.lessons)
    console.print(f"{good} of {len(report.lessons)} lessons verified", style="bold")


@track.command()
@click.argument("folder", type=click.Path(path_type=Path))
def release(folder: Path) -> None:
    """Write to FOLDER (new or empty) what students get: no solutions, nothing hidden."""
    from .manifest import find_track
    from .release import release as write_release

    written = write_release(find_track(), folder)
    click.echo(f"Released {len(written)} files to {folder}; no answer was found in them.")


@click.command(context_settings={"ignore_unknown_options": True})
@_work_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(work: Path | None, arguments: tuple[str, ...]) -> None:
    """Open the lessons in JupyterLab.

    Your copies are laid out in a work folder first; nothing of yours is overwritten. ARGUMENTS are
    passed on to JupyterLab, for example: hetlab lab --no-browser --port 8899
    """
    from .manifest import find_track
    from .work import default_work, open_work

    found = find_track()
    work = Path(os.path.normpath((work or default_work(found)).absolute()))
    if importlib.util.find_spec("jupyterlab") is None:
        optional("jupyterlab", "lab", "open the lessons")
    actions = open_work(found, work)
    laid = [a for a in actions if a.kind == "new"]
    click.echo(f"Your work folder is {work}" + (f" ({len(laid)} new files)" if laid else ""))
    if any(a.kind == "stale" for a in actions):
        click.echo("The track has newer versions of some lessons; get them with: hetlab update")
    command = [sys.executable, "-m", "jupyterlab", *_lab_arguments(work, arguments)]
    # So that a terminal in JupyterLab finds the command `hetlab`.
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    sys.stdout.flush()
    if os.name == "nt":  # exec does not wait there
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def _lab_arguments(work: Path, given: tuple[str, ...]) -> list[str]:
    """What JupyterLab is started with: our defaults, where the caller did not say otherwise."""
    names = " ".join(arg.partition("=")[0] for arg in given if arg.startswith("-"))
    arguments = list(given)
    opens = any(a.endswith(".ipynb") or Path(a).exists() for a in given if not a.startswith("-"))
    if (
        not opens
        and "root_dir" not in names
        and "root-dir" not in names
        and "notebook" not in names
    ):
        arguments.append(f"--ServerApp.root_dir={work}")
        if "default_url" not in names:
            arguments.append("--LabApp.default_url=/lab/tree/START_HERE.ipynb")
    arguments += _terminal_arguments(names)
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "allow-root" not in names:
        arguments.append("--allow-root")  # root in a container is the only user there is
    return arguments


def _terminal_arguments(names: str) -> list[str]:
    """Terminals of JupyterLab without a login shell, which would set PATH anew."""
    if os.name != "posix" or "terminado" in names:
        return []
    shell = os.environ.get("SHELL") or "/bin/sh"
    return [f"--ServerApp.terminado_settings=shell_command=['{shell}']"]


@click.command()
@_work_option
def update(work: Path | None) -> None:
    """Bring in newer lessons; your answers stay, and old/ keeps a copy from before."""
    from .merge import update as merge_all

    actions = merge_all(existing_work(work))
    _print_actions(actions)
    if not actions:
        click.echo("Everything is up to date.")
    sys.exit(1 if any(a.kind == "unreadable" for a in actions) else 0)


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@_work_option
def save(file: Path | None, work: Path | None) -> None:
    """Pack your whole work folder into one FILE (a zip)."""
    from .archive import save as pack

    with _console(stderr=True).status("Packing ...") as status:
        target = pack(
            existing_work(work),
            file,
            lambda name: status.update(f"Packing {name}".replace("[", r"\[")),
        )
    click.echo(f"Saved to {target} ({target.stat().st_size / 1024:.0f} KiB)")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@_work_option
def restore(file: Path, work: Path | None) -> None:
    """Unpack a FILE that "hetlab save" wrote; what differs goes to old/ first."""
    from .archive import restore as unpack
    from .manifest import find_track
    from .work import default_work, find_work, open_work

    try:
        found = find_track(work)
    except TrackError:
        found = None
    if work is None:
        work = find_work() or (default_work(found) if found else Path("hetlab-work"))
    actions = unpack(file, work)
    _print_actions([a for a in actions if a.kind == "updated"])
    new = sum(a.kind == "new" for a in actions)
    same = sum(a.kind == "unchanged" for a in actions)
    click.echo(f"Restored to {work}: {new} files new, {same} the same, "
               f"{len(actions) - new - same} replaced")  # fmt: skip
    if found is not None:
        open_work(found, work)


def existing_work(work: Path | None) -> Path:
    """The work folder to use; there must be one."""
    from .manifest import POINTER, find_track
    from .work import default_work, find_work

    work = work or find_work() or default_work(find_track())
    if not (work / POINTER).is_file():
        raise TrackError(
            "there is no work folder yet",
            where=str(work),
            do="Make one with: hetlab lab. If yours lies elsewhere, name it: --work FOLDER",
        )
    return work


def _print_actions(actions: Iterable[Action]) -> None:
    console = _console()
    for action in actions:
        console.print(f"{action.file}  {action.text}")


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _quoted(path: Path) -> str:
    text = str(path)
    return f'"{text}"' if any(c in text for c in " ()&;") else text
