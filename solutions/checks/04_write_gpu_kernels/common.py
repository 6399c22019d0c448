"""What the checks of lesson 04 share: shapes of launches, and when two results agree."""

import hetlab
from hetlab.grading import close

# Wrong kernels run beside the learner's.
hetlab.use_virtual_gpu()

FLOAT32 = close(rtol=1e-5, atol=1e-5)


def line(n, block, spare=0):
    """Grid and block of a launch with at least one thread for each of n elements."""
    return {"grid": max(1, -(-n // block)) + spare, "block": block}


def plane(shape, block=(16, 8)):
    """The same for an image of (rows, columns): x covers the columns."""
    rows, columns = shape
    return {"grid": (-(-columns // block[0]), -(-rows // block[1])), "block": block}


def unseen(task, cases):
    """Add inputs that feedback never shows."""
    judged = task.criteria[0]
    known = judged.cases

    def all_cases(rng):
        yield from known(rng)
        yield from cases(rng)

    judged.cases = all_cases
