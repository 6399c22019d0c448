"""What can go wrong between a graph, a machine and a policy, each as a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from hetlab.errors import HetlabError

__all__ = ["GraphError", "PolicyError", "Stalled", "Unplaceable", "listing"]


class GraphError(HetlabError, ValueError):
    """A task graph contradicts itself: a cycle, an unknown name, a negative cost."""


class Unplaceable(HetlabError, ValueError):
    """A task that no device of the machine can run, found before anything runs."""


class PolicyError(HetlabError):
    """A policy raised, or decided something that is not possible.

    Attributes
    ----------
    timeline : Timeline or None
        What had happened until then.
    """

    timeline = None


class Stalled(PolicyError):
    """Nothing runs, nothing will happen, and tasks are left.

    Attributes
    ----------
    ready, idle : tuple
        The tasks that could run now, and the devices that do nothing.
    """

    def __init__(self, what: str, *, where: str = "", do: str = "", ready=(), idle=()) -> None:
        super().__init__(what, where=where, do=do)
        self.ready, self.idle = tuple(ready), tuple(idle)


def listing(names: Iterable, most: int = 6) -> str:
    """Names as text: ``'a', 'b' and 4 more``; long ones are cut."""
    names = list(names)
    shown = [text if len(text := repr(name)) <= 60 else text[:57] + "..." for name in names[:most]]
    text = ", ".join(shown)
    return f"{text} and {len(names) - most:,} more" if len(names) > most else text or "none"
