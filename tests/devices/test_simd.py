"""Reading SIMD out of machine code, and compiling without it."""

import numpy as np
import pytest

from hetlab.devices.simd import _count, vector_code, without_simd
from hetlab.errors import InvalidValue

numba = pytest.importorskip("numba")

X86_WIDE = """
\tvmulps\t%zmm0, %zmm3, %zmm7
\tvaddps\t(%rax), %zmm7, %zmm7
\tvaddss\t%xmm1, %xmm2, %xmm2
\tvmovups\t%zmm7, (%rax)
"""
X86_OLD = "\tmulpd\t%xmm0, %xmm1\n\taddsd\t%xmm0, %xmm1\n"
X86_FMA = "\tvfmadd213pd\t%ymm1, %ymm2, %ymm3\n\tvfnmadd231ss\t%xmm1, %xmm2, %xmm3\n"
X86_INTEGER = "\tvpaddd\t%ymm1, %ymm2, %ymm3\n\tpmulld\t%xmm1, %xmm2\n"
ARM_LINUX = "\tfmla\tv0.4s, v1.4s, v2.4s\n\tfadd\ts0, s1, s2\n"
ARM_MACOS = "\tfmul.2d\tv0, v0, v1\n\tfmadd\td0, d1, d2, d3\n"


@pytest.mark.parametrize(
    ("text", "lanes", "bits", "packed", "scalar", "integer"),
    [
        (X86_WIDE, 16, 32, 2, 1, 0),
        (X86_OLD, 2, 64, 1, 1, 0),
        (X86_FMA, 4, 64, 1, 1, 0),
        (X86_INTEGER, 1, 0, 0, 0, 2),
        (ARM_LINUX, 4, 32, 1, 1, 0),
        (ARM_MACOS, 2, 64, 1, 1, 0),
        ("\tret\n", 1, 0, 0, 0, 0),
    ],
)
def test_counts_the_arithmetic_of_two_instruction_sets(text, lanes, bits, packed, scalar, integer):
    """Lanes are register bits by element bits, whatever the assembler's dialect."""
    found = _count("f", text)
    assert (found.lanes, found.bits) == (lanes, bits)
    assert (found.packed, found.scalar, found.integer) == (packed, scalar, integer)
    assert repr(found).startswith("f: ")


def scale(x, out):
    for i in range(x.size):
        out[i] = np.float32(2) * x[i]


def test_the_same_source_has_lanes_with_the_vectoriser_and_one_lane_without():
    """Both compute the same; only one of them has packed arithmetic."""
    x = np.arange(100, dtype=np.float32)
    with_simd, out = numba.njit(scale), np.empty_like(x)
    with_simd(x, out)
    plain, same = without_simd(scale, x, out), np.empty_like(x)
    plain(x, same)
    np.testing.assert_array_equal(out, same)
    assert vector_code(with_simd).lanes >= 4
    assert vector_code(plain).packed == 0
    assert vector_code(plain).scalar > 0


def test_switching_the_vectoriser_off_lasts_for_one_function():
    """A function compiled afterwards is vectorised again, also after an error."""
    x = np.ones(8, np.float32)
    with pytest.raises(numba.core.errors.TypingError):
        without_simd(lambda a: a.no_such_attribute, x)
    later = numba.njit(scale)
    later(x, x.copy())
    assert vector_code(later).packed > 0


def test_a_function_compiled_without_simd_refuses_other_types():
    """It would be compiled with SIMD otherwise, silently."""
    x = np.ones(8, np.float32)
    plain = without_simd(numba.njit(scale), x, x)
    with pytest.raises(TypeError):
        plain(x.astype(np.float64), x.astype(np.float64))


@pytest.mark.parametrize("what", [len, numba.njit(scale)], ids=["not Numba", "not called yet"])
def test_vector_code_says_what_to_do_first(what):
    """Plain Python has no machine code, and Numba has none before the first call."""
    with pytest.raises(InvalidValue, match="compiled"):
        vector_code(what)
