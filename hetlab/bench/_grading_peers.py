"""Graders side by side: hetlab, nbgrader and otter, each with the same files and limits.

nbgrader and otter run in an environment of their own and know nothing of hetlab.  They get
the same checks as plain assertions on literal arrays, which is the quickest form that
they have.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from hetlab.tracks.manifest import Track
from hetlab.tracks.notebooks import notebook_bytes, read_notebook

from ._grading_class import LESSON, POINTS, Handed, plain_tests

__all__ = ["Graded", "Hetlab", "Nbgrader", "Otter", "watched"]

_BETWEEN = 0.2  # seconds between two looks at the memory

_NBGRADER = """from nbgrader import preprocessors as p
c = get_config()
c.CourseDirectory.course_id = "bench"
# The sources are exercises already: nothing is left to clear.
c.GenerateAssignment.preprocessors = [p.LockCells, p.ClearOutput, p.CheckCellMetadata,
    p.ComputeChecksums, p.SaveCells]
c.OverwriteCells.add_missing_cells = True
c.ExecutePreprocessor.timeout = {limit}
c.Execute.timeout = {limit}
"""
_OTTER = """from otter.test_files import test_case
OK_FORMAT, name, points = False, {task!r}, {points}

@test_case(points={points})
def test_{task}(env):
    import numpy as np
    {task} = env[{task!r}]
    {tests}
"""


@dataclass
class Graded:
    """What one grader did with a class.

    Attributes
    ----------
    seconds : float
        Wall clock of the whole.
    peak_bytes : int
        The most memory that its whole tree of processes held at one time, shared pages counted
        in parts (PSS), seen every 0.2 s.
    points : dict of str to float
        By student; who has no row is missing.
    remarks : list of str
    """

    seconds: float
    peak_bytes: int
    points: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def right(self, handed: list[Handed]) -> tuple[int, list[str]]:
        """How many rows have the honest points, and the kinds of the others."""
        wrong = [h.kind for h in handed if self.points.get(h.student, -1) != h.points]
        return len(handed) - len(wrong), wrong


def watched(argv: list, cwd: Path, environment: dict, limit: float) -> tuple[float, int, int]:
    """Run a command; its seconds, the peak memory of its tree in bytes, its exit status.

    A command that takes longer than `limit` seconds is ended with all that it started; its
    status is then -1.
    """
    import psutil

    begin = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in argv], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    tree, done, peak = psutil.Process(process.pid), threading.Event(), [0]

    def look() -> None:
        while not done.wait(_BETWEEN):
            with contextlib.suppress(psutil.Error):
                peak[0] = max(peak[0], sum(map(_held, [tree, *tree.children(recursive=True)])))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        status = -1
    finally:
        left = _tree(tree)
        for one in left:
            with contextlib.suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(left[1:], timeout=5)  # a signal takes its time
        process.wait()
        done.set()
        watcher.join()
    return time.perf_counter() - begin, peak[0], status


def _tree(process) -> list:
    import psutil

    with contextlib.suppress(psutil.Error):
        return [process, *process.children(recursive=True)]
    return []


def _held(process) -> int:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        full = process.memory_full_info()
        return getattr(full, "pss", 0) or full.uss
    return 0


class Hetlab:
    """``hetlab grade``, notebooks one at a time like its peers, or `jobs` at a time."""

    def __init__(self, track: Track, limit: float, jobs: int = 1) -> None:
        self.track, self.limit, self.jobs, self.name = track, limit, jobs, "hetlab"
        self.sandbox = ""

    def grade(self, handed: list[Handed], place: Path) -> Graded:
        (place / "in").mkdir(parents=True)
        for one in handed:
            (place / "in" / f"{one.student}.ipynb").write_bytes(one.data)
        argv = [sys.executable, "-m", "hetlab", "grade", "in", "--track", self.track.root]
        argv += ["--out", "out", "--jobs", self.jobs, "--cell-limit", self.limit, "--weak-sandbox"]
        environment = dict(os.environ)
        package = str(Path(__file__).resolve().parents[2])
        paths = filter(None, [package, environment.get("PYTHONPATH")])
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        found = Graded(*watched(argv, place, environment, 3600 + 60 * len(handed))[:2])
        with contextlib.suppress(OSError):
            rows = list(csv.DictReader((place / "out" / "grades.csv").open(encoding="utf-8-sig")))
            found.points = {row["student"]: float(row["points"]) for row in rows}
            self.sandbox = "/".join(sorted({row["sandbox"] for row in rows} - {""}))
        return found


class _Peer:
    """A grader in an environment of its own."""

    name = ""

    def __init__(self, python: str, track: Track, limit: float) -> None:
        self.python, self.track, self.limit = python, track, limit
        said = self._ask(f"import {self.name}, numpy, ipykernel; print({self.name}.__version__)")
        if said is None:
            raise LookupError(
                f"{self.name}: {python} cannot import {self.name}, numpy and ipykernel; "
                f"it is left out. Make an environment with them, and name its python."
            )
        self.version = said

    def _ask(self, code: str) -> str | None:
        try:
            done = subprocess.run(
                [self.python, "-c", code], capture_output=True, text=True, timeout=120, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def environment(self, home: Path) -> dict[str, str]:
        """A home of its own, its own programs first, and nothing of hetlab's."""
        path = os.pathsep.join([str(Path(self.python).parent), os.environ.get("PATH", "")])
        return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONNOUSERSITE": "1"}

    def notebook(self, data: bytes | None = None, place: Path | None = None) -> bytes:
        """A notebook with plain assertions in its check cells; the exercise by default."""
        path = self.track.lesson(LESSON).exercise
        if data is not None:
            path = place
            path.write_bytes(data)
            if not _whole(data):
                return data
        notebook = read_notebook(path)
        for cell in notebook.cells:
            if cell.id.startswith("check-"):
                cell.source = "\n".join(plain_tests(cell.id.removeprefix("check-")))
            cell.source = cell.source.replace("import hetlab\n", "")
        return notebook_bytes(notebook)


def _whole(data: bytes) -> bool:
    try:
        return bool(json.loads(data))
    except ValueError:
        return False


class Nbgrader(_Peer):
    """``nbgrader autograde`` over the whole class; making the course is not timed."""

    name = "nbgrader"

    def grade(self, handed: list[Handed], place: Path) -> Graded:
        source = place / "source" / LESSON
        source.mkdir(parents=True)
        (source / f"{LESSON}.ipynb").write_bytes(self.notebook())
        config = _NBGRADER.format(limit=int(self.limit))
        (place / "nbgrader_config.py").write_text(config)
        environment = self.environment(place)
        call = [self.python, "-m", "nbgrader"]
        watched([*call, "generate_assignment", LESSON], place, environment, 300)
        for one in handed:
            folder = place / "submitted" / one.student / LESSON
            folder.mkdir(parents=True)
            data = self.notebook(one.data, place / "scratch.ipynb")
            (folder / f"{LESSON}.ipynb").write_bytes(data)
        argv = [*call, "autograde", LESSON]
        found = Graded(*watched(argv, place, environment, 600 + 60 * len(handed))[:2])
        watched([*call, "export", "--to", "grades.csv"], place, environment, 300)
        with contextlib.suppress(OSError):
            for row in csv.DictReader((place / "grades.csv").open(encoding="utf-8")):
                if row["raw_score"]:
                    found.points[row["student_id"]] = float(row["raw_score"])
        return found


class Otter(_Peer):
    """``otter run``, once a notebook; making the autograder's zip is not timed.

    It has no limit on time of its own without Docker, so each run is ended when it has taken
    three times the limit of a cell.
    """

    name = "otter"

    def grade(self, handed: list[Handed], place: Path) -> Graded:
        place.mkdir(parents=True)
        tests = {
            f"tests/{task}.py": _OTTER.format(
                task=task, points=points, tests="\n    ".join(plain_tests(task))
            )
            for task, points in POINTS.items()
        }
        with zipfile.ZipFile(place / "autograder.zip", "w") as out:
            for name, text in {**tests, "otter_config.json": "{}"}.items():
                out.writestr(name, text)
        found, environment = Graded(0.0, 0), self.environment(place)
        for one in handed:
            folder = place / one.student
            folder.mkdir()
            (folder / f"{LESSON}.ipynb").write_bytes(
                self.notebook(one.data, place / "scratch.ipynb")
            )
            argv = [self.python, "-m", "otter", "run", f"{LESSON}.ipynb", "--no-logo"]
            argv += ["-a", place / "autograder.zip", "-o", "."]
            seconds, peak, status = watched(argv, folder, environment, 3 * self.limit)
            found.seconds += seconds
            found.peak_bytes = max(found.peak_bytes, peak)
            if status == -1:
                found.remarks.append(f"{one.kind}: it did not end by itself")
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                told = json.loads((folder / "results.json").read_text(encoding="utf-8"))
                found.points[one.student] = sum(float(t.get("score", 0)) for t in told["tests"])
        return found
