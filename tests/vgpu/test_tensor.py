"""Tensor-core instructions and asynchronous copies against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from .ptxkit import cuda, run_cuda

# one warp; each thread loads the fragments by the layouts that CUDA's own documents draw
MMA = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(const T* a, const T* b, ACC* c) {
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4; a += threadIdx.x / 32 * 16 * K;
  b += threadIdx.x / 32 * K * 8; c += threadIdx.x / 32 * 128;
  unsigned x[NA], y[NB]; ACC z[4];
  for (int r = 0; r < NA; r++) for (int j = 0; j < E; j++)
    ((T*)x)[r * E + j] = a[(g + 8 * (r % 2)) * K + E * t + j + 4 * E * (r / 2)];
  for (int r = 0; r < NB; r++) for (int j = 0; j < E; j++)
    ((T*)y)[r * E + j] = b[(E * t + j + 4 * E * r) * 8 + g];
  for (int r = 0; r < 4; r++) z[r] = c[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2];
  ASM
  for (int r = 0; r < 4; r++) c[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = z[r];
}"""
KINDS = [
    ("f16", "__half", "f2", 16, 2, "f32"),
    ("f16", "__half", "f2", 8, 2, "f32"),
    ("bf16", "__nv_bfloat16", "u2", 16, 2, "f32"),
    ("tf32", "float", "f4", 8, 1, "f32"),
    ("tf32", "float", "f4", 4, 1, "f32"),
    ("s8", "signed char", "i1", 32, 4, "s32"),
    ("s8", "signed char", "i1", 16, 4, "s32"),
]


@pytest.mark.parametrize(("kind", "ctype", "code", "k", "e", "acc"), KINDS)
def test_matrix_multiply_accumulate(kind, ctype, code, k, e, acc):
    na, nb, flag = 16 * k // (32 * e), 8 * k // (32 * e), "f" if acc == "f32" else "r"
    outs = ", ".join(f'"+{flag}"(z[{r}])' for r in range(4))
    ins = ", ".join([f'"r"(x[{r}])' for r in range(na)] + [f'"r"(y[{r}])' for r in range(nb)])
    va = ", ".join(f"%{4 + r}" for r in range(na))
    vb = ", ".join(f"%{4 + na + r}" for r in range(nb))
    op = f"mma.sync.aligned.m16n8k{k}.row.col.{acc}.{kind}.{kind}.{acc}"
    regs = f"{{%0,%1,%2,%3}}, {{{va}}}, {{{vb}}}, {{%0,%1,%2,%3}}"
    asm = f'asm volatile("{op} {regs};" : {outs} : {ins});'
    defines = {"NA": na, "NB": nb, "K": k, "E": e, "T": ctype}
    defines["ACC"] = "float" if acc == "f32" else "int"
    head = "".join(f"\n#define {name} {value}" for name, value in defines.items())
    source = MMA.replace("ASM", asm).replace("\nextern", head + "\nextern")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (2, 16, k)), rng.integers(-9, 9, (2, k, 8))
    c = rng.integers(-9, 9, (2, 16, 8))
    want = a @ b + c

    def raw(x):
        if code == "u2":
            return (x.astype("f4").view("u4") >> 16).astype("u2")
        return x.astype(code)

    out = c.astype("f4" if acc == "f32" else "i4")
    run = run_cuda(source, 1, 64, [raw(a), raw(b), out])
    np.testing.assert_array_equal(out, want)
    assert run.ok


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_loading_matrices_from_shared_memory(count, trans):
    regs = ", ".join(f"%{r}" for r in range(count))
    outs = ", ".join(f'"=r"(r[{r}])' for r in range(count))
    body = f"""__shared__ __align__(16) unsigned short s[256];
    int t = threadIdx.x; unsigned r[{count}];
    for (int j = 0; j < 8; j++) s[t * 8 + j] = a[t * 8 + j]; __syncwarp();
    unsigned p = __cvta_generic_to_shared(s + t * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{regs}}}, [%{count}];"
      : {outs} : "r"(p));
    for (int m = 0; m < {count}; m++) o[m * 32 + t] = r[m];"""
    a = np.arange(256, dtype="u2")
    o = np.zeros(32 * count, "u4")
    run = run_cuda(cuda(body, "const unsigned short* a, unsigned* o"), 1, 32, [a, o])
    m = a.reshape(4, 8, 8)[:count]
    m = m.swapaxes(1, 2) if trans else m
    np.testing.assert_array_equal(o, np.ascontiguousarray(m).view("u4").ravel())
    assert run.ok and run.counters["shared_load_wavefronts"] == count


PIPELINE = "#include <cuda_pipeline.h>\n" + cuda(
    """__shared__ float s[2][64]; int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], a + t, 4); __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t], a + 64 + t, 4); __pipeline_commit();
    __pipeline_wait_prior(1); __syncthreads(); float x = s[0][63 - t];
    __pipeline_wait_prior(0); __syncthreads(); b[t] = x + s[1][63 - t];"""
)


def test_asynchronous_copies_arrive_when_waited_for_and_race_before():
    a, b = np.arange(128, dtype="f4"), np.zeros(64, "f4")
    run = run_cuda(PIPELINE, 1, 64, [a, b, 0])
    np.testing.assert_array_equal(b, a[63::-1] + a[:63:-1])
    assert run.ok and run.counters["shared_store_requests"] == 4
    for early in (
        PIPELINE.replace("wait_prior(0)", "wait_prior(1)"),
        PIPELINE.replace("wait_prior(1)", "wait_prior(2)"),
    ):
        assert [h.kind for h in run_cuda(early, 1, 64, [a, b, 0]).hazards] == ["race"]
