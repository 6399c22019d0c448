"""``%load_ext hetlab``: what a notebook switches on in its first cell."""

from __future__ import annotations

import os
import sys

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
        use_virtual_gpu()
    except HetlabError as reason:  # a lesson on CPUs goes on without it
        click.echo(f"hetlab: {reason}", err=True)


def _prefer_forkable_threads() -> None:
    """Checks run a learner's function in a fork, where GNU OpenMP's threads do not live on."""
    order = "workqueue tbb omp"
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", order)
    numba = sys.modules.get("numba")
    if numba is not None:  # it read its settings when it was imported
        numba.config.THREADING_LAYER_PRIORITY = order.split()
