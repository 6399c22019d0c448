"""Checks of lesson 03, speed up the CPU.

Every specification is slow and clear.  What a task is compared with in speed is the slow version of
the same thing, so nothing here is an answer; wrong answers and unseen inputs stay with the author.
"""

import functools


@functools.cache
def compiled(function):
    """Numba is loaded when a reference is timed, not when this file is read."""
    import numba

    return numba.njit(function)
