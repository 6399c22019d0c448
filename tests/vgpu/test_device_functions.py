"""Arguments and results of device functions that are not inlined by the compiler."""

from __future__ import annotations

import numpy as np
import pytest

import hetlab

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")

# PTX passes small integers in 32-bit parameters and structs in pieces; the callee reads its
# own size and sign.
SOURCE = """\
struct Mixed { char a; short b; unsigned char c; int d; };

__device__ __noinline__ int four(signed char c, bool b, short s, unsigned char u)
{
    return c * 1000 + b * 3 + s + u * 7;
}
__device__ __noinline__ int mixed(Mixed m) { return m.a + m.b * 2 + m.c * 3 + m.d; }
__device__ __noinline__ signed char as_char(int x) { return x * 3; }
__device__ __noinline__ unsigned char as_unsigned(int x) { return x * 3; }
__device__ __noinline__ bool above(int x) { return x > 100; }

extern "C" __global__ void small(const int* x, int* out)
{
    int i = threadIdx.x, v = x[i];
    Mixed m = {(char)v, (short)(v * 5), (unsigned char)(v * 7), v};
    out[i * 5] = four(v, v > 5, v * 300, v);
    out[i * 5 + 1] = mixed(m);
    out[i * 5 + 2] = as_char(v);
    out[i * 5 + 3] = as_unsigned(v);
    out[i * 5 + 4] = above(v);
}
"""


@pytest.mark.parametrize("options", [(), ("--device-debug",)], ids=["optimised", "debug"])
def test_small_integers_arrive_with_their_sign(options):
    v = np.arange(-256, 256, dtype=np.int32)
    out = np.zeros((512, 5), np.int32)
    hetlab.raw_kernel(SOURCE, "small", options)((1,), (512,), (v, out))

    def cut(values, kind):
        return values.astype(kind).astype(np.int32)

    expected = [
        cut(v, "i1") * 1000 + (v > 5) * 3 + cut(v * 300, "i2") + cut(v, "u1") * 7,
        cut(v, "i1") + cut(v * 5, "i2") * 2 + cut(v * 7, "u1") * 3 + v,
        cut(v * 3, "i1"),
        cut(v * 3, "u1"),
        v > 100,
    ]
    assert np.array_equal(out, np.stack(expected, axis=1))
