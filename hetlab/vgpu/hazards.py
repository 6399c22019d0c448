"""What makes a kernel wrong: the reports."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Hazard", "Recorder", "name_of", "race_sentence"]


@dataclass(slots=True)
class Hazard:
    """Something that makes a kernel wrong, or wrong on another day.

    Attributes
    ----------
    kind : str
        ``out-of-bounds``, ``misaligned``, ``uninitialised-read``, ``read-only-write``, ``race``,
        ``divergent-barrier``, ``deadlock``, ``trap``; as warnings ``wrapped-index``,
        ``same-value-store`` and ``partly-written``.
    array : str
        Name of the array, or of the shared variable; may be empty.
    index : int, tuple of int or None
        The element, counted as in Python; negative or past the end when out of bounds.
    threads : list of dict
        ``{"block": [x, y, z], "thread": [x, y, z]}``; two for a race, the earlier one first.
    lines : list of tuple
        ``(file, line)``, in the order of `threads`.
    space : str
        ``global``, ``shared``, ``local``, or empty.
    message : str
        The sentence for the learner.
    count : int
        How many thread accesses (or warps, for barriers) showed it.
    """

    kind: str
    array: str = ""
    index: object = None
    threads: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    space: str = ""
    message: str = ""
    count: int = 1

    def to_json(self) -> dict:
        """A dictionary that ``json.dumps`` accepts."""
        index = list(self.index) if isinstance(self.index, tuple) else self.index
        return {
            "kind": self.kind,
            "array": self.array,
            "index": index,
            "threads": self.threads,
            "lines": [list(line) for line in self.lines],
            "space": self.space,
            "message": self.message,
            "count": self.count,
        }


class Recorder:
    """Collects hazards, one for each kind, array and source lines; more of the same only count."""

    def __init__(self) -> None:
        self.hazards: list[Hazard] = []
        self.warnings: list[Hazard] = []
        self._known: dict[tuple, Hazard] = {}

    def add(self, kind: str, where: tuple, count: int, make, *, warning: bool = False) -> None:
        """Record; ``make()`` gives the rest of the Hazard's fields the first time.

        `where` names the instructions.  The compiler copies some when it unrolls a loop or takes
        a struct apart: what one line does to one array is one hazard all the same.
        """
        known = self._known.get((kind, where))
        if known is None:
            found = Hazard(kind, count=0, **make())
            lines = sorted(found.lines)
            if all(number for _, number in lines):
                what = found.array or found.message
                known = self._known.setdefault((kind, found.space, what, *lines), found)
            else:
                known = found
            self._known[kind, where] = known
            if known is found:
                (self.warnings if warning else self.hazards).append(found)
        known.count += count


def name_of(array: str, index, space: str) -> str:
    """``a[3, 4]`` for a sentence."""
    if not array:
        return f"{space} memory"
    if index is None:
        return array
    inner = ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)
    return f"{array}[{inner}]"


def race_sentence(kind, array, index, threads, sites, space, who) -> str:
    """A race, or the same value stored twice, in words; the earlier access first."""
    what = name_of(array, index, space)
    one, two = (f"{who(t)} {_does(s)} in line {s.place[1]}" for t, s in zip(threads, sites))
    if kind == "same-value-store":
        return f"Threads of different warps store the same value to {what}: {one}, {two}."
    between = "barrier" if threads[0]["block"] == threads[1]["block"] else "order"
    return f"Race on {what}: {one}, {two}, with no {between} between."


def _does(site) -> str:
    return "updates it atomically" if site.atomic else "stores it" if site.stores else "reads it"
