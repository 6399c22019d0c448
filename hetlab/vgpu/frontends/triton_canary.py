"""The canary's kernel in Triton: a tile of 64 numbers, doubled and turned round."""

from __future__ import annotations

__all__ = ["launch"]


def sing(seed, song):
    at = tl.arange(0, 64)
    tl.store(song + 63 - at, 2 * tl.load(seed + at))


def launch():
    """The kernel, with its grid and constants, as a launch of two arrays."""
    global tl

    import triton
    import triton.language as tl

    from hetlab.vgpu.frontends.triton_adapter import TritonLaunch, virtual

    kernel = triton.jit(sing)

    def once(seed, song) -> None:
        with virtual():
            TritonLaunch(kernel, (1,))(seed, song, num_warps=1)

    return once
