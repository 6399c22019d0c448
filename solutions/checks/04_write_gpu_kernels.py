"""Checks of lesson 04, write GPU kernels.

A kernel is launched on sizes that fit its blocks and on sizes that do not.  One run on the virtual
GPU gives its values and its hazards.  Wrong kernels and unseen inputs stay with the author.
"""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, close, exact

### BEGIN HIDDEN
import itertools

import hetlab

hetlab.use_virtual_gpu()
from numba import cuda  # noqa: E402


def unseen(task, cases):
    """Add inputs that feedback never shows."""
    judged = task.criteria[0]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
FLOAT32 = close(rtol=1e-5, atol=1e-5)


def line(n, block, spare=0):
    """Grid and block of a launch with at least one thread for each of n elements."""
    return {"grid": max(1, -(-n // block)) + spare, "block": block}


def plane(shape, block=(16, 8)):
    """The same for an image of (rows, columns): x covers the columns."""
    rows, columns = shape
    return {"grid": (-(-columns // block[0]), -(-rows // block[1])), "block": block}


# ---------------------------------------------------------------------------- launch_shape


### BEGIN PUBLIC SPEC
def launch_shape_spec(n, block):
    blocks = 0
    while blocks * block < n:
        blocks += 1
    return blocks, blocks * block - n


### END PUBLIC SPEC
def launch_shape_cases(rng):
    for n, block in ((1, 32), (31, 32), (32, 32), (33, 32), (1000, 256), (1024, 256), (7, 1)):
        yield Case(f"n = {n}, block = {block}", n, block)


launch_shape = Task(
    "launch_shape",
    title="Compute how many blocks a launch needs",
    criteria=[Correct(launch_shape_spec, launch_shape_cases, points=2, agree=exact())],
    hints=(
        "Take 33 elements and blocks of 32. One block is too few. How many are needed, and how "
        "many threads is that?",
        "Divide and round up. Integer division // rounds down, also for negative numbers.",
        "-(-n // block) rounds up. The rest is blocks * block - n.",
    ),
)
### BEGIN HIDDEN
launch_shape.wrong += [
    Wrong(
        "rounded down",
        lambda n, block: (n // block, abs(n // block * block - n)),
        says="The last elements have no thread. Round the number of blocks up.",
    ),
    Wrong(
        "one more than rounded down, always",
        lambda n, block: (n // block + 1, (n // block + 1) * block - n),
        says="Where the blocks fit exactly, this starts one for nothing. Round up only if "
        "something is left.",
    ),
    Wrong(
        "the elements of the last block, not its idle threads",
        lambda n, block: (-(-n // block), n % block),
        says="n % block is how many threads of the last block have work. The others are asked for.",
    ),
]


def more_shapes(rng):
    n, block = int(rng.integers(500, 900)), 32 * int(rng.integers(1, 5))
    yield Case("another", n, block, public=False)


unseen(launch_shape, more_shapes)
### END HIDDEN


# ------------------------------------------------------------------------------ fahrenheit


### BEGIN PUBLIC SPEC
def fahrenheit_spec(celsius, out):
    out[:] = 1.8 * celsius + 32


### END PUBLIC SPEC
def fahrenheit_cases(rng):
    for n, block in ((1, 32), (64, 64), (65, 64), (1000, 256)):
        celsius = rng.uniform(-30, 40, n).astype(np.float32)
        yield Case(f"n = {n}, blocks of {block}", celsius, np.zeros_like(celsius), **line(n, block))


fahrenheit = Task(
    "fahrenheit",
    title="Write a map with its guard",
    criteria=[
        Correct(fahrenheit_spec, fahrenheit_cases, points=2, agree=FLOAT32, changes=(1,)),
        Clean(),
    ],
    hints=(
        "Say what one thread does. Which element is its own, and does it have one at all?",
        "i = cuda.grid(1) is the thread's number in the whole grid. Threads whose number is not "
        "below out.size must do nothing.",
        "i = cuda.grid(1), then: if i < out.size, assign to out[i] what the specification says "
        "about celsius[i].",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def fahrenheit_no_guard(celsius, out):
    i = cuda.grid(1)
    out[i] = 1.8 * celsius[i] + 32


@cuda.jit
def fahrenheit_first_block(celsius, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = 1.8 * celsius[i] + 32


fahrenheit.wrong += [
    Wrong(
        "no guard, or one that lets too many in",
        fahrenheit_no_guard,
        says="Threads beyond the last element read and write outside the arrays. Test the index "
        "first: if i < out.size. (With <= one thread too many goes on.)",
        fails="hazard",
    ),
    Wrong(
        "the number in the block, not in the grid",
        fahrenheit_first_block,
        says="cuda.threadIdx.x starts from 0 in every block: all blocks do the first elements. "
        "cuda.grid(1) counts through the whole grid.",
    ),
]


def more_degrees(rng):
    celsius = rng.uniform(-30, 40, 777).astype(np.float32)
    yield Case(
        "three blocks too many", celsius, np.zeros_like(celsius), public=False, **line(777, 96, 3)
    )


unseen(fahrenheit, more_degrees)
### END HIDDEN


# ----------------------------------------------------------------------------- differences


### BEGIN PUBLIC SPEC
def differences_spec(x, out):
    out[:] = np.diff(x)


### END PUBLIC SPEC
def differences_cases(rng):
    for n, block in ((2, 32), (64, 64), (65, 64), (500, 128)):
        x = rng.integers(-50, 50, n).astype(np.float32)
        yield Case(
            f"{n} elements, blocks of {block}", x, np.zeros(n - 1, np.float32), **line(n, block)
        )


differences = Task(
    "differences",
    title="Repair a guard that does not fit every access",
    criteria=[
        Correct(differences_spec, differences_cases, points=1, agree=exact(), changes=(1,)),
        Clean(2),
    ],
    hints=(
        "Launch the draft with hetlab.sanitize. It names a thread, an index and a line.",
        "The draft touches x[i], x[i + 1] and out[i]. Up to which i are all three inside?",
        "out has one element less than x, so i < out.size keeps x[i + 1] inside too.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def differences_draft(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i + 1] - x[i]


@cuda.jit
def differences_too_few(x, out):
    i = cuda.grid(1)
    if i < x.size - 2:
        out[i] = x[i + 1] - x[i]


@cuda.jit
def differences_backwards(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] - x[i + 1]


differences.wrong += [
    Wrong(
        "the draft as it was",
        differences_draft,
        says="The thread of the last element reads x[size], behind its end, and writes behind the "
        "end of out. The guard must fit x[i + 1] and out[i].",
        fails="hazard",
    ),
    Wrong(
        "the guard cuts off the last result",
        differences_too_few,
        says="Now the last difference is missing. out has x.size - 1 elements.",
    ),
    Wrong(
        "the difference turned around",
        differences_backwards,
        says="out[i] is the next element minus this one.",
    ),
]
unseen(
    differences,
    lambda rng: [
        Case("n = 257", np.arange(257.0), np.zeros(256), public=False, **line(257, 32, 1)),
    ],
)
### END HIDDEN


# ------------------------------------------------------------------------------------ gray


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
        "the draft as it was",
        gray_draft,
        says="The first number of cuda.grid(2) is x, which counts columns. The draft uses it as a "
        "row, so it leaves every image that is not square.",
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


# ------------------------------------------------------------------------------------ zoom


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
        "Each thread owns one pixel of out. Which pixel of image does out[7, 4] show, for factor 3?",
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


# ------------------------------------------------------------------------------------ blur


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
        "for row in range(max(y - 1, 0), min(y + 2, rows)), the same for columns; add up the pixels "
        "and the number of them; then divide.",
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


# ------------------------------------------------------------------------------- histogram


### BEGIN PUBLIC SPEC
def histogram_spec(values, counts):
    counts += np.bincount(values, minlength=counts.size).astype(counts.dtype)


### END PUBLIC SPEC
def histogram_cases(rng):
    for n, bins, block in ((1, 1, 32), (40, 40, 64), (10, 3, 32), (700, 5, 128), (300, 100, 96)):
        values = rng.permutation(n) if n == bins else rng.integers(0, bins, n)
        start = rng.integers(0, 9, bins).astype(np.int32)
        yield Case(f"{n} values, {bins} kinds", values, start, **line(n, block))


histogram = Task(
    "histogram",
    title="Repair a scatter that loses counts",
    criteria=[
        Correct(histogram_spec, histogram_cases, points=2, agree=exact(), changes=(1,)),
        Clean(),
    ],
    hints=(
        "Try the draft with three values that are all 0. What does it count?",
        "counts[k] += 1 loads, adds and stores. Two threads with the same k load the same old "
        "number. The three steps must become one that nobody can interrupt.",
        "cuda.atomic.add(array, index, number) does it: here counts, values[i] and 1.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def histogram_draft(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] += 1


@cuda.jit
def histogram_mark(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] = 1


@cuda.jit
def histogram_no_guard(values, counts):
    cuda.atomic.add(counts, values[cuda.grid(1)], 1)


histogram.wrong += [
    Wrong(
        "the draft as it was",
        histogram_draft,
        says="All threads with the same value load the same old count, add 1, and store the same "
        "new one: counts are lost. Use cuda.atomic.add.",
        fails="hazard",
    ),
    Wrong(
        "marked instead of counted",
        histogram_mark,
        says="This stores that a value occurs, not how often, and forgets what counts held before.",
    ),
    Wrong(
        "no guard",
        histogram_no_guard,
        says="The spare threads read behind the end of values and count what they find there.",
        fails="hazard",
    ),
]
unseen(
    histogram,
    lambda rng: [
        Case(
            "more",
            np.minimum(rng.integers(0, 60, 900), rng.integers(0, 60, 900)),
            np.zeros(60, np.int32),
            public=False,
            **line(900, 128),
        )
    ],
)
### END HIDDEN


# --------------------------------------------------------------------------------- reverse


### BEGIN PUBLIC SPEC
def reverse_spec(x):
    x[:] = x[::-1].copy()


### END PUBLIC SPEC
def reverse_cases(rng):
    for n, block in ((1, 32), (2, 32), (7, 32), (64, 64), (1000, 256)):
        yield Case(f"n = {n}", rng.permutation(n).astype(np.float64), **line(n, block))


reverse = Task(
    "reverse",
    title="Repair a reversal that is right by luck",
    criteria=[
        Correct(reverse_spec, reverse_cases, points=1, agree=exact(), changes=(0,)),
        Clean(2),
    ],
    hints=(
        "In the draft thread 0 reads the last element, and the last thread writes it. Who is first?",
        "Two elements change places. Give each pair to one thread, which reads both before it "
        "writes both. How many pairs are there?",
        "For i below x.size // 2 the partner is x.size - 1 - i. Python swaps with a, b = b, a.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def reverse_draft(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[x.size - 1 - i]


@cuda.jit
def reverse_one_too_far(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        j = x.size - i
        x[i], x[j] = x[j], x[i]


@cuda.jit
def reverse_half(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        x[i] = x[x.size - 1 - i]


reverse.wrong += [
    Wrong(
        "the draft as it was",
        reverse_draft,
        says="Every element is written by one thread and used by another, and nothing says who is "
        "first. Give each pair to one thread: half as many threads are enough.",
        fails="hazard",
    ),
    Wrong(
        "the partner is one place too far",
        reverse_one_too_far,
        says="The partner of element 0 is the last one, at size - 1; x[size] lies behind the end.",
        fails="hazard",
    ),
    Wrong(
        "only one half is written",
        reverse_half,
        says="A pair has two elements, and both must move. Keep the old value before you write "
        "over it.",
    ),
]
unseen(
    reverse,
    lambda rng: [Case("n = 501", rng.random(501), public=False, **line(501, 128, 2))],
)
### END HIDDEN


# ------------------------------------------------------------------------------ add_scaled


### BEGIN PUBLIC SPEC
def add_scaled_spec(a, x, y):
    y += a * x


### END PUBLIC SPEC
def add_scaled_cases(rng):
    shapes = ((1, 1, 1), (5, 1, 32), (100, 1, 32), (100, 4, 32), (1000, 3, 50), (257, 9, 64))
    for n, blocks, block in shapes:
        x, y = rng.random((2, n), dtype=np.float32)
        label = f"n = {n}, grid of {blocks} x {block} threads"
        yield Case(label, np.float32(0.5), x, y, grid=blocks, block=block)


add_scaled = Task(
    "add_scaled",
    title="Write a loop that is right for any grid",
    criteria=[
        Correct(add_scaled_spec, add_scaled_cases, points=2, agree=FLOAT32, changes=(2,)),
        Clean(),
    ],
    hints=(
        "With 32 threads for 100 elements, thread 0 does the elements 0, 32, 64 and 96.",
        "Each thread begins at its own number and steps ahead by the number of all threads.",
        "for i in range(cuda.grid(1), y.size, cuda.gridsize(1)): then y[i] as usual.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def add_scaled_once(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


@cuda.jit
def add_scaled_block_stride(a, x, y):
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        y[i] += a * x[i]


@cuda.jit
def add_scaled_everybody(a, x, y):
    for i in range(y.size):
        y[i] += a * x[i]


add_scaled.wrong += [
    Wrong(
        "one element for each thread",
        add_scaled_once,
        says="Where the grid is smaller than the array, the rest has no thread. Let each thread "
        "go on in steps.",
    ),
    Wrong(
        "the step is one block",
        add_scaled_block_stride,
        says="cuda.blockDim.x is the number of threads in one block. With several blocks the "
        "threads meet. The step is the number of all threads, cuda.gridsize(1).",
        fails="hazard",
    ),
    Wrong(
        "every thread does everything",
        add_scaled_everybody,
        says="Each thread adds to all elements: they race, and the work is done many times. A "
        "thread begins at its own number.",
        fails="hazard",
    ),
]


def more_scaled(rng):
    x, y = rng.random((2, 700), dtype=np.float32)
    yield Case("more", np.float32(-2), x, y, grid=2, block=96, public=False)


unseen(add_scaled, more_scaled)
### END HIDDEN


# ------------------------------------------------------------------------------------ heat


### BEGIN PUBLIC SPEC
def heat_spec(u, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + np.float32(0.25) * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = new
    return u


### END PUBLIC SPEC
def heat_cases(rng):
    for n, steps in ((3, 1), (1, 2), (2, 1), (130, 0), (130, 1), (64, 2), (300, 5)):
        u = rng.random(n, dtype=np.float32) * 100
        yield Case(f"{n} points, {steps} step{'s' * (steps != 1)}", u, steps)


heat = Task(
    "heat",
    title="Write the host code and the kernel of a whole program",
    criteria=[
        Correct(heat_spec, heat_cases, points=3, agree=close(rtol=1e-4, atol=1e-3)),
        Clean(),
    ],
    hints=(
        "Write the kernel for one step first: it reads one array and writes another. What does a "
        "thread at one of the two ends do?",
        "The host makes two arrays on the device. After each launch they change their names: "
        "old, new = new, old. Which of them holds the result after the last step?",
        "old = cuda.to_device(u), new = cuda.device_array_like(old); in a loop launch "
        "heat_step[blocks, 128](old, new) and swap; return old.copy_to_host(). The kernel copies "
        "the ends.",
    ),
    not_checked="how often data are copied between host and device",
)
### BEGIN HIDDEN


@cuda.jit
def heat_inner(old, new):
    i = cuda.grid(1)
    if 0 < i < old.size - 1:
        new[i] = old[i] + np.float32(0.25) * (old[i - 1] - 2 * old[i] + old[i + 1])


@cuda.jit
def heat_whole(old, new):
    i = cuda.grid(1)
    if i < old.size:
        if 0 < i < old.size - 1:
            new[i] = old[i] + np.float32(0.25) * (old[i - 1] - 2 * old[i] + old[i + 1])
        else:
            new[i] = old[i]


def blocks_of(u):
    return -(-u.size // 128)


def heat_in_place(u, steps):
    one = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](one, one)
    return one.copy_to_host()


def heat_never_swapped(u, steps):
    old = cuda.to_device(u)
    new = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](old, new)
    return new.copy_to_host()


def heat_wrong_one(u, steps):
    old = cuda.to_device(u)
    new = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](old, new)
        old, new = new, old
    return new.copy_to_host()


def heat_no_ends(u, steps):
    old = cuda.to_device(u)
    new = cuda.device_array_like(old)
    for _ in range(steps):
        heat_inner[blocks_of(u), 128](old, new)
        old, new = new, old
    return old.copy_to_host()


heat.wrong += [
    Wrong(
        "one array for old and new",
        heat_in_place,
        says="Each thread writes where its neighbours still read. A step needs two arrays.",
        fails="hazard",
    ),
    Wrong(
        "the arrays never swap",
        heat_never_swapped,
        says="Every launch starts from the same old values, so all steps give the first one. Swap "
        "the two arrays after each launch.",
    ),
    Wrong(
        "the array of the step before",
        heat_wrong_one,
        says="After the last swap the newest values are in the array that is now called old.",
    ),
    Wrong(
        "the ends are never written",
        heat_no_ends,
        says="device_array_like gives memory that nobody has written to. The threads of the two "
        "ends must copy their element.",
        fails="value",
    ),
]
unseen(
    heat,
    lambda rng: [Case("more", rng.random(411, dtype=np.float32) * 9, 4, public=False)],
)
### END HIDDEN


# ------------------------------------------------------------------------------------ life


### BEGIN PUBLIC SPEC
def life_spec(world, out):
    sums = sum(
        np.roll(world, (dy, dx), (0, 1))
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    out[:] = (sums == 3) | ((world == 1) & (sums == 2))


### END PUBLIC SPEC
def life_cases(rng):
    glider = np.zeros((6, 7), np.uint8)
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    worlds = {"a glider, 6 rows, 7 columns": glider}
    for shape in ((1, 1), (1, 8), (3, 3), (16, 16), (13, 37)):
        worlds[f"{shape[0]} rows, {shape[1]} columns"] = rng.integers(0, 2, shape, np.uint8)
    for label, world in worlds.items():
        yield Case(label, world, np.zeros_like(world), **plane(world.shape))


life = Task(
    "life",
    title="Challenge: the Game of Life with few instructions",
    criteria=[Correct(life_spec, life_cases, points=1, agree=exact(), changes=(1,)), Clean()],
    hints=(
        "First make it right: eight neighbours, with an index that goes around at each edge.",
        "(x + 1) % columns goes around. A remainder is slow, though: a condition, such as "
        "x + 1 if x + 1 < columns else 0, costs less.",
        "Compute the two rows and two columns around the cell once, add the eight cells, then "
        "decide. One comparison is enough: count | alive is 3 exactly for the cells that live.",
    ),
    not_checked="how many instructions it takes: that is for the board",
)
### BEGIN HIDDEN


@cuda.jit
def life_walls(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        count = 0
        for row in range(max(y - 1, 0), min(y + 2, rows)):
            for column in range(max(x - 1, 0), min(x + 2, columns)):
                if row != y or column != x:
                    count += world[row, column]
        out[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


@cuda.jit
def life_itself(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        count = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                count += world[(y + dy) % rows, (x + dx) % columns]
        out[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


@cuda.jit
def life_in_place(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        out[y, x] = world[y, x]
        count = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    count += world[(y + dy) % rows, (x + dx) % columns]
        world[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


life.wrong += [
    Wrong(
        "a world with walls",
        life_walls,
        says="This world goes around: beyond the last column comes the first.",
    ),
    Wrong(
        "the cell counted as its own neighbour",
        life_itself,
        says="Only the eight cells around it count, not the cell itself.",
    ),
    Wrong(
        "the next generation written into the world",
        life_in_place,
        says="The next generation goes into out. In world, neighbours still read the old one.",
        fails="value",
    ),
]
unseen(
    life,
    lambda rng: [
        Case(
            "more",
            (world := rng.integers(0, 2, (40, 21), np.uint8)),
            np.zeros_like(world),
            public=False,
            **plane((40, 21), (32, 2)),
        )
    ],
)
### END HIDDEN
