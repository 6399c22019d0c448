"""Tasks, checks and verdicts.  This floor knows nothing of notebooks or tracks."""

from .agree import Agreement, Difference, close, exact
from .criteria import Correct, Faster
from .judge import fits, judge
from .mutants import mutants
from .runner import Graded, run_notebook
from .submission import Outcome, Submission, open_submission
from .task import Case, Criterion, Task, Trial, Wrong
from .tiers import Limits, Tier, probe, tier_named
from .verdict import Finding, Verdict

__all__ = [
    "Agreement",
    "Case",
    "Correct",
    "Criterion",
    "Difference",
    "Faster",
    "Finding",
    "Graded",
    "Limits",
    "Outcome",
    "Submission",
    "Task",
    "Tier",
    "Trial",
    "Verdict",
    "Wrong",
    "close",
    "exact",
    "fits",
    "judge",
    "mutants",
    "open_submission",
    "probe",
    "run_notebook",
    "tier_named",
]
