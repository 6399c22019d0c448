"""Operators in TVM's tensor language, schedules by hand and by dlight, and NumPy's float64."""

import numpy as np
import pytest

tvm = pytest.importorskip("tvm")

from tvm import s_tir, te  # noqa: E402
from tvm.s_tir import dlight  # noqa: E402


def module(*tensors):
    return tvm.IRModule({"main": te.create_prim_func(list(tensors))})


def matmul(n, m, k, dtype="float32", out="float32", terms=None):
    a = te.placeholder((n, k), dtype, name="A")
    b = te.placeholder((k, m), dtype, name="B")
    r = te.reduce_axis((0, k if terms is None else terms), name="k")
    c = te.compute(
        (n, m), lambda i, j: te.sum(a[i, r].astype(out) * b[r, j].astype(out), axis=r), name="C"
    )
    return module(a, b, c)


def softmax(n, m):
    a = te.placeholder((n, m), name="A")
    k, q = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="q")
    top = te.compute((n,), lambda i: te.max(a[i, k], axis=k), name="top")
    e = te.compute((n, m), lambda i, j: te.exp(a[i, j] - top[i]), name="E")
    total = te.compute((n,), lambda i: te.sum(e[i, q], axis=q), name="total")
    return module(a, te.compute((n, m), lambda i, j: e[i, j] / total[i], name="O"))


def layer_norm(n, m):
    a, g, b = (te.placeholder(s, name=x) for s, x in (((n, m), "A"), ((m,), "G"), ((m,), "B")))
    k, q = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="q")
    mean = te.compute((n,), lambda i: te.sum(a[i, k] / m, axis=k), name="mean")
    var = te.compute(
        (n,), lambda i: te.sum((a[i, q] - mean[i]) * (a[i, q] - mean[i]) / m, axis=q), name="var"
    )
    scaled = te.compute(
        (n, m),
        lambda i, j: (a[i, j] - mean[i]) * te.rsqrt(var[i] + 1e-5) * g[j] + b[j],
        name="O",
    )
    return module(a, g, b, scaled)


def row_sums(n, m):
    a = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    return module(a, te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="S"))


def conv2d(channels, height, width, filters):
    x = te.placeholder((channels, height + 2, width + 2), name="X")  # padded by one
    w = te.placeholder((filters, channels, 3, 3), name="W")
    c, p, q = (te.reduce_axis((0, n), name=s) for n, s in ((channels, "c"), (3, "p"), (3, "q")))
    y = te.compute(
        (filters, height, width),
        lambda f, i, j: te.sum(x[c, i + p, j + q] * w[f, c, p, q], axis=[c, p, q]),
        name="Y",
    )
    return module(x, w, y)


def reference(name, *inputs):
    """What the operator is in float64."""
    a, *rest = (x.astype(np.float64) for x in inputs)
    if name == "matmul":
        return a @ rest[0]
    if name == "softmax":
        e = np.exp(a - a.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    if name == "layer_norm":
        return (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5) * rest[
            0
        ] + rest[1]
    if name == "row_sums":
        return a.sum(1)
    w, (_, height, width) = rest[0], np.array(a.shape) - (0, 2, 2)
    y = np.zeros((w.shape[0], height, width))
    for p in range(3):
        for q in range(3):
            y += np.einsum("chw,fc->fhw", a[:, p : p + height, q : q + width], w[:, :, p, q])
    return y


OPERATORS = {
    "matmul": (lambda: matmul(33, 29, 47), [(33, 47), (47, 29)], (33, 29)),
    "conv2d": (lambda: conv2d(3, 13, 11, 5), [(3, 15, 13), (5, 3, 3, 3)], (5, 13, 11)),
    "softmax": (lambda: softmax(17, 131), [(17, 131)], (17, 131)),
    "layer_norm": (lambda: layer_norm(9, 77), [(9, 77), (77,), (77,)], (9, 77)),
    "row_sums": (lambda: row_sums(37, 211), [(37, 211)], (37,)),
}


def by_hand(mod, threads=64):
    """One thread an output element of every stage, blocks of 64: what a learner writes first."""
    sch = s_tir.Schedule(mod)
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        kinds = [int(v.iter_type) for v in sch.get(block).iter_vars]
        free = [loop for loop, kind in zip(sch.get_loops(block), kinds) if kind == 0]
        block_loop, thread = sch.split(sch.fuse(*free), factors=[None, threads])
        sch.bind(block_loop, "blockIdx.x")
        sch.bind(thread, "threadIdx.x")
    return sch.mod


def by_dlight(mod):
    """dlight's default schedules, as its documentation applies them."""
    gpu = dlight.gpu
    rules = [gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()]
    with tvm.target.Target({"kind": "cuda", "arch": "sm_80"}):
        return dlight.ApplyDefaultSchedule(*rules)(mod)


def tiled_matmul(n, tile=16):
    """A matmul through shared memory, tile by tile: the schedule of lesson 12."""
    sch = s_tir.Schedule(matmul(n, n, n))
    c = sch.get_sblock("C")
    i, j, k = sch.get_loops(c)
    (bi, ti), (bj, tj) = sch.split(i, [None, tile]), sch.split(j, [None, tile])
    k0, k1 = sch.split(k, [None, tile])
    sch.reorder(bi, bj, ti, tj, k0, k1)
    for loop, axis in ((bi, "blockIdx.y"), (bj, "blockIdx.x")):
        sch.bind(loop, axis)
    for loop, axis in ((ti, "threadIdx.y"), (tj, "threadIdx.x")):
        sch.bind(loop, axis)
    for operand in (0, 1):
        copy = sch.cache_read(c, operand, "shared")
        sch.compute_at(copy, k0)
        row, column = sch.get_loops(copy)[-2:]
        sch.bind(row, "threadIdx.y")
        sch.bind(column, "threadIdx.x")
    local = sch.cache_write(c, 0, "local")
    sch.reverse_compute_at(local, tj)
    return sch.mod


def packed_matmul(n, rows=4, columns=16, vector=8):
    """The schedule for a CPU: B in panels, 4 x 16 sums in registers; at 512 close to NumPy."""
    sch = s_tir.Schedule(matmul(n, n, n))
    c = sch.get_sblock("C")
    panels = sch.cache_read(c, 1, "global")
    sch.transform_layout(c, ("read", 1), lambda k, j: (j // columns, k, j % columns))
    sch.parallel(sch.get_loops(panels)[0])
    i, j, k = sch.get_loops(c)
    (i0, i1), (j0, j1) = sch.split(i, [None, rows]), sch.split(j, [None, columns])
    k0, k1 = sch.split(k, [None, 4])
    outer, inner = sch.split(i0, [None, 16])
    sch.reorder(outer, j0, inner, k0, k1, i1, j1)
    sums = sch.cache_write(c, 0, "local")
    sch.reverse_compute_at(sums, inner)
    sch.vectorize(sch.split(sch.get_loops(sums)[-1], [None, vector])[1])
    sch.parallel(outer)
    j1, lanes = sch.split(j1, [None, vector])
    sch.vectorize(lanes)
    for loop in (j1, i1, k1):
        sch.unroll(loop)
    sch.decompose_reduction(c, k0)
    return sch.mod


def inputs(shapes, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.random(shape) - 0.5).astype(dtype) for shape in shapes]
