"""Gradescope: its ``results.json`` from a results folder of one student.

``python -m hetlab.batch.gradescope OUT > /autograder/results/results.json``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import HetlabError
from ..grading import Verdict
from .ledger import Ledger

__all__ = ["main", "results"]


def results(folder: Path) -> dict[str, Any]:
    """What Gradescope shows: one test a task, with the verdict as its text.

    Raises
    ------
    HetlabError
        When the folder holds no student, or several.
    """
    records = Ledger(folder).all()
    if len(records) != 1:
        raise HetlabError(
            f"a Gradescope run has one student, got {len(records)}",
            where=str(folder),
            do="Grade a folder that holds the submission in one folder: in/student/...",
        )
    (record,) = records
    tests = []
    for task_id, stored in record["tasks"].items():
        verdict = Verdict.from_json(stored["verdict"])
        status = "passed" if verdict.passed else "failed"
        tests.append(
            {
                "name": task_id,
                "score": stored["points"],
                "max_score": stored["of"],
                "status": status,
                "output": repr(verdict),
                "visibility": "visible",
            }
        )
    told = [*record["reasons"], *record["notes"]]
    for entry in record["lessons"].values():
        told += [entry["reason"], *entry["notes"]]
    score = sum(t["score"] for t in tests)
    output = "\n".join(dict.fromkeys(filter(None, told)))
    return {"score": score, "output": output, "tests": tests}


def main() -> None:
    """Print the results of the folder that is named."""
    print(json.dumps(results(Path(sys.argv[1])), ensure_ascii=False, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
