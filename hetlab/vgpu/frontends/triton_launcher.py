"""One compiled Triton kernel on the virtual GPU: its parameters, its launch, its report."""

from __future__ import annotations

import struct

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.vgpu import tile_words
from hetlab.vgpu.device import Origin, device
from hetlab.vgpu.frontends.triton_arguments import Tensor, check_strides
from hetlab.vgpu.frontends.triton_source import home, settled
from hetlab.vgpu.launch import ArrayArg, Kernel
from hetlab.vgpu.unwritten import blank_results, left_out

__all__ = ["Function", "Launcher"]

_CODES = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
          "u64": "Q", "fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}  # fmt: skip


class Function:
    """Stands for a loaded kernel; its PTX comes from Triton's cache.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        self.name, self.ptx = name, ""
        self._kernel: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        if self._kernel is None:
            self._kernel = Kernel(self.ptx, self.name)
        return self._kernel


class Launcher:
    """Launches one compiled kernel; called as Triton calls its CUDA launcher.

    Parameters
    ----------
    src : triton.compiler.ASTSource
    metadata : tuple
        What Triton's compiler says of the kernel.
    """

    def __init__(self, src, metadata) -> None:
        self.metadata = metadata
        self.signature = list(src.signature.values())
        function = getattr(src, "fn", None)
        self.names = list(getattr(function, "arg_names", src.signature))
        self.python = function
        self._origin: Origin | None = None

    def origin(self, function: Function) -> Origin:
        """Where the kernel came from, for its report."""
        if self._origin is None:
            self._origin = Origin(
                getattr(self.python, "__name__", function.name),
                "Triton",
                function.ptx,
                function.name,
                home=home(self.python),
                names=lambda: {"global_smem": "shared memory"},
                unit="program",
                words=tile_words.reword,
            )
        return self._origin

    def __call__(self, x, y, z, stream, function, packed, about, enter, leave, *args) -> None:
        if self._origin is None:
            function.ptx = settled(function.ptx, self.python)
        if x * y * z <= 0:  # as CUDA's launcher of Triton: nothing to do
            return
        check_strides(function.name, dict(zip(self.names, args)))
        values, arrays, tensors = self._flat(args)
        scratch = []
        memory = device().memory
        try:
            for size in (self.metadata.global_scratch_size, self.metadata.profile_scratch_size):
                nbytes = size * x * y * z
                scratch.append(memory.alloc(nbytes, name="scratch memory") if nbytes else 0)
            for tensor in tensors:
                tensor.loan.mark_unwritten()
            if enter is not None:
                enter(about)
            blank = blank_results(function.kernel, arrays, memory)
            raw = device().launch(
                function.kernel,
                self.origin(function),
                (x, y, z),
                (32 * self.metadata.num_warps,),
                [*values, *scratch][: len(function.kernel.params)],
                arrays=arrays,
                dynamic_shared=self.metadata.shared,
                cooperative=self.metadata.launch_cooperative_grid,
            )
            if raw.blocks_run == raw.blocks:
                raw.warnings.extend(left_out(blank, memory))
            if leave is not None:
                leave(about)
        finally:
            for address in filter(None, scratch):
                memory.free(address)

    def _flat(self, args):
        """Parameters as the kernel counts them, and which of them are arrays."""
        values: list = []
        arrays: list[ArrayArg] = []
        tensors: list[Tensor] = []

        def pointer(value, name: str) -> None:
            if isinstance(value, Tensor):
                a, base = value.array, value.data_ptr()
                arrays.append(
                    ArrayArg(len(values), name, base, a.nbytes, a.itemsize, a.shape, a.strides)
                )
                tensors.append(value)
            else:
                base = value.data_ptr() if hasattr(value, "data_ptr") else int(value or 0)
            values.append(base)

        def walk(kind, value, name: str) -> None:
            if isinstance(kind, tuple):
                for i, (inner, item) in enumerate(zip(kind, value)):
                    walk(inner, item, f"{name}[{i}]")
            elif kind == "constexpr":
                return
            elif kind.startswith("tensordesc"):
                described(value, name)
            elif kind.startswith("*"):
                pointer(value, name)
            else:
                values.append(_packed(kind, value, name))

        def described(value, name: str) -> None:
            from triton.backends.driver import decompose_descriptor

            base, *rest = decompose_descriptor(value)
            pointer(base, name)
            rank = len(value.shape)
            kinds = ["i64"] * 2 * rank + ["u1", "u1"] + ["i32"] * rank + ["i64"] * rank
            values.extend(_packed(kind, part, name) for kind, part in zip(kinds, rest))

        for kind, value, name in zip(self.signature, args, self.names):
            walk(kind, value, name)
        return values, arrays, tensors


def _packed(kind: str, value, name: str) -> bytes:
    """A scalar's bytes, by its Triton type."""
    try:
        if kind in ("i1", "u1"):
            return bytes([bool(value)])
        if kind == "bf16":
            return (np.float32(value).view(np.uint32) >> 16).astype(np.uint16).tobytes()
        code = _CODES[kind]
        value = float(value) if code in "efd" else int(value)
        if code == "f":
            return np.float32(value).tobytes()  # struct refuses what becomes infinite
        return struct.pack(f"<{code}", value)
    except (TypeError, ValueError, struct.error, OverflowError, KeyError):
        raise InvalidValue(name, f"a number that fits the type {kind}", value) from None
