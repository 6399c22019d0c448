"""A leaderboard of one's own runs: what each attempt at an open challenge cost.

It lies in the learner's work folder and goes nowhere else.  Nothing of it is scored.
"""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidValue
from ..units import seconds
from .files import make_folder, write_atomic
from .progress import progress_file

__all__ = ["Leaderboard", "leaderboard"]

#: What a row shows: its heading, and the counters that are added up for it.
COLUMNS = {
    "sectors": ("global_load_sectors", "global_store_sectors", "global_atomic_sectors"),
    "requests": ("global_load_requests", "global_store_requests", "global_atomic_requests"),
    "wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
    "conflicts": ("shared_bank_conflicts",),
    "instructions": ("instructions",),
    "turns": ("atomic_turns",),
}
#: What a race of schedulers is ordered by: see `hetlab.sched.race`.
SCORES = ("ratio", "worst")
#: Headings that are left out while every attempt has 0 of them.
RARE = ("wavefronts", "turns")
#: The chip whose bounds stand in the column "estimate".
CHIP = "A100"
_KEPT = 200

_without_file: dict[str, list[dict]] = {}


@dataclass(frozen=True)
class Leaderboard:
    """The attempts at one challenge, the best first.

    Attributes
    ----------
    challenge : str
    by : str
        What they are ordered by.
    rows : tuple of dict
        ``place``, ``note``, ``when``, ``estimate`` (seconds, modelled) and the counts; of a race
        its scores.
    latest : int
        The place of the newest attempt, from 1; 0 when there is none.
    says : str
        A sentence about it.
    """

    challenge: str
    by: str
    rows: tuple[dict, ...]
    latest: int
    says: str

    @property
    def _order(self) -> str:
        label = "counted" if self.by in COLUMNS else "modelled"
        return f"your own runs, ordered by {self.by} ({label})"

    def _cells(self) -> list[list[str]]:
        if self.by in SCORES:
            cells = [["", *SCORES, "attempt"]]
            for row in self.rows:
                mark = f"{row['place']}{' <' if row['place'] == self.latest else ''}"
                cells.append([mark, *(f"{row[name]:.3f}" for name in SCORES), row["note"]])
            return cells
        shown = [c for c in COLUMNS if c not in RARE or any(row.get(c) for row in self.rows)]
        heads = ["", *shown, f"{CHIP}, modelled", "attempt"]
        cells = [heads]
        for row in self.rows:
            mark = f"{row['place']}{' <' if row['place'] == self.latest else ''}"
            counts = [f"{row.get(name, 0):,}" for name in shown]
            cells.append([mark, *counts, seconds(row["estimate"]), row["note"]])
        return cells

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [f"{self.challenge}: {self._order}"]
        for row in cells:
            left = [f"{row[0]:<{widths[0]}}"]
            numbers = [f"{text:>{w}}" for text, w in zip(row[1:-1], widths[1:-1])]
            lines.append("  " + "  ".join([*left, *numbers, row[-1]]).rstrip())
        return "\n".join([*lines, self.says])

    def _repr_html_(self) -> str:
        cells = self._cells()
        style = "padding:1px 12px 1px 0;border:0;text-align:"
        body = ""
        for number, row in enumerate(cells):
            tag = "td" if number else "th"
            bold = ";font-weight:bold" if number and number == self.latest else ""
            body += '<tr style="background:none">' + "".join(
                f'<{tag} style="{style}{"left" if i in (0, len(row) - 1) else "right"}{bold}">'
                f"{html.escape(text)}</{tag}>"
                for i, text in enumerate(row)
            )
            body += "</tr>"
        head = f"<b>{html.escape(self.challenge)}</b>: {self._order}"
        return (
            f"<div>{head}<table style='border-collapse:collapse'>{body}</table>"
            f"{html.escape(self.says)}</div>"
        )


def leaderboard(challenge: str, report: Any = None, note: str = "", *, by: str = "sectors"):
    """Add a run to the leaderboard of a challenge, and show it.

    Parameters
    ----------
    challenge : str
        Its name, such as ``"04_write_gpu_kernels/life"``.
    report : Launch, Launches or Race, optional
        From `hetlab.profile` or `hetlab.sched.race`.  Without one the board is only shown.
    note : str
        What was tried, in a few words.
    by : str
        A key of `COLUMNS`, or "estimate"; of a race "ratio" or "worst": less is better.

    Returns
    -------
    Leaderboard
        Kept in the work folder; outside of one, until the kernel ends.

    Raises
    ------
    InvalidValue
        For another `by`, or something that is not a report of counts.
    """
    if by not in (*COLUMNS, "estimate", *SCORES):
        raise InvalidValue("by", " or ".join(map(repr, (*COLUMNS, "estimate", *SCORES))), by)
    file = _file()
    boards = _read(file)
    rows = boards.setdefault(challenge, [])
    if report is None:
        return _shown(challenge, by, rows, None, "")
    raced = hasattr(report, "scores")
    entry = _scores(report, note) if raced else _entry(report, note)
    if raced != (by in SCORES):
        raise InvalidValue("by", "a score for a race, a counter for a kernel", by)
    if not report.ok:
        why = "it did not finish everywhere" if raced else "this run has hazards"
        return _shown(challenge, by, rows, None, f"Not entered: {why}.")
    if not any(_same(entry, row) for row in rows):
        rows.append(entry)
        del rows[:-_KEPT]
        _write(file, boards)
    mine = next(row for row in rows if _same(entry, row))
    return _shown(challenge, by, rows, mine, "")


def _entry(report: Any, note: str) -> dict:
    launches = list(report) if isinstance(report, list) else [report]
    if not launches or not all(getattr(one, "counted", False) for one in launches):
        raise InvalidValue(
            "report", "what hetlab.profile returned", report, do="Profile a launch first."
        )
    entry = {
        name: sum(one.counters.get(c, 0) for one in launches for c in counters)
        for name, counters in COLUMNS.items()
    }
    entry["estimate"] = sum(one.estimate(CHIP).seconds for one in launches)
    entry["note"] = str(note)[:60] or launches[0].name
    entry["when"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    return entry


def _scores(report: Any, note: str) -> dict:
    entry = {name: float(report.scores[name]) for name in SCORES}
    entry["note"] = str(note)[:60] or report.policy
    entry["when"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    return entry


def _same(one: dict, other: dict) -> bool:
    if SCORES[0] in one:
        return all(one[name] == other.get(name) for name in ("note", *SCORES))
    return one["note"] == other["note"] and all(one[k] == other.get(k, 0) for k in COLUMNS)


def _shown(challenge: str, by: str, rows: Iterable[dict], mine: dict | None, says: str):
    ordered = sorted(rows, key=lambda row: (row.get(by, 0), row.get("instructions", 0)))
    placed = tuple({**row, "place": n} for n, row in enumerate(ordered, 1))
    latest = next((n for n, row in enumerate(ordered, 1) if row is mine), 0)
    if not says and not placed:
        says = "No run yet."
    elif not says and latest:
        says = _sentence(ordered, latest, by)
    return Leaderboard(challenge, by, placed, latest, says)


def _sentence(ordered: list[dict], place: int, by: str) -> str:
    if len(ordered) == 1:
        return "Your first run. Now change something."
    if place == 1:
        second = ordered[1][by]
        saved = f", {ordered[0][by] / second:.0%} of the second" if second else ""
        return f"Your best run so far{saved}."
    return f"Place {place} of {len(ordered)}."


def _file() -> Path | None:
    found = progress_file()
    return found.with_name("leaderboards.json") if found else None


def _read(file: Path | None) -> dict[str, list[dict]]:
    if file is None:
        return _without_file
    try:
        boards = json.loads(file.read_text(encoding="utf-8"))["boards"]
        wanted, raced = {*COLUMNS, "estimate", "note"} - {*RARE}, {*SCORES, "note"}
        return {
            name: [row for row in rows if wanted <= set(row) or raced <= set(row)]
            for name, rows in boards.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # a board is only for fun: a damaged one begins anew


def _write(file: Path | None, boards: dict) -> None:
    if file is None:
        return
    make_folder(file.parent)
    text = json.dumps({"version": 1, "boards": boards}, ensure_ascii=False, indent=1)
    write_atomic(file, text.encode() + b"\n")
