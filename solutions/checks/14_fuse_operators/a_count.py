"""Bytes of a chain of operators, folding a batch norm away, and when fusing does not pay."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

# ----------------------------------------------------------------------------------- moved


### BEGIN PUBLIC SPEC
def moved_spec(groups, result):
    total = 0
    for number, kernel in enumerate(groups):
        made, read = [], []
        for out, inputs in kernel:
            fresh = dict.fromkeys(name for name in inputs if name not in made)
            read += [name for name in fresh if name not in read]
            made.append(out)
        needed = [result]
        for later in groups[number + 1 :]:
            for _, inputs in later:
                needed += inputs
        total += len(read) + sum(name in needed for name in made)
    return total


### END PUBLIC SPEC
#: y = gelu(x + b) * m, as three operators: what each makes, and what it reads.
CHAIN = [("s", ["x", "b"]), ("g", ["s"]), ("y", ["g", "m"])]
#: An intermediate that is used twice: y = (x + b) * f(x + b)
TWICE = [("s", ["x", "b"]), ("f", ["s"]), ("y", ["s", "f"])]


def moved_cases(rng):
    yield Case("three kernels", [[op] for op in CHAIN], "y")
    yield Case("one kernel", [CHAIN], "y")
    yield Case("two kernels", [CHAIN[:2], CHAIN[2:]], "y")
    yield Case("an intermediate used twice, three kernels", [[op] for op in TWICE], "y")
    yield Case("used twice, one kernel", [TWICE], "y")
    yield Case("used twice, and cut", [TWICE[:2], TWICE[2:]], "y")
    yield Case("an input read twice in a kernel", [[("y", ["x", "x"])]], "y")
    yield Case("a result nobody uses", [[("t", ["x"]), ("y", ["x"])]], "y")


moved = Task(
    "moved",
    title="Count the arrays that a fused chain moves",
    criteria=[Correct(moved_spec, moved_cases, points=3, agree=exact())],
    hints=(
        "Go through the kernels one by one. What must a kernel read that it does not make itself? "
        "What must it write for others?",
        "Inside one kernel an array is read once, however many operators use it.",
        "read = all inputs of the group minus what the group makes. written = those it makes that "
        "a later group reads, or that are the result.",
    ),
)
### BEGIN HIDDEN


def every_operator(groups, result):
    return sum(1 + len(inputs) for group in groups for _, inputs in group)


def all_written(groups, result):
    total = 0
    for group in groups:
        made = {out for out, _ in group}
        total += len({n for _, inputs in group for n in inputs} - made) + len(made)
    return total


def read_again(groups, result):
    total = 0
    for g, group in enumerate(groups):
        made = {out for out, _ in group}
        later = {n for other in groups[g + 1 :] for _, inputs in other for n in inputs}
        total += sum(n not in made for _, inputs in group for n in inputs)
        total += len([out for out in made if out in later or out == result])
    return total


moved.wrong += [
    Wrong(
        "every operator for itself",
        every_operator,
        says="That is the traffic without fusion. Inside a kernel, intermediates need no memory.",
    ),
    Wrong(
        "everything that is made is written",
        all_written,
        says="An intermediate that no later kernel reads need not be written.",
    ),
    Wrong(
        "an input is read for each use",
        read_again,
        says="One kernel reads an array once, and uses it as often as it likes.",
    ),
]


def more_chains(rng):
    ops = [("a", ["x"]), ("b", ["a", "x"]), ("c", ["a", "b"]), ("d", ["c", "a"])]
    yield Case("another", [ops[:2], ops[2:]], "d", public=False)


unseen(moved, more_chains)
### END HIDDEN


# ------------------------------------------------------------------------------------ fold


### BEGIN PUBLIC SPEC
def fold_spec(weight, bias, gamma, beta, mean, var, eps):
    """The two together take x to a * x + b: what they make of 0 and of 1 tells a and b."""

    def norm(y):
        gamma_, beta_, mean_, var_ = (np.reshape(v, shape) for v in (gamma, beta, mean, var))
        return (y - mean_) / np.sqrt(var_ + eps) * gamma_ + beta_

    shape = (-1, 1, 1, 1)
    at_zero = norm(np.reshape(bias, shape))
    return norm(weight + np.reshape(bias, shape)) - at_zero, at_zero.reshape(-1)


### END PUBLIC SPEC
def layer(rng, filters, channels):
    weight = rng.normal(size=(filters, channels, 3, 3))
    bias, gamma, beta, mean = rng.normal(size=(4, filters))
    return weight, bias, gamma, beta, mean, rng.uniform(0.1, 4, filters), 1e-5


def fold_cases(rng):
    yield Case("one filter", *layer(rng, 1, 1))
    yield Case("as many filters as channels", *layer(rng, 3, 3))
    yield Case("4 filters, 2 channels", *layer(rng, 4, 2))
    weight, bias, gamma, beta, mean, var, _ = layer(rng, 2, 5)
    yield Case("hardly any variance", weight, bias, gamma, beta, mean, var * 1e-6, 1e-3)


fold = Task(
    "fold",
    title="Fold a batch norm into a convolution",
    criteria=[Correct(fold_spec, fold_cases, points=3, agree=close(rtol=1e-9, atol=1e-9))],
    hints=(
        "Write the norm as y * scale + shift, with y the convolution's result. What are scale and "
        "shift?",
        "scale * (sum of weight * x + bias) + shift: which number multiplies the weights, and what "
        "remains beside them?",
        "scale = gamma / sqrt(var + eps); weight * scale[:, None, None, None]; "
        "(bias - mean) * scale + beta.",
    ),
)
### BEGIN HIDDEN


def scaled_channels(weight, bias, gamma, beta, mean, var, eps):
    scale = gamma / np.sqrt(var + eps)
    by_channel = np.resize(scale, weight.shape[1])
    return weight * by_channel[None, :, None, None], (bias - mean) * scale + beta


def bias_not_scaled(weight, bias, gamma, beta, mean, var, eps):
    scale = gamma / np.sqrt(var + eps)
    return weight * scale[:, None, None, None], bias - mean * scale + beta


def no_root(weight, bias, gamma, beta, mean, var, eps):
    scale = gamma / (var + eps)
    return weight * scale[:, None, None, None], (bias - mean) * scale + beta


fold.wrong += [
    Wrong(
        "channels are scaled instead of filters",
        scaled_channels,
        says="The norm has one scale for each *output* channel: the first axis of the weights.",
    ),
    Wrong(
        "the bias is not scaled",
        bias_not_scaled,
        says="The convolution's bias goes through the norm as well: (bias - mean) * scale.",
    ),
    Wrong(
        "no square root",
        no_root,
        says="The norm divides by the standard deviation, the root of the variance.",
    ),
]
unseen(fold, lambda rng: [Case("another", *layer(rng, 6, 2), public=False)])
### END HIDDEN


# ------------------------------------------------------------------------------------ pays


### BEGIN PUBLIC SPEC
def pays_spec(flop, size, uses, rate, bandwidth):
    """Whether computing an intermediate again for each use is faster than storing it."""
    stored = max(flop / rate, (1 + uses) * size / bandwidth)  # made once, written, read for each
    again = uses * flop / rate
    return again < stored


### END PUBLIC SPEC
def pays_cases(rng):
    a100 = 19.5e12, 1.555e12
    yield Case("a sum, used once", 1e6, 4e6, 1, *a100)
    yield Case("a product of matrices, used 9 times", 2e9, 4e6, 9, *a100)
    yield Case("a blur, used 3 times", 3e6, 4e6, 3, *a100)
    yield Case("on a slow processor", 3e7, 4e6, 3, 1e9, 2e10)
    yield Case("an exponential, used 200 times", 2e7, 4e6, 200, *a100)


pays = Task(
    "pays",
    title="Decide whether fusing pays",
    criteria=[Correct(pays_spec, pays_cases, points=2, agree=exact())],
    hints=(
        "Compare two times: made once and stored, or made again for each use.",
        "Stored: it is written once and read for each use; the arithmetic overlaps with that. "
        "Again: the arithmetic, once for each use, and no traffic.",
        "uses * flop / rate < max(flop / rate, (1 + uses) * size / bandwidth).",
    ),
)
### BEGIN HIDDEN
pays.wrong += [
    Wrong(
        "always",
        lambda flop, size, uses, rate, bandwidth: True,
        says="Fusing saves traffic, but it repeats work. With dear work and many uses it loses.",
    ),
    Wrong(
        "only when it is used once",
        lambda flop, size, uses, rate, bandwidth: uses == 1,
        says="Cheap work may be repeated: arithmetic is faster than memory.",
    ),
    Wrong(
        "the reads are forgotten",
        lambda flop, size, uses, rate, bandwidth: (
            uses * flop / rate < max(flop / rate, size / bandwidth)
        ),
        says="A stored intermediate is written once, and read once for each use.",
    ),
]


def more_decisions(rng):
    yield Case("another", 3e7, 4e6, 6, 19.5e12, 1.555e12, public=False)
    yield Case("another", 3e8, 4e6, 6, 19.5e12, 1.555e12, public=False)


unseen(pays, more_decisions)
### END HIDDEN

TASKS = [moved, fold, pays]
