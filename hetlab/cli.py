"""The ``hetlab`` command."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import click

from . import __version__
from .errors import HetlabError

__all__ = ["main"]

# command -> the module that holds it; loaded only when it is called or listed
_LAZY = {
    "bench": "hetlab.bench.commands",
    "doctor": "hetlab.devices.commands",
    "grade": "hetlab.batch.commands",
    "lab": "hetlab.tracks.commands",
    "pack": "hetlab.batch.commands",
    "restore": "hetlab.tracks.commands",
    "save": "hetlab.tracks.commands",
    "schedule": "hetlab.sched.commands",
    "track": "hetlab.batch.commands",
    "update": "hetlab.tracks.commands",
}


class _Group(click.Group):
    """Loads commands when they are needed, and turns our errors into one clear line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_LAZY})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in _LAZY and name not in self.commands:
            self.add_command(getattr(importlib.import_module(_LAZY[name]), name), name)
        return super().get_command(ctx, name)

    def resolve_command(self, ctx: click.Context, args: list[str]):
        import difflib

        name = args[0] if args else ""
        if self.get_command(ctx, name) is None:
            close = difflib.get_close_matches(name, self.list_commands(ctx), n=3)
            text = f"there is no command {name!r}."
            text += f" Did you mean {' or '.join(close)}?" if close else " See: hetlab --help"
            raise click.UsageError(text, ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except HetlabError as error:
            click.echo(f"hetlab: {error}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hetlab")
def main() -> None:
    """Learn heterogeneous computing by doing it.

    \b
    hetlab lab                  open the course
    hetlab check NOTEBOOK       see which tasks are solved
    hetlab hint LESSON/TASK     get the next hint
    """
    for stream in (sys.stdout, sys.stderr):
        # LC_ALL=C must not turn a name in Chinese into a traceback.
        if hasattr(stream, "reconfigure"):
            encoding = "utf-8" if (stream.encoding or "ascii").lower() in _ASCII else None
            stream.reconfigure(encoding=encoding, errors="replace")


_ASCII = {"ascii", "us-ascii", "ansi_x3.4-1968", "646"}


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option("--details", is_flag=True, help="Print each verdict whole.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds a cell may take.")
def check(notebook: Path, as_json: bool, details: bool, time_limit: float) -> None:
    """Run NOTEBOOK from top to bottom and check each of its tasks.

    The exit status is 0 when all tasks pass, 1 when some do not, 2 when the file cannot be
    checked.  Nothing in the notebook is changed.
    """
    from rich.console import Console

    from .tracks.progress import record
    from .tracks.run import check_notebook

    console = Console(stderr=True)
    with console.status(f"Running {notebook.name} ...") as status:
        verdicts = check_notebook(notebook, time_limit=time_limit, told=status.update)
    for verdict in verdicts:
        record(verdict, notebook.absolute().parent)
    if as_json:
        click.echo(json.dumps([v.to_json() for v in verdicts], ensure_ascii=False, indent=1))
    else:
        _print_verdicts(notebook, verdicts, details)
    sys.exit(0 if all(v.passed for v in verdicts) else 1)


def _print_verdicts(notebook: Path, verdicts: list, details: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = {"passed": "green", "partial": "yellow", "not started": "dim"}
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column("Task", no_wrap=True)
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("What was found", overflow="fold")
    for v in verdicts:
        style = styles.get(v.status, "red")
        name = v.task.partition("/")[2]
        table.add_row(name, f"{v.points} of {v.of}", Text(v.status, style), Text(v.summary()))
    console = Console()
    console.print(table)
    points, of = sum(v.points for v in verdicts), sum(v.of for v in verdicts)
    done = sum(v.passed for v in verdicts)
    console.print(
        f"\n{points} of {of} points, {done} of {len(verdicts)} tasks passed", style="bold"
    )
    open_tasks = [v for v in verdicts if not v.passed]
    if details:
        for v in verdicts:
            console.print(Text(f"\n{v!r}"))
    elif open_tasks:
        first = open_tasks[0]
        console.print(_advice(notebook, first, not any(v.points for v in verdicts)))


def _advice(notebook: Path, verdict, nothing_yet: bool) -> str:
    if nothing_yet and verdict.status == "not started":
        return (
            f"Nothing is written yet. Open {notebook} with: hetlab lab\n"
            "Write your answer below YOUR CODE HERE and run the check cell under it.\n"
            f"For a first nudge: hetlab hint {verdict.task}"
        )
    return f"Next: {verdict.task}. See more with --details; for a hint: hetlab hint {verdict.task}"


@main.command()
@click.argument("task")
@click.option("--step", type=click.IntRange(1, 3), help="Ask for one of the three hints.")
def hint(task: str, step: int | None) -> None:
    """Print the next hint of TASK (lesson/task): a nudge, the idea, nearly the code."""
    from .tracks.check import hint as next_one

    click.echo(repr(next_one(task, step)))


@main.command()
def progress() -> None:
    """Show the points earned so far, lesson by lesson."""
    from .tracks.progress import progress as so_far

    click.echo(repr(so_far()))
