"""``hetlab.use_virtual_gpu``: one call, whenever it comes, before or after the imports."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from hetlab.errors import HetlabError
from hetlab.vgpu.frontends import real_gpu

__all__ = ["Switch", "use_virtual_gpu"]


@dataclass(frozen=True)
class Switch:
    """What :func:`use_virtual_gpu` did, as a sentence."""

    text: str
    virtual: bool

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class _OnImport(importlib.abc.MetaPathFinder):
    """Installs an adapter at the end of the first import of its framework."""

    def __init__(self, framework: str, install: Callable[[], None]) -> None:
        self.framework, self.install = framework, install

    def find_spec(self, name, path, target=None):
        if name != self.framework:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def then_install(module) -> None:
            execute(module)
            self.install()

        spec.loader.exec_module = then_install
        return spec


def _install() -> None:
    from hetlab.vgpu.frontends import numba_cuda

    numba_cuda.install()


def _when_imported(framework: str, install: Callable[[], None]) -> None:
    """Install an adapter now if its framework is imported, else as soon as it will be."""
    if framework in sys.modules:
        install()
    elif not any(getattr(f, "framework", None) == framework for f in sys.meta_path):
        sys.meta_path.insert(0, _OnImport(framework, install))


def _install_tvm() -> None:
    from hetlab.vgpu.frontends import tvm_adapter

    try:
        tvm_adapter.install()
    except Exception as cause:  # a new TVM: `import tvm` must not fail for that
        import warnings

        warnings.warn(str(tvm_adapter.changed(cause)), stacklevel=2)


def use_virtual_gpu() -> Switch:
    """Run ``numba.cuda`` programs on the virtual GPU, where there is no real one.

    It may be called at any time: before or after ``from numba import cuda``, and more
    than once.  On a machine with a GPU nothing changes: launches go to the GPU, and
    ``hetlab.profile`` still uses the virtual one.

    Returns
    -------
    Switch
        A sentence that says where kernels run now.

    Raises
    ------
    HetlabError
        When Numba's simulator is loaded already, which replaces ``numba.cuda`` as a
        whole.
    """
    reason = real_gpu()
    _when_imported("tvm", _install_tvm)
    if reason is None:
        return Switch(
            "Kernels run on this machine's GPU; hetlab.profile and hetlab.sanitize run them "
            "on the virtual GPU.",
            False,
        )
    text = f"Kernels run on the virtual GPU ({reason})."
    loaded = sys.modules.get("numba.cuda")
    if loaded is None:
        # The simulator is chosen by this variable, at the import that is still to come.
        os.environ.pop("NUMBA_ENABLE_CUDASIM", None)
        if importlib.util.find_spec("numba_cuda") is None:
            return Switch(
                f"The virtual GPU is ready ({reason}), but Numba's CUDA compiler is not "
                "installed: pip install 'hetlab[cuda]'. CPU lessons need nothing of this.",
                True,
            )
        if "numba" in sys.modules:
            sys.modules["numba"].config.ENABLE_CUDASIM = 0
        _when_imported("numba.cuda", _install)
        return Switch(text, True)
    if loaded.config.ENABLE_CUDASIM:
        raise HetlabError(
            "Numba's own simulator is loaded in this process (NUMBA_ENABLE_CUDASIM=1)",
            do="Restart the kernel, without that variable or with hetlab loaded first.",
        )
    _install()
    return Switch(text, True)
