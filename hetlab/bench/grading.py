"""``hetlab bench grading``: a class graded by hetlab, and beside nbgrader and otter.

First each grader gets the same twenty notebooks, in turn, in random order within a round, so
that a busy machine disturbs all alike; then hetlab grades a whole class on all cores.  The class
is mixed: solutions, half done and wrong ones, dead kernels, endless loops, broken files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hetlab.units import binary_bytes, ratio, seconds

from ._grading_class import handed_in, make_track
from ._grading_peers import Graded, Hetlab, Nbgrader, Otter

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Grade, and print seconds a notebook, peak memory, and rows with the honest points.

    The exit status is 1 when a row of hetlab's is wrong or missing.
    """
    options = _options(argv)
    write = sys.stderr.write if options.json else sys.stdout.write
    from .vgpu import machine

    report = {"machine": machine(), "cell_limit_seconds": options.cell_limit, "same": {}}
    write(f"{report['machine']}\n(seconds of this host; load average now {_load()})\n")
    with tempfile.TemporaryDirectory(prefix="hetlab-bench-") as folder:
        place = Path(folder)
        track = make_track(place / "track", options.cell_limit)
        graders = [Hetlab(track, options.cell_limit)]
        for kind, python in ((Nbgrader, options.nbgrader), (Otter, options.otter)):
            try:
                if python:
                    graders.append(kind(python, track, options.cell_limit))
                else:
                    write(f"{kind.name} is left out: name a Python that has it: --{kind.name}\n")
            except LookupError as missing:
                write(f"{missing}\n")
        wrong = 0
        if options.same and options.rounds:
            wrong += _same(graders, handed_in(track, options.same), place, options, report, write)
        if options.students:
            wrong += _class(track, place, options, report, write)
    if options.json:
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return 1 if wrong else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hetlab bench grading", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--students", type=int, default=300, help="size of the class; 0: none")
    parser.add_argument("--same", type=int, default=20, help="notebooks that every grader gets")
    parser.add_argument("--rounds", type=int, default=3, help="times that each grader gets them")
    parser.add_argument("--jobs", type=int, help="notebooks at a time, of the class")
    parser.add_argument("--cell-limit", type=float, default=10, help="seconds a cell may take")
    parser.add_argument("--nbgrader", metavar="PYTHON", help="of an environment with nbgrader 0.9")
    parser.add_argument("--otter", metavar="PYTHON", help="of an environment with otter-grader")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(argv)


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _same(
    graders: list, handed: list, place: Path, options: argparse.Namespace, report: dict,
    write: Callable,
) -> int:  # fmt: skip
    """Every grader, the same notebooks, in turn."""
    write(f"the same {len(handed)} notebooks, one at a time, {options.rounds} rounds:\n")
    found: dict[str, list[Graded]] = {grader.name: [] for grader in graders}
    order = random.Random(1)
    for turn in range(options.rounds):
        for grader in order.sample(graders, len(graders)):
            done = grader.grade(handed, place / f"{grader.name}-{turn}")
            found[grader.name].append(done)
            write(f"  (round {turn + 1}: {grader.name} {seconds(done.seconds)}, load {_load()})\n")
    ours = [g.seconds for g in found["hetlab"]]
    for grader in graders:
        runs = found[grader.name]
        each = sorted(g.seconds / len(handed) for g in runs)
        peak = max(g.peak_bytes for g in runs)
        rights = [g.right(handed) for g in runs]
        least, wrong = min(rights, key=lambda r: r[0])
        version = f" {grader.version}" if hasattr(grader, "version") else ""
        line = f"  {grader.name}{version}: {seconds(statistics.median(each))} a notebook "
        line += f"({seconds(each[0])} to {seconds(each[-1])}), peak {binary_bytes(peak)}, "
        line += f"{least} of {len(handed)} rows right"
        if wrong:
            line += f" (not: {_counted(wrong)})"
        if grader.name != "hetlab":
            ratios = sorted(g.seconds / o for g, o in zip(runs, ours))
            line += f"; {ratio(statistics.median(ratios))} the time of hetlab "
            line += f"({ratio(ratios[0])} to {ratio(ratios[-1])})"
        write(line + "\n")
        for remark in dict.fromkeys(r for g in runs for r in g.remarks):
            write(f"    {remark}\n")
        report["same"][grader.name] = {
            "seconds_a_notebook": each, "peak_bytes": peak, "rows": len(handed),
            "rows_right": least, "wrong": wrong, "version": version.strip(),
        }  # fmt: skip
    return len(handed) - report["same"]["hetlab"]["rows_right"]


def _class(track, place: Path, options: argparse.Namespace, report: dict, write: Callable) -> int:
    """A whole class, by hetlab, on all cores."""
    from hetlab.batch.pool import cores

    jobs = options.jobs or cores()
    handed = handed_in(track, options.students)
    grader = Hetlab(track, options.cell_limit, jobs)
    before = _load()
    done = grader.grade(handed, place / "class")
    right, wrong = done.right(handed)
    write(
        f"a class of {len(handed)}, {jobs} at a time, sandbox {grader.sandbox or 'unknown'}: "
        f"{seconds(done.seconds)}, {seconds(done.seconds / len(handed))} a notebook, "
        f"peak {binary_bytes(done.peak_bytes)}, {right} of {len(handed)} rows right"
        f"{f' (not: {_counted(wrong)})' if wrong else ''}; load {before} before, {_load()} after\n"
    )
    report["class"] = {
        "students": len(handed), "jobs": jobs, "sandbox": grader.sandbox,
        "seconds": done.seconds, "peak_bytes": done.peak_bytes, "rows_right": right,
        "wrong": wrong,
    }  # fmt: skip
    return len(wrong)


def _counted(kinds: list[str]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in Counter(kinds).items())


if __name__ == "__main__":
    raise SystemExit(main())
