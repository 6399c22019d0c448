"""What Numba's compiler output leaves out: array names and bounds, and one PTX text.

An array argument reaches the kernel flattened into numbers; here they are joined
again with the name of the Python parameter.  A shared array is a numbered symbol;
its name stands in the learner's source, on the line that the symbol's first use
carries.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from hetlab.vgpu.launch import ArrayArg

__all__ = [
    "array_args",
    "compile_linked",
    "home",
    "library_ptx",
    "merge_ptx",
    "parse_file",
    "symbol_names",
    "symbol_shapes",
]


def array_args(names: Sequence[str], types: Sequence, values: Sequence) -> list[ArrayArg]:
    """Which of a kernel's flattened arguments are arrays.

    Parameters
    ----------
    names : sequence of str
        The Python parameters.
    types : sequence of numba.cuda.types.Type
        Their Numba types.
    values : sequence
        The flattened arguments: for an array meminfo, parent, size, itemsize, data,
        shape, strides.
    """
    found: list[ArrayArg] = []
    end = 0
    for name, kind in zip(names, types):
        end = _flatten(name, kind, values, end, found)
    return found if end == len(values) else []


def _flatten(name: str, kind, values: Sequence, at: int, found: list[ArrayArg]) -> int:
    from numba.cuda import types

    if isinstance(kind, types.Array):
        size, itemsize, base = (int(value or 0) for value in values[at + 2 : at + 5])
        shape = tuple(map(int, values[at + 5 : at + 5 + kind.ndim]))
        strides = tuple(map(int, values[at + 5 + kind.ndim : at + 5 + 2 * kind.ndim]))
        found.append(ArrayArg(at + 4, name, base, size * itemsize, itemsize, shape, strides))
        return at + 5 + 2 * kind.ndim
    if isinstance(kind, types.Record):
        found.append(ArrayArg(at, name, int(values[at] or 0), kind.size, kind.size, (), ()))
        return at + 1
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            at = _flatten(f"{name}[{i}]", item, values, at, found)
        return at
    return at + (2 if kind in (types.complex64, types.complex128) else 1)


def home(function) -> tuple[str, int, int] | None:
    """File, first and last line of a Python function."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None
    return function.__code__.co_filename, first, first + len(lines) - 1


_USE = re.compile(r'@"?(_cudapy_[a-z]mem[\w.]*)"?.*!dbg !(\d+)')
_PLACE = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(([^)]*)\)", re.M)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock\w*)\(([^)]*)\)", re.M)
_FILE = re.compile(
    r'^!(\d+) = (?:distinct )?!DIFile\(directory: "([^"]*)", filename: "([^"]*)"', re.M
)


def symbol_names(llvm: str) -> dict[str, str]:
    """Names that the learner gave to shared and constant arrays, by symbol.

    Parameters
    ----------
    llvm : str
        LLVM text with line information, of all the modules of a kernel.
    """
    return {symbol: name for symbol, _, name, _ in _symbols(llvm)}


def symbol_shapes(llvm: str, function) -> dict[str, tuple[int, ...]]:
    """Shapes of the shared arrays with several axes that a function's own file makes, by symbol.

    Parameters
    ----------
    llvm : str
        As for `symbol_names`.
    function : function
        The kernel, in whose module a shape such as ``(SIDE, 33)`` finds its numbers.
    """
    scope = dict(function.__globals__)
    scope.update(zip(function.__code__.co_freevars, _cells(function)))
    here = function.__code__.co_filename
    found = {
        symbol: _shape(call, scope)
        for symbol, file, _, call in _symbols(llvm)
        if Path(file).name == Path(here).name
    }
    return {symbol: shape for symbol, shape in found.items() if len(shape) > 1}


def _cells(function) -> Iterator:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that has no value yet
            yield None


_PLAIN = (ast.Tuple, ast.Constant, ast.Name, ast.Load)


def _shape(call: ast.Call, scope: dict) -> tuple[int, ...]:
    """The shape that a call of ``shared.array`` asks for; empty when it is not plain numbers."""
    if getattr(call.func, "attr", "") != "array":
        return ()
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "shape")]
    if not given or not all(isinstance(node, _PLAIN) for node in ast.walk(given[0])):
        return ()
    try:
        code = compile(ast.Expression(given[0]), "<shape>", "eval")
        return tuple(int(length) for length in eval(code, {"__builtins__": {}}, scope))
    except (NameError, TypeError, ValueError):
        return ()


def _symbols(llvm: str) -> Iterator[tuple[str, str, str, ast.Call]]:
    """Each symbol with the file, the variable and the call that made it."""
    for module in re.split(r"^; ModuleID", llvm, flags=re.M):
        places = dict(_PLACE.findall(module))
        scopes = dict(_SCOPE.findall(module))
        files = {key: str(Path(folder, name)) for key, folder, name in _FILE.findall(module)}
        lines: dict[str, tuple[str, int]] = {}
        for symbol, place in _USE.findall(module):
            inside = places.get(place, "")
            line = re.search(r"line: (\d+)", inside)
            scope = re.search(r"scope: !(\d+)", inside)
            file = re.search(r"file: !(\d+)", scopes.get(scope[1], "")) if scope else None
            if line and file:
                lines.setdefault(symbol, (files.get(file[1], ""), int(line[1])))
        on_line: dict[tuple[str, int], list[str]] = {}
        for symbol in sorted(lines, key=lambda s: int("0" + re.search(r"\d*$", s)[0])):
            on_line.setdefault(lines[symbol], []).append(symbol)
        for (file, line), symbols in on_line.items():
            for symbol, (name, call) in zip(symbols, _assigned(file, line)):
                for spelling in {symbol, symbol.replace(".", "_$_")}:  # PTX has no dots
                    yield spelling, file, name, call


def _assigned(file: str, line: int) -> Iterator[tuple[str, ast.Call]]:
    """Names that calls of ``shared.array`` and the like are assigned to on a line."""
    tree = parse_file(file)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.AnnAssign):
            targets, value = [node.target], node.value
        elif isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        else:
            continue
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        pairs = [(targets[0], value)]
        if isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(targets[0].elts, value.elts))
        for target, call in pairs:
            if isinstance(target, ast.Name) and isinstance(call, ast.Call):
                yield target.id, call


def parse_file(file: str) -> ast.Module | None:
    """The syntax tree of a source file or of a notebook's cell."""
    source = "".join(linecache.getlines(file) or linecache.getlines(Path(file).name))
    # A cell may hold magics, which are not Python; blank lines keep the numbering.
    plain = re.sub(r"^[%!].*$", "", source, flags=re.M)
    for text in (plain, textwrap.dedent(plain)):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue
    return None


_FUNCTION = re.compile(r"^(\.[^\n{;]*\.func\b[^{;]*)\{\n.*?^\}\n?", re.M | re.S)


def _function_name(head: str) -> str:
    return re.search(r"\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", head)[1]


def _once(match: re.Match, known: set[str]) -> str:
    """A function's text, or nothing when a module before has it: the first of equals stays."""
    name = _function_name(match[1])
    if name in known:
        return ""
    known.add(name)
    return match[0]


def merge_ptx(texts: Sequence[str]) -> str:
    """Join PTX modules into one, as a linker would: one header, file numbers kept apart."""
    merged, used = [texts[0]], _last_file(texts[0])
    known = {_function_name(match[1]) for match in _FUNCTION.finditer(texts[0])}
    for text in texts[1:]:
        text = _FUNCTION.sub(lambda match: _once(match, known), text)
        body = re.sub(r"^\s*\.(?:version|target|address_size)\b.*$", "", text, flags=re.M)
        shift = used

        def moved(match: re.Match, shift: int = shift) -> str:
            return f"{match[1]}{int(match[2]) + shift}"

        if shift:
            body = re.sub(r"(^\s*\.(?:file|loc)\s+)(\d+)", moved, body, flags=re.M)
            body = re.sub(r"(\binlined_at\s+)(\d+)", moved, body)
        merged.append(body)
        used += _last_file(text)
    return "\n".join(merged)


def _last_file(text: str) -> int:
    return max((int(n) for n in re.findall(r"^\s*\.file\s+(\d+)", text, re.M)), default=0)


def library_ptx(library, capability: tuple[int, int] | None = None) -> str:
    """The PTX of a compiled Numba kernel together with everything it links.

    Parameters
    ----------
    library : numba.cuda.codegen.CUDACodeLibrary
    capability : (int, int), optional
        What to compile for; the current device when left out.
    """
    texts = list(library.get_asm_strs(cc=capability))
    linked = sorted(library._linking_files, key=str)
    for item in linked:
        data, kind, name = _linkable(item)
        if kind == "cu":
            texts.append(compile_linked(data, name))
        elif kind == "ptx":
            texts.append(data if isinstance(data, str) else data.decode().strip("\0"))
        else:  # LTO-IR and objects: let nvJitLink make one PTX of all
            return library.get_lto_ptx()
    return merge_ptx(texts)


def _linkable(item) -> tuple[str | bytes, str, str]:
    if isinstance(item, str):
        path = Path(item)
        return path.read_bytes(), path.suffix.lstrip("."), path.name
    return item.data, item.kind if isinstance(item.kind, str) else "", item.name


def compile_linked(data: str | bytes, name: str) -> str:
    """CUDA C++ that a kernel links, with Numba's own include folders."""
    from numba.cuda import core
    from numba.cuda.memory_management import nrt

    from hetlab.vgpu.frontends.nvrtc import compile_cuda_cpp

    here = Path(nrt.__file__).parent
    folders = [here, here.parent / "include" / "13"]
    folders += (core.config.CUDA_NVRTC_EXTRA_SEARCH_PATHS or "").split(":")
    options = ["--relocatable-device-code=true"]
    options += [f"--include-path={folder}" for folder in folders if str(folder)]
    source = data if isinstance(data, str) else data.decode()
    return compile_cuda_cpp(source, "", tuple(options), name or "linked.cu")[0]
