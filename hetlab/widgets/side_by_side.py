"""Two texts side by side, line by line, with what differs marked: the same program twice."""

from __future__ import annotations

import difflib
from html import escape
from itertools import zip_longest

__all__ = ["SideBySide", "side_by_side"]


class SideBySide:
    """Two texts, aligned where they agree.

    Attributes
    ----------
    names : (str, str)
        Their titles.
    rows : list of (str, str, bool)
        Left line, right line, whether they are the same.
    """

    def __init__(self, names: tuple[str, str], left: str, right: str) -> None:
        self.names, self.rows = names, []
        a, b = left.strip("\n").split("\n"), right.strip("\n").split("\n")
        for kind, i, i2, j, j2 in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
            for one, two in zip_longest(a[i:i2], b[j:j2], fillvalue=""):
                self.rows.append((one, two, kind == "equal"))

    @property
    def differing(self) -> int:
        """Lines that are not the same."""
        return sum(not same for *_, same in self.rows)

    def __repr__(self) -> str:
        wide = max(len(self.names[0]), *(len(left) for left, *_ in self.rows))
        lines = [f"  {self.names[0]:<{wide}} | {self.names[1]}"]
        for left, right, same in self.rows:
            lines.append(f"{'  ' if same else '* '}{left:<{wide}} | {right}".rstrip())
        return "\n".join([*lines, f"{self.differing} of {len(self.rows)} lines differ (*)"])

    def _repr_html_(self) -> str:
        cell = "text-align:left;padding:0 14px 0 6px;white-space:pre;font:12px/1.5 monospace"
        rows = ""
        for left, right, same in self.rows:
            mark = "" if same else ";border-left:3px solid #D55E00"
            rows += '<tr style="background:none">' + "".join(
                f'<td style="{cell}{mark}">{escape(text)}</td>' for text in (left, right)
            )
            rows += "</tr>"
        head = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in self.names)
        foot = f"{self.differing} of {len(self.rows)} lines differ"
        return (
            f'<div style="overflow-x:auto"><table style="border-collapse:collapse"><tr>{head}</tr>'
            f"{rows}</table><div>{foot}</div></div>"
        )


def side_by_side(**texts: str) -> SideBySide:
    """Show two versions of a text side by side.

    Parameters
    ----------
    **texts : str
        Two of them, by name: ``side_by_side(CUDA=a, HIP=b)``.

    Raises
    ------
    InvalidValue
        When there are not two.
    """
    from hetlab.errors import InvalidValue

    if len(texts) != 2:
        raise InvalidValue("texts", "two texts by name, as in CUDA=a, HIP=b", list(texts))
    (one, left), (two, right) = texts.items()
    return SideBySide((one, two), left, right)
