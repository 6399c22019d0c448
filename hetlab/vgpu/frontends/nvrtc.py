"""CUDA C++ through NVRTC: source text in, a kernel that launches like CuPy's out."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from hetlab.errors import HetlabError, InvalidValue, UnknownName, optional

__all__ = [
    "CompileError",
    "capabilities",
    "compile_cuda_cpp",
    "cuda_ptx",
    "demangle_variable",
    "parameter_names",
    "variable_names",
]

ARCHITECTURE = "compute_80"


class CompileError(HetlabError):
    """NVRTC refused the source; the text holds its messages with the learner's lines."""

    def __init__(self, messages: list[tuple[int, str]], source: str, log: str) -> None:
        lines = source.splitlines()
        told = []
        for number, message in messages[:5]:
            shown = lines[number - 1].strip() if 0 < number <= len(lines) else ""
            told.append(f"line {number}: {message}" + (f"\n    {shown}" if shown else ""))
        if told:
            told.append(f"{len(messages)} error{'s' if len(messages) > 1 else ''} in all")
        super().__init__(
            "the CUDA C++ source does not compile:\n  " + "\n  ".join(told or [log.strip()]),
            do="Mend the first one; later ones often follow from it.",
        )
        self.messages, self.log = messages, log


_MESSAGE = re.compile(r"^[^\n(]*\((\d+)\): (?:catastrophic )?error(?: #\S+)?: ([^\n]*)", re.M)


def _includes() -> list[str]:
    """Folders of the CUDA headers that come with the pip packages."""
    import importlib.util

    spec = importlib.util.find_spec("nvidia")
    found = []
    for root in spec.submodule_search_locations or () if spec else ():
        for folder in sorted(Path(root).glob("cu*/include")):
            found += [str(folder), str(folder / "cccl")]
    return found


def _call(result, log: str = ""):
    status, *values = result
    if int(status):
        raise HetlabError(f"NVRTC failed with {status.name}", where=log.strip()[:500])
    return values[0] if values else None


# printf, assert and the functions of math.h are built into NVRTC, which has no such headers;
# programs that were written for nvcc include them.
_BUILT_IN = (b"cstdio", b"stdio.h", b"cassert", b"assert.h", b"cmath", b"math.h")


@functools.lru_cache(maxsize=128)
def compile_cuda_cpp(
    source: str,
    name: str,
    options: tuple[str, ...] = (),
    file: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    architecture: str = ARCHITECTURE,
) -> tuple[str, str]:
    """Compile CUDA C++ to PTX.

    Parameters
    ----------
    source : str
        CUDA C++.
    name : str
        The kernel: its plain name, or a C++ expression such as ``scale<float>``.
    options : tuple of str
        More options of NVRTC, as in ``("--use_fast_math",)``.
    file : str
        What the lines of the source are said to belong to; ``<name>.cu`` by default.
    headers : tuple of (str, str)
        Headers by name and text, found before those on disk.
    architecture : str
        ``compute_`` and the compute capability without its point.

    Returns
    -------
    ptx, entry : str
        The module, and the kernel's name in it.

    Raises
    ------
    CompileError
        With NVRTC's messages, when the source does not compile.
    MissingLibrary
        When NVRTC is not installed.
    """
    nvrtc = optional("cuda.bindings.nvrtc", "cuda", "compile CUDA C++")
    file = file or f"{re.split('[<(]', name)[0] or 'kernel'}.cu"
    try:
        given = dict.fromkeys(_BUILT_IN, b"")
        given |= {header.encode(): text.encode() for header, text in headers}
        program = _call(
            nvrtc.nvrtcCreateProgram(
                source.encode(), file.encode(), len(given), list(given.values()), list(given)
            )
        )
    except HetlabError:
        raise
    except Exception as cause:  # the library itself is missing: a kind of its own, by release
        raise HetlabError(
            f"NVRTC did not start: {str(cause).splitlines()[0]}",
            do="Install it with: pip install 'hetlab[cuda]'",
        ) from cause
    try:
        if name:
            _call(nvrtc.nvrtcAddNameExpression(program, name.encode()))
        flags = [f"--gpu-architecture={architecture}", "-lineinfo"]
        flags += [f"--include-path={folder}" for folder in _includes()]
        flags += list(options)
        coded = [flag.encode() for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(coded), coded)
        # Not b" " * size: for the empty log's single byte that is Python's one and only b" ", and
        # NVRTC writes a NUL into it; from then on print(1, 2) separates with NULs.
        log = bytes(_call(nvrtc.nvrtcGetProgramLogSize(program)))
        _call(nvrtc.nvrtcGetProgramLog(program, log))
        text = log.decode(errors="replace").strip("\0 \n")
        if int(status):
            raise _explain(text, source, name)
        code = bytes(_call(nvrtc.nvrtcGetPTXSize(program)))
        _call(nvrtc.nvrtcGetPTX(program, code))
        entry = _call(nvrtc.nvrtcGetLoweredName(program, name.encode())).decode() if name else ""
        return code.decode().strip("\0"), entry
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def capabilities() -> tuple[str, ...]:
    """The compute capabilities that the installed NVRTC compiles for, the oldest first."""
    nvrtc = optional("cuda.bindings.nvrtc", "cuda", "compile CUDA C++")
    return tuple(f"{v // 10}.{v % 10}" for v in _call(nvrtc.nvrtcGetSupportedArchs()))


def cuda_ptx(source: str, capability: str = "8.0") -> str:
    """The PTX of a CUDA C++ source for one compute capability.

    Parameters
    ----------
    source : str
        With ``extern "C" __global__`` before each kernel that is to be found by its name.
    capability : str
        Such as ``"8.0"``.

    Returns
    -------
    str

    Raises
    ------
    CompileError
        When the source does not compile for it.
    InvalidValue
        When the compiler does not know the capability, or knows it no more.
    """
    known = capabilities()
    if capability not in known:
        raise InvalidValue(
            "capability",
            f"one that the installed compiler knows ({', '.join(known)})",
            capability,
            do="Older GPUs need an older compiler: CUDA 12 was the last one for 5.0 to 7.0.",
        )
    return compile_cuda_cpp(source, "", architecture=f"compute_{capability.replace('.', '')}")[0]


def _explain(log: str, source: str, name: str) -> HetlabError:
    messages = [(int(number), text) for number, text in _MESSAGE.findall(log)]
    kernels = re.findall(r"__global__[^;{]*?\b(\w+)\s*\(", source)
    plain = re.split("[<(]", name)[0]
    if plain and plain not in kernels and all(plain in text for _, text in messages):
        return UnknownName("kernel", plain, kernels, where="the __global__ functions")
    return CompileError(messages, source, log)


def parameter_names(source: str, kernel: str) -> list[str]:
    """Names of a kernel's parameters as its source spells them; empty when not found."""
    source = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)
    plain = re.split("[<(]", kernel)[0]
    head = re.search(rf"__global__[^;{{]*?\b{re.escape(plain)}\s*\(", source)
    if not head:
        return []
    depth, start, parts = 0, head.end(), []
    for at in range(head.end(), len(source)):
        char = source[at]
        if char in "([<{":
            depth += 1
        elif char in ")]>}" and depth:
            depth -= 1
        elif (char == "," or char == ")") and not depth:
            parts.append(source[start:at])
            start = at + 1
            if char == ")":
                break
    names = [re.findall(r"[A-Za-z_]\w*", part.split("=")[0].split("[")[0]) for part in parts]
    return [found[-1] for found in names if found and found[-1] != "void"]


def demangle_variable(symbol: str) -> str:
    """The name of a variable inside a function: ``_ZZ4scanE4temp`` is ``temp``."""
    for match in reversed(list(re.finditer(r"E(\d+)", symbol))):
        length = int(match[1])
        name = symbol[match.end() : match.end() + length]
        if symbol.startswith("_ZZ") and len(name) == length and name.isidentifier():
            return name
    plain = re.match(r"_ZN?L?(\d+)", symbol)
    if plain:
        name = symbol[plain.end() : plain.end() + int(plain[1])]
        return name or symbol
    return symbol


def variable_names(ptx: str) -> dict[str, str]:
    """The source's names of a module's shared, global and constant variables, by symbol."""
    declared = re.findall(r"\.(?:shared|global|const)\b[^;=]*?([\w$]+)\s*(?:\[|;|=)", ptx)
    return {symbol: demangle_variable(symbol) for symbol in declared}
