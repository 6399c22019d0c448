"""What a task does when it really runs: a function of its inputs that returns its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hetlab.errors import HetlabError, InvalidValue, one_line

__all__ = ["kernel_of", "nothing", "outputs_of", "pack"]


def kernel_of(kernels: Mapping, task) -> Callable | None:
    """The function of a task: by its name, else by its kind of work, else None.

    Parameters
    ----------
    kernels : mapping
        From a task's name or its kind to a function ``kernel(*inputs) -> output``.  Inputs come in
        the order of ``graph.reads(task)``; a tuple gives one output for each of
        ``graph.writes(task)``, anything else is the output of all of them.
    task : Task
    """
    found = kernels.get(task.name, kernels.get(task.kind) if task.kind else None)
    if found is not None and not callable(found):
        raise InvalidValue(f"the kernel of task {task.name!r}", "a function", found)
    return found


def nothing(*inputs) -> None:
    """The kernel of a task that has none: it makes bytes of the right number, and takes no time."""


def outputs_of(result, sizes: list[float]) -> list:
    """One output for each piece of data that a task makes.

    Raises
    ------
    InvalidValue
        When a kernel returned a tuple of another length.
    """
    if result is None:
        return [np.zeros(int(size), np.uint8) for size in sizes]
    if isinstance(result, tuple):
        if len(result) != len(sizes):
            raise InvalidValue("a kernel's outputs", f"{len(sizes)} as the graph says", len(result))
        return list(result)
    return [result] * len(sizes)


def pack(kernels: Mapping) -> bytes:
    """Kernels as bytes that another Python process can load.

    Raises
    ------
    HetlabError
        For a function that cannot be sent, with the way on.
    """
    import pickle

    try:
        from cloudpickle import dumps  # functions of a notebook go by value
    except ImportError:
        dumps = pickle.dumps
    try:
        return dumps(dict(kernels))
    except Exception as error:
        what = f"a kernel cannot be sent to another process: {one_line(error)}"
        do = "Define it in a module, or install cloudpickle."
        raise HetlabError(what, do=do) from None
