"""TVM's errors in words: wrong arguments, schedules it refuses, names that have moved."""

from __future__ import annotations

import functools
import importlib.abc
import re
import sys

from hetlab.errors import HetlabError, InvalidValue
from hetlab.vgpu.frontends.tvm_loops import require_bound

__all__ = ["TvmCompileError", "argument_error", "gist", "install", "schedule_error"]

_SCHEDULE = "make a schedule with sch = tvm.s_tir.Schedule(mod)"
_TENSOR = "make an array with tvm.runtime.tensor(numpy_array), or pass the NumPy array itself"

MOVED = {
    "tvm.tir": "tvm.tir is now tvm.tirx; its schedules are in tvm.s_tir: tvm.s_tir.Schedule(mod)",
    "tvm.nd": f"tvm.nd is gone: {_TENSOR}",
    "tvm.relay": "Relay is gone: models are tvm.relax functions now",
    "tvm.autotvm": "AutoTVM is gone: tvm.s_tir.meta_schedule searches for schedules now",
    "tvm.auto_scheduler": (
        "the auto-scheduler is gone: tvm.s_tir.meta_schedule searches for schedules now"
    ),
    "tvm.meta_schedule": "tvm.meta_schedule is now tvm.s_tir.meta_schedule",
    "tvm.dlight": "tvm.dlight is now tvm.s_tir.dlight",
    "tvm.lower": "tvm.lower is gone: print mod.script(), or hetlab.sources(mod) for the targets",
    "tvm.create_schedule": f"create_schedule is gone: {_SCHEDULE}",
    "tvm.gpu": "tvm.gpu() is now tvm.cuda()",
    "tvm.arith": "tvm.arith is now tvm.sym",
    "te.create_schedule": (
        "te.create_schedule is gone, and with it s[C].tile and s[C].bind: build the function with "
        "te.create_prim_func([A, B, C]), put it into tvm.IRModule({'main': function}), and "
        f"{_SCHEDULE}"
    ),
    "te.thread_axis": "te.thread_axis is gone: name the axis, as in sch.bind(i, 'blockIdx.x')",
    "te.Schedule": f"te.Schedule is gone: {_SCHEDULE}",
    "target.cuda": "tvm.target.cuda() is gone: write tvm.target.Target('cuda')",
    "target.create": "tvm.target.create is gone: write tvm.target.Target('cuda')",
    "Schedule.get_block": "get_block is now get_sblock: sch.get_sblock('C')",
    "Schedule.tile": "tile is gone: split both loops, then sch.reorder them",
    "Schedule.cache_local": "there is no cache_local: sch.cache_write(block, 0, 'local')",
}
"""What the names in older tutorials have become."""


class TvmCompileError(HetlabError):
    """TVM could not turn a module into code; TVM's own error is its ``__cause__``."""


# -- arguments ---------------------------------------------------------------------

_ARGUMENT = re.compile(
    r"(?:Mismatched|Invalid) (?:(?P<what>\S+?)\.)?(?P<part>dtype|ndim|shape\[\d+\]|strides|"
    r"device_type|device_id|type) on argument #(?P<at>\d+) when calling:\s+"
    r"`(?P<call>[^`]*)`(?:,\s+expected (?P<wanted>[^\n]*))?",
    re.S,
)
_COUNT = re.compile(r"Expected (\d+) arguments when calling:\s+`([^`]*)`")


def argument_error(text: str, args) -> HetlabError | None:
    """TVM's complaint about an argument with what was got; None when it is about something else."""
    told = _COUNT.search(text)
    if told:
        signature = " ".join(told[2].split())
        return InvalidValue("the arguments", f"{told[1]} values", len(args), where=signature)
    told = _ARGUMENT.search(text)
    if not told or int(told["at"]) >= len(args):
        return None
    value, part, wanted = args[int(told["at"])], told["part"], told["wanted"] or ""
    signature = " ".join(told["call"].split())
    declared = re.search(r"\((.*)\)", signature)
    names = re.findall(r"(\w+): ", declared[1]) if declared else []
    name = told["what"] or (names[int(told["at"])] if int(told["at"]) < len(names) else "argument")
    if not hasattr(value, "shape"):
        return InvalidValue(name, "an array or a tensor", value, where=signature)
    shape, kind, do = tuple(value.shape), str(value.dtype), ""
    if part == "dtype":
        got, rule = kind, f"of type {wanted}"
        do = f"Convert it: array.astype({wanted!r})."
    elif part == "strides":
        got, rule = f"strides {getattr(value, 'strides', '?')}", "contiguous in memory"
        do = "Pass np.ascontiguousarray(array)."
    elif part in ("device_type", "device_id"):
        got, rule = str(value.device), f"on the device {wanted}"
        do = "Compile for the device where the data are: target='llvm' is the CPU."
    else:
        got, rule = f"shape {shape}", f"of {wanted} dimensions"
        if part != "ndim":
            name, rule = f"{name}.{part}", wanted
    error = InvalidValue(name, rule, value, where=signature, do=do)
    error.what = f"{name} must be {rule}, got {got}"
    return error


# -- schedules ---------------------------------------------------------------------

_PRIMITIVE = re.compile(r"An error occurred in the schedule primitive '([\w-]+)'")
_MEANS = {
    "not a data parallel block iter": (
        "The loop adds up (a reduction), so its iterations depend on each other"
    ),
    "is an output block": (
        "The stage writes the function's result; nothing after it could use it inside another loop"
    ),
    "not larger than or equal to the extent": (
        "The factors multiply to less than the loop's extent; put None in place of one of them, "
        "and TVM works it out"
    ),
}


def schedule_error(text: str) -> str:
    """TVM's ScheduleError as one paragraph, before the program it is about."""
    primitive = _PRIMITIVE.search(text)
    message = re.search(r"Error message: (.*)\Z", text, re.S)
    if not primitive or not message:
        return text
    told = " ".join(message[1].split())
    program = text[: message.start()]
    for label, line in re.findall(r"# ((?:tirx|s_tir)\.\w+#\d+)\n\s*(\S[^\n]*)", program):
        loop = re.match(r"for (\w+) in", line)
        block = re.match(r"with T\.sblock\(\"(\w+)\"\)", line)
        if loop or block:
            for word in ("Loop", "loop", "Block", "block"):
                told = told.replace(f"{word} {label}", label)
            told = told.replace(label, f"loop {loop[1]}" if loop else f"block {block[1]}")
    name = primitive[1].replace("-", "_").replace("get_block", "get_sblock")
    lines = [f"sch.{name}: {told.rstrip('.')}."]
    lines += [f"{meaning}." for sign, meaning in _MEANS.items() if sign in told]
    if "Cannot find a block" in told:
        known = [x for x in re.findall(r'T\.sblock\("(\w+)"\)', program) if x != "root"]
        lines.append(f"The blocks are: {', '.join(dict.fromkeys(known)) or 'none'}.")
    return " ".join(lines)


def _readable_schedule_errors(kind: type) -> None:
    def in_words(self) -> str:
        return schedule_error(RuntimeError.__str__(self))

    def __str__(self) -> str:
        text, told = RuntimeError.__str__(self), self.in_words()
        return text if told == text else f"{told}\n\n{text}"

    def _render_traceback_(self) -> list[str]:
        return [f"ScheduleError: {self.in_words()}"]

    kind.in_words = in_words
    kind.__str__ = __str__
    kind._render_traceback_ = _render_traceback_


# -- compiling ---------------------------------------------------------------------


def _in_words(own_build, gpus):
    @functools.wraps(own_build)
    def build(mod, target=None, *args, **named):
        import tvm

        chosen = tvm.target.Target.current() if target is None else tvm.target.Target(target)
        kind = "" if chosen is None else str(chosen.kind.name)
        if kind not in gpus:
            return own_build(mod, target, *args, **named)
        if isinstance(mod, tvm.IRModule):
            require_bound(mod, gpus[kind])
        elif hasattr(mod, "body"):
            require_bound(tvm.IRModule({"main": mod}), gpus[kind])
        try:
            return own_build(mod, target, *args, **named)
        except HetlabError:
            raise
        except Exception as cause:
            raise TvmCompileError(
                f"TVM could not compile the module for {gpus[kind]}: {gist(cause)}",
                do="TVM's own text is in the error's __cause__; look at the last change of the "
                "schedule first.",
            ) from cause

    return build


_SAYS = {
    "thread_scope_ == op": (
        "two loops that belong to one kernel are bound to thread axes in an order it cannot join"
    ),
}


def gist(cause: BaseException) -> str:
    """The line of one of TVM's errors that says most."""
    text = str(cause).strip()
    for sign, meaning in _SAYS.items():
        if sign in text:
            return meaning
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    checks = [line for line in lines if "Check failed" in line or "Error" in line]
    gist = (checks or lines or [type(cause).__name__])[0]
    gist = re.sub(r"^.*?Check failed: ?\([^)]*\) ?(?:is false: )?", "", gist) or gist
    return gist.rstrip(". :")[:300]


# -- names that have moved ---------------------------------------------------------


class _Moved(importlib.abc.MetaPathFinder):
    """``from tvm import nd`` and ``import tvm.tir`` say what to write now."""

    def find_spec(self, name, path, target=None):
        if name in MOVED:
            raise ImportError(f"{MOVED[name]}.", name=name)
        return None


def _tell_moved(module, prefix: str) -> None:
    own = module.__dict__.get("__getattr__")

    def __getattr__(name: str):
        told = MOVED.get(f"{prefix}.{name}")
        if told is not None:
            raise AttributeError(f"{told}.", name=name, obj=module)
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = __getattr__


def install(tvm) -> None:
    """Put the words where TVM's own are hard to read."""
    from tvm import te, tirx
    from tvm.s_tir import Schedule, ScheduleError

    gpus = {"cuda": "CUDA"}
    tirx.build = _in_words(tirx.build, gpus)
    _readable_schedule_errors(ScheduleError)
    for module, prefix in ((tvm, "tvm"), (te, "te"), (tvm.target, "target")):
        _tell_moved(module, prefix)

    def __getattr__(self, name: str):
        told = MOVED.get(f"Schedule.{name}")
        raise AttributeError(f"{told}." if told else f"'Schedule' object has no attribute {name!r}")

    Schedule.__getattr__ = __getattr__
    sys.meta_path.insert(0, _Moved())
