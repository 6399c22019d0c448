"""Random kernels that share memory, and all their races by brute force.

A kernel is a list of steps that every thread takes: stores, loads and atomics at simple
indices, under simple guards, with barriers between.  Two accesses race when different
threads touch one cell, one of them stores, not both are atomic, and neither a barrier of
their block nor a barrier of their warp lies between.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass

__all__ = ["BLOCKS", "THREADS", "SharingKernel", "generate"]

BLOCKS, THREADS = 2, 64

TAIL = ["    __syncthreads();", "    out[me] = sum + s[t];", "}"]
INDICES = {
    "t": lambda t: t,
    "t ^ 1": lambda t: t ^ 1,
    "t ^ 32": lambda t: t ^ 32,
    "63 - t": lambda t: 63 - t,
    "(t + 1) % 64": lambda t: (t + 1) % 64,
    "(t + 16) % 64": lambda t: (t + 16) % 64,
    "t / 2": lambda t: t // 2,
    "t % 8": lambda t: t % 8,
    "t & 32": lambda t: t & 32,
    "five": lambda t: 5,
}
GUARDS = {
    "": lambda t: True,
    "if (t < 32) ": lambda t: t < 32,
    "if (t >= 48) ": lambda t: t >= 48,
    "if (t % 2 == 0) ": lambda t: t % 2 == 0,
    "if (t == seven) ": lambda t: t == 7,
    "if (t == forty) ": lambda t: t == 40,
}
# Numbers that the compiler does not know: it would read a cell that it knows ahead of a guard.
HEAD = """__global__ void sharing(int *g, int *out, int five, int seven, int forty) {
    __shared__ int s[64];
    int t = threadIdx.x, b = blockIdx.x, me = 64 * b + t, sum = 0;
    s[t] = -1 - t;
    __syncthreads();
"""


@dataclass(frozen=True)
class Access:
    """One thread's access to one cell: where, and after how many barriers."""

    line: int
    kind: str
    block: int
    thread: int
    interval: int
    turn: int  # barriers of the warp, those of the block included

    def races_with(self, other: Access) -> bool:
        if (self.block, self.thread) == (other.block, other.thread):
            return False
        if self.kind == other.kind != "store":
            return False
        if self.block != other.block:
            return True
        same_warp = self.thread // 32 == other.thread // 32
        return self.interval == other.interval and not (same_warp and self.turn != other.turn)


class SharingKernel:
    """A random kernel that shares memory.

    Attributes
    ----------
    source : str
        CUDA C++.
    races : set of (array, index, frozenset of lines, frozenset of threads)
        Every pair of accesses that races; a thread is (block, thread).
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        steps = []
        sharing = rng.random() < 0.4  # with a global array, across blocks as well
        loop = rng.random() < 0.3
        few = rng.sample(sorted(INDICES), 4)
        for _ in range(rng.randint(2, 7)):
            kind = rng.choice(
                ["store", "load", "store", "load", "atomic", "barrier", "barrier", "warp"]
            )
            memory = "g" if sharing and rng.random() < 0.5 else "s"
            whole = memory == "g" and rng.random() < 0.7  # a slice for each block
            # Two stores to one cell in a row would become one store, of no clear line.
            index = rng.choice([i for i in few if not steps or i != steps[-1][3]])
            steps.append((kind, memory, whole, index, rng.choice(sorted(GUARDS))))
        self.turns = 2 if loop else 1
        self.lines = HEAD.splitlines()
        if loop:
            self.lines += ["    #pragma unroll 1", "    for (int turn = 0; turn < 2; turn++) {"]
        self.steps = []
        for number, step in enumerate(steps):
            self.lines.append("    " + self._text(number, *step))
            self.steps.append((len(self.lines), *step))
        self.lines += ["    }"] * loop + TAIL
        self.source = "\n".join(self.lines)
        self.races = self._races()

    @staticmethod
    def _text(number, kind, memory, whole, index, guard) -> str:
        if kind in ("barrier", "warp"):
            return "__syncthreads();" if kind == "barrier" else "__syncwarp();"
        cell = f"{memory}[{'64 * b + ' if whole else ''}({index})]"
        # Each thread stores values of its own, so that no store repeats what is there.
        return (
            guard
            + {
                "store": f"{cell} = 1000 * me + {number};",
                "load": f"sum = 3 * sum + {cell};",
                "atomic": f"atomicAdd(&{cell}, 7919 * me + 1);",
            }[kind]
        )

    def _races(self) -> set:
        cells = defaultdict(list)
        first = 1 + self.lines.index("    s[t] = -1 - t;")
        for t in range(THREADS):
            for b in range(BLOCKS):
                cells["s", b, t].append(Access(first, "store", b, t, 0, 0))
        interval = turn = 1
        for _ in range(self.turns):
            for line, kind, memory, whole, index, guard in self.steps:
                if kind in ("barrier", "warp"):
                    interval, turn = interval + (kind == "barrier"), turn + 1
                    continue
                for b in range(BLOCKS):
                    for t in filter(GUARDS[guard], range(THREADS)):
                        at = INDICES[index](t) + 64 * b * whole
                        key = ("s", b, at) if memory == "s" else ("g", 0, at)
                        cells[key].append(Access(line, kind, b, t, interval, turn))
        found = set()
        for (memory, _, at), touched in cells.items():
            for k, one in enumerate(touched):
                for two in touched[:k]:
                    if one.races_with(two):
                        who = frozenset([(one.block, one.thread), (two.block, two.thread)])
                        found.add((memory, at, frozenset([one.line, two.line]), who))
        return found


def generate(seed: int) -> SharingKernel:
    """The random kernel of a seed."""
    return SharingKernel(seed)
