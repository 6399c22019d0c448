"""One's own tries at an open challenge, side by side: what each moved, and the modelled time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from hetlab.errors import InvalidValue
from hetlab.units import seconds
from hetlab.vgpu.report import Launch, Launches

__all__ = ["Leaderboard", "Try"]

COLUMNS = {
    "sectors": ("global_load_sectors", "global_store_sectors", "global_atomic_sectors"),
    "wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
    "conflicts": ("shared_bank_conflicts",),
    "instructions": ("instructions",),
}
"""What is shown of each try: a heading, and the counters that it adds up."""


@dataclass(frozen=True)
class Try:
    """One entry.

    Attributes
    ----------
    name : str
    counts : dict of str to int
        By the headings of `COLUMNS`.
    seconds : float
        Modelled, on the board's chip.
    why_not : str
        Why it does not count; empty when it does.
    """

    name: str
    counts: Mapping[str, int]
    seconds: float
    why_not: str = ""


class Leaderboard:
    """A table of one's own runs, the shortest modelled time first.

    A run with a hazard or with wrong values is listed below, and does not count.  Nothing is kept
    when the notebook is closed.

    Parameters
    ----------
    chip : str
        Whose modelled time orders the table.

    Examples
    --------
    >>> board = hetlab.Leaderboard()
    >>> board.add("first try", hetlab.profile(kernel[grid, block], a, out), np.array_equal(out, a.T))
    """

    def __init__(self, chip: str = "A100") -> None:
        self.chip = chip
        self.tries: list[Try] = []

    def add(self, name: str, report: Launch | Launches, right: bool) -> Leaderboard:
        """Enter a run; one of the same name is replaced.

        Parameters
        ----------
        name : str
        report : Launch or Launches
            From `hetlab.profile`.  Several launches count together.
        right : bool
            Whether the result was right.

        Returns
        -------
        Leaderboard
            Itself, so that a cell shows it.

        Raises
        ------
        InvalidValue
            For anything but a report.
        """
        launches = [report] if isinstance(report, Launch) else report
        if not isinstance(launches, list) or not launches:
            raise InvalidValue("report", "what hetlab.profile returns", report)
        counters = [one.counters for one in launches]
        counts = {
            title: sum(c.get(n, 0) for c in counters for n in names)
            for title, names in COLUMNS.items()
        }
        hazards = [h.kind for one in launches for h in one.hazards]
        why_not = "" if right else "wrong values"
        why_not = f"hazard: {hazards[0]}" if hazards else why_not
        modelled = sum(one.estimate(self.chip).seconds for one in launches)
        self.tries = [t for t in self.tries if t.name != name]
        self.tries.append(Try(name, counts, modelled, why_not))
        return self

    @property
    def ranking(self) -> list[Try]:
        """Those that count by their modelled time, then the others in order of entry."""
        counting = sorted((t for t in self.tries if not t.why_not), key=lambda t: t.seconds)
        return [*counting, *(t for t in self.tries if t.why_not)]

    def _rows(self) -> list[list[str]]:
        rows = [["", "run", *COLUMNS, f"at least, on {self.chip}"]]
        for place, t in enumerate(self.ranking, 1):
            counts = [f"{t.counts[title]:,}" for title in COLUMNS]
            mark = "-" if t.why_not else str(place)
            rows.append([mark, t.name, *counts, t.why_not or seconds(t.seconds)])
        return rows

    _FOOT = "counted by the virtual GPU; the time is modelled, a bound, not measured"

    def __repr__(self) -> str:
        rows = self._rows()
        if len(rows) == 1:
            return "no run yet: board.add(name, hetlab.profile(...), right)"
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [
            "  ".join(
                f"{c:<{w}}" if i == 1 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(r, widths))
            )
            for r in rows
        ]
        return "\n".join([*lines, self._FOOT])

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        if not rows:
            return f"<div>{escape(repr(self))}</div>"

        def line(cells: list[str], tag: str) -> str:
            style = "text-align:{};padding:1px .7em;background:transparent;white-space:nowrap"
            inner = "".join(
                f'<{tag} style="{style.format("left" if i == 1 else "right")}">{escape(c)}</{tag}>'
                for i, c in enumerate(cells)
            )
            return f"<tr>{inner}</tr>"

        body = "".join(line(row, "td") for row in rows)
        foot = f'<div style="font-size:12px;opacity:.8">{self._FOOT}</div>'
        return f'<table style="border-collapse:collapse">{line(head, "th")}{body}</table>{foot}'
