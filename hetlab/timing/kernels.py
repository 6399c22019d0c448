"""The two loops that find a processor's peaks, compiled by Numba.

*Bandwidth*: STREAM's triad ``a[i] = b[i] + s * c[i]`` (J. D. McCalpin, IEEE TCCA Newsletter,
1995) on float64 arrays far larger than the caches.  As in STREAM 24 bytes an element are counted,
two reads and a write; a processor that first reads the line it is about to write
(write-allocate) really moves 32.

*Arithmetic*: chains of multiply-adds ``x = x * m + k`` that need nothing but registers.  A
multiply-add takes four or five cycles and a core starts two or more of them in each, so
there must be a dozen chains side by side.  They are written as LLVM vectors of the widest
registers: the compiler's own vectoriser takes half of an AVX-512 register on many processors, and
leaves too few chains.  Two FLOP count for each multiply-add.
"""

from __future__ import annotations

import functools

__all__ = ["TRIAD_BYTES", "flops_of", "peak_kernel", "shape", "triad_kernel"]

TRIAD_BYTES = 24


def shape() -> tuple[int, int]:
    """Width of a vector register in bits, and how many chains run side by side.

    Two registers hold the constants, some are left to the compiler: 24 chains where there are 32
    registers (AVX-512, 64-bit Arm), 12 where there are 16.
    """
    import platform

    import llvmlite.binding as llvm

    if platform.machine().lower() in {"arm64", "aarch64"}:
        return 128, 24
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 512, 24
    return (256, 12) if features.get("avx") else (128, 12)


def flops_of(bits: int, threads: int, turns: int) -> int:
    """FLOP of ``turns`` steps of every chain, for numbers of ``bits`` bits."""
    width, chains = shape()
    return 2 * (width // bits) * chains * threads * turns


@functools.cache
def triad_kernel():
    """``triad(a, b, c, s, threads)``: one contiguous part for each thread."""
    import numba

    # A loop from 0 to the size of its own slice: with any other start Numba must allow for
    # negative indices, and that costs three quarters of the bandwidth.
    @numba.njit(fastmath={"contract"})
    def part(a, b, c, s):
        for i in range(a.size):
            a[i] = b[i] + s * c[i]

    @numba.njit(parallel=True)
    def triad(a, b, c, s, threads):
        n = a.size
        for t in numba.prange(threads):
            low, high = t * n // threads, (t + 1) * n // threads
            part(a[low:high], b[low:high], c[low:high], s)

    return triad


@functools.cache
def _chains():
    """``chains(x, m, k, turns)`` for use inside a compiled function; returns the chains' sum."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def chains(context, x, m, k, turns):
        def generate(context, builder, signature, arguments):
            start, factor, term, count = arguments
            bits, n = shape()
            number = start.type
            lanes = bits // signature.return_type.bitwidth
            vector = ir.VectorType(number, lanes)

            def spread(value):
                filled = ir.Constant(vector, ir.Undefined)
                for lane in range(lanes):
                    filled = builder.insert_element(filled, value, ir.IntType(32)(lane))
                return filled

            by, plus = spread(factor), spread(term)
            fma = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(vector, [vector] * 3),
                f"llvm.fmuladd.v{lanes}f{signature.return_type.bitwidth}",
            )
            # Different starts: equal chains would be recognised and computed once.
            slots = []
            for i in range(n):
                first = builder.fmul(start, ir.Constant(number, float(i + 1)))
                slots.append(cgutils.alloca_once_value(builder, spread(first)))
            with cgutils.for_range(builder, count):
                for slot in slots:
                    builder.store(builder.call(fma, [builder.load(slot), by, plus]), slot)
            total = builder.load(slots[0])
            for slot in slots[1:]:
                total = builder.fadd(total, builder.load(slot))
            result = builder.extract_element(total, ir.IntType(32)(0))
            for lane in range(1, lanes):
                result = builder.fadd(result, builder.extract_element(total, ir.IntType(32)(lane)))
            return result

        if not isinstance(x, types.Float) or (m, k) != (x, x):
            return None
        return x(x, x, x, types.intp), generate

    return chains


@functools.cache
def peak_kernel():
    """``peak(out, m, k, turns)``: the chains on as many threads as ``out`` has elements."""
    import numba

    chains = _chains()

    @numba.njit(parallel=True)
    def peak(out, m, k, turns):
        for t in numba.prange(out.size):
            out[t] = chains(out[t], m, k, turns)

    return peak
