"""Write what people read: tables, pages, places to look."""

from __future__ import annotations

from collections.abc import Callable

from ..tracks.notebooks import strip_outputs
from .batch import Batch
from .ledger import slug
from .pages import feedback_page, summary_page
from .plan import exercises_of
from .similar import Pair, Prints, fingerprints, similar
from .tables import (
    Override,
    Row,
    grades_csv,
    lms_csv,
    platform_of,
    read_overrides,
    rows_of,
    shown,
    table,
)

__all__ = ["look_for_pairs", "write_reports"]


def write_reports(
    batch: Batch,
    *,
    late_keeps: float = 100,
    platform: str = "",
    told: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Write everything that people read; give back the rows.

    Parameters
    ----------
    platform : str
        "moodle", "canvas", "blackboard", "plain".  Default: what the names of the files said.
    """
    ledger, track = batch.ledger, batch.track
    tasks, titles = batch.tasks(), batch.titles()
    overrides: list[Override] = read_overrides(ledger.folder / "overrides.csv", tasks)
    rows = rows_of(ledger, tasks, overrides, late_keeps)
    told("looking for similar answers")
    pairs = look_for_pairs(batch)
    told("writing tables")
    ledger.put("grades.csv", grades_csv(rows, tasks))
    platform = platform or platform_of(rows) or "plain"
    title = track.lesson(batch.lessons[0]).title if len(batch.lessons) == 1 else track.title
    ledger.put(f"lms-{platform}.csv", lms_csv(rows, platform, title))
    ledger.put("similar.csv", _similar_csv(pairs))
    told("writing pages")
    for row in rows:
        page = feedback_page(row, title, tasks, track.language)
        ledger.put(f"feedback/{slug(row.student)}.html", page)
    ledger.put("summary.html", summary_page(rows, title, tasks, titles, pairs, track.language))
    if batch.options.regrade:
        ledger.put(
            f"regrade-{batch.options.regrade.replace('/', '-')}.csv",
            _differences(batch.differences()),
        )
    return rows


def look_for_pairs(batch: Batch) -> list[Pair]:
    """The submissions of this run that are alike, lesson by lesson."""
    exercises = exercises_of(batch.track, batch.lessons)
    pairs: list[Pair] = []
    for lesson in batch.lessons:
        prints: dict[str, Prints] = {}
        for p in batch.plans:
            matched = p.chosen[lesson].matched
            if matched is not None:
                prints[p.student.name] = fingerprints(matched.notebook.cells)
        baseline = fingerprints(strip_outputs(exercises[lesson]).cells)
        pairs += similar(lesson, prints, baseline)
    return pairs


def _similar_csv(pairs: list[Pair]) -> bytes:
    head = ["lesson", "student", "other", "shared_percent", "tasks"]
    lines = [[p.lesson, p.one, p.other, round(100 * p.share, 1), " ".join(p.tasks)] for p in pairs]
    return table([head, *lines])


def _differences(rows: list[tuple[str, int | None, int]]) -> bytes:
    head = ["student", "before", "after", "difference"]
    lines = [
        [
            student,
            "" if before is None else shown(before),
            shown(after),
            shown(after - (before or 0)),
        ]
        for student, before, after in rows
    ]
    return table([head, *lines])
