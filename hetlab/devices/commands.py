"""The command ``hetlab doctor``."""

from __future__ import annotations

import json
import sys

import click

__all__ = ["doctor"]

_STYLES = {"works": "green", "broken": "red", "wrong answer": "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--dask", "address", metavar="ADDRESS", help="List this Dask scheduler's workers.")
@click.option("--disks", is_flag=True, help="Measure how fast the disk writes and reads.")
def doctor(as_json: bool, address: str | None, disks: bool) -> None:
    """Say what is in this machine, which compilers work, and what to do next.

    The exit status is 0 unless something that the course needs is broken.
    """
    from rich.console import Console

    from hetlab.devices.doctor import diagnose

    with Console(stderr=True).status("Looking at the machine and trying the compilers ..."):
        found = diagnose(address, measure_disks=disks)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        _show(found)
    sys.exit(0 if found.healthy else 1)


def _show(found) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()

    def section(title: str) -> None:
        console.print(Text(f"\n{title}", "bold"))

    section("Machine")
    console.print(Text("  " + ", ".join(found.machine.values())))
    section("Devices")
    console.print(_devices(found.devices))
    section("Not here")
    console.print(_absent(found.devices))
    section("Compilers")
    console.print(_compilers(found.compilers))
    section("What to do next")
    for step in found.steps:
        style = "red" if step.level == "problem" else ""
        console.print(Text(f"  - {step.text}", style))


def _grid(*columns: dict):
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=0)  # the margin
    for options in columns:
        table.add_column(**options)
    return table


def _devices(devices):
    from rich.text import Text

    table = _grid({"no_wrap": True}, {"overflow": "fold"}, {"overflow": "fold", "ratio": 1})
    for d in devices:
        text = Text(d.says)
        for line in d.unread_lines():
            text.append(f"\nnot read: {line}", "dim")
        table.add_row("", Text(d.kind, "cyan"), Text(d.name), text)
    return table


def _absent(devices):
    from rich.text import Text

    table = _grid({"no_wrap": True}, {"overflow": "fold", "ratio": 1})
    for d in devices.absent:
        table.add_row("", Text(d.name), Text(d.says, "dim"))
    return table


def _compilers(rows):
    from rich.text import Text

    table = _grid({"no_wrap": True}, {"no_wrap": True}, {"overflow": "fold", "ratio": 1})
    for c in rows:
        name = Text(f"{c.name} {c.version}".strip())
        table.add_row("", name, Text(c.state, _STYLES.get(c.state, "dim")), Text(c.says))
    return table
