"""Words in a cell that have no business in an exercise: a place to look, never a verdict.

The sandbox does not depend on this.  It tells an instructor which of three hundred
notebooks to open; each of these words also has honest uses, and none costs a point.
"""

from __future__ import annotations

import ast
import re

__all__ = ["suspicions"]

# Parts of hetlab that lessons import; the others are its inside.
_TAUGHT = ("hetlab.sched", "hetlab.widgets", "hetlab.models")
_MODULES = {
    "atexit": "runs code at the end of the process",
    "builtins": "reaches into Python's built-in names",
    "ctypes": "reaches into memory",
    "cffi": "reaches into memory",
    "gc": "searches the process for objects",
    "inspect": "looks at other code's frames or source",
    "mmap": "reaches into memory",
    "multiprocessing": "starts processes",
    "pickle": "makes pickles",
    "psutil": "looks at processes",
    "requests": "uses the network",
    "resource": "changes limits",
    "signal": "changes signals",
    "socket": "uses the network",
    "subprocess": "starts processes",
    "threading": "starts threads",
    "urllib": "uses the network",
    "_thread": "starts threads",
}
_CALLS = {
    "_getframe": "looks at other code's frames",
    "_current_frames": "looks at other code's frames",
    "addaudithook": "watches the interpreter",
    "ask_exit": "changes the notebook's shell",
    "ast_transformers": "changes how cells are compiled",
    "environ": "looks at the environment",
    "_exit": "ends the process",
    "closerange": "closes files it did not open",
    "execv": "replaces the process",
    "fork": "starts processes",
    "get_ipython": "changes the notebook's shell",
    "input_transformers_cleanup": "changes how cells are read",
    "input_transformers_post": "changes how cells are read",
    "kill": "sends signals",
    "meta_path": "changes what an import gives",
    "settrace": "follows other code",
    "setprofile": "follows other code",
    "showtraceback": "changes how errors are shown",
    "symlink": "makes links",
    "system": "starts processes",
    "__eq__": "redefines what is equal",
    "__del__": "runs code when objects go",
    "__reduce__": "runs code when it is unpickled",
    "__array_function__": "redefines NumPy's functions",
    "__array_ufunc__": "redefines NumPy's functions",
}
_TEXT = {
    r"/proc\b|/dev/shm|/sys/": "names files of the system",
    r"""["']/\w+""": "names a place outside its own folder",
    r"\bsolutions?\b.{0,3}(/|checks)|track\.toml": "names the track's solutions",
    r"LD_PRELOAD": "changes how programs are loaded",
    r"(?m)^\s*(%%(bash|sh|script)|!)": "runs a shell",
    r"\.visible\s+\.entry|\.version\s+\d|\.ptx\s*=": "holds PTX that was written by hand",
}
_BUILDERS = ("setattr", "exec", "eval", "__import__", "compile")
_PATCHED = re.compile(r"^(hetlab|np|numpy|time|builtins|cuda|sys|os|math)\b")


def suspicions(source: str) -> list[str]:
    """What a cell does that an instructor may want to look at, as ends of "cell 3 ..."."""
    found = [what for pattern, what in _TEXT.items() if re.search(pattern, source)]
    for text in (source, re.sub(r"(?m)^\s*[%!].*$", "pass", source)):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            found += _of(node)
        break
    return list(dict.fromkeys(found))


def _of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""] + [f"{node.module}.{name}" for name in names]
        found = [_MODULES[n.split(".")[0]] for n in names if n.split(".")[0] in _MODULES]
        inner = [n for n in names if n.startswith("hetlab.") and not n.startswith(_TAUGHT)]
        return found + [f"imports {inner[0]}" for _ in inner[:1]]
    if isinstance(node, ast.Attribute) and node.attr in _CALLS:
        return [f"{_CALLS[node.attr]} ({node.attr})"]
    if isinstance(node, ast.Name) and node.id in _CALLS:
        return [f"{_CALLS[node.id]} ({node.id})"]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _CALLS:
        return [f"{_CALLS[node.name]} ({node.name})"]
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        texts = [ast.unparse(t) for t in targets if isinstance(t, ast.Attribute)]
        return [f"replaces {t}" for t in texts if _PATCHED.match(t)]
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in _BUILDERS:
        return [f"calls {called.id}"]
    return []
