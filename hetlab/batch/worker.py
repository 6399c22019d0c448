"""The process that grades one notebook after another; a line of JSON in, a line of JSON out.

It is a process of its own so that whatever happens in it costs one row: it is started
anew when it dies, and killed when it does not answer.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from ..errors import one_line
from ..grading.confine import die_with_parent
from .job import Answer, Job

__all__ = ["grade", "main"]

_LIBRARIES = ("numpy", "numba", "numba-cuda", "triton", "apache-tvm")
_OBTAINED = "Obtained on {}; inputs of seed"


def grade(job: Job, root: Path) -> Answer:
    """Run and judge one notebook; a fault of the grader's own is part of the answer.

    Parameters
    ----------
    root : Path
        The track, or a bundle of it.
    """
    try:
        return _grade(job, root)
    except Exception as error:
        return Answer(fault=f"the grader failed: {one_line(error)}", sandbox=job.tier)


def _grade(job: Job, root: Path) -> Answer:
    import nbformat

    from ..grading.runner import run_notebook
    from ..grading.tiers import Limits
    from ..timing import machine
    from ..tracks.manifest import load_track
    from ..tracks.tasks import load_tasks

    track = load_track(root)
    known = load_tasks(track, job.lesson)
    tasks = [(job.lesson, known[name]) for name in job.tasks]
    notebook = nbformat.from_dict(job.notebook)
    # Should the track lie where the interpreter's own libraries do, it is hidden there.
    hidden = [p for x in track.lessons if (p := x.checks.parent).is_dir()]
    done = run_notebook(
        notebook, tasks, seed=job.seed, limits=Limits(**job.limits), tier=job.tier,
        hidden=sorted(set(hidden)),
    )  # fmt: skip
    # Which libraries this process has loaded depends on what it graded before; what is
    # installed does not.
    here = replace(machine(), versions=_installed())
    return Answer(
        verdicts=tuple(replace(v, proof=_on(here.line, v.proof)) for v in done.verdicts),
        reason=done.reason,
        notes=tuple(done.notes),
        incidents=tuple(done.incidents),
        sandbox=done.sandbox,
        seconds=done.seconds,
        machine=here.line,
        versions={"python": here.python, **here.versions},
    )


def _on(line: str, proof: str) -> str:
    return re.sub(r"Obtained on .*?; inputs of seed", lambda _: _OBTAINED.format(line), proof)


def _installed() -> dict[str, str]:
    """The versions of the libraries that decide what a kernel does."""
    found = {}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def main() -> None:
    """Serve jobs until the standard input ends."""
    root = Path(sys.argv[1])
    # A batch that is killed takes its graders along, so that no notebook outlives it.
    die_with_parent(os.getppid())
    # Whatever prints in this process must not get between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        answer = grade(Job.from_json(line), root)
        out.write(answer.to_json() + "\n")
        out.flush()


if __name__ == "__main__":
    main()
