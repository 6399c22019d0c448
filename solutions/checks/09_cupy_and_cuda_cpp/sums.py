"""Checks of lesson 09: a reduction, a generator of kernels, and wide loads."""

import warnings

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import BLOCK, cpp, floats, on_line

# ------------------------------------------------------------------------------------- dot


### BEGIN PUBLIC SPEC
def dot_spec(x, y, out, n):
    out[0] = np.dot(x[:n].astype(np.float64), y[:n].astype(np.float64))


### END PUBLIC SPEC
def dot_case(rng, n, **more):
    x, y = floats(rng, n) + np.float32(0.7), floats(rng, n) + np.float32(0.7)
    inputs = x, y, np.zeros(1, np.float32), np.int32(n)
    return on_line(f"n = {n}", *inputs, threads=n, most=6, **more)


def dot_cases(rng):
    for n in (128, 1, 2, 100, 129, 768, 3001):
        yield dot_case(rng, n)


dot = Task(
    "dot",
    title="Repair: a reduction without its barriers",
    criteria=[
        Correct(dot_spec, dot_cases, 2, agree=close(rtol=1e-5), changes=(2,)),
        Clean(1),
        Within("global_atomic_requests", lambda case: case.grid, 1),
    ],
    hints=(
        "hetlab.sanitize names two lines and two threads: what must have happened between them?",
        "Every round of the tree reads what other threads wrote in the round before: each round "
        "needs a __syncthreads(), and all threads of the block must reach it.",
        "for (int half = 64; half > 0; half /= 2) { if (t < half) s[t] += s[t + half]; "
        "__syncthreads(); } and then thread 0 alone: atomicAdd(out, s[0]).",
    ),
)
### BEGIN HIDDEN
DOT = "const float* x, const float* y, float* out, int n"
FILL = f"""__shared__ float s[{BLOCK}]; int t = threadIdx.x; float sum = 0;
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
s[t] = sum; __syncthreads();"""
TREE = "for (int h = 64; h > 0; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }"
dot.wrong += [
    Wrong(
        "no barrier between the rounds",
        cpp(
            "dot",
            DOT,
            FILL
            + "for (int h = 64; h > 0; h /= 2) if (t < h) s[t] += s[t + h];"
            + "__syncthreads(); if (t == 0) atomicAdd(out, s[0]);",
        ),
        "A thread reads a sum that another one may not have written yet.",
        fails="hazard",
    ),
    Wrong(
        "the barrier stands inside the if",
        cpp(
            "dot",
            DOT,
            FILL
            + "for (int h = 64; h > 0; h /= 2) if (t < h) { s[t] += s[t + h]; __syncthreads(); }"
            + "if (t == 0) atomicAdd(out, s[0]);",
        ),
        "Not all threads reach this barrier. Put it outside of the if.",
        fails="hazard",
    ),
    Wrong(
        "blocks add without an atomic operation",
        cpp("dot", DOT, FILL + TREE + "if (t == 0) out[0] += s[0];"),
        "Several blocks read and write out[0]: updates are lost.",
    ),
    Wrong(
        "every thread adds to the result",
        cpp(
            "dot",
            DOT,
            FILL.replace("s[t] = sum; __syncthreads();", "s[t] = sum; atomicAdd(out, s[t]);"),
        ),
        "Right, and every warp goes to global memory. Reduce inside the block first.",
        fails="traffic",
    ),
    Wrong(
        "each thread takes one element only",
        cpp(
            "dot",
            DOT,
            FILL.replace("i += gridDim.x * blockDim.x", "i += n")
            + TREE
            + "if (t == 0) atomicAdd(out, s[0]);",
        ),
        "The grid may be smaller than n: go on with a stride of the whole grid.",
    ),
]
unseen(dot, lambda rng: [dot_case(rng, 5000, public=False)])
### END HIDDEN


# ---------------------------------------------------------------------------- apply_formula


### BEGIN PUBLIC SPEC
def apply_formula_spec(formula, x, y):
    value = eval(formula.replace("f", ""), {"x": x, "y": y})  # C and Python agree on these
    return np.broadcast_to(value, x.shape).astype(np.float32)


### END PUBLIC SPEC
def apply_formula_cases(rng):
    for formula, n in (
        ("x + y", 100),
        ("x * y - 2.5f * x", 1),
        ("(x - y) * (x + y)", 300),
        ("1.5f", 33),
        ("y", 129),
        ("x * x * x", 640),
    ):
        yield Case(f"{formula!r}, n = {n}", formula, floats(rng, n), floats(rng, n))


apply_formula = Task(
    "apply_formula",
    title="Write a kernel that is written by a program",
    criteria=[
        Correct(apply_formula_spec, apply_formula_cases, 2, agree=close(ulps=8, atol=1e-6)),
        Clean(1),
    ],
    hints=(
        "The source is a text, and Python is good with texts: put the formula into it.",
        "In an f-string a brace is written twice: {{ and }}. Let the kernel set "
        "float x = xs[i], y = ys[i]; then the formula can stay as it is.",
        "kernel = hetlab.raw_kernel(source, 'apply'); out = np.empty_like(x); "
        "kernel((-(-x.size // 128),), (128,), (x, y, out, np.int32(x.size))); return out",
    ),
    time_limit=40.0,
)
### BEGIN HIDDEN


def generated(body, swap=False):
    def apply(formula, x, y):
        from hetlab.vgpu.frontends.raw_kernel import RawKernel

        text = body.replace("FORMULA", formula)
        source = (
            'extern "C" __global__ void apply(const float* xs, const float* ys, float* out, '
            f"int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text} }}"
        )
        out = np.zeros_like(x)
        given = (y, x) if swap else (x, y)
        grid = (-(-x.size // BLOCK),)
        kernel = RawKernel(source, "apply")
        with warnings.catch_warnings():  # its hazards are for the verdict, not for the screen
            warnings.simplefilter("ignore")
            kernel(grid, (BLOCK,), (*given, out, np.int32(x.size)))
        return out

    return apply


WHOLE = "if (i < n) { float x = xs[i], y = ys[i]; out[i] = FORMULA; }"
apply_formula.wrong += [
    Wrong(
        "no guard",
        generated("float x = xs[i], y = ys[i]; out[i] = FORMULA;"),
        "The generated kernel needs its guard as well.",
        fails="hazard",
    ),
    Wrong(
        "x and y swapped",
        generated(WHOLE, swap=True),
        "The arrays are handed over in the wrong order.",
    ),
    Wrong(
        "computed in whole numbers",
        generated(WHOLE.replace("float x", "int x")),
        "x and y must be float in the generated kernel.",
    ),
]
unseen(
    apply_formula,
    lambda rng: [
        Case("more", "y * 0.125f - x * (y + 3.0f)", floats(rng, 777), floats(rng, 777),
             public=False)
    ],
)  # fmt: skip
### END HIDDEN


# ------------------------------------------------------------------------------- wide_scale


### BEGIN PUBLIC SPEC
def wide_scale_spec(a, x, out, n):
    out[:n] = a * x[:n]


### END PUBLIC SPEC
def wide_case(rng, n, **more):
    x = floats(rng, n)
    inputs = np.float32(3), x, np.zeros_like(x), np.int32(n)
    return on_line(f"n = {n}", *inputs, threads=-(-n // 4), **more)


def wide_cases(rng):
    for n in (512, 4, 1, 3, 130, 1000, 4099):
        yield wide_case(rng, n)


def wide_requests(case):
    """A load and a store for every 128 numbers, and one of each for at most three left over."""
    return 2 * -(-int(case.inputs[3]) // 128) + 6


wide_scale = Task(
    "wide_scale",
    title="Challenge: move four numbers with one instruction",
    criteria=[
        Correct(wide_scale_spec, wide_cases, 1, agree=close(ulps=1), changes=(2,)),
        Clean(1),
        Within(("global_load_requests", "global_store_requests"), wide_requests, 1),
    ],
    hints=(
        "((const float4*)x)[i] reads numbers 4i to 4i + 3 with one load of 16 bytes.",
        "Only n / 4 threads have four numbers. The last n % 4 numbers are read one by one: by "
        "which threads?",
        "if (i < n / 4) { float4 v = ((const float4*)x)[i]; v.x *= a; ... ((float4*)out)[i] = v; } "
        "int rest = n / 4 * 4 + i; if (i < n % 4) out[rest] = a * x[rest];",
    ),
)
### BEGIN HIDDEN
WIDE = "float a, const float* x, float* out, int n"
FOUR = """float4 v = ((const float4*)x)[i]; v.x *= a; v.y *= a; v.z *= a; v.w *= a;
((float4*)out)[i] = v;"""
wide_scale.wrong += [
    Wrong(
        "four numbers, one by one",
        cpp(
            "wide_scale",
            WIDE,
            f"{'int i = blockIdx.x * blockDim.x + threadIdx.x;'}"
            "int all = gridDim.x * blockDim.x; for (int k = i; k < n; k += all) out[k] = a * x[k];",
        ),
        "Right, with a request for every 32 numbers. A float4 is 16 bytes in one load.",
        fails="traffic",
    ),
    Wrong(
        "the last numbers are forgotten",
        cpp(
            "wide_scale",
            WIDE,
            f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) {{ {FOUR} }}",
        ),
        "n need not be a multiple of four: the last n % 4 numbers are left over.",
    ),
    Wrong(
        "the last four reach beyond the end",
        cpp(
            "wide_scale",
            WIDE,
            f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (4 * i < n) {{ {FOUR} }}",
        ),
        "The last float4 hangs over the end of the array. C does not stop it.",
        fails="hazard",
    ),
]
unseen(wide_scale, lambda rng: [wide_case(rng, 2047, public=False)])
### END HIDDEN
