"""TVM on the virtual GPU: what its CUDA target builds is run there, where there is no GPU.

TVM lowers a module to host code (LLVM) and to CUDA source.  The seam is where the
CUDA source would become a loaded module: a small host module takes its place, whose
functions have the kernels' names and hand their arguments to :class:`DeviceCode`.
The host code stays TVM's own; its device memory is the CPU's.
All private names of TVM stand in this file.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading

from hetlab.errors import HetlabError
from hetlab.vgpu.device import CAPABILITY, SMS
from hetlab.vgpu.frontends.tvm_module import DeviceCode, KernelFacts, Parameter
from hetlab.vgpu.occupancy import limits

__all__ = [
    "ARCHITECTURE",
    "build_virtual",
    "changed",
    "device_code",
    "install",
    "on_host",
    "plain_sources",
    "versions",
]

ARCHITECTURE = "sm_{}{}".format(*CAPABILITY)

_LAUNCH = "hetlab.vgpu.tvm.launch"
_KEY = "hetlab_vgpu_key"

_codes: dict[int, tuple[DeviceCode, object]] = {}
_keys = itertools.count(1)
_building = threading.local()


def install() -> None:
    """Put the seams into the imported TVM; more than one call does no harm."""
    tvm = sys.modules["tvm"]
    if getattr(tvm, "_hetlab_seams", False):
        return
    from hetlab.vgpu.frontends import real_gpu, tvm_call, tvm_words

    ffi = sys.modules["tvm_ffi"]
    # A GPU that this TVM has no runtime for is no GPU for it.
    runtime = ffi.get_global_func("device_api.cuda", allow_missing=True) is not None
    _state.virtual = real_gpu() is not None or not runtime
    build = functools.partial(_build, ffi.get_global_func("target.build.cuda"))
    ffi.register_global_func(_LAUNCH, _launch, override=True)
    ffi.register_global_func("target.build.cuda", build, override=True)
    if _state.virtual:
        _lend_host_memory(tvm, ffi)
        _default_architecture(tvm)
    _hide_stubs(tvm)
    tvm_call.install(tvm, _state.virtual)
    tvm_words.install(tvm)
    tvm._hetlab_seams = True


class _State:
    """What :func:`install` found: whether CUDA is the virtual GPU in this process."""

    virtual = False


_state = _State()


def on_host(device_type: int) -> bool:
    """Whether memory of a DLPack device is the host's: the virtual GPU's is."""
    return device_type == 1 or (device_type == 2 and _state.virtual)


# -- building ----------------------------------------------------------------------


class plain_sources:
    """Inside, a build for CUDA gives source only: nothing that could be run."""

    def __enter__(self) -> None:
        _building.mode = "plain"

    def __exit__(self, *_) -> None:
        _building.mode = None


def build_virtual(library):
    """A library built again for the virtual GPU where CUDA is a real one.

    Returns
    -------
    library : tvm.runtime.Executable
    home : int
        DLPack's device type on which its host code expects the arrays: the CPU's, so that
        its workspace lies there too.
    """
    import tvm

    module, target, named = library._hetlab_built
    target = tvm.target.Target.current() if target is None else tvm.target.Target(target)
    described = {"host": {"kind": "llvm"}, **_plain(target.export()), "target_device_type": 1}
    target = tvm.target.Target(described)
    _building.mode = "virtual"
    try:
        return tvm.compile(module, target, **named), 1
    finally:
        _building.mode = None


def _plain(value):
    """TVM's maps and arrays as Python's."""
    if hasattr(value, "items"):
        return {str(k): _plain(v) for k, v in value.items() if str(k) != "tag"}
    if isinstance(value, (str, int, float, bool)):
        return value
    return [_plain(v) for v in value]


def _build(own_build, module, target):
    """What stands in for ``target.build.cuda``: host functions with the kernels' names."""
    import tvm
    from tvm import tirx

    cuda = own_build(module, target)
    mode = getattr(_building, "mode", None)
    if mode == "plain" or (mode is None and not _state.virtual):
        return cuda
    code = DeviceCode(cuda.inspect_source(), map(_facts, module.functions.values()))
    key = next(_keys)
    _codes[key] = code, cuda
    answer = tirx.stmt.Return(tirx.IntImm("int32", key))
    stubs = {_KEY: tirx.PrimFunc([], answer, tvm.ir.PrimType("int32"))}
    for function in module.functions.values():
        name = str(function.attrs["global_symbol"])
        params = [tirx.Var(p.name, p.ty) for p in function.params]
        params += [tirx.Var(f"extent_{i}", "int32") for i in range(len(_tags(function)))]
        call = tirx.call_packed(_LAUNCH, tirx.IntImm("int32", key), name, *params)
        stubs[name] = tirx.PrimFunc(params, tirx.Evaluate(call))
    stubs = {name: f.with_attr("global_symbol", name) for name, f in stubs.items()}
    with tvm.transform.PassContext():  # the learner's own settings are for the learner's code
        return tirx.build(tvm.IRModule(stubs), target="llvm")


def _tags(function) -> tuple[str, ...]:
    return tuple(map(str, function.attrs["tirx.kernel_launch_params"]))


def _facts(function) -> KernelFacts:
    """Names and sizes of a lowered kernel's parameters."""
    import tvm_ffi
    from tvm import tirx

    views: dict = {}  # TVM may see one pointer as several buffers

    def visit(declared) -> None:
        views.setdefault(declared.data, []).append(declared.buffer)

    stored = set()
    tvm_ffi.structural_walk(function.body, (tirx.DeclBuffer, visit))
    tvm_ffi.structural_walk(
        function.body, (tirx.BufferStore, lambda store: stored.add(str(store.buffer.name)))
    )
    scalars = {p.name: p for p in function.params if not _is_pointer(p)}
    found = []
    for p in function.params:
        if not _is_pointer(p):
            found.append(Parameter(p.name))
        elif p in views:
            first = views[p][0]
            size = functools.partial(_nbytes, views[p], scalars)
            writes = any(buffer.name in stored for buffer in views[p])
            found.append(Parameter(first.name, _itemsize(first), size, writes))
        else:  # a pointer that the kernel does not use
            found.append(Parameter(p.name.removesuffix("_ptr"), 1, lambda _: None))
    return KernelFacts(str(function.attrs["global_symbol"]), tuple(found), _tags(function))


def _is_pointer(param) -> bool:
    return "handle" in str(param.ty).lower() or "pointer" in type(param.ty).__name__.lower()


def _itemsize(buffer) -> int:
    return max(buffer.dtype.bits * buffer.dtype.lanes // 8, 1)


def _nbytes(buffers, scalars, values) -> int | None:
    """Size of the largest of some buffers, from the kernel's scalars; None when unknown."""
    import tvm_ffi
    from tvm import sym, tirx

    known = {var: tirx.IntImm(str(var.ty), int(values[name])) for name, var in scalars.items()}
    largest = 0
    for buffer in buffers:
        count = _itemsize(buffer)
        for extent in buffer.shape:
            if not isinstance(extent, tirx.IntImm):
                extent = tvm_ffi.structural_map(extent, (tirx.Var, lambda var: known.get(var, var)))
                extent = sym.Analyzer().simplify(extent)
                if not isinstance(extent, tirx.IntImm):
                    return None
            count *= int(extent)
        largest = max(largest, count)
    return largest


def _launch(key, name, *args) -> None:
    _codes[int(key)][0].launch(str(name), args)


def device_code(module) -> list[DeviceCode]:
    """The kernels behind a built module that run on the virtual GPU; empty for other modules."""
    return [_codes[key][0] for key in map(_key_of, module.imports_) if key in _codes]


def _key_of(module) -> int | None:
    if module.kind != "llvm" or not module.implements_function(_KEY):
        return None
    return int(module.get_function(_KEY)())


def _hide_stubs(tvm) -> None:
    """``lib.mod.imports[0]`` stays the CUDA module, whose source people print."""
    own = tvm.runtime.Module.imports

    def imports(self):
        found = own.fget(self)
        if not any(module.kind == "llvm" for module in found):
            return found
        return [_codes.get(_key_of(module), (None, module))[1] for module in found]

    tvm.runtime.Module.imports = property(imports, doc=own.__doc__)


# -- the device --------------------------------------------------------------------


def _lend_host_memory(tvm, ffi) -> None:
    """``tvm.cuda()`` has memory: the host's, through TVM's own interface to it."""
    host = ffi.get_global_func("device_api.cpu")
    ffi.register_global_func("device_api.cuda", lambda: host(), override=True)
    has = limits(CAPABILITY)
    known = {
        0: 1,  # exists
        1: has.threads_per_block,
        2: 32,
        3: 48 * 1024,
        4: "{}.{}".format(*CAPABILITY),
        5: "hetlab virtual GPU (sm_80)",
        6: 1_410_000,
        7: SMS,
        8: "[1024, 1024, 64]",
        9: has.registers,
        11: 13000,
        13: 40 << 20,
        14: 16 << 30,
        15: 16 << 30,
    }  # by TVM's DeviceAttrKind; the ones that are not here are None
    own = tvm.runtime.Device._GetDeviceAttr

    def attribute(self, device_type, device_id, attr_id):
        if device_type == 2:  # kDLCUDA
            return known.get(attr_id) if device_id == 0 else 0 if attr_id == 0 else None
        return own(self, device_type, device_id, attr_id)

    tvm.runtime.Device._GetDeviceAttr = attribute


def _default_architecture(tvm) -> None:
    """A CUDA target that names no architecture is for the virtual GPU's; no driver is asked."""
    own = tvm.target.Target.__init__

    def __init__(self, target, host=None):
        if isinstance(target, str) and target.strip() == "cuda":
            target = {"kind": "cuda", "arch": ARCHITECTURE}
        elif isinstance(target, dict) and target.get("kind") == "cuda":
            target = {"arch": ARCHITECTURE, **target}
        own(self, target, host)

    tvm.target.Target.__init__ = functools.wraps(own)(__init__)


def versions() -> str:
    """Versions of TVM, for an error that asks for a report."""
    from importlib import metadata

    return ", ".join(f"{n} {metadata.version(n)}" for n in ("apache-tvm", "apache-tvm-ffi"))


def changed(cause: BaseException) -> HetlabError:
    """The error for a TVM whose inside is not what this file expects."""
    from hetlab.errors import one_line

    return HetlabError(
        f"this TVM is not the one that hetlab knows: {one_line(cause)}",
        where=versions(),
        do="TVM works on the CPU; for the virtual GPU install: pip install 'hetlab[tvm]'",
    )
