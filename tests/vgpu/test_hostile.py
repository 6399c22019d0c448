"""Garbage, truncated and hostile PTX: an error of ours, never a hang, a crash or much memory."""

from __future__ import annotations

import random
import resource

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hetlab.errors import HetlabError
from hetlab.vgpu.launch import Kernel
from hetlab.vgpu.memory import Memory
from hetlab.vgpu.ptx import PtxError, parse

from .ptxkit import cuda, nvrtc_ptx, ptx_of

SOURCE = cuda(
    """__shared__ float s[64]; __shared__ int c; int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) c = 0; s[t] = i < n ? a[i] : 0; __syncthreads();
    for (int h = 32; h; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    float v = __shfl_down_sync(~0, s[t] * 1.5f, 3); atomicAdd(&c, (int)v); __syncthreads();
    if (i < n) b[i] = v / (1 + c % 7) + sqrtf(v);"""
)


def attempt(text: str) -> str:
    """Compile and run; what happened, in one word."""
    memory = Memory(capacity=1 << 24)
    a = memory.alloc(4 * 128, name="a", initialised=True)
    b = memory.alloc(4 * 128, name="b", initialised=True)
    try:
        kernel = Kernel(text)
        raw = b"".join(x.to_bytes(8, "little") for x in (a, b, 128)).ljust(
            kernel.param_bytes, b"\0"
        )
        run = kernel.run(2, 64, raw, memory=memory, step_budget=300)
    except HetlabError as error:
        assert len(str(error)) < 2_000
        return "refused"
    return "hazard" if run.hazards else "ran"


@pytest.fixture(scope="module")
def text():
    found = nvrtc_ptx(SOURCE)
    assert attempt(found) == "ran"
    return found


def mutated(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        k = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            del lines[k]
        elif kind == 1:
            lines.insert(k, lines[rng.randrange(len(lines))])
        elif kind == 2:
            j = rng.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
        elif kind == 3 and lines[k]:
            at = rng.randrange(len(lines[k]))
            lines[k] = lines[k][:at] + chr(rng.randrange(1, 300)) + lines[k][at + 1 :]
        elif kind == 4:
            lines[k] = lines[k].replace("%r", "%rd", 1)
        elif kind == 5:
            words = [
                "0",
                "-1",
                "4294967295",
                "%tid.x",
                "{%r1,%r2}",
                "0f7F800000",
                "99999999999999999999",
            ]
            parts = lines[k].split(",")
            parts[-1] = " " + rng.choice(words) + ";"
            lines[k] = ",".join(parts)
        elif kind == 6:
            types = ["u32", "s64", "f32", "f64", "b16", "pred", "f16x2", "b8", "b128", "u8"]
            old = next((t for t in types if "." + t in lines[k]), None)
            if old:
                lines[k] = lines[k].replace("." + old, "." + rng.choice(types))
        else:
            lines = lines[: max(k, 1)]
    return "\n".join(lines)


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=262)  # an address where a byte is meant
def test_mutated_ptx_runs_or_is_refused(text, seed):
    attempt(mutated(text, random.Random(seed)))


@pytest.mark.soak
def test_many_mutants(text):
    outcomes = [attempt(mutated(text, random.Random(seed))) for seed in range(20_000)]
    assert outcomes.count("refused") > 1_000


@settings(max_examples=60, deadline=None)
@given(cut=st.floats(0, 1))
def test_truncated_ptx_is_refused(text, cut):
    end = text.rindex("ret;")
    with pytest.raises(PtxError):
        Kernel(text[: int(cut * end)])


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(), st.text(alphabet='.{}()[];:,%@!$ \n\t09afrx_<>|+-"/*'), st.binary().map(repr)
    )
)
def test_garbage_is_refused(garbage):
    for candidate in (garbage, ".version 8.0\n" + garbage, ptx_of(garbage)):
        try:
            parse(candidate)
        except PtxError as error:
            assert str(error)[-1] in ".?"


HUGE = {
    "shared": ptx_of("", head=".shared .align 4 .b8 s[99999999999999];"),
    "registers": ptx_of("mov.u32 %q5, 1;", regs=".reg .b32 %q<999999999>;"),
    "local": ptx_of("st.local.u32 [l], 1;", regs=".local .b8 l[2000000000];"),
    "shared of a block": ptx_of("st.shared.u32 [s], 1;", head=".shared .align 4 .b8 s[300000];"),
    "global": ptx_of("st.global.u32 [g], 1;", head=".global .align 4 .b8 g[2147483647];"),
    "global values": ptx_of("", head=".global .align 4 .u32 g[2147483647] = {1};"),
    "scopes": ptx_of("{" * 5000),
    "brackets": ptx_of("mov.u32 %r1, " + "{" * 5000),
    "digits": ptx_of("mov.u32 %r1, " + "9" * 100_000 + ";"),
    "jumps": ptx_of("".join(f"L{k}: bra L{k + 1};\n" for k in range(3000)) + "L3000: bra L0;"),
    "recursion": ptx_of("call f;").replace(".visible", ".func f() { call f; ret; }\n.visible"),
    "calls": ptx_of("call f0;").replace(
        ".visible",
        ".func f20() { ret; }\n"
        + "".join(f".func f{k}() {{ {f'call f{k + 1};' * 4} ret; }}\n" for k in range(19, -1, -1))
        + ".visible",
    ),
    "strings": '.version 8.0\n.file 1 "' + "a" * 200_000,
    "comment": ".version 8.0\n/*" + "a" * 200_000,
    "place": ptx_of(".loc 1 99999999999999999999 1\n"),
    "quotes": ptx_of('"' * 20_001),
}


@pytest.mark.parametrize("name", HUGE)
def test_what_is_huge_or_endless_is_refused_or_ends(name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert attempt(HUGE[name]) in ("refused", "hazard", "ran")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400_000  # KiB


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("frobnicate.s32 %r1, %r2;", "frobnicate.s32"),
        ("add.s32 %r1, %r2;", "add.s32"),
        ("mov.u32 %r1, %nosuch;", "%nosuch"),
        ("mov.u32 %r1, nosuch;", "nosuch"),
        ("add.u32 %rd1, %r2, %p1;", "add.u32"),
        ("bra nowhere;", "nowhere"),
        ("call nobody;", "nobody"),
        ("shfl.down.b32 %r1, %r2, 1, 31;", "shfl"),
        ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];", "PTX line"),
        ("wgmma.fence.sync.aligned;", "wgmma"),
        ("ld.global.b128 %rd1, [%rd2];", "PTX line"),
    ],
)
def test_unknown_instructions_are_named_with_their_line(body, words):
    text = ptx_of("\n" + body)
    with pytest.raises(PtxError) as caught:
        Kernel(text)
    assert words in str(caught.value)
    if "nowhere" not in body:
        assert "PTX line" in str(caught.value)


def test_an_unknown_instruction_names_the_learners_line():
    text = ptx_of(".loc 1 42 3\nwombat.f32 %f1, %f2;") + '.file 1 "lesson.py"\n'
    with pytest.raises(PtxError, match=r"wombat\.f32.*lesson\.py, line 42.*report"):
        Kernel(text)


def test_wild_pointers_are_hazards():
    rng = np.random.default_rng(0)
    body = """ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd3, %rd1, %rd2; ld.global.u64 %rd4, [%rd3];
    ld.u32 %r2, [%rd4]; st.u32 [%rd4+4], %r2; atom.add.u32 %r3, [%rd4+8], 1;
    ld.v2.u32 {%r4, %r5}, [%rd4];
    st.global.u32 [%rd4], %r2; ld.shared.u32 %r6, [%rd4]; ld.local.u32 %r7, [%rd4];"""
    memory = Memory()
    wild = rng.integers(0, 2**64, 64, dtype=np.uint64)
    wild[:8] = [0, 1, 2**64 - 1, 2**63, 2**61, 2**62, 2**36, 2**36 + 2]
    a = memory.adopt(wild, "a")
    run = Kernel(ptx_of(body)).run(1, 64, [a], memory=memory)
    assert {h.kind for h in run.hazards} <= {
        "out-of-bounds",
        "misaligned",
        "uninitialised-read",
        "race",
    }
    assert any(h.kind == "out-of-bounds" for h in run.hazards)
