"""Convolution, norm and ReLU as one kernel of TVM."""

import functools

import numpy as np
import tvm
from tvm import s_tir, te

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import FLOAT32, ceil_div

GPU = {"kind": "cuda", "arch": "sm_80"}


### BEGIN PUBLIC SPEC
def conv_norm_relu_spec(x, weight, scale, shift):
    channels, height, width = x.shape[0], x.shape[1] - 2, x.shape[2] - 2
    y = np.zeros((weight.shape[0], height, width))
    for p in range(3):
        for q in range(3):
            part = x[:, p : p + height, q : q + width].reshape(channels, -1).astype(np.float64)
            y += (weight[:, :, p, q] @ part).reshape(y.shape)
    y = y * scale[:, None, None] + shift[:, None, None]
    return np.maximum(y, 0).astype(np.float32)


### END PUBLIC SPEC
def images(rng, channels, height, width, filters):
    x = rng.normal(size=(channels, height + 2, width + 2)).astype(np.float32)
    weight = rng.normal(size=(filters, channels, 3, 3)).astype(np.float32)
    scale, shift = rng.normal(size=(2, filters)).astype(np.float32)
    return x, weight, scale, shift


def conv_norm_relu_cases(rng):
    for channels, height, width, filters in ((2, 8, 8, 4), (3, 5, 7, 2), (1, 1, 1, 1)):
        given = images(rng, channels, height, width, filters)
        yield Case(f"{channels} channels of {height} x {width}, {filters} filters", *given)


def result_only(case):
    x, weight = case.inputs[:2]
    n = weight.shape[0] * (x.shape[1] - 2) * (x.shape[2] - 2)
    return ceil_div(4 * n, 32) + ceil_div(n, 32)


conv_norm_relu = Task(
    "conv_norm_relu",
    title="Fuse convolution, norm and ReLU in TVM",
    criteria=[
        Correct(conv_norm_relu_spec, conv_norm_relu_cases, points=2, agree=FLOAT32),
        Clean(),
        Within("global_store_sectors", result_only, points=1, times=1.1),
    ],
    hints=(
        "The norm is element by element: it can be inlined. The convolution adds up, so it cannot. "
        "Where could it be computed instead?",
        "Fuse and bind the loops of relu. Then let the convolution be computed inside relu's "
        "thread, into a register.",
        'compute_inline(norm); bind relu; sch.set_scope(conv, 0, "local"); '
        "sch.compute_at(conv, thread).",
    ),
)
### BEGIN HIDDEN


def describe(channels, height, width, filters, clipped=True):
    x = te.placeholder((channels, height + 2, width + 2), name="X")
    w = te.placeholder((filters, channels, 3, 3), name="W")
    s, b = te.placeholder((filters,), name="S"), te.placeholder((filters,), name="B")
    c = te.reduce_axis((0, channels), name="c")
    p, q = te.reduce_axis((0, 3), name="p"), te.reduce_axis((0, 3), name="q")
    shape = (filters, height, width)
    conv = te.compute(
        shape,
        lambda f, i, j: te.sum(x[c, i + p, j + q] * w[f, c, p, q], axis=[c, p, q]),
        name="conv",
    )
    norm = te.compute(shape, lambda f, i, j: conv[f, i, j] * s[f] + b[f], name="norm")
    least = tvm.tirx.const(0.0 if clipped else -1e30, "float32")
    relu = te.compute(shape, lambda f, i, j: tvm.tirx.max(norm[f, i, j], least), name="relu")
    return tvm.IRModule({"main": te.create_prim_func([x, w, s, b, relu])})


def bind(sch, block, loops=3):
    both = sch.fuse(*sch.get_loops(block)[:loops])
    outer, inner = sch.split(both, [None, 64])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")


def three_kernels(sch):
    for name in ("conv", "norm", "relu"):
        bind(sch, sch.get_sblock(name))


def two_kernels(sch):
    sch.compute_inline(sch.get_sblock("norm"))
    for name in ("conv", "relu"):
        bind(sch, sch.get_sblock(name))


@functools.lru_cache(maxsize=32)
def library(schedule, *sizes, **form):
    sch = s_tir.Schedule(describe(*sizes, **form))
    schedule(sch)
    return tvm.compile(sch.mod, target=GPU)["main"]


def convolve(schedule, **form):
    def by_schedule(x, weight, scale, shift):
        sizes = x.shape[0], x.shape[1] - 2, x.shape[2] - 2, weight.shape[0]
        out = np.zeros((weight.shape[0], x.shape[1] - 2, x.shape[2] - 2), np.float32)
        library(schedule, *sizes, **form)(x, weight, scale, shift, out)
        return out

    return by_schedule


conv_norm_relu.wrong += [
    Wrong(
        "three kernels",
        convolve(three_kernels),
        says="Each stage writes its result to memory, and the next one reads it.",
        fails="traffic",
    ),
    Wrong(
        "two kernels",
        convolve(two_kernels),
        says="The norm is inlined, but the convolution still writes to memory. Compute it inside "
        "relu's thread.",
        fails="traffic",
    ),
    Wrong(
        "negative values stay",
        convolve(two_kernels, clipped=False),
        says="ReLU is the larger of the value and 0.",
    ),
]
unseen(conv_norm_relu, lambda rng: [Case("another", *images(rng, 2, 6, 9, 3), public=False)])
### END HIDDEN

TASKS = [conv_norm_relu]
