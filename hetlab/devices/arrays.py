"""``hetlab.array_module``: CuPy's arrays where a GPU is, the same code on NumPy elsewhere."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hetlab.errors import one_line

__all__ = ["ArrayModule", "array_module"]


class ArrayModule:
    """NumPy or CuPy, under one name: ``xp.zeros(5)``, ``xp.sqrt(x)``.

    Attributes
    ----------
    module : module
        The library itself.
    on_gpu : bool
        Whether its arrays lie in a GPU's memory.
    says : str
        Which one it is, and why.
    """

    def __init__(self, module: ModuleType, on_gpu: bool, says: str) -> None:
        self.module, self.on_gpu, self.says = module, on_gpu, says

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.module)})

    def __repr__(self) -> str:
        return self.says

    def to_host(self, array: Any) -> Any:
        """A NumPy array with the same values; the array itself when it is one already."""
        import numpy

        return self.module.asnumpy(array) if self.on_gpu else numpy.asarray(array)


def array_module() -> ArrayModule:
    """The array library for this machine.

    Returns
    -------
    ArrayModule
        CuPy when it is installed and finds a GPU, else NumPy.  Its text says which, and why.

    Examples
    --------
    >>> xp = hetlab.array_module()
    >>> x = xp.linspace(0, 1, 1000)
    >>> xp.to_host(x * x)
    """
    import numpy

    why = "CuPy is not installed here"
    try:
        import cupy
    except ImportError as cause:
        if getattr(cause, "name", "") != "cupy":
            why = f"CuPy does not import here ({one_line(cause)})"
    except Exception as cause:  # CuPy raises what it likes when its libraries are missing
        why = f"CuPy does not import here ({one_line(cause)})"
    else:
        try:
            found = cupy.cuda.runtime.getDeviceCount()
            name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode() if found else ""
        except Exception as cause:  # a driver that is missing or too old
            why, found = f"CuPy finds no GPU here ({one_line(cause)})", 0
        else:
            why = "CuPy finds no GPU here"
        if found:
            says = f"xp is CuPy {cupy.__version__}: its arrays lie in the memory of {name}."
            return ArrayModule(cupy, True, says)
    says = (
        f"xp is NumPy {numpy.__version__}, because {why}: its arrays lie in main memory, and the "
        "CPU computes. The same lines run on a GPU where CuPy finds one."
    )
    return ArrayModule(numpy, False, says)
