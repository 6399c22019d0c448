"""A stencil in two dimensions, with its edges."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Wrong

from .common import FLOAT32, plane, unseen

# ----------------------------------------------------------------------------------- blur


### BEGIN PUBLIC SPEC
def blur_spec(image, out):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            out[y, x] = image[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].mean()


### END PUBLIC SPEC
def blur_cases(rng):
    for shape in ((1, 1), (1, 5), (6, 1), (2, 2), (9, 14), (17, 33)):
        image = rng.random(shape, dtype=np.float32)
        label = f"{shape[0]} rows, {shape[1]} columns"
        yield Case(label, image, np.zeros_like(image), **plane(shape))


blur = Task(
    "blur",
    title="Write a stencil that is right at the edges",
    criteria=[Correct(blur_spec, blur_cases, points=3, agree=FLOAT32, changes=(1,)), Clean()],
    hints=(
        "Do the inner pixels first. Then take the pixel in the corner: which neighbours does it "
        "have, and by how many must its sum be divided?",
        "Let two small loops run over the rows and columns around the pixel, cut them off at the "
        "edges with max and min, and count the pixels while you add them up.",
        "for row in range(max(y - 1, 0), min(y + 2, rows)), the same for columns; add up the "
        "pixels and the number of them; then divide.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def blur_by_nine(image, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if x < columns and y < rows:
        total = 0.0
        for row in range(max(y - 1, 0), min(y + 2, rows)):
            for column in range(max(x - 1, 0), min(x + 2, columns)):
                total += image[row, column]
        out[y, x] = total / 9


@cuda.jit
def blur_clamped(image, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if x < columns and y < rows:
        total = 0.0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                row, column = min(max(y + dy, 0), rows - 1), min(max(x + dx, 0), columns - 1)
                total += image[row, column]
        out[y, x] = total / 9


@cuda.jit
def blur_no_edges(image, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if 0 < x < columns - 1 and 0 < y < rows - 1:
        total = 0.0
        for row in range(y - 1, y + 2):
            for column in range(x - 1, x + 2):
                total += image[row, column]
        out[y, x] = total / 9


@cuda.jit
def blur_over_the_edge(image, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if x < columns and y < rows:
        total = 0.0
        for row in range(y - 1, y + 2):
            for column in range(x - 1, x + 2):
                total += image[row, column]
        out[y, x] = total / 9


@cuda.jit
def blur_cross(image, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if x < columns and y < rows:
        total, count = 0.0, 0
        for row in range(max(y - 1, 0), min(y + 2, rows)):
            for column in range(max(x - 1, 0), min(x + 2, columns)):
                if row == y or column == x:
                    total += image[row, column]
                    count += 1
        out[y, x] = total / count


blur.wrong += [
    Wrong(
        "always divided by nine",
        blur_by_nine,
        says="At an edge there are fewer pixels to add. Divide by how many you added.",
    ),
    Wrong(
        "edge pixels counted several times",
        blur_clamped,
        says="Moving the index back inside counts the pixel at the edge twice. Leave missing "
        "neighbours out.",
    ),
    Wrong(
        "the edges are left out", blur_no_edges, says="Every pixel has a mean, also at the edge."
    ),
    Wrong(
        "neighbours beyond the edge",
        blur_over_the_edge,
        says="image[-1, x] is the last row, and image[rows, x] lies behind the image. Cut the "
        "loops off at the edges.",
        fails="hazard",
    ),
    Wrong(
        "a cross instead of a square",
        blur_cross,
        says="The four diagonal neighbours belong to the mean, too.",
    ),
]


def more_blur(rng):
    image = rng.random((19, 21), dtype=np.float32)
    yield Case("more", image, np.zeros_like(image), public=False, **plane((19, 21), (8, 8)))


unseen(blur, more_blur)
### END HIDDEN
