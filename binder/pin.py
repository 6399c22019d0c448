"""Write the requirements of the Binder image: what `hetlab[lab]` needs here, pinned, and no more.

Binder keeps an installed layer as long as `requirements.txt` is the same, so it must not name
hetlab itself: `postBuild` installs that, without dependencies.

    python binder/pin.py > binder/requirements.txt
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def needed(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> set[str]:
    """Names of all distributions that one needs with these extras, itself included."""
    found = {canonicalize_name(name)}
    for line in importlib.metadata.requires(name) or ():
        wanted = Requirement(line)
        for extra in extras | {""}:
            key = (line, extra)
            if key in seen or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
                continue
            seen.add(key)
            found |= needed(wanted.name, frozenset(wanted.extras), seen)
    return found


def requirements() -> str:
    """The text of ``binder/requirements.txt``."""
    pins = {}
    for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines():
        if "==" in line:
            pins[canonicalize_name(line.partition("==")[0])] = line
    names = needed("hetlab", frozenset({"lab"}), set()) - {"hetlab"}
    lines = sorted((pins[name] for name in names), key=str.lower)
    return "\n".join(["# Made by binder/pin.py from constraints.txt.", *lines]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(requirements())
