"""One scheduler, its warps and the latency of memory: as data, and as text."""

from __future__ import annotations

from dataclasses import dataclass

from hetlab.models.latency import Issue, busy_share, issue_cycles, warps_needed

__all__ = ["LIMITS", "STATES", "Warps", "runs_of"]

# What the sliders reach.  A multiprocessor of an A100 holds 64 warps for four schedulers, and its
# global memory answers after about 290 cycles (Abdelkhalik et al., 2022).
LIMITS = {"warps": (1, 16), "latency": (4, 400), "work": (0, 30)}
STATES = {
    "a": "arithmetic",
    "l": "load",
    "w": "waits for memory",
    "r": "could go on, but it is another's turn",
}


@dataclass(frozen=True, repr=False)
class Warps:
    """A choice of the three numbers.

    Attributes
    ----------
    warps : int
        Warps that one scheduler chooses from.
    latency : int
        Cycles until loaded data have arrived.
    work : int
        Arithmetic instructions between two loads.
    """

    warps: int
    latency: int
    work: int

    @property
    def cycles(self) -> int:
        """How many cycles a picture shows: a bit more than two rounds of one warp."""
        return 2 * (self.work + self.latency) + self.work + 3

    @property
    def issue(self) -> Issue:
        """The scheduler's run over the cycles shown."""
        return issue_cycles(self.warps, self.latency, self.work, self.cycles)

    @property
    def verdict(self) -> str:
        """What the three numbers mean, as a sentence."""
        share, enough = busy_share(self.warps, self.latency, self.work), self.needed
        if self.warps >= enough:
            return f"No cycle is lost: {self.warps} warps hide {self.latency} cycles of latency."
        return (
            f"In the long run the scheduler is busy in {100 * share:.0f} % of all cycles; "
            f"from {enough} warps on, no cycle would be lost."
        )

    @property
    def needed(self) -> int:
        """The fewest warps without an idle cycle."""
        return warps_needed(self.latency, self.work)

    def __repr__(self) -> str:
        issue = self.issue
        lines = [
            f"One scheduler with {self.warps} warp{'s' * (self.warps > 1)}, "
            f"memory latency {self.latency} cycles, {self.work} arithmetic instructions between "
            f"two loads (modelled)"
        ]
        if self.cycles <= 88:
            for w, states in enumerate(issue.states):
                lines.append(f"  warp {w:<3}    {states.replace('w', '.').replace('r', ':')}")
            idle = "".join("#" if who >= 0 else "_" for who in issue.chosen)
            lines.append(f"  scheduler   {idle}")
            lines.append("  (a arithmetic, l load, . waits, : could go on, # busy, _ idle)")
        lines.append(
            f"  idle in {issue.idle} of the first {self.cycles} cycles. {self.verdict} (modelled)"
        )
        return "\n".join(lines)


def runs_of(states: str) -> list[tuple[str, int, int]]:
    """``(state, first cycle, cycles)`` for each stretch of equal letters."""
    runs: list[tuple[str, int, int]] = []
    for cycle, state in enumerate(states):
        if runs and runs[-1][0] == state:
            runs[-1] = (state, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((state, cycle, 1))
    return runs
