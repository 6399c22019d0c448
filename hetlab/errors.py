"""Every exception of hetlab: what is wrong, where, and what to do next.

A learner meets an error long before they meet the code that raised it, so an
error is a small text of its own.  Each has three parts:

``what``
    the name, the rule it breaks and the value that was found;
``where``
    the file, cell, line or argument that holds it;
``do``
    the next step, as a sentence.
"""

from __future__ import annotations

import importlib
import reprlib
from types import ModuleType

__all__ = [
    "HetlabError",
    "InvalidValue",
    "MissingLibrary",
    "NotebookError",
    "TrackError",
    "UnknownName",
    "one_line",
    "optional",
]

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 120
_short.maxlist = _short.maxdict = 8


class HetlabError(Exception):
    """The root of all of hetlab's exceptions.

    Parameters
    ----------
    what : str
        What is wrong, as a sentence without its full stop.
    where : str, optional
        The place: a file, a cell, an argument.
    do : str, optional
        What to do next, as a sentence.
    """

    def __init__(self, what: str, *, where: str = "", do: str = "") -> None:
        self.what, self.where, self.do = what, where, do
        super().__init__(what, where, do)

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        step = f" {self.do}" if self.do else ""
        return f"{self.what}{place}.{step}"

    def _render_traceback_(self) -> list[str]:
        """In a notebook an error of ours is its own text, not a stack of hetlab's frames."""
        return [f"{type(self).__name__}: {self}"]


class InvalidValue(HetlabError, ValueError):
    """An argument breaks a rule.

    Parameters
    ----------
    name : str
        The argument's name.
    rule : str
        What it must be, so that "*name* must be *rule*" reads well.
    value : object
        What was passed.
    """

    def __init__(
        self, name: str, rule: str, value: object, *, where: str = "", do: str = ""
    ) -> None:
        super().__init__(f"{name} must be {rule}, got {_short.repr(value)}", where=where, do=do)
        self.name, self.rule, self.value = name, rule, value


class UnknownName(HetlabError, LookupError):
    """A name is not among the known ones; the close ones are listed.

    Parameters
    ----------
    kind : str
        What the name should name: "task", "lesson", "chip".
    name : str
        The name that was not found.
    known : iterable of str
        All names that would have worked.
    """

    def __init__(self, kind: str, name: str, known, *, where: str = "", do: str = "") -> None:
        import difflib

        known = sorted(map(str, known))
        short = {k.rsplit("/", 1)[-1]: k for k in known}
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        tail = str(name).rsplit("/", 1)[-1]
        near += [short[s] for s in difflib.get_close_matches(tail, short, n=3, cutoff=0.6)]
        close = list(dict.fromkeys(near))[:3]
        if not do:
            if close:
                do = "Did you mean " + " or ".join(repr(c) for c in close) + "?"
            elif known:
                shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
                do = f"The known ones are: {shown}."
            else:
                do = f"No {kind} is known here."
        super().__init__(f"there is no {kind} {str(name)!r}", where=where, do=do)
        self.close = close


class MissingLibrary(HetlabError, ImportError):
    """A library that this step needs is not installed."""


class NotebookError(HetlabError):
    """A file is not a notebook that can be read or run."""


class TrackError(HetlabError):
    """A lesson track's files contradict each other or the format."""


def one_line(error: BaseException) -> str:
    """Name and first line of an exception, for a table or a terminal."""
    text = str(error).strip().splitlines()
    if isinstance(error, HetlabError):
        return str(error)
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def optional(module: str, extra: str, why: str) -> ModuleType:
    """Import a library that is not part of the small core.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of hetlab that installs it.
    why : str
        What it is needed for, completing "... is needed to".

    Raises
    ------
    MissingLibrary
        With the command that installs it, when the import fails.
    """
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        raise MissingLibrary(
            f"{module} is needed to {why} and could not be imported: {one_line(cause)}",
            do=f"Install it with: pip install 'hetlab[{extra}]'",
        ) from cause
