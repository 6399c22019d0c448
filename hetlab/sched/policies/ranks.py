"""Priorities of tasks: how much is still to come after one, and how much came before.

H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for
heterogeneous computing", IEEE Transactions on Parallel and Distributed Systems 13(3), 2002:
rank_u, rank_d.  H. Arabnejad, J. G. Barbosa, "List scheduling algorithm for heterogeneous systems
by an optimistic cost table", the same journal, 25(3), 2014: the optimistic cost table.

Means are over the devices that can run a task, and over all ordered pairs of two devices.  Data of
no size need no transfer, so they cost no latency either.
"""

from __future__ import annotations

import numpy as np

from hetlab.sched.indexed import Problem

__all__ = ["by_rank", "downward", "optimistic", "upward"]


def upward(p: Problem) -> list[float]:
    """rank_u: the longest mean path from a task's start to the end, transfers included."""
    latency, pace = p.mean_link
    mean, rank = p.mean_cost.tolist(), [0.0] * len(p.names)
    for t in range(len(p.names) - 1, -1, -1):
        longest = 0.0
        for s, size in p.after[t]:
            path = rank[s] + (latency + size * pace if size else 0.0)
            if path > longest:
                longest = path
        rank[t] = mean[t] + longest
    return rank


def downward(p: Problem) -> list[float]:
    """rank_d: the longest mean path from the beginning to a task's start."""
    latency, pace = p.mean_link
    mean, rank = p.mean_cost.tolist(), [0.0] * len(p.names)
    for t in range(len(p.names)):
        for b, size in p.before[t]:
            path = rank[b] + mean[b] + (latency + size * pace if size else 0.0)
            if path > rank[t]:
                rank[t] = path
    return rank


def optimistic(p: Problem) -> np.ndarray:
    """The optimistic cost table (tasks, devices): the best that can follow a task on a device.

    For each successor, the least over devices of its own entry, its time there and the mean
    transfer unless it stays on the same device; of the successors, the largest.
    """
    latency, pace = p.mean_link
    table = np.zeros(p.cost.shape)
    for t in range(len(p.names) - 1, -1, -1):
        row = table[t]
        for s, size in p.after[t]:
            then = table[s] + p.cost[s]
            # Elsewhere the best may be this device itself, which only ever adds a transfer.
            best = np.minimum(then, then.min() + (latency + size * pace if size else 0.0))
            np.maximum(row, best, out=row)
    return table


def by_rank(rank, *, near: float = 1e-9) -> list[int]:
    """Task numbers, the largest rank first; equal ranks in the graph's order.

    Ranks are sums of the same numbers in another order, so they are equal when they differ by
    less than ``near`` of their size.
    """
    order = sorted(range(len(rank)), key=lambda t: (-rank[t], t))
    found: list[int] = []
    run: list[int] = []
    for t in order:
        if run and rank[run[0]] - rank[t] > near * max(1.0, abs(rank[run[0]])):
            found += sorted(run)
            run = []
        run.append(t)
    return found + sorted(run)
