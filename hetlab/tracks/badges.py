"""Links that open a lesson in a browser, on Binder or Colab, at a tag of the repository.

A tag, not a branch: a link that somebody put into a course keeps opening the same lesson.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from ..errors import InvalidValue
from .manifest import Track

__all__ = ["badges"]

_BINDER = "https://mybinder.org/badge_logo.svg"
_PART = re.compile(r"[\w.-]+")


def badges(track: Track, repository: str, tag: str) -> str:
    """A Markdown table: each lesson of a track's own, a badge for Binder, a link for Colab.

    Binder's image holds the learner's copies in ``work/`` (``binder/postBuild``), so its link
    opens the copy.  Colab opens a file of the repository.

    Parameters
    ----------
    track : Track
    repository : str
        ``OWNER/NAME`` on GitHub.
    tag : str
        A tag, or a commit.

    Raises
    ------
    InvalidValue
        For a repository or a tag that cannot stand in a link.
    """
    owner, slash, name = repository.partition("/")
    if not slash or not _PART.fullmatch(owner) or not _PART.fullmatch(name):
        raise InvalidValue("repository", "OWNER/NAME as on GitHub", repository)
    if not tag or tag.startswith("-") or any(c.isspace() for c in tag):
        raise InvalidValue("tag", "a tag or a commit of the repository", tag)
    lines = ["| lesson | try it |", "|---|---|"]
    for lesson in track.own:
        path = quote(f"lab/tree/work/lessons/{lesson.id}.ipynb", safe="")
        ref = quote(tag, safe="")
        binder = f"https://mybinder.org/v2/gh/{owner}/{name}/{ref}?urlpath={path}"
        colab = (
            f"https://colab.research.google.com/github/{owner}/{name}/blob/{quote(tag)}"
            f"/notebooks/{lesson.id}.ipynb"
        )
        badge = f"[![Open {lesson.id} on Binder]({_BINDER})]({binder})"
        lines.append(f"| {lesson.title} | {badge} [Colab]({colab}) |")
    return "\n".join(lines) + "\n"
