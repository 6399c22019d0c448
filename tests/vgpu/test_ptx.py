"""Reading PTX: what NVVM, NVRTC and people write."""

from __future__ import annotations

import pytest

from hetlab.vgpu.cfg import build
from hetlab.vgpu.inline import flatten
from hetlab.vgpu.ir import Addr, Imm, Neg, PtxError, Reg, Sym, Vec
from hetlab.vgpu.launch import Kernel
from hetlab.vgpu.ptx import parse

from .ptxkit import cuda, numba_ptx, nvrtc_ptx, ptx_of


def code(body: str, **more):
    return parse(ptx_of(body, **more)).functions["k"].code


def test_operands_of_every_form():
    r1, r2, rd = Reg("%r1"), Reg("%r2"), Reg("%rd1")
    forms = {
        "add.s32 %r1, %r2, -5;": (r1, r2, Imm(-5)),
        "mov.b32 %r1, 0xFFU;": (r1, Imm(255)),
        "mov.b32 %r1, 017;": (r1, Imm(15)),
        "mov.b32 %r1, 0b101;": (r1, Imm(5)),
        "mov.f32 %f1, 0f3F800000;": (Reg("%f1"), Imm(1.0, 32)),
        "mov.f64 %fd1, 0d3FF8000000000000;": (Reg("%fd1"), Imm(1.5, 64)),
        "ld.global.u32 %r1, [%rd1+-8];": (r1, Addr(rd, -8)),
        "ld.global.v2.u32 {%r1, _}, [%rd1];": (Vec((r1, None)), Addr(rd)),
        "ld.shared.u32 %r1, [s+4];": (r1, Addr(Sym("s"), 4)),
        "setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;": (
            Vec((Reg("%p1"), Reg("%p2"))), r1, Imm(0), Neg(Reg("%p3")),
        ),
        "mov.u64 %rd1, s+16;": (rd, Sym("s", 16)),
        "mov.u32 %r1, %ctaid.y;": (r1, Reg("%ctaid.y")),
    }  # fmt: skip
    for text, operands in forms.items():
        (first, *_) = code(text, head=".shared .align 4 .b8 s[64];")
        assert first.operands == operands, text


def test_predicates_and_modifiers():
    store = "@!%p2 st.global.v4.f32 [%rd1], {%f1,%f2,%f3,%f4};"
    a, b, _ = code("@%p1 add.cc.u32 %r1, %r2, %r3;\n" + store)
    assert (a.pred, a.op, a.mods) == ((Reg("%p1"), False), "add", ("cc", "u32"))
    assert (b.pred, b.opcode) == ((Reg("%p2"), True), "st.global.v4.f32")


def test_inner_scopes_have_registers_and_labels_of_their_own():
    body = """{ .reg .u32 t; mov.u32 t, 1; L: add.u32 %r1, t, 1; bra L; }
    { .reg .u64 t; mov.u64 t, 2; L: add.u64 %rd1, t, 1; bra L; }"""
    f = parse(ptx_of(body)).functions["k"]
    names = [i.operands[0].name for i in f.code if i.op == "mov"]
    assert len(set(names)) == 2 and [f.regs[n] for n in names] == ["u32", "u64"]
    assert len(f.labels) == 2


def test_places_come_with_the_chain_of_inlined_callers():
    body = """.loc 1 10 1
    mov.u32 %r1, 1;
    .loc 2 99 1, function_name $L, inlined_at 1 10 1
    mov.u32 %r2, 2;
    .loc 3 5 1, function_name $L, inlined_at 2 99 1
    mov.u32 %r3, 3;"""
    files = '.file 1 "/home/me/lesson.py"\n.file 2 "/lib/site-packages/x.py"\n.file 3 "helper.py"\n'
    a, b, c, _ = parse(ptx_of(body) + files).functions["k"].code
    assert a.loc.place() == ("/home/me/lesson.py", 10)
    assert b.loc.place() == ("/home/me/lesson.py", 10), "library code counts for its caller"
    assert c.loc.place() == ("helper.py", 5)
    assert [p.line for p in c.loc.chain()] == [5, 99, 10]


def test_module_variables_with_values_and_addresses():
    head = """.const .align 4 .f32 c[3] = {0f3F800000, 2.0, 3};
    .global .align 1 .b8 text[3] = {104, 105, 0};
    .global .align 8 .u64 where[2] = {generic(text), text+1};
    .extern .shared .align 16 .b8 dyn[];"""
    variables = parse(ptx_of("", head=head)).vars
    assert variables["c"].init.hex() == "0000803f0000004000004040"
    assert variables["text"].init == b"hi\0"
    assert [r[1:] for r in variables["where"].refs] == [("text", 0), ("text", 1)]
    assert variables["dyn"].extern and variables["dyn"].nbytes == 0


def test_device_functions_are_inlined_with_their_parameters():
    source = "__device__ __noinline__ int f(int x, int y) { return x > y ? x - y : 7 * x; }\n"
    source += cuda("o[threadIdx.x] = f(threadIdx.x, 3) + f(5, threadIdx.x);", "int* o")
    module = parse(nvrtc_ptx(source))
    flat = flatten(module, "k")
    assert len(module.functions) == 2
    assert not any(i.op in ("call", "ret") for i in flat.code[:-1])


def test_loops_are_contiguous_and_blocks_topological():
    source = cuda(
        "for (int i = 0; i < n; i++) { if (a[i] > 3) { for (int j = 0; j < i; j++) b[j] += 1; }"
        "else if (a[i] < -3) continue; b[i] = a[i]; if (b[i] == 7) break; } b[0] = 1;"
    )
    blocks = build(flatten(parse(nvrtc_ptx(source)), "k"))
    back = [(n, s) for n, b in enumerate(blocks) for s in b.successors if s <= n]
    assert back
    for n, head in back:
        assert all(blocks[k].loop for k in range(head, n + 1)), "no other block inside a loop"


def test_numba_and_nvrtc_kernels_are_described():
    numba = pytest.importorskip("numba")
    pytest.importorskip("numba.cuda")
    from numba import cuda as nc

    def double(a, o):
        s = nc.shared.array(32, numba.float32)
        s[nc.threadIdx.x] = a[nc.threadIdx.x]
        o[nc.threadIdx.x] = 2 * s[nc.threadIdx.x]

    kernel = Kernel(numba_ptx(double, (numba.float32[::1],) * 2))
    assert len(kernel.params) == 14 and kernel.shared_bytes == 128
    assert {f for f, _ in kernel.source_lines} == {__file__}
    first = double.__code__.co_firstlineno
    assert {n for _, n in kernel.source_lines} <= set(range(first, first + 4))
    kernel = Kernel(nvrtc_ptx(cuda("a[n] = b[n];")))
    assert [(p.size, p.offset, p.kind) for p in kernel.params] == [
        (8, 0, "u64"), (8, 8, "u64"), (4, 16, "u32"),
    ]  # fmt: skip


def test_a_module_with_several_kernels_asks_which_one():
    two = cuda("a[0] = 1;") + cuda("b[0] = 1;").replace(" k(", " other(")
    text = nvrtc_ptx(two)
    assert Kernel(text, "other").name == "other"
    with pytest.raises(PtxError, match="2 kernels: "):
        Kernel(text)
    with pytest.raises(PtxError, match="no kernel 'third'"):
        Kernel(text, "third")
