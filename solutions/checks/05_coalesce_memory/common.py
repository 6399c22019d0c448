"""What the checks of lesson 05 share: budgets by arithmetic, and when two results agree."""

import hetlab
from hetlab.grading import close

# Wrong kernels run beside the learner's.
hetlab.use_virtual_gpu()

FLOAT32 = close(rtol=1e-5, atol=1e-5)
SECTOR = 32


def sectors_of(nbytes):
    """The sectors that so many bytes need at least."""
    return -(-nbytes // SECTOR)


def unseen(task, cases):
    """Add inputs that feedback never shows."""
    judged = task.criteria[0]
    known = judged.cases

    def all_cases(rng):
        yield from known(rng)
        yield from cases(rng)

    judged.cases = all_cases
