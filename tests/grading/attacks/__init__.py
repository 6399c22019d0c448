"""Notebooks that try to earn points they do not deserve, or to leave something behind."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """One idea.

    Attributes
    ----------
    name : str
    code : str or tuple of str
        Its cells.  ``{outside}`` stands for a folder outside the sandbox, ``{port}`` for a port
        that listens on this machine, ``{parent}`` for the judge's process.
    honest : int
        What an honest reading of its answers is worth.
    quiet : bool
        It cannot be told from a mistake, so nothing is reported.
    fails : bool
        Its cells do not run to their end; those of all others must.
    leaks : bool
        It reads what only bubblewrap hides, as the documentation says: in the weaker tiers it may
        succeed, and must be reported.
    harmful : bool
        It would harm the machine that a weak tier leaves open: run in bubblewrap only.
    """

    name: str
    code: str | tuple[str, ...]
    honest: int = 0
    checks: tuple[str, ...] = ("double",)
    quiet: bool = False
    harmful: bool = False
    fails: bool = False
    leaks: bool = False

    def cells(self, **places: object) -> list[str]:
        """Its cells with the places filled in."""
        made = [self.code] if isinstance(self.code, str) else list(self.code)
        made = [textwrap.dedent(text).strip() for text in made]
        for name, value in places.items():
            made = [text.replace("{" + name + "}", str(value)) for text in made]
        return made
