"""Names and bounds that Numba's compiler drops are found again."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hetlab.vgpu.frontends.numba_names import (
    array_args,
    home,
    library_ptx,
    merge_ptx,
    symbol_names,
)

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

from numba import cuda, float32, types

TABLE = np.arange(8, dtype=np.float32)


@cuda.jit(device=True)
def helper(x):
    scratch = cuda.shared.array(32, float32)
    scratch[cuda.threadIdx.x % 32] = x
    cuda.syncthreads()
    return scratch[0]


def kernel(data, out):
    tile, edge = cuda.shared.array(64, float32), cuda.shared.array(2, float32)
    buffer = cuda.shared.array(0, float32)
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = data[i]
    edge[t % 2] = data[i]
    buffer[t] = data[i]
    cuda.syncthreads()
    out[i] = tile[63 - t] + edge[0] + buffer[1] + table[t % 8] + helper(data[i])


@pytest.fixture(scope="module")
def library():
    from numba.cuda.compiler import compile_cuda, kernel_fixup

    import hetlab

    hetlab.use_virtual_gpu()

    result = compile_cuda(
        kernel,
        types.void,
        (types.float32[::1], types.float32[::1]),
        lineinfo=True,
        nvvm_options={"opt": 3},
        cc=(8, 0),
    )
    made = result.library
    made._entry_name = result.fndesc.llvm_func_name
    kernel_fixup(made.get_function(made._entry_name), False)
    return made


def test_shared_and_constant_arrays_have_the_names_of_their_variables(library):
    names = symbol_names(library.get_llvm_str()).values()
    assert sorted(names) == ["buffer", "edge", "scratch", "table", "tile"]


def test_two_arrays_made_on_one_line_are_two(library):
    names = symbol_names(library.get_llvm_str())
    ptx = library_ptx(library, (8, 0))
    sizes = {s: int(n) for s, n in re.findall(r"\.shared .*?(_cudapy_smem_\d+)\[(\d+)\]", ptx)}
    by_name = {names[s]: size for s, size in sizes.items() if s in names}
    assert by_name["tile"] == 256 and by_name["edge"] == 8


def test_flattened_arrays_are_joined_with_their_parameter():
    kinds = (types.float32[:, :], types.int32, types.UniTuple(types.int64[::1], 2), types.complex64)
    values = [
        *(0, 0, 6, 4, 4096, 2, 3, 12, 4),
        7,
        *(0, 0, 5, 8, 8192, 5, 8),
        *(0, 0, 1, 8, 16384, 1, 8),
        1.0,
        2.0,
    ]
    found = array_args(["m", "n", "pair", "z"], kinds, values)
    assert [(a.param_index, a.name, a.base) for a in found] == [
        (4, "m", 4096),
        (14, "pair[0]", 8192),
        (21, "pair[1]", 16384),
    ]
    assert found[0].shape == (2, 3) and found[0].strides == (12, 4) and found[0].nbytes == 24
    assert array_args(["m"], kinds[:1], values[:-1]) == []  # an extension changed the arguments


def test_the_home_of_a_function_is_its_file_and_lines():
    file, first, last = home(kernel)
    assert file == __file__ and last - first == 10
    assert home(len) is None


def test_merged_modules_have_one_header_and_their_own_files():
    one = '.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "a.py"\n.loc 1 5 0\n'
    two = (
        '.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "b.cu"\n.loc 1 7 0\n'
        ".loc 1 9 0, function_name $L1, inlined_at 1 7 0\n"
    )
    merged = merge_ptx([one, two, two])
    assert merged.count(".version") == 1 and merged.count(".target") == 1
    assert '.file 2 "b.cu"' in merged and '.file 3 "b.cu"' in merged
    assert ".loc 2 9 0, function_name $L1, inlined_at 2 7 0" in merged
    assert merge_ptx([one]) == one


def test_a_function_that_two_modules_bring_is_kept_once():
    def module(number):
        return (
            f".version 8.0\n.target sm_80\n.address_size 64\n"
            f".weak .func  (.param .b32 func_retval0) twice(\n\t.param .b32 twice_param_0\n)\n{{\n"
            f"\t{{ // callseq {number}\n\t}}\n\tret;\n}}\n"
            f".visible .func only{number}()\n{{\n\tret;\n}}\n"
        )

    merged = merge_ptx([module(1), module(2)])
    assert merged.count("twice(") == 1 and "callseq 1" in merged and "callseq 2" not in merged
    assert "only1()" in merged and "only2()" in merged


SIDE = 8


def swap_in_place(data):
    tile = cuda.shared.array((SIDE, 9), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = data[y, x]
    cuda.syncthreads()
    value = tile[x, y]
    tile[y, x] = 2 * value


def test_a_place_in_a_tile_has_its_axes_and_the_read_that_ran_first_comes_first():
    import hetlab

    data = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
    report = hetlab.profile(cuda.jit(swap_in_place)[1, (SIDE, SIDE)], data)
    [race] = report.hazards
    row, column = race.index
    assert row != column
    first = home(swap_in_place)[1]
    assert [line - first for _, line in race.lines] == [5, 6]
    (x, y, _), writer = race.threads[0]["thread"], race.threads[1]["thread"]
    assert (x, y) == (row, column) and writer[:2] == [column, row]
    assert race.message.startswith(
        f"Race on tile[{row}, {column}]: thread ({x}, {y}) of block 0 reads it in line"
    )
    assert report.to_json()["hazards"][0]["index"] == [row, column]
