"""What this processor can do: its peaks, and how much each step of a ladder brings."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import click

from hetlab.bench.ladders import ladders
from hetlab.timing import compare, machine, peaks

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print.

    Parameters
    ----------
    argv : sequence of str, optional
        ``--json`` prints every sample as JSON, ``--fresh`` measures the peaks again,
        ``--seconds S`` sets the time for each ladder.

    Returns
    -------
    int
        Exit status: 0.
    """
    parser = argparse.ArgumentParser(prog="hetlab bench cpu", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--fresh", action="store_true", help="measure the peaks again")
    parser.add_argument("--seconds", type=_seconds, default=2.0, help="for each ladder")
    options = parser.parse_args(argv)
    found = peaks(fresh=options.fresh, progress=not options.json)
    if not options.json:
        click.echo(f"{found}\n")
    rows = {}
    for ladder in ladders():
        if len(ladder.steps) < 2:
            click.echo(f"{ladder.title}: left out, Numba is not installed", err=True)
            continue
        result = compare(ladder.steps, *ladder.inputs, seconds=options.seconds, agree=True)
        rows[ladder.title] = result
        if not options.json:
            # The machine is the same for all: it is named once, at the end.
            lines = repr(result).splitlines()
            click.echo(f"{ladder.title}: {lines[0]}")
            click.echo("\n".join(line for line in lines[1:] if not line.startswith("  machine")))
            click.echo()
    if options.json:
        record = {
            "machine": machine().to_dict(),
            "peaks": json.loads(found.to_json()),
            "ladders": {title: json.loads(result.to_json()) for title, result in rows.items()},
        }
        click.echo(json.dumps(record, ensure_ascii=False))
    else:
        click.echo(machine().line)
    return 0


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 600:
        raise argparse.ArgumentTypeError("between 0 and 600 seconds")
    return value


if __name__ == "__main__":
    raise SystemExit(main())
