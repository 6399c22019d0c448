"""`show_lockstep` and `show_occupancy`: warps in branches and loops, and how many fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetlab.widgets.lockstep import lockstep
from hetlab.widgets.showing import _best
from hetlab.widgets.slots import slots_of

__all__ = ["show_lockstep", "show_occupancy"]


def show_lockstep(
    rule: Callable, *, then: int = 4, other: int = 4, warps: int = 2, **slider: Sequence
):
    """Show which lanes of a warp are active while it walks through a branch or a loop.

    Parameters
    ----------
    rule : callable
        ``rule(i)`` for a thread's number: True or False is the condition of a branch, a whole
        number the turns of a loop.  With a slider ``rule(i, g)``.
    then, other : int
        Steps of the two sides of a branch.
    warps : int
        Warps to show, 1 to 4.
    **slider
        At most one: its name, and the values that it takes.

    Returns
    -------
    LockstepWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        For a rule that gives something else.

    Examples
    --------
    >>> hetlab.show_lockstep(lambda i, g: i // g % 2 == 0, g=(1, 8, 32))
    2 warps in a branch, modelled
      g = 1: 16 steps in all, on average 16.0 of 32 lanes active (50 %)
      g = 8: 16 steps in all, on average 16.0 of 32 lanes active (50 %)
      g = 32: 8 steps in all, on average 32.0 of 32 lanes active (100 %)
    """
    walks = lockstep(rule, then=then, other=other, warps=warps, **slider)
    return _best(walks, "live_lockstep", "LockstepWidget", "figures_warps", "lockstep_figure")


def show_occupancy(
    threads: int = 256, registers: int = 32, shared: int = 0, capability: str = "8.0"
):
    """Show the occupancy calculator.

    Parameters
    ----------
    threads : int
        Threads a block.
    registers : int
        Registers a thread.
    shared : int
        Bytes of shared memory a block.
    capability : str
        Compute capability of the chip.

    Returns
    -------
    OccupancyWidget or Shown
        In a notebook with anywidget sliders; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        Outside what a block may have.
    """
    slots = slots_of(threads, registers, shared, capability)
    return _best(slots, "live_occupancy", "OccupancyWidget", "figures_warps", "occupancy_figure")
