"""What the checks of lesson 12 share: descriptions, and libraries that are compiled once."""

import functools

import numpy as np
import tvm
from tvm import s_tir, te

import hetlab
from hetlab.grading import close

# Wrong schedules run beside the learner's.
hetlab.use_virtual_gpu()

FLOAT32 = close(rtol=1e-4, atol=1e-4)
GPU = {"kind": "cuda", "arch": "sm_80"}


def ceil_div(a, b):
    return -(-a // b)


def describe(n, m, k, terms=None):
    """C = A B, with A of n x k and B of k x m; `terms` of the k are added."""
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    r = te.reduce_axis((0, k if terms is None else terms), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return tvm.IRModule({"main": te.create_prim_func([a, b, c])})


@functools.lru_cache(maxsize=64)
def library(describing, schedule, target, *sizes):
    """Described, scheduled, compiled: once for each shape."""
    sch = s_tir.Schedule(describing(*sizes))
    schedule(sch)
    return tvm.compile(sch.mod, target="llvm" if target == "llvm" else GPU)


def as_given(sch):
    """No schedule at all."""


def product(schedule, target, a, b, describing=describe):
    """The product of two matrices by a schedule."""
    (n, k), m = a.shape, b.shape[1]
    c = np.zeros((n, m), np.float32)
    library(describing, schedule, target, n, m, k)["main"](a, b, c)
    return c


def matrices(rng, n, m, k):
    return (rng.random((n, k)) - 0.5).astype(np.float32), (rng.random((k, m)) - 0.5).astype(
        np.float32
    )
