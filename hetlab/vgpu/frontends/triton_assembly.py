"""The stages of Triton's compiler for one kernel, each line with the source line it came from."""

from __future__ import annotations

import re
import subprocess
import tempfile
import warnings
from pathlib import Path

from hetlab.errors import one_line
from hetlab.vgpu.assembly import Assembly, Row
from hetlab.vgpu.frontends.triton_adapter import TritonLaunch, prepare, virtual
from hetlab.vgpu.frontends.triton_source import home, settled
from hetlab.vgpu.ptx_lex import settled as without_asm_lines

__all__ = ["compiled"]

AMD = "gfx942"


def compiled(kernel, args: tuple, grid, constants: dict) -> Assembly:
    """Compile for NVIDIA and AMD; see :func:`hetlab.vgpu.assembly.assembly`."""
    import triton
    from triton.backends.compiler import GPUTarget

    prepare()
    while hasattr(kernel, "configs"):  # an autotuner
        config = getattr(kernel, "best_config", None) or kernel.configs[0]
        constants, kernel = {**constants, **config.all_kwargs()}, kernel.fn
    with virtual():
        made = TritonLaunch(kernel, grid).compile(*args, **constants)
    function = made.src.fn
    file, first, last = home(function)
    ptx = settled(made.asm["ptx"], function)
    then = _Then(made.asm["ttir"], function)
    stages = {name: then.settled(_mlir(made.asm[name], then)) for name in ("ttir", "ttgir")}
    stages["ptx"] = _directives(without_asm_lines(ptx), file)
    missing = {}
    try:
        stages["sass"] = then.settled(_sass(made.asm["cubin"], then.file))
    except (OSError, subprocess.SubprocessError, RuntimeError) as cause:
        missing["sass"] = one_line(cause)
    options = {name: getattr(made.metadata, name) for name in ("num_warps", "num_stages")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = triton.compile(made.src, target=GPUTarget("hip", AMD, 64), options=options)
        then = _Then(other.asm["ttir"], function)
        stages["amdgcn"] = then.settled(_directives(other.asm["amdgcn"], then.file))
    except Exception as cause:  # what NVIDIA's part of Triton knows, AMD's need not
        missing["amdgcn"] = one_line(cause)
    return Assembly(function.__name__, file, (first, last), stages, missing, f"sm_80 and {AMD}")


_REFERENCE = re.compile(r"\s*loc\((#loc\w*|unknown)\)")
_PLACE = re.compile(r"^(#loc\w*) = loc\((.*)\)$", re.M)


class _Then:
    """Where a kernel stood when its code was compiled, which Triton's cache may have long known.

    Parameters
    ----------
    ttir : str
        Its own location, ``#loc``, is that of the function's ``def``.
    function : triton.runtime.jit.JITFunction
        The kernel as it is now.
    """

    def __init__(self, ttir: str, function) -> None:
        self.file, first, last = home(function)
        self.shift = 0
        found = re.search(r'^#loc = loc\("([^"]*)":(\d+):', ttir, re.M)
        if found:
            self.file, self.shift = found[1], function.def_file_line_number - int(found[2])
        self.lines = range(first - self.shift, last + 1 - self.shift)

    def settled(self, rows: list[Row]) -> list[Row]:
        """Rows with the lines that the kernel's source has now."""
        if not self.shift:
            return rows
        shifted = {line: line + self.shift for line in self.lines}
        return [Row(row.text, shifted.get(row.line, row.line)) for row in rows]


def _mlir(text: str, then: _Then) -> list[Row]:
    """TTIR or TTGIR without its table of places."""
    table = dict(_PLACE.findall(text))
    plain = re.compile(rf'"{re.escape(then.file)}":(\d+):')

    def line_of(name: str, depth: int = 0) -> int:
        body = table.get(name, "")
        for found in plain.finditer(body):
            if int(found[1]) in then.lines:
                return int(found[1])
        inner = re.findall(r"#loc\w*", body) if depth < 20 else []
        return next(filter(None, (line_of(i, depth + 1) for i in inner)), 0)

    rows = []
    for row in text.splitlines():
        if not row.strip() or row.startswith("#loc"):
            continue
        names = _REFERENCE.findall(row)
        rows.append(Row(_REFERENCE.sub("", row).rstrip(), line_of(names[-1]) if names else 0))
    return rows


_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+))?")
_SCAFFOLD = re.compile(
    r"^\s*(\.(?:loc|file|section|b8|b32|b64|cfi\w*|p2align|size|type|ident|"
    r"amdhsa\w*|end_amdhsa\w*|amdgpu_metadata|end_amdgpu_metadata|addrsig\w*|"
    r"amdgcn_target|globl|protected|text|set|byte|long|quad|short|asciz|ascii|"
    r"uleb128)\b|//|;|\$L__tmp|\$L__func|\.Ltmp|\.Lfunc|\.LB?info|\})"
)


def _directives(text: str, file: str) -> list[Row]:
    """Assembly with ``.loc`` directives: instructions alone, with their lines."""
    text = re.split(r"^\s*\.section\s+\.debug|^\s*\.amdgpu_metadata", text, flags=re.M)[0]
    name = Path(file).name
    numbers = {
        n for n, places in re.findall(r'^\s*\.file\s+(\d+)\s+(".*)$', text, re.M) if name in places
    } or {"1"}
    rows, line, outer = [], 0, 0
    for row in text.splitlines():
        found = _LOC.match(row)
        if found:
            if found[1] in numbers:
                line = outer = int(found[2])
            elif found[3] in numbers:
                line = outer = int(found[4])
            else:  # inlined twice over: the call stands in the learner's line before
                line = outer
            continue
        if not row.strip() or _SCAFFOLD.match(row):
            continue
        instruction = row[:1] in " \t" and not row.strip().startswith(".")
        text = re.split(r"\s//|\s;\s", row.expandtabs(4))[0].rstrip()
        if text.strip():
            rows.append(Row(text, line if instruction else 0))
    return rows


_SASS_PLACE = re.compile(r'//## File "([^"]*)", line (\d+)(.*)')


def _sass(cubin: bytes, file: str) -> list[Row]:
    """The chip's own instructions, by NVIDIA's disassembler in Triton's wheel."""
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as held:
        held.write(cubin)
        held.flush()
        command = [knobs.nvidia.nvdisasm.path, "-g", "-c", held.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    rows, line, name = [], 0, Path(file).name
    for row in done.stdout.splitlines():
        found = _SASS_PLACE.search(row)
        if found:
            if Path(found[1]).name == name:
                line = int(found[2])
            continue
        code = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s*(.*?;)", row)
        if code:
            rows.append(Row(f"    {code[1]}", line))
        elif re.match(r"\s*\.L_x_\w+:", row):
            rows.append(Row(row.strip()))
    return rows
