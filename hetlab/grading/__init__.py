"""Tasks, checks and verdicts.  This floor knows nothing of notebooks or tracks."""

from .agree import Agreement, Difference, close, exact
from .criteria import Correct
from .judge import fits, judge, settle
from .kernels import Clean, Within
from .launched import HostKernel, Launched
from .mutants import mutants
from .races import Races
from .runner import Graded, run_notebook
from .speed import Faster
from .submission import Outcome, Submission, open_submission
from .task import Case, Criterion, Task, Trial, Wrong, unseen
from .tiers import Limits, Tier, probe, tier_named
from .verdict import Finding, Verdict

__all__ = [
    "Agreement",
    "Case",
    "Clean",
    "Correct",
    "Criterion",
    "Difference",
    "Faster",
    "Finding",
    "Graded",
    "HostKernel",
    "Launched",
    "Limits",
    "Outcome",
    "Races",
    "Submission",
    "Task",
    "Tier",
    "Trial",
    "Verdict",
    "Within",
    "Wrong",
    "close",
    "exact",
    "fits",
    "judge",
    "mutants",
    "open_submission",
    "probe",
    "run_notebook",
    "settle",
    "tier_named",
    "unseen",
]
