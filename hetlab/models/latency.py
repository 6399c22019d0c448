"""How many warps hide how much memory latency: one scheduler of a GPU, cycle by cycle.

The model: a warp repeats a round of ``work`` arithmetic instructions and one load, and its next
instruction needs what was loaded.  The scheduler issues one instruction a cycle, from the warp it
issued from last while that can go on, else from the next one that can.  This is a loose round
robin; real schedulers differ in whom they prefer, not in what follows: a cycle is lost only when
every warp waits.  Arithmetic is taken to take one cycle, and memory never to be a bottleneck.

Source: V. Volkov, "Understanding Latency Hiding on GPUs", PhD thesis, Berkeley, 2016 (concurrency =
latency x throughput, Little's law); CUDA C++ Programming Guide, "Hardware Multithreading".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetlab.errors import InvalidValue

__all__ = ["Issue", "busy_share", "issue_cycles", "warps_needed"]

IDLE = -1


@dataclass(frozen=True)
class Issue:
    """What a scheduler did, cycle by cycle.

    Attributes
    ----------
    warps, latency, work : int
        How many warps it chooses from, cycles until a load has arrived, arithmetic instructions
        of a warp between two loads.
    chosen : tuple of int
        For each cycle the warp that issued an instruction, or -1: idle.
    states : tuple of str
        For each warp one letter a cycle: "a" issues arithmetic, "l" issues a load, "w" waits for
        memory, "r" is ready and not chosen.
    """

    warps: int
    latency: int
    work: int
    chosen: tuple[int, ...]
    states: tuple[str, ...]

    @property
    def idle(self) -> int:
        """Cycles without an instruction."""
        return self.chosen.count(IDLE)


def issue_cycles(warps: int, latency: int, work: int, cycles: int) -> Issue:
    """Let a scheduler run for some cycles.

    Parameters
    ----------
    warps : int
        Warps it chooses from, at least 1.
    latency : int
        Cycles from the issue of a load to the issue of what needs it, at least 1.
    work : int
        Arithmetic instructions between two loads of a warp, 0 or more.
    cycles : int
        For how long.

    Raises
    ------
    InvalidValue
        For a number below its least.
    """
    _valid(warps, latency, work)
    ready, done = [0] * warps, [0] * warps  # when a warp may issue; how far it is in its round
    chosen, states = [], [[] for _ in range(warps)]
    last = 0
    for now in range(cycles):
        turn = [(last + k) % warps for k in range(warps)]
        pick = next((w for w in turn if ready[w] <= now), IDLE)
        for w in range(warps):
            waits = "w" if ready[w] > now else "r"
            states[w].append(waits if w != pick else "l" if done[w] == work else "a")
        chosen.append(pick)
        if pick == IDLE:
            continue
        loads = done[pick] == work
        ready[pick] = now + (latency if loads else 1)
        done[pick] = 0 if loads else done[pick] + 1
        last = pick
    return Issue(warps, latency, work, tuple(chosen), tuple(map("".join, states)))


def busy_share(warps: int, latency: int, work: int) -> float:
    """The share of cycles with an instruction, in the long run: modelled.

    A warp issues ``work + 1`` instructions in ``work + latency`` cycles when it is alone; several
    add up, until every cycle has one.
    """
    _valid(warps, latency, work)
    return min(1.0, warps * (work + 1) / (work + latency))


def warps_needed(latency: int, work: int) -> int:
    """The fewest warps with which no cycle is idle in the long run: modelled."""
    _valid(1, latency, work)
    return math.ceil((work + latency) / (work + 1))


def _valid(warps: int, latency: int, work: int) -> None:
    for name, value, least in (("warps", warps, 1), ("latency", latency, 1), ("work", work, 0)):
        if value < least or value != int(value):
            raise InvalidValue(name, f"a whole number, {least} or more", value)
