"""``%load_ext hetlab``: what a notebook switches on in its first cell."""

from __future__ import annotations

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

    register(ipython)
    try:
        if use_virtual_gpu().virtual:
            # Numba's advice for a real GPU: larger grids, no arrays of the host.
            warnings.filterwarnings("ignore", message="Grid size|Host array used in CUDA kernel")
    except HetlabError as reason:  # a lesson on CPUs goes on without it
        click.echo(f"hetlab: {reason}", err=True)
