"""Which PTX a driver can read.

A driver translates PTX up to the version of its own CUDA release.  A newer
compiler writes newer PTX, which an older driver refuses as a whole.

Source: NVIDIA, PTX ISA, "Release History", the table of PTX and CUDA releases.
"""

from __future__ import annotations

__all__ = ["cuda_for", "newest_ptx"]

# (first CUDA release, newest PTX it reads); CUDA 12.6 brought no new PTX.
_HISTORY = [
    *(((11, minor), (7, minor)) for minor in range(9)),
    *(((12, minor), (8, minor)) for minor in range(6)),
    ((12, 7), (8, 6)),
    ((12, 8), (8, 7)),
    ((12, 9), (8, 8)),
    *(((13, minor), (9, minor)) for minor in range(6)),
]


def newest_ptx(cuda: tuple[int, int]) -> tuple[int, int] | None:
    """Newest PTX version that a driver of this CUDA version reads.

    Parameters
    ----------
    cuda : (major, minor)
        As the driver reports it.

    Returns
    -------
    (major, minor) or None
        None for a CUDA release before 11.0.  For a release after the last one of the
        table, the last row: a newer driver reads all older PTX.

    Examples
    --------
    >>> newest_ptx((12, 4))
    (8, 4)
    """
    return max((ptx for release, ptx in _HISTORY if release <= tuple(cuda)), default=None)


def cuda_for(ptx: tuple[int, int]) -> tuple[int, int] | None:
    """First CUDA release that reads this PTX version; None when the table ends before it."""
    return min((release for release, reads in _HISTORY if reads >= tuple(ptx)), default=None)
