"""Registers, spills and shared memory come from NVIDIA's assembler."""

from __future__ import annotations

import sys

import pytest

from hetlab.errors import MissingLibrary, UnknownName
from hetlab.vgpu.resources import AssemblyError, Resources, parse_log, resources

pytest.importorskip("cuda.bindings.nvjitlink", reason="nvJitLink is not installed")

PTX = """
.version 8.0
.target sm_80
.address_size 64

.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<2>;
    .shared .align 4 .b8 tile[1024];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    shl.b32 %r1, %r1, 2;
    mov.u32 %r2, tile;
    add.u32 %r2, %r2, %r1;
    st.shared.f32 [%r2], %f1;
    bar.sync 0;
    ld.shared.f32 %f1, [%r2];
    st.global.f32 [%rd5], %f1;
    ret;
}
"""

LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'g' for 'sm_80'
ptxas info    : Function properties for helper
ptxas         .     16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for g
ptxas         .     256 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 2 barriers, 512 bytes smem, 364 bytes cmem[0]
ptxas info    : Compiling entry function 'f' for 'sm_80'
ptxas info    : Function properties for f
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 1024 bytes smem, 372 bytes cmem[0]
"""


def test_every_figure_of_the_log_is_read_for_the_right_kernel():
    assert parse_log(LOG, "g") == Resources("g", "sm_80", 24, 512, 256, 12, 8, 2, 364)
    assert parse_log(LOG, "f") == Resources("f", "sm_80", 8, 1024, 0, 0, 0, 1, 372)
    with pytest.raises(UnknownName, match="'h'"):
        parse_log(LOG, "h")


def test_a_real_kernel_is_assembled_without_a_gpu():
    got = resources(PTX, "copy")
    assert got.shared == 1024 and got.barriers == 1 and got.spill_stores == 0
    assert 4 <= got.registers <= 32
    assert resources(PTX, "copy", "sm_90").arch == "sm_90"
    assert "registers a thread" in str(got)


def test_broken_ptx_gives_the_assemblers_own_reason():
    with pytest.raises(AssemblyError, match="refused the kernel"):
        resources(PTX.replace("mov.u32 %r1", "mov.u99 %r1"), "copy")


def test_a_missing_linker_is_a_sentence_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'hetlab\[cuda\]'"):
        resources(PTX + "// not cached", "copy")
