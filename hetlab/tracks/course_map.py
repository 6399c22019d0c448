"""The map of a course: its lessons in their parts, and how far the learner has come."""

from __future__ import annotations

import html
import itertools
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Stage", "map_html", "next_step"]


@dataclass(frozen=True)
class Stage:
    """One lesson on the map, as one learner sees it.

    Attributes
    ----------
    lesson, title, part : str
    points, of : int
        Earned, and the most.
    minutes : int
    after : tuple of str
        Lessons that come before it.
    devices : tuple of str
    stretch : bool
        Not needed by what follows.
    """

    lesson: str
    title: str
    part: str
    points: int
    of: int
    minutes: int
    after: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cpu",)
    stretch: bool = False

    @property
    def state(self) -> str:
        """``done``, ``begun`` or ``new``."""
        if self.of and self.points >= self.of:
            return "done"
        return "begun" if self.points else "new"


def next_step(stages: Sequence[Stage]) -> str:
    """What to do next, as a sentence."""
    begun = next((s for s in stages if s.state == "begun"), None)
    if begun:
        return f"Go on with {begun.lesson}: {begun.points} of {begun.of} points so far."
    done = {s.lesson for s in stages if s.state == "done"}
    ready = (s for s in stages if s.state == "new" and s.of and set(s.after) <= done)
    # Nobody has to solve everything; then the next one in order is as good.
    chosen = next(ready, next((s for s in stages if s.state == "new" and s.of), None))
    if chosen is None:
        return "Every point of this course is yours."
    return f"Next: {chosen.lesson}, about {chosen.minutes} minutes."


#: Words and marks beside colours; Okabe and Ito's green and orange.
_MARKS = {"done": ("✔", "#009E73"), "begun": ("◐", "#E69F00"), "new": ("○", "#888888")}

_STYLE = """<style>
.hetlab-map { font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 960px;
  color: var(--jp-ui-font-color1, inherit); }
.hetlab-map h4 { margin: 10px 0 4px; font-size: 13px; font-weight: 600; }
.hetlab-map .row { display: flex; flex-wrap: wrap; gap: 8px; }
.hetlab-map .card { width: 172px; box-sizing: border-box; margin: 0; padding: 8px 10px;
  border-radius: 6px; border: 1px solid var(--jp-border-color2, #8888);
  border-left: 4px solid var(--state); }
.hetlab-map a { color: var(--jp-content-link-color, inherit); font-weight: 600;
  text-decoration: none; }
.hetlab-map a:focus-visible { outline: 2px solid #56B4E9; outline-offset: 2px; }
.hetlab-map small { display: block; color: var(--jp-ui-font-color2, inherit); }
.hetlab-map meter { width: 100%; height: 8px; }
</style>"""


def map_html(stages: Sequence[Stage], note: str = "") -> str:
    """The map for a notebook in a work folder: links lead to the learner's own copies."""
    rows = [_STYLE, '<div class="hetlab-map" role="region" aria-label="The map of the course">']
    rows.append(f"<p><b>{html.escape(next_step(stages))}</b></p>")
    for part, group in itertools.groupby(stages, key=lambda s: s.part):
        rows.append(f'<h4>{html.escape(part)}</h4><div class="row" role="list">')
        rows += [_card(stage) for stage in group]
        rows.append("</div>")
    earned, of = sum(s.points for s in stages), sum(s.of for s in stages)
    rows.append(f"<p>{earned} of {of} points. {html.escape(note)}</p></div>")
    return "".join(rows)


def _card(stage: Stage) -> str:
    mark, colour = _MARKS[stage.state]
    file = urllib.parse.quote(f"{stage.lesson}.ipynb")
    number = html.escape(stage.lesson.partition("_")[0])
    points = f"{stage.points} of {stage.of} points"
    extra = " · extra" if stage.stretch else ""
    return (
        f'<div class="card" role="listitem" style="--state:{colour}">'
        f'<a href="lessons/{file}">{number} '
        f"{html.escape(stage.title)}</a>"
        f'<meter min="0" max="{stage.of or 1}" value="{stage.points}"'
        f' aria-label="{points}"></meter>'
        f"<small>{mark} {points}</small><small>{stage.minutes} min{extra} · "
        f'<a href="exercises/{file}">exercises</a></small></div>'
    )
