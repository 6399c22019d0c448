"""``hetlab.sources``: one operator as TVM writes it for a CPU and four kinds of GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hetlab.errors import HetlabError, InvalidValue, UnknownName, optional
from hetlab.vgpu.frontends.tvm_loops import (
    UnboundLoops,
    partly_read,
    require_bound,
    thread_extents,
)

__all__ = ["Sources", "TargetSource", "sources"]

_LANGUAGES = {
    "LLVM": "LLVM IR",
    "CUDA": "CUDA C++",
    "OpenCL": "OpenCL C",
    "Metal": "Metal Shading Language",
    "WebGPU": "WGSL",
}
# Where the first kernel begins in what TVM generates; before it stand helpers.
_KERNEL = {
    "CUDA": r'^extern "C" __global__[^;{]*\{',
    "OpenCL": r"^__kernel [^;{]*\{",
    "Metal": r"^kernel [^;{]*\{",
    "WebGPU": r"^@compute ",
}
_NAME = {
    "CUDA": r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\([^;{]*\{",
    "OpenCL": r"__kernel void (?:__attribute__\S+ )?(\w+)\([^;{]*\{",
    "Metal": r"kernel void (\w+)\(",
    "WebGPU": r"@compute @workgroup_size\([^)]*\)\s*fn (\w+)\(",
}


@dataclass(frozen=True)
class TargetSource:
    """What TVM generated for one target.

    Attributes
    ----------
    target, language : str
        As in "OpenCL", "OpenCL C".
    text : str
        The whole source; empty when there is none.
    schedule : str
        Whose schedule it is: "as given", or the rule of TVM's that bound the loops.
    missing : str
        Why there is no source, as a sentence; else empty.
    """

    target: str
    language: str
    text: str = ""
    schedule: str = "as given"
    missing: str = ""

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels; empty for LLVM."""
        pattern = _NAME.get(self.target)
        return tuple(dict.fromkeys(re.findall(pattern, self.text))) if pattern else ()

    @property
    def body(self) -> str:
        """The loops alone, without the helpers around them."""
        if self.target == "LLVM":
            return _loops_in_llvm(self.text)
        first = re.search(_KERNEL.get(self.target, r"\A"), self.text, re.M)
        return self.text[first.start() if first else 0 :].strip("\n")

    def __str__(self) -> str:
        return self.body or f"{self.target}: {self.missing}"

    def __repr__(self) -> str:
        return str(self)


class Sources(Mapping):
    """The same operator for several targets: ``sources["CUDA"]``, in any case.

    ``print(sources["CUDA"])`` prints the kernels, ``sources["CUDA"].text`` is everything.

    Attributes
    ----------
    notes : tuple of str
        What is odd about the operator: an input of which it reads only a part.
    """

    def __init__(self, found, notes=()) -> None:
        self._found = {source.target: source for source in found}
        self.notes = tuple(notes)

    def __getitem__(self, target: str) -> TargetSource:
        for name, source in self._found.items():
            if name.lower() == str(target).lower():
                return source
        raise UnknownName("target", str(target), self._found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        told = []
        for source in self._found.values():
            if source.missing:
                told.append(f"{source.target}: none. {source.missing}")
                continue
            lines = source.body.splitlines()
            kernels = f", kernels {', '.join(source.kernels)}" if source.kernels else ""
            head = f"{source.target}: {len(lines)} lines of {source.language}{kernels}"
            told.append(f"{head} ({source.schedule})")
            told += [f"    {line[:96]}" for line in lines[:6]]
            if len(lines) > 6:
                told.append(f"    ... print(sources[{source.target!r}]) shows all")
        told += self.notes
        return "\n".join(told)


def sources(mod) -> Sources:
    """Generate an operator's source for LLVM, CUDA, OpenCL, Metal and WebGPU.

    Parameters
    ----------
    mod : tvm.IRModule or tvm.tirx.PrimFunc
        Scheduled or not.  Where its loops are bound to no GPU threads, TVM's default
        schedules (dlight) bind them for the GPUs.

    Returns
    -------
    Sources
        One entry a target; a target without source says why in words.

    Raises
    ------
    InvalidValue
        When `mod` holds no function of loops.
    MissingLibrary
        Without TVM.

    Examples
    --------
    >>> print(hetlab.sources(mod)["WebGPU"])
    """
    tvm = optional("tvm", "tvm", "generate sources")
    mod = _loops_of(tvm, mod)
    bound = any(thread_extents(function) for _, function in mod.functions_items())
    found = [_for_cpu(tvm, mod, bound)]
    kinds = {"CUDA": "cuda", "OpenCL": "opencl", "Metal": "metal", "WebGPU": "webgpu"}
    found += [_for_gpu(tvm, mod, bound, name, kind) for name, kind in kinds.items()]
    notes = [note for _, function in mod.functions_items() for note in partly_read(function)]
    return Sources(found, notes)


def _loops_in_llvm(text: str) -> str:
    """The functions that compute, without argument checks and debug information."""
    kept = []
    for head, rest in re.findall(r"^(define [^\n]*)\n(.*?^\})", text, re.M | re.S):
        if " weak " in head or "@__tvm_ffi_" in head or "@__tvm_set_raised" in head:
            continue
        lines = [line for line in (head + "\n" + rest).splitlines() if "#dbg_" not in line]
        kept.append("\n".join(re.sub(r",? ?!(?:dbg|tbaa|prof) !\d+", "", line) for line in lines))
    return "\n\n".join(kept) or text.strip("\n")


def _loops_of(tvm, mod):
    if isinstance(mod, tvm.tirx.PrimFunc):
        return tvm.IRModule({"main": mod.with_attr("global_symbol", "main")})
    if not isinstance(mod, tvm.IRModule):
        raise InvalidValue(
            "mod", "a tvm.IRModule or a PrimFunc", mod, do="Pass what tvm.compile is given."
        )
    loops = {g: f for g, f in mod.functions_items() if isinstance(f, tvm.tirx.PrimFunc)}
    if not loops:
        raise InvalidValue(
            "mod",
            "a module with functions of loops (PrimFunc)",
            [str(g.name_hint) for g in mod.get_global_vars()],
            do="From a Relax model get them with tvm.relax.transform.LegalizeOps()(mod).",
        )
    return tvm.IRModule(loops)


def _for_cpu(tvm, mod, bound: bool) -> TargetSource:
    if bound:
        return TargetSource(
            "LLVM",
            _LANGUAGES["LLVM"],
            missing="This schedule binds loops to threads of a GPU. Pass the module before "
            "sch.bind(...).",
        )
    try:
        text = tvm.tirx.build(mod, target="llvm").inspect_source()
    except Exception as cause:
        return TargetSource("LLVM", _LANGUAGES["LLVM"], missing=_reason(cause))
    return TargetSource("LLVM", _LANGUAGES["LLVM"], text)


def _for_gpu(tvm, mod, bound: bool, name: str, kind: str) -> TargetSource:
    from tvm.s_tir import dlight

    from hetlab.vgpu.frontends.tvm_adapter import ARCHITECTURE, plain_sources

    described = {"kind": kind, "arch": ARCHITECTURE} if kind == "cuda" else {"kind": kind}
    target = tvm.target.Target(described)
    gpu = dlight.gpu
    # Without dlight's rule for matmuls: it unrolls to a thousand lines, and the one for Metal
    # crashes the process (apache-tvm 0.27.0.post1, 128 x 128 in fp32).
    rules = {
        "dlight's schedule": [gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()],
        "dlight's fallback": [gpu.Fallback()],
    }
    failures = []
    for schedule, chosen in {"as given": None}.items() if bound else rules.items():
        try:
            with target, plain_sources():
                scheduled = tvm.IRModule(dict(mod.functions_items()))  # dlight writes into it
                if chosen is not None:
                    scheduled = dlight.ApplyDefaultSchedule(*chosen)(scheduled)
                require_bound(scheduled, name)
                modules = tvm.tirx.build(scheduled, target=target).imports
                text = "\n".join(module.inspect_source() for module in modules)
        except Exception as cause:
            failures.append(cause)
            continue
        return TargetSource(name, _LANGUAGES[name], text, schedule)
    return TargetSource(name, _LANGUAGES[name], missing=_reason(failures[-1]))


def _reason(cause: BaseException) -> str:
    from hetlab.vgpu.frontends.tvm_words import gist

    if isinstance(cause, UnboundLoops):
        return str(cause)
    if isinstance(cause, HetlabError):
        return f"{cause.what}."
    return f"TVM stops with: {gist(cause)}."
