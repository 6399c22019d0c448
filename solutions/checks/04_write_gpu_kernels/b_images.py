"""Kernels in two dimensions: index order, gather."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact

from .common import FLOAT32, plane, unseen

# ----------------------------------------------------------------------------------- gray


### BEGIN PUBLIC SPEC
def gray_spec(rgb, out):
    out[:] = 0.299 * rgb[:, :, 0] + 0.587 * rgb[:, :, 1] + 0.114 * rgb[:, :, 2]


### END PUBLIC SPEC
def gray_cases(rng):
    for shape in ((1, 1), (16, 16), (5, 9), (9, 5), (1, 40), (33, 1), (20, 50)):
        rgb = rng.random((*shape, 3), dtype=np.float32)
        label = f"{shape[0]} rows, {shape[1]} columns"
        yield Case(label, rgb, np.zeros(shape, np.float32), **plane(shape))


gray = Task(
    "gray",
    title="Repair the order of two indices",
    criteria=[Correct(gray_spec, gray_cases, points=2, agree=FLOAT32, changes=(1,)), Clean()],
    hints=(
        "Try the draft on an image of 5 rows and 9 columns, with hetlab.sanitize.",
        "cuda.grid(2) gives x first. x counts columns, and the first index of the array rows.",
        "x, y = cuda.grid(2); x must be below out.shape[1] and y below out.shape[0]; the pixel is "
        "out[y, x].",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def gray_draft(rgb, out):
    row, column = cuda.grid(2)
    if row < out.shape[1] and column < out.shape[0]:
        r, g, b = rgb[row, column, 0], rgb[row, column, 1], rgb[row, column, 2]
        out[row, column] = 0.299 * r + 0.587 * g + 0.114 * b


@cuda.jit
def gray_not_covered(rgb, out):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        r, g, b = rgb[row, column, 0], rgb[row, column, 1], rgb[row, column, 2]
        out[row, column] = 0.299 * r + 0.587 * g + 0.114 * b


@cuda.jit
def gray_half_a_guard(rgb, out):
    x, y = cuda.grid(2)
    if x < out.shape[1]:
        out[y, x] = 0.299 * rgb[y, x, 0] + 0.587 * rgb[y, x, 1] + 0.114 * rgb[y, x, 2]


@cuda.jit
def gray_mean(rgb, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = (rgb[y, x, 0] + rgb[y, x, 1] + rgb[y, x, 2]) / 3


gray.wrong += [
    Wrong(
        "rows and columns exchanged, as in the draft",
        gray_draft,
        says="The first number of cuda.grid(2) is x, which counts columns. Used as a row, it "
        "leaves every image that is not square.",
        fails="hazard",
    ),
    Wrong(
        "only the guard is repaired",
        gray_not_covered,
        says="Now nothing is outside, but the threads still walk along the wrong side: where the "
        "image is wider than high, pixels have no thread. x counts columns.",
    ),
    Wrong(
        "a guard in one direction only",
        gray_half_a_guard,
        says="Blocks stick out over the right edge and over the lower edge: both need a guard.",
        fails="hazard",
    ),
    Wrong(
        "the plain mean of the colours",
        gray_mean,
        says="The eye sees green brighter than blue: use the three weights.",
    ),
]


def more_images(rng):
    rgb = rng.random((31, 47, 3), dtype=np.float32)
    yield Case("more", rgb, np.zeros((31, 47), np.float32), public=False, **plane((31, 47)))


unseen(gray, more_images)
### END HIDDEN


# ----------------------------------------------------------------------------------- zoom


### BEGIN PUBLIC SPEC
def zoom_spec(image, factor, out):
    out[:] = image.repeat(factor, axis=0).repeat(factor, axis=1)


### END PUBLIC SPEC
def zoom_cases(rng):
    for shape, factor in (((1, 1), 1), ((1, 2), 2), ((2, 3), 4), ((6, 4), 3), ((5, 13), 5)):
        image = rng.random(shape, dtype=np.float32)
        large = (shape[0] * factor, shape[1] * factor)
        label = f"{shape[0]} rows, {shape[1]} columns, {factor} times"
        yield Case(label, image, factor, np.zeros(large, np.float32), **plane(large))


zoom = Task(
    "zoom",
    title="Gather: find where each output pixel comes from",
    criteria=[Correct(zoom_spec, zoom_cases, points=2, agree=exact(), changes=(2,)), Clean()],
    hints=(
        "Each thread owns one pixel of out. What does out[7, 4] show, for factor 3?",
        "Integer division: row 7 of the large image shows row 7 // 3 of the small one.",
        "With x, y = cuda.grid(2) and both guards on out, read image[y // factor, x // factor].",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def zoom_tiled(image, factor, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = image[y % image.shape[0], x % image.shape[1]]


@cuda.jit
def zoom_scatter(image, factor, out):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        out[y * factor, x * factor] = image[y, x]


@cuda.jit
def zoom_swapped(image, factor, out):
    y, x = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = image[y // factor, x // factor]


zoom.wrong += [
    Wrong(
        "copies side by side instead of an enlargement",
        zoom_tiled,
        says="The remainder % repeats the whole image. Integer division // makes squares.",
    ),
    Wrong(
        "one pixel of each square",
        zoom_scatter,
        says="You think from the input: each thread scatters one pixel. Think from the output: "
        "every pixel of out has a thread that reads.",
    ),
    Wrong(
        "x and y swapped",
        zoom_swapped,
        says="cuda.grid(2) gives x first, and x counts columns. In an image that is not square, "
        "pixels are left out.",
    ),
]


def more_zoom(rng):
    image = rng.random((7, 3), dtype=np.float32)
    yield Case("more", image, 6, np.zeros((42, 18), np.float32), public=False, **plane((42, 18)))


unseen(zoom, more_zoom)
### END HIDDEN
