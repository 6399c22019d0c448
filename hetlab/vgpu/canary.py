"""A tiny kernel with a known answer, for each language: is the virtual GPU still right?

A new release of a compiler may change what the adapters rely on.  Whoever gives points
asks the canary first, and refuses to go on when it is silent or sings out of tune.
"""

from __future__ import annotations

import functools
from importlib import metadata

import numpy as np

from hetlab.errors import HetlabError, UnknownName, one_line

__all__ = ["CanaryError", "canary"]

PACKAGES = (
    "numpy",
    "numba",
    "numba-cuda",
    "cuda-bindings",
    "nvidia-cuda-nvrtc",
    "apache-tvm",
    "apache-tvm-ffi",
)

# 64 threads read 64 floats, turn them round in shared memory, and write them.
EXPECTED = {
    "global_load_requests": 2,
    "global_load_sectors": 8,
    "global_store_requests": 2,
    "global_store_sectors": 8,
    "shared_store_requests": 2,
    "shared_store_wavefronts": 2,
    "shared_load_requests": 2,
    "shared_load_wavefronts": 2,
    "shared_bank_conflicts": 0,
    "barriers": 2,
}

SOURCE = """
__global__ void canary(const float* seed, float* song) {
    __shared__ float air[64];
    int t = threadIdx.x;
    air[t] = seed[t] * 2.0f;
    __syncthreads();
    song[t] = air[63 - t];
}
"""


class CanaryError(HetlabError):
    """The virtual GPU gave a wrong answer to a question whose answer is known."""


def _numba():
    from numba import cuda, float32

    @cuda.jit
    def sing(seed, song):
        air = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        air[t] = seed[t] * float32(2)
        cuda.syncthreads()
        song[t] = air[63 - t]

    return sing[1, 64]


def _cuda_cpp():
    from hetlab.vgpu.frontends.raw_kernel import RawKernel

    return RawKernel(SOURCE, "canary")[1, 64]


def _tvm():
    from hetlab.vgpu.frontends.tvm_canary import canary_operator

    return canary_operator()


LANGUAGES = {"numba": _numba, "cuda c++": _cuda_cpp, "tvm": _tvm}


def versions() -> str:
    """The compilers' versions, for an error that asks for a report."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


@functools.cache
def canary(language: str = "numba") -> bool:
    """Run the tiny kernel once a process; True when result and counters are right.

    Raises
    ------
    CanaryError
        When they are not, with what was expected and the versions in use.
    UnknownName
        When the language has no canary.
    """
    from hetlab.vgpu.profile import profile

    make = LANGUAGES.get(language)
    if make is None:
        raise UnknownName("language", language, LANGUAGES)
    seed = np.arange(64, dtype=np.float32)
    song = np.zeros(64, np.float32)
    try:
        report = profile(make(), seed, song)
    except Exception as cause:
        raise _error(language, f"it failed with {one_line(cause)}") from cause
    if not np.array_equal(song, 2 * seed[::-1]):
        raise _error(language, "its result is wrong")
    got = {name: report.counters.get(name) for name in EXPECTED}
    if got != EXPECTED:
        wrong = ", ".join(f"{n} {got[n]}, not {v}" for n, v in EXPECTED.items() if got[n] != v)
        raise _error(language, f"its counters are wrong: {wrong}")
    if not report.ok:
        raise _error(language, f"a hazard is reported where there is none: {report.hazards[0]}")
    return True


def _error(language: str, what: str) -> CanaryError:
    return CanaryError(
        f"the virtual GPU's own check in {language} does not pass: {what}",
        where=versions(),
        do="Nothing is graded until it does; please report it with these versions.",
    )
