"""The Triton kernels of ``hetlab bench vgpu``.  Only the workers import this file.

Under ``TRITON_INTERPRET=1`` the decorators make functions of Triton's own interpreter; its
arguments must look like PyTorch's tensors, so NumPy's arrays are lent to it by :class:`Loan`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import triton
import triton.language as tl

__all__ = ["CASES", "Loan"]


class Loan:
    """An array with the names of a tensor that Triton's interpreter asks for; nothing is copied."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype, self.shape = array, str(array.dtype), array.shape

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> Loan:
        return self

    def cpu(self) -> Loan:
        return self

    def copy_(self, other: Loan) -> None:
        """It is the same memory."""

    def new_empty(self, size: int, device: str = "cpu") -> Loan:
        return Loan(self.array)

    def set_(self, *about: object) -> None:
        """It is set already."""

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self, axis: int | None = None):
        steps = tuple(s // self.array.itemsize for s in self.array.strides)
        return steps if axis is None else steps[axis]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + c, mask=c < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + c, e / tl.sum(e, 0), mask=c < columns)


@triton.jit
def matmul(a, b, c, n, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, n, STEP):
        left = tl.load(a + rows[:, None] * n + (first + k)[None, :])
        right = tl.load(b + (first + k)[:, None] * n + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def attention(q, k, v, out, n, scale, ROWS: tl.constexpr, STEP: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d, s = tl.arange(0, WIDTH), tl.arange(0, STEP)
    mine = tl.load(q + rows[:, None] * WIDTH + d[None, :])
    most = tl.full((ROWS,), -float("inf"), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for first in range(0, n, STEP):
        keys = tl.load(k + (first + s)[:, None] * WIDTH + d[None, :])
        score = tl.dot(mine, tl.trans(keys)) * scale
        now = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - now[:, None])
        keep = tl.exp(most - now)
        values = tl.load(v + (first + s)[:, None] * WIDTH + d[None, :])
        total = total * keep[:, None] + tl.dot(p.to(tl.float16), values)
        weight = weight * keep + tl.sum(p, 1)
        most = now
    tl.store(out + rows[:, None] * WIDTH + d[None, :], total / weight[:, None])


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


Made = tuple[Callable, tuple, tuple, dict, Callable[[], bool]]


def _add(n: int) -> Made:
    x, y = _rng().random((2, n), dtype=np.float32)
    out = np.zeros_like(x)
    return add, (-(-n // 256),), (x, y, out, n), {"BLOCK": 256}, lambda: np.array_equal(out, x + y)


def _softmax(n: int) -> Made:
    x = _rng().normal(size=(512, n)).astype(np.float32)
    out = np.zeros_like(x)

    def right() -> bool:
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        return np.allclose(out, e / e.sum(1, keepdims=True), rtol=1e-4)

    return softmax, (512,), (x, out, n), {"BLOCK": triton.next_power_of_2(n)}, right


def _matmul(n: int, dtype: type) -> Made:
    a, b = (m.astype(dtype) for m in _rng().normal(size=(2, n, n)))
    c = np.zeros((n, n), np.float32)
    due = a.astype(np.float64) @ b.astype(np.float64)

    def right() -> bool:  # fp32 may go through TF32: ten bits
        return bool(np.abs(c - due).max() < 2e-3 * np.sqrt(n) * np.abs(due).max())

    return matmul, (n // 64, n // 64), (a, b, c, n), {"TILE": 64, "STEP": 32}, right


def _attention(n: int) -> Made:
    q, k, v = (m.astype(np.float16) for m in _rng().normal(size=(3, n, 64)))
    out = np.zeros((n, 64), np.float32)

    def right() -> bool:
        score = q.astype(np.float64) @ k.astype(np.float64).T / 8
        p = np.exp(score - score.max(1, keepdims=True))
        return np.allclose(out, p @ v.astype(np.float64) / p.sum(1, keepdims=True), atol=2e-2)

    sizes = {"ROWS": 64, "STEP": 32, "WIDTH": 64}
    return attention, (n // 64,), (q, k, v, out, n, 0.125), sizes, right


CASES: dict[str, Callable[[int], Made]] = {
    "Triton add": _add,
    "Triton softmax of 512 rows": _softmax,
    "Triton matmul fp16": lambda n: _matmul(n, np.float16),
    "Triton matmul fp32": lambda n: _matmul(n, np.float32),
    "Triton attention": _attention,
}
