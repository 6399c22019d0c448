"""Arguments of a Triton launch: host arrays that Triton takes for tensors of a device.

Triton asks a tensor for ``data_ptr()``, ``dtype`` and, around autotuning, for ``zero_``,
``clone`` and ``copy_``.  An array is lent to the virtual GPU without a copy while something
holds it, and arrays that share memory on the host share it there.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.vgpu.device import device

__all__ = ["Tensor", "as_tensor", "check_strides", "wrap"]

_CPU = 1  # DLPack's device type kDLCPU


class _Loan:
    """Memory of one host array that the virtual GPU sees; given back with its last user."""

    known: dict[int, weakref.ref[_Loan]] = {}  # noqa: RUF012 - one register for the process
    lock = threading.RLock()

    def __init__(self, owner: np.ndarray) -> None:
        self.owner = owner
        self.first = owner.__array_interface__["data"][0]
        self.address = device().memory.adopt(owner)
        weakref.finalize(self, device().memory.free, self.address).atexit = False

    @classmethod
    def of(cls, array: np.ndarray) -> _Loan:
        owner = array
        while isinstance(owner.base, np.ndarray) and owner.base.dtype != object:
            owner = owner.base
        if owner.flags.writeable and not array.flags.writeable:
            owner = array  # what may not be written stays so
        with cls.lock:
            held = cls.known.get(id(owner))
            loan = held() if held is not None else None
            if loan is None or loan.owner is not owner:
                loan = cls(owner)
                cls.known[id(owner)] = weakref.ref(loan)
                for key in [key for key, held in cls.known.items() if held() is None]:
                    del cls.known[key]
        return loan

    def mark_unwritten(self) -> None:
        """Let the sanitiser know what nobody has written into an array of ``hetlab.empty``."""
        from hetlab.vgpu.uninitialised import written

        known = written(self.owner)
        allocation = device().memory.find(self.address)
        allocation.written = None if known is None or known.all() else known


class Tensor:
    """A host array with what Triton asks of a tensor; else it behaves as the array.

    Parameters
    ----------
    array : numpy.ndarray
    """

    def __init__(self, array: np.ndarray) -> None:
        self.array, self._loan = array, None

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def loan(self) -> _Loan:
        if self._loan is None:
            self._loan = _Loan.of(self.array)
        return self._loan

    def data_ptr(self) -> int:
        """The device address of element 0."""
        loan = self.loan
        return loan.address + self.array.__array_interface__["data"][0] - loan.first

    def ptr_range(self) -> int:
        return self.array.nbytes

    def stride(self, dim: int | None = None):
        """Distance between neighbours in elements, as PyTorch counts it."""
        found = tuple(step // self.array.itemsize for step in self.array.strides)
        return found if dim is None else found[dim]

    def numel(self) -> int:
        return self.array.size

    def element_size(self) -> int:
        return self.array.itemsize

    def is_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def zero_(self) -> Tensor:
        self.array[...] = 0
        return self

    def clone(self) -> np.ndarray:
        return self.array.copy()

    def copy_(self, value) -> Tensor:
        self.array[...] = value.array if isinstance(value, Tensor) else value
        return self

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return f"<{self.array.dtype} array of shape {self.array.shape} on the virtual GPU>"

    def __getattr__(self, name: str):
        if name in ("array", "_loan"):  # asked for by copy and pickle before __init__
            raise AttributeError(name)
        return getattr(self.array, name)


def as_tensor(value, name: str):
    """A value as Triton takes it: arrays become tensors, NumPy scalars Python's.

    Raises
    ------
    InvalidValue
        For lists, and arrays of a type that Triton has not.
    """
    if isinstance(value, np.generic) and not hasattr(value, "__cuda_array_interface__"):
        return _scalar(value, name)
    if value is None or isinstance(value, bool | int | float | str | Tensor):
        return value
    if isinstance(value, tuple):
        items = [as_tensor(item, f"{name}[{i}]") for i, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, list):
        raise InvalidValue(
            name, "an array or a number", value, do=f"Write np.asarray({name}, np.float32)."
        )
    array = _host_array(value, name)
    if array is None:
        return value
    _check_type(array, name)
    return Tensor(array)


def _host_array(value, name: str) -> np.ndarray | None:
    """The memory of an array-like object as a NumPy array; None when it is none."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, type):
        return None
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        if int(value.__dlpack_device__()[0]) != _CPU:
            raise InvalidValue(name, "an array in the host's memory", type(value).__name__)
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as cause:
            raise InvalidValue(
                name, "an array that NumPy can take over", f"{type(value).__name__}: {cause}"
            ) from None
    return None


def _scalar(value: np.generic, name: str):
    if value.dtype.kind in "biuf":
        return value.item()
    try:
        return float(value)  # ml_dtypes' scalars
    except (TypeError, ValueError):
        raise InvalidValue(name, "an array or a real number", value) from None


def _check_type(array: np.ndarray, name: str) -> None:
    from triton._utils import type_canonicalisation_dict as known

    if str(array.dtype) in known:
        return
    if array.dtype.newbyteorder("=").name in known:
        do = f"Write {name}.astype({array.dtype.newbyteorder('=').name!r})."
    elif array.dtype.kind == "c":
        do = "Pass the real and the imaginary part as two arrays."
    else:
        do = "Convert it with .astype(np.float32), or another type of Triton."
    raise InvalidValue(name, "an array of a type that Triton has", array.dtype, do=do)


def wrap(names: Iterable[str], args: tuple, named: dict) -> tuple[tuple, dict]:
    """The arguments of a launch with arrays as tensors; one array stays one tensor."""
    names = list(names)
    names += [f"argument {i}" for i in range(len(names), len(args))]
    seen: dict[int, Tensor] = {}

    def one(value, name: str):
        if id(value) in seen:
            return seen[id(value)]
        tensor = as_tensor(value, name)
        if isinstance(tensor, Tensor):
            seen[id(value)] = tensor
        return tensor

    return (
        tuple(one(value, name) for value, name in zip(args, names)),
        {name: one(value, name) for name, value in named.items()},
    )


def check_strides(kernel: str, named: dict) -> None:
    """Refuse an array whose memory has gaps when no argument tells the kernel of them.

    Triton passes the address of the first element and nothing else.

    Raises
    ------
    InvalidValue
        With both ways on.
    """
    numbers = None
    for name, value in named.items():
        array = value.array if isinstance(value, Tensor) else None
        if array is None or array.flags.c_contiguous or not array.size:
            continue
        if numbers is None:
            numbers = {int(n) for n in named.values() if isinstance(n, int)} | {1}
        steps = [s // array.itemsize for n, s in zip(array.shape, array.strides) if n > 1]
        if numbers.issuperset(steps):
            continue
        raise InvalidValue(
            name,
            "contiguous, or have its strides among the arguments",
            f"shape {array.shape} with strides of {', '.join(map(str, steps))} elements",
            where=f"{kernel} gets the address of the first element only",
            do=f"Pass np.ascontiguousarray({name}), or pass "
            f"{name}.strides[0] // {name}.itemsize (elements) and use it in the kernel.",
        )
