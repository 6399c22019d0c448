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
from hetlab.vgpu.numerics import bf16_to_f32
from hetlab.vgpu.tensor import PER_WORD, places

__all__ = ["Plan", "plan", "product"]


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
def _order(which: str, registers: int, e: int, width: int):
    """For each element of a matrix, row by row, its place among a warp's registers."""
    row, column = places(which, registers, e)
    order = np.empty(row.size, np.int64)
    order[(row * width + column).reshape(-1)] = np.arange(row.size)
    return order


def _matrices(lanes: Lanes, fragments, which: str, shape, kind: str):
    """Fragments as matrices: ``[fragment, warp, row, column]``."""
    e, registers = PER_WORD[kind], len(fragments[0])
    warps = lanes.groups(32)[0]
    code = "u8" if kind == "f64" else "u4"
    words = np.empty((len(fragments), warps, registers, 32), code)
    for f, fragment in enumerate(fragments):
        for r, word in enumerate(fragment):
            full = np.ascontiguousarray(lanes.full(word)).view(code)
            words[f, :, r] = lanes.rows(full)
    view = {"f16": "f2", "bf16": "u2", "tf32": "u4", "s8": "i1", "u8": "u1", "f64": "f8"}[kind]
    order = _order(which, registers, e, shape[1])
    values = words.view(view).reshape(len(fragments), warps, -1).take(order, axis=2)
    if kind == "bf16":
        values = bf16_to_f32(values)
    elif kind == "tf32":  # the tensor core reads the upper 19 bits
        values = (values & np.uint32(0xFFFFE000)).view(np.float32)
    elif kind == "f16":
        values = values.astype(np.float32)
    else:  # sums of products of bytes are exact in double precision, and quick there
        values = values.astype(np.float64)
    return values.reshape(len(fragments), warps, *shape)


def _side_by_side(matrices, lines, across: bool):
    """Matrices of `lines` joined along K, the lines along the other axis, one matrix a warp."""
    picked = matrices[np.array(lines)]  # [line, step, warp, row, column]
    lines, steps, warps, rows, columns = picked.shape
    if across:
        return picked.transpose(2, 0, 3, 1, 4).reshape(warps, lines * rows, steps * columns)
    return picked.transpose(2, 1, 3, 0, 4).reshape(warps, steps * rows, lines * columns)


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
    list of numpy.ndarray
        The registers of all D, one result after the other.
    """
    m, n, k = shape
    left = _side_by_side(_matrices(lanes, a, "a", (m, k), kinds[1]), rows, True)
    right = _side_by_side(_matrices(lanes, b, "b", (k, n), kinds[2]), columns, False)
    whole = np.matmul(left, right)
    warps = len(whole)
    blocks = whole.reshape(warps, len(rows), m, len(columns), n).transpose(1, 3, 0, 2, 4)
    row, column = places("c", m * n // 32, 1)
    flat = (row * n + column).reshape(-1)
    picked = blocks.reshape(len(rows), len(columns), warps, m * n).take(flat, axis=3)
    picked = picked.reshape(len(rows), len(columns), warps, -1, 32).swapaxes(2, 3)
    picked = np.ascontiguousarray(picked)  # [row, column, register, warp, lane]
    flat_warps = lanes.groups(32)[2] is None
    out = []
    for r, c, words in results:
        for part, start in zip(picked[r, c], words):
            mine = part.reshape(-1) if flat_warps else part[lanes.warp_row, lanes.lane]
            out.append(_added(start, mine, limits))
    return out


def _added(start, product, limits: bool):
    code = start.dtype
    if code.kind == "f":
        return start + product.astype(code, copy=False)
    total = start.astype(np.float64) + product
    if limits:
        return np.clip(total, -(2.0**31), 2.0**31 - 1).astype(np.int64).astype(code)
    return total.astype(np.int64).astype(code)
