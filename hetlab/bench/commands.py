"""``hetlab bench``: one subject a module, each with a ``main(argv)`` of its own options."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import click

from . import __path__ as _folder

__all__ = ["bench", "subjects"]

_NOT_SUBJECTS = {"commands"}


def subjects() -> list[str]:
    """What can be benched: the modules of this folder that have a ``main``."""
    names = {m.name for m in pkgutil.iter_modules(_folder) if not m.name.startswith("_")}
    names -= _NOT_SUBJECTS
    return sorted(n for n in names if hasattr(importlib.import_module(f"hetlab.bench.{n}"), "main"))


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("subject", default="cpu")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(subject: str, options: tuple[str, ...]) -> None:
    """Measure this machine, and hetlab beside its peers (SUBJECT --help tells the options)."""
    known = subjects()
    if subject in ("-h", "--help"):
        click.echo(f"Usage: hetlab bench [SUBJECT] [OPTIONS]\n\nSubjects: {', '.join(known)}.")
        return
    if subject.startswith("-"):
        subject, options = "cpu", (subject, *options)
    if subject not in known:
        raise click.UsageError(f"there is no benchmark {subject!r}; there are: {', '.join(known)}")
    sys.exit(importlib.import_module(f"hetlab.bench.{subject}").main(list(options)))
