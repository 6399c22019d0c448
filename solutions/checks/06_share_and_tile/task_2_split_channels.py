"""Checks of lesson 06: split_channels."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact, unseen

from .common import blocks, floats, row_sectors, whole_sectors


### BEGIN PUBLIC SPEC
def split_channels_spec(pixels, planes):
    planes[...] = pixels.T


### END PUBLIC SPEC
def channels_case(rng, n, **more):
    pixels, planes = floats(rng, n, 3), np.zeros((3, n), np.float32)
    label = f"{n} pixels" if n > 1 else "1 pixel"
    return Case(label, pixels, planes, grid=blocks(n, 128), block=128, **more)


def channels_sectors(case):
    """The image from end to end, and each channel by requests of 32 neighbours."""
    pixels, planes = case.inputs
    return whole_sectors(pixels) + row_sectors(planes)


split_channels = Task(
    "split_channels",
    title="Split an image into its channels",
    criteria=[
        Correct(
            split_channels_spec,
            lambda rng: (channels_case(rng, n) for n in (128, 1, 2, 127, 129, 300)),
            points=2,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=1),
        Within(
            ("global_load_sectors", "global_store_sectors"),
            channels_sectors,
            what="sectors loaded and stored",
            times=1.1,
        ),
    ],
    hints=(
        "Read in the order of memory, not in the order of pixels: 128 pixels are 384 values side "
        "by side. Which of them does thread t load, so that a warp's 32 loads are neighbours?",
        "Load value t, then t + 128, then t + 256 of the block's 384 values into a tile of 384. "
        "After the barrier pixel t has its three values at 3 * t, 3 * t + 1 and 3 * t + 2.",
        "Value number k of the block is pixels[first + k // 3, k % 3], where first is the block's "
        "first pixel; load it only if that pixel exists. Then a barrier for all. Then, if its own "
        "pixel exists, each thread stores planes[c, first + t] from tile[3 * t + c].",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def straight_from_memory(pixels, planes):
    i = cuda.grid(1)
    if i < pixels.shape[0]:
        for c in range(3):
            planes[c, i] = pixels[i, c]


@cuda.jit
def straight_to_memory(pixels, planes):
    t, first = cuda.threadIdx.x, 128 * cuda.blockIdx.x
    for k in range(t, 384, 128):
        if first + k // 3 < pixels.shape[0]:
            planes[k % 3, first + k // 3] = pixels[first + k // 3, k % 3]


@cuda.jit
def split_without_barrier(pixels, planes):
    tile = cuda.shared.array(384, float32)
    t, first = cuda.threadIdx.x, 128 * cuda.blockIdx.x
    for k in range(t, 384, 128):
        if first + k // 3 < pixels.shape[0]:
            tile[k] = pixels[first + k // 3, k % 3]
    if first + t < pixels.shape[0]:
        for c in range(3):
            planes[c, first + t] = tile[3 * t + c]


@cuda.jit
def channels_in_blocks(pixels, planes):
    tile = cuda.shared.array(384, float32)
    t, first = cuda.threadIdx.x, 128 * cuda.blockIdx.x
    for k in range(t, 384, 128):
        if first + k // 3 < pixels.shape[0]:
            tile[k] = pixels[first + k // 3, k % 3]
    cuda.syncthreads()
    if first + t < pixels.shape[0]:
        for c in range(3):
            planes[c, first + t] = tile[128 * c + t]


split_channels.wrong += [
    Wrong(
        "each thread loads its own pixel",
        straight_from_memory,
        says="A load request that takes every third value touches three times as many sectors as "
        "it needs. That is so with a tile, too: a request must ask for neighbours.",
        fails="traffic",
    ),
    Wrong(
        "loads in the order of memory, stores what it has just loaded",
        straight_to_memory,
        says="The loads are right now. But neighbouring lanes hold different channels, so each "
        "store request writes to three places. Sort in the tile: then lanes store neighbours too.",
        fails="traffic",
    ),
    Wrong(
        "no barrier between load and store",
        split_without_barrier,
        says="A thread's three values were loaded by three other threads. Wait for them.",
        fails="hazard",
    ),
    Wrong(
        "the tile is read as if it were in channels already",
        channels_in_blocks,
        says="In the tile the values lie as in memory: pixel t begins at 3 * t.",
    ),
]
unseen(split_channels, lambda rng: [channels_case(rng, 517, public=False)])
### END HIDDEN
