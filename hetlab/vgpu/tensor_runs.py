"""Runs of ``mma.sync`` as one product of larger matrices.

A compiler unrolls the product of two tiles into dozens of ``mma`` one after the other, which
share their fragments: rows of A with columns of B, step by step along K.  `plan` finds that
structure in a run of instructions, `product` computes it with one ``matmul`` for each warp.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hetlab.vgpu.ir import Imm, Instr, Reg, Vec
from hetlab.vgpu.lanes import Lanes
from hetlab.vgpu.numerics import bf16_to_f32, f16_to_f32
from hetlab.vgpu.tensor import PER_WORD, places

__all__ = ["Plan", "plan", "product"]

_AT_ONCE = 1 << 18
"""Elements of C that are added in one go; more would leave the cache."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run of ``mma`` computes.

    Attributes
    ----------
    length : int
        Instructions of the run, moves included.
    moves : tuple of Instr
        The ones that only set registers to be used later, and may come first.
    a, b : tuple
        The different fragments of A and B, each a tuple of operands.
    rows, columns : tuple of tuple of int
        Fragments of A, and of B, that follow each other along K: the rows of blocks of the left
        matrix and the columns of blocks of the right one.
    chains : tuple
        For each result ``(row, column, C operands, D operands)``.
    """

    length: int
    moves: tuple
    a: tuple
    b: tuple
    rows: tuple
    columns: tuple
    chains: tuple


def _sets(i: Instr, touched: set[str]) -> bool:
    """Whether an instruction only sets a register that the run has not touched yet."""
    if i.op != "mov" or i.pred is not None or len(i.operands) != 2:
        return False
    target, source = i.operands
    if not isinstance(target, Reg) or not isinstance(source, Reg | Imm):
        return False
    names = {target.name, *([source.name] if isinstance(source, Reg) else [])}
    return not names & touched


def _items(x) -> tuple:
    return x.items if isinstance(x, Vec) else (x,)


def plan(code: list[Instr]) -> Plan | None:
    """The structure of the ``mma`` at the head of `code`; None when it stands alone.

    Only instructions of one kind are taken, up to one that reads what an earlier one wrote in
    another way than as its accumulator.
    """
    a: dict[tuple, int] = {}
    b: dict[tuple, int] = {}
    chains: list[list] = []  # [C, D, [(a, b), ...]]
    made: dict[str, int] = {}  # register -> the chain that wrote it
    touched: set[str] = set()
    moves: list[Instr] = []
    length = kept = 0  # instructions looked at, and those of them up to the last mma
    for i in code:
        if _sets(i, touched):
            moves.append(i)
            length += 1
            continue
        if i.op != "mma" or i.mods != code[0].mods or i.pred is not None:
            break
        d, x, y, c = map(_items, i.operands)
        if not all(isinstance(r, Reg) for part in (d, x, y) for r in part):
            break
        if any(r.name in made for part in (x, y) for r in part):
            break
        before = {made.get(r.name) if isinstance(r, Reg) else None for r in c}
        pair = (a.setdefault(x, len(a)), b.setdefault(y, len(b)))
        if before == {None}:
            if any(r.name in made for r in d):
                break
            chains.append([c, d, [pair]])
        else:
            number = next(iter(before))
            if len(before) > 1 or number is None or chains[number][1] != c:
                break
            chains[number][1] = d
            chains[number][2].append(pair)
        made |= dict.fromkeys((r.name for r in d), len(chains) - 1 if before == {None} else number)
        touched |= {r.name for part in (d, x, y, c) for r in part if isinstance(r, Reg)}
        length += 1
        kept, before_last = length, len(moves)
    moves = moves[:before_last] if kept else []
    steps = {len(chain[2]) for chain in chains}
    if kept - len(moves) < 2 or len(steps) != 1:
        return None
    read = {r.name for part in (*a, *b) for r in part}
    if any(r.name in read for chain in chains for r in chain[1]):
        return None
    rows: dict[tuple, int] = {}
    columns: dict[tuple, int] = {}
    results = []
    for c, d, pairs in chains:
        row = rows.setdefault(tuple(p[0] for p in pairs), len(rows))
        column = columns.setdefault(tuple(p[1] for p in pairs), len(columns))
        results.append((row, column, c, d))
    if len(rows) * len(columns) > 2 * len(results):
        return None  # most of the product would be thrown away
    return Plan(kept, tuple(moves), tuple(a), tuple(b), tuple(rows), tuple(columns), tuple(results))


@lru_cache(maxsize=64)
def _left(registers: int, e: int, shape, rows):
    """Where a warp's words hold each element of the left matrix ``[row, K]``.

    A warp's words are its fragments one after the other, register by register, lane by lane.
    """
    at = _in_fragments("a", registers, e, shape, rows)
    return at.transpose(0, 2, 1, 3).reshape(-1)


@lru_cache(maxsize=64)
def _right(registers: int, e: int, shape, columns):
    """The same for the right matrix ``[K, column]``."""
    at = _in_fragments("b", registers, e, shape, columns)
    return at.transpose(1, 2, 0, 3).reshape(-1)


def _in_fragments(which: str, registers: int, e: int, shape, lines):
    """The places ``[line, step, row, column]`` of the elements of the fragments in `lines`."""
    row, column = places(which, registers, e)
    order = np.empty(shape, np.int64)
    order[row, column] = np.arange(row.size).reshape(row.shape)
    return order + np.array(lines)[:, :, None, None] * row.size


def _matrices(lanes: Lanes, fragments, order, shape, kind: str):
    """One matrix a warp, from the registers of all fragments."""
    code = "u8" if kind == "f64" else "u4"
    words = [lanes.rows(lanes.full(w).view(code)) for fragment in fragments for w in fragment]
    view = {"f16": "f2", "bf16": "u2", "tf32": "u4", "s8": "i1", "u8": "u1", "f64": "f8"}[kind]
    values = np.concatenate(words, axis=1).view(view).take(order, axis=1)
    if kind == "bf16":
        values = bf16_to_f32(values)
    elif kind == "tf32":  # the tensor core reads the upper 19 bits
        values &= np.uint32(0xFFFFE000)
        values = values.view(np.float32)
    elif kind == "f16":
        values = f16_to_f32(values)
    else:  # sums of products of bytes are exact in double precision, and quick there
        values = values.astype(np.float64, copy=False)
    return values.reshape(len(values), *shape)


def product(lanes: Lanes, shape, kinds, limits, a, b, rows, columns, results):
    """``D = A B + C`` of a run.

    Parameters
    ----------
    lanes : Lanes
    shape : tuple of int
        M, N, K of one instruction.
    kinds : tuple of str
        PTX types of D, A, B, C.
    limits : bool
        Integers saturate.
    a, b : tuple of tuple
        The fragments' registers.
    rows, columns : tuple of tuple of int
        As in `Plan`.
    results : tuple
        For each result ``(row, column, registers of C)``.

    Returns
    -------
    sequence of numpy.ndarray
        The registers of all D, one result after the other.
    """
    m, n, k = shape
    depth = len(rows[0]) * k
    order = _left(len(a[0]), PER_WORD[kinds[1]], (m, k), rows)
    left = _matrices(lanes, a, order, (len(rows) * m, depth), kinds[1])
    order = _right(len(b[0]), PER_WORD[kinds[2]], (k, n), columns)
    right = _matrices(lanes, b, order, (depth, len(columns) * n), kinds[2])
    whole = np.matmul(left, right)
    # In each result a lane holds row lane // 4 and two neighbouring columns from 2 (lane % 4): the
    # eight columns of a row belong to four lanes in turn, and move as one element.
    warps, kind = len(whole), whole.dtype
    blocks = whole.view(f"V{8 * kind.itemsize}").reshape(warps, len(rows), m // 8, 8, len(columns))
    lines = np.ascontiguousarray(blocks.transpose(1, 4, 2, 0, 3)).view(kind)
    picked = lines.reshape(len(rows), len(columns), m // 8, warps * 32, 2).swapaxes(3, 4)
    if lanes.groups(32)[2] is not None:
        picked = picked[..., lanes.warp_row * 32 + lanes.lane]
    return _sums(picked, results, limits)


def _sums(picked, results, limits: bool):
    """The products ``[row, column, half, odd, thread]`` added to the registers of C."""
    starts = [word for *_, words in results for word in words]
    places = [(r, c) for r, c, _ in results]
    grid = [(r, c) for r in range(len(picked)) for c in range(picked.shape[1])]
    if (
        starts[0].dtype == picked.dtype
        and places == grid
        and picked.size <= _AT_ONCE
        and all(isinstance(word, np.ndarray) for word in starts)
    ):
        total = np.concatenate(starts).reshape(len(starts), -1)
        total.reshape(picked.shape)[...] += picked
        return total
    parts = [part for r, c in places for half in picked[r, c] for part in half]
    return [_added(start, part, limits) for start, part in zip(starts, parts)]


def _added(start, product, limits: bool):
    code = start.dtype
    if code.kind == "f":
        return start + product.astype(code, copy=False)
    total = start.astype(np.float64) + product
    if limits:
        return np.clip(total, -(2.0**31), 2.0**31 - 1).astype(np.int64).astype(code)
    return total.astype(np.int64).astype(code)
