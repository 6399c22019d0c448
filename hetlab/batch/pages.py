"""The pages: what each student gets back, and what the instructor sees of the class.

Both are one HTML file each, with no script and nothing fetched from elsewhere.  Every text
that comes from a student is escaped.
"""

from __future__ import annotations

import html
from collections import Counter
from typing import Any

from ..grading import Verdict
from .ledger import slug
from .similar import Pair
from .tables import Row, shown

__all__ = ["feedback_page", "summary_page"]

# Okabe and Ito's colours, told apart by the colour-blind; a mark repeats what the colour says.
_STYLE = """
:root { color-scheme: light dark; --ink: #1d1f21; --paper: #ffffff; --soft: #f3f4f6;
  --line: #d4d7dc; --dim: #5c636d; --good: #00785a; --part: #9a6700; --bad: #b04a00;
  --goodbar: #009E73; --partbar: #E69F00; --badbar: #D55E00; --nonebar: #a8adb5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15171a; --soft: #20242a;
  --line: #3a4049; --dim: #a3abb6; --good: #3fcfa3; --part: #f0b840; --bad: #ff9a55;
  --nonebar: #5b626c; } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC",
  "Microsoft YaHei", "PingFang SC", sans-serif; color: var(--ink); background: var(--paper);
  overflow-wrap: anywhere; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
.sum { font-size: 1.15rem; margin: 0 0 1rem } .dim { color: var(--dim); font-size: .9rem }
.note { background: var(--soft); border-left: 4px solid var(--partbar); padding: .5rem .8rem;
  margin: .5rem 0; overflow-wrap: anywhere }
.task { border: 1px solid var(--line); border-left-width: 6px; border-radius: 4px;
  padding: .7rem 1rem; margin: .8rem 0 }
.task h3 { margin: 0; font-size: 1.05rem; display: flex; gap: 1rem; justify-content: space-between;
  flex-wrap: wrap } .task p { margin: .4rem 0 0 }
.passed { border-left-color: var(--goodbar) } .partial { border-left-color: var(--partbar) }
.failed, .error { border-left-color: var(--badbar) }
.notstarted { border-left-color: var(--nonebar) }
.good { color: var(--good) } .part { color: var(--part) } .bad { color: var(--bad) }
code, pre { font: .88rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
pre { background: var(--soft); padding: .5rem .7rem; margin: .4rem 0 0; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 3px }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere } th { font-weight: 600; white-space: nowrap }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.bar { display: flex; height: .8rem; min-width: 9rem; border-radius: 2px; overflow: hidden;
  background: var(--soft) } .bar span { display: block }
.legend span { margin-right: 1rem; white-space: nowrap } .legend i { display: inline-block;
  width: .8rem; height: .8rem; margin-right: .35rem; vertical-align: -1px; border-radius: 2px }
a { color: inherit }
"""
_MARK = {"passed": "✔", "partial": "◐", "failed": "✘", "error": "✘", "not started": "○"}
_TONE = {"passed": "good", "partial": "part", "failed": "bad", "error": "bad"}
_SEEN = ("passed", "partial", "failed", "not started")
_BARS = {"passed": "goodbar", "partial": "partbar", "failed": "badbar", "not started": "nonebar"}
e = html.escape


def _page(title: str, body: str, language: str) -> bytes:
    text = (
        f'<!doctype html>\n<html lang="{e(language)}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{e(title)}</title>\n<style>{_STYLE}</style>\n<body>\n{body}\n</body>\n</html>\n"
    )
    return text.encode("utf-8", "replace")


def feedback_page(row: Row, track_title: str, tasks: dict[str, int], language: str = "en") -> bytes:
    """What one student gets back: each task, what failed and where, what to look at next.

    Only what a verdict says is shown, and a verdict never holds a hidden input or what was
    expected of it.

    Parameters
    ----------
    row : Row
    tasks : dict
        Task id -> most points.
    """
    record = row.record
    parts = [
        f"<h1>{e(track_title)}</h1>",
        f'<p class="sum"><b>{e(row.student)}</b>: {shown(row.points)} of {row.max_points} '
        "points</p>",
    ]
    parts += [f'<p class="note">{e(text)}</p>' for text in _told(row)]
    several = len(record["lessons"]) > 1
    lesson = ""
    for task_id, of in tasks.items():
        mine = task_id.partition("/")[0]
        if mine != lesson:
            lesson = mine
            parts.append(_lesson_head(lesson, record["lessons"].get(lesson, {}), several))
        stored = record["tasks"].get(task_id)
        if stored:
            verdict = Verdict.from_json(stored["verdict"])
            parts.append(_task(task_id, verdict, row.tasks[task_id], of, task_id in row.by_hand))
    parts.append(_foot(record))
    return _page(f"{row.student}: {track_title}", "\n".join(parts), language)


def _told(row: Row) -> list[str]:
    """Remarks on whole notebooks: what went wrong, then what was put right."""
    found = [*row.told, *row.record.get("notes", [])]
    for entry in row.record["lessons"].values():
        found += entry.get("notes", [])
    return list(dict.fromkeys(found))


def _lesson_head(lesson: str, entry: dict[str, Any], several: bool) -> str:
    file = entry.get("file", "")
    about = f'<p class="dim">Graded: <code>{e(file)}</code></p>' if file else ""
    return (f"<h2>{e(lesson)}</h2>" if several else "") + about


def _task(task_id: str, verdict: Verdict, points: float, of: int, by_hand: bool) -> str:
    tone = _TONE.get(verdict.status, "dim")
    kind = verdict.status.replace(" ", "")
    title = verdict.title or task_id.partition("/")[2]
    score = f"{shown(points)} of {of}" + (" (decided by hand)" if by_hand else "")
    parts = [
        f'<section class="task {kind}"><h3><span><span class="{tone}">{_MARK[verdict.status]} '
        f"{e(verdict.status)}</span> &nbsp;{e(title)} <code>{e(task_id.partition('/')[2])}</code>"
        f"</span><span>{score}</span></h3>"
    ]
    for f in verdict.findings:
        if not f.text and not f.details:
            continue
        mark = {True: "✔", False: "✘", None: "·"}[f.passed]
        parts.append(f"<p>{mark} <b>{e(f.title)}</b> ({f.points} of {f.of}): {e(f.text)}</p>")
        if f.details:
            parts.append(f"<pre>{e(chr(10).join(f.details))}</pre>")
    if verdict.misconception:
        says = f"<b>{e(verdict.misconception)}.</b> {e(verdict.says)}"
        parts.append(f"<p>This looks like: {says}</p>")
    if verdict.look:
        parts.append(f"<p><b>Look next:</b> {e(verdict.look)}</p>")
    return "".join(parts) + "</section>"


def _foot(record: dict[str, Any]) -> str:
    facts = [f"hetlab {record['hetlab']}", f"inputs of seed {record['seed']}"]
    for entry in record["lessons"].values():
        if entry.get("machine"):
            facts += [entry["machine"], f"sandbox: {entry['sandbox']}"]
        if entry.get("sha256"):
            facts.append(f"SHA-256 of the file: {entry['sha256'][:16]}")
    return f'<p class="dim">{e("; ".join(dict.fromkeys(facts)))}.</p>'


def summary_page(
    rows: list[Row],
    track_title: str,
    tasks: dict[str, int],
    titles: dict[str, str],
    pairs: list[Pair] = (),
    language: str = "en",
) -> bytes:
    """What the instructor sees: which tasks fail, how, and for how many."""
    most = sum(tasks.values())
    middle = _middle([r.points for r in rows])
    trouble = [r for r in rows if r.reason]
    parts = [
        f"<h1>{e(track_title)}: {len(rows)} students</h1>",
        f'<p class="sum">Median {shown(middle)} of {most} points; {len(trouble)} '
        f"with a remark.</p>",
        '<p class="legend dim">'
        + "".join(
            f'<span><i style="background:var(--{_BARS[s]})"></i>{_MARK[s]} {s}</span>'
            for s in _SEEN
        )
        + "</p>",
        _tasks_table(rows, tasks, titles),
        _how_table(rows, tasks),
        _remarks(trouble),
        _similar(pairs),
        _students(rows),
    ]
    return _page(f"{track_title}: summary", "\n".join(filter(None, parts)), language)


def _tasks_table(rows: list[Row], tasks: dict[str, int], titles: dict[str, str]) -> str:
    lines = []
    for task_id, of in tasks.items():
        seen = Counter(
            _as_seen(r.record["tasks"][task_id]["verdict"]["status"])
            for r in rows
            if task_id in r.record["tasks"]
        )
        total = max(sum(seen.values()), 1)
        words = ", ".join(f"{seen[s]} {s}" for s in _SEEN if seen[s])
        bar = "".join(
            f'<span style="width:{100 * seen[s] / total:.2f}%;background:var(--{_BARS[s]})"></span>'
            for s in _SEEN
        )
        mean = sum(r.tasks[task_id] for r in rows) / max(len(rows), 1)
        lines.append(
            f"<tr><td>{e(titles.get(task_id, ''))}<br><code>{e(task_id)}</code></td>"
            f'<td><div class="bar" role="img" aria-label="{e(words)}">{bar}</div>'
            f'<span class="dim">{e(words)}</span></td><td class="n">{mean:.1f} of {of}</td></tr>'
        )
    head = '<tr><th>Task</th><th>What became of it</th><th class="n">Mean points</th></tr>'
    return f'<h2>Tasks</h2><div class="wide"><table>{head}{"".join(lines)}</table></div>'


def _how_table(rows: list[Row], tasks: dict[str, int]) -> str:
    """How tasks fail: named misconceptions first, then the kinds of findings."""
    lines = []
    for task_id in tasks:
        how: Counter[tuple[int, str]] = Counter()
        for row in rows:
            stored = row.record["tasks"].get(task_id)
            if stored is None or stored["verdict"]["status"] in ("passed", "not started"):
                continue
            verdict = stored["verdict"]
            if verdict["misconception"]:
                how[0, verdict["misconception"]] += 1
                continue
            kinds = [f["kind"] for f in verdict["findings"] if f["passed"] is False]
            how[1, _KINDS.get(kinds[0], kinds[0]) if kinds else "not looked at"] += 1
        ordered = sorted(how.items(), key=lambda item: (-item[1], item[0]))
        for (kind, text), count in ordered:
            what = f"<b>{e(text)}</b>" if kind == 0 else e(text)
            lines.append(
                f"<tr><td><code>{e(task_id)}</code></td><td>{what}</td>"
                f'<td class="n">{count}</td></tr>'
            )
    if not lines:
        return ""
    head = '<tr><th>Task</th><th>How it fails</th><th class="n">Students</th></tr>'
    return (
        "<h2>How tasks fail</h2>"
        '<p class="dim">Bold: a misconception that the check knows by name.</p>'
        f'<div class="wide"><table>{head}{"".join(lines)}</table></div>'
    )


_KINDS = {
    "value": "wrong values",
    "raised": "it raised an error",
    "missing": "nothing to judge: the function or the notebook is missing",
    "nothing": "it returned nothing",
    "type": "a result of the wrong type",
    "dtype": "a result of the wrong dtype",
    "shape": "a result of the wrong shape",
    "length": "a result of the wrong length",
    "mutated": "it changed an input",
    "timeout": "it did not return in time",
    "flood": "it printed without end",
    "died": "its kernel died",
    "speed": "right, but not as fast as asked",
    "hazard": "a hazard (race, out of bounds, uninitialised, barrier)",
    "traffic": "right, but it moves more data than the budget",
    "check": "the check itself failed",
}


def _remarks(rows: list[Row]) -> str:
    lines = "".join(
        f"<tr><td>{_link(r)}</td><td>{e(r.reason)}</td></tr>"
        for r in sorted(rows, key=lambda r: r.student)
    )
    if not lines:
        return ""
    head = "<tr><th>Student</th><th>Remark</th></tr>"
    return f'<h2>Remarks</h2><div class="wide"><table>{head}{lines}</table></div>'


def _similar(pairs: list[Pair]) -> str:
    if not pairs:
        return ""
    lines = "".join(
        f"<tr><td>{e(p.one)}</td><td>{e(p.other)}</td>"
        f"<td>{e(p.lesson)}: {e(', '.join(p.tasks))}</td>"
        f'<td class="n">{100 * p.share:.0f} %</td></tr>'
        for p in pairs
    )
    head = '<tr><th>Student</th><th>Student</th><th>Where</th><th class="n">Shared</th></tr>'
    return (
        '<h2>Places to look</h2><p class="dim">Answers that are alike after renaming and '
        "reformatting, without what was handed out and what many wrote. It says where to look, "
        "not who did what: short tasks have few answers.</p>"
        f'<div class="wide"><table>{head}{lines}</table></div>'
    )


def _students(rows: list[Row]) -> str:
    lines = "".join(
        f'<tr><td>{_link(r)}</td><td class="n">{shown(r.points)} of {r.max_points}</td></tr>'
        for r in rows
    )
    head = '<tr><th>Student</th><th class="n">Points</th></tr>'
    return f'<h2>Students</h2><div class="wide"><table>{head}{lines}</table></div>'


def _link(row: Row) -> str:
    from urllib.parse import quote

    return f'<a href="feedback/{quote(slug(row.student))}.html">{e(row.student)}</a>'


def _as_seen(status: str) -> str:
    return "failed" if status == "error" else status


def _middle(points: list[float]) -> float:
    from statistics import median

    return median(points) if points else 0
