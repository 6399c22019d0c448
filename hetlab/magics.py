"""``%load_ext hetlab``: what a notebook switches on in its first cell."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import os
import re
import sys
import warnings

import click

from .errors import HetlabError

__all__ = ["load_ipython_extension"]


def load_ipython_extension(ipython) -> None:
    """Register rich displays, and run CUDA kernels on the virtual GPU where there is no GPU.

    Parameters
    ----------
    ipython : IPython.core.interactiveshell.InteractiveShell
    """
    from .vgpu import use_virtual_gpu
    from .widgets.display import register

    _prefer_forkable_threads()
    register(ipython)
    try:
        if use_virtual_gpu().virtual:
            # Numba's advice for a real GPU: larger grids, no arrays of the host.
            warnings.filterwarnings("ignore", message="Grid size|Host array used in CUDA kernel")
    except HetlabError as reason:  # a lesson on CPUs goes on without it
        click.echo(f"hetlab: {reason}", err=True)


def _prefer_forkable_threads() -> None:
    """Checks run a learner's function in a fork, where GNU OpenMP's threads do not live on.

    Of the two that do, TBB's start at once; those of Numba's own work queue start milliseconds
    late, which hides what threads gain on short work.
    """
    order = "tbb workqueue omp"
    _load_tbb()
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", order)
    numba = sys.modules.get("numba")
    if numba is not None:  # it read its settings when it was imported
        numba.config.THREADING_LAYER_PRIORITY = order.split()


def _load_tbb() -> None:
    """Load TBB from the environment: pip puts it into a folder where the loader does not look."""
    if not sys.platform.startswith("linux"):
        return
    try:
        files = importlib.metadata.files("tbb") or []
    except importlib.metadata.PackageNotFoundError:
        return
    library = next((f for f in files if re.fullmatch(r"libtbb\.so\.\d+", f.name)), None)
    if library is not None:
        # One that does not load leaves the work queue, which always works.
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(library.locate()), mode=ctypes.RTLD_GLOBAL)
