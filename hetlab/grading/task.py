"""A task: what is asked, how an answer is judged, and the wrong answers it must reject."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidValue

if TYPE_CHECKING:
    from .submission import Submission
    from .verdict import Finding

__all__ = ["Case", "Criterion", "Task", "Trial", "Wrong", "unseen"]

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclass(frozen=True, init=False)
class Case:
    """One set of inputs.

    Parameters
    ----------
    label : str
        What is special about it, as a verdict shows it: ``"n = 17"``.
    *inputs : object
        The arguments of the call.
    public : bool
        Whether a verdict may show its values.
    grid, block : int or tuple of int, optional
        With a grid, a kernel is launched: ``name[grid, block](*inputs)``, or without a block
        ``name[grid](*inputs, **constants)``, as Triton's are.
    constants : mapping, optional
        Named arguments of a launch.
    """

    label: str
    inputs: tuple
    public: bool
    grid: Any
    block: Any
    constants: Mapping[str, Any] | None

    def __init__(
        self,
        label: str,
        *inputs: Any,
        public: bool = True,
        grid: Any = None,
        block: Any = None,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        given = {"label": label, "inputs": inputs, "public": public}
        given |= {"grid": grid, "block": block, "constants": constants}
        for name, value in given.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that a check must reject: a named misconception or a mutant.

    Parameters
    ----------
    name : str
        The misconception in a few words: "x and y swapped".
    function : callable or dict
        The wrong answer, or one for each name that is handed in.
    says : str
        What the verdict tells a learner who made this mistake.
    fails : str
        The kind of finding that must reject it: ``value`` (or any other wrong result),
        ``hazard``, ``traffic``, ``speed``, or the ``kind`` of a criterion of your own.
    when : callable, optional
        ``when(expected, got) -> bool``: recognises the mistake from the answer, for mistakes
        whose result is not the same each time (races).  Without it the answer must equal
        what `function` gives.
    """

    name: str
    function: Any
    says: str = ""
    fails: str = "value"
    when: Callable[[Any, Any], bool] | None = None


@dataclass
class Trial:
    """One judging of one submission: what the criteria share."""

    task: Task
    submission: Submission
    seed: int
    #: Filled by criteria: (case, expected, outcome) of every call made so far.
    calls: list = field(default_factory=list)
    #: Filled by criteria: what else is needed to recognise a misconception.
    notes: dict = field(default_factory=dict)

    def rng(self, salt: str = "") -> Any:
        """A generator that depends on the task, the seed and `salt` only."""
        import numpy as np

        return np.random.default_rng([self.seed, zlib.crc32(f"{self.task.name}/{salt}".encode())])


class Criterion(Protocol):
    """One thing that is judged, worth `points`.

    ``kind`` is the family of reasons it rejects for; ``needs_right`` says that it is
    looked at only after all criteria before it have passed.
    """

    points: int
    kind: str
    needs_right: bool

    def judge(self, trial: Trial) -> Finding:
        """Look at the submission and say what was found."""

    def title(self) -> str:
        """What is judged, in a few words."""


@dataclass(eq=False)
class Task:
    """What a learner is asked for, and everything that belongs to judging it.

    Parameters
    ----------
    name : str
        Lower-case identifier; with its lesson it is the task's id and is never used again.
    title : str
        What to do, beginning with a verb.
    criteria : sequence of Criterion
        What is judged, in order.
    hints : sequence of str
        Three steps: a nudge, the idea, nearly the code.
    hands_in : sequence of str
        Names looked up in the notebook.  Default: the task's own name.
    wrong : list of Wrong
        At least two named misconceptions.
    not_checked : str
        What a passing verdict does not prove, for its last line.
    time_limit : float
        Seconds a single call may take, compilation included.
    """

    name: str
    title: str
    criteria: Sequence[Criterion] = ()
    hints: Sequence[str] = ()
    hands_in: Sequence[str] = ()
    wrong: list[Wrong] = field(default_factory=list)
    not_checked: str = ""
    time_limit: float = 20.0
    #: What wrong kernels did on cases so far: they are looked at again and again.
    performed: dict = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise InvalidValue("name", "a lower-case identifier such as 'saxpy'", self.name)
        self.criteria = list(self.criteria)
        self.wrong = list(self.wrong)
        self.hints = _texts(self.hints)
        self.hands_in = _texts(self.hands_in) or (self.name,)

    @property
    def points(self) -> int:
        """The most that it can earn."""
        return sum(c.points for c in self.criteria)

    @property
    def watched(self) -> bool:
        """Whether a criterion looks at the launches that a call makes."""
        return any(getattr(c, "watches", False) for c in self.criteria)


def unseen(task: Task, cases: Callable[[Any], Iterable[Case]], criterion: int = 0) -> None:
    """Add inputs that feedback never shows.

    Parameters
    ----------
    task : Task
    cases : callable
        ``cases(rng)`` yields cases with ``public=False``.
    criterion : int
        Position of the criterion that they are for.
    """
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    # A forgotten comma turns a tuple of one text into a text.
    return (value,) if isinstance(value, str) else tuple(value)
