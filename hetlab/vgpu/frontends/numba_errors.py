"""Numba's compile errors with what they leave out: the line, and plain words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hetlab.vgpu.frontends.numba_names import home, parse_file

__all__ = ["explain"]


def explain(function, error: BaseException) -> None:
    """Add a note to a compile error of ``function`` when its cause can be pointed at."""
    place = home(function)
    tree = parse_file(place[0]) if place else None
    if tree is None:
        return
    inside = [node for node in ast.walk(tree) if place[1] <= getattr(node, "lineno", 0) <= place[2]]
    for line, text in _reasons(inside, function, str(error)):
        error.add_note(f"line {line}: {text}")
        return


def _reasons(nodes: list[ast.AST], function, message: str) -> Iterator[tuple[int, str]]:
    for kind in ("local", "shared"):
        if f"{kind}.array" in message:
            for node in nodes:
                shape = _shape(node, kind)
                culprit = _variable(shape, function)
                if computed := next((x for x in shape if _is_computed(x)), None):
                    yield (
                        node.lineno,
                        f"the shape of cuda.{kind}.array may not be computed there, as "
                        f"{ast.unparse(computed)!r} is. Give the number a name outside of the "
                        "kernel, and use the name.",
                    )
                elif culprit:
                    yield (
                        node.lineno,
                        f"the shape of cuda.{kind}.array must be a constant, and {culprit!r} "
                        "is known only when the kernel runs. Use a number, a global, or a "
                        "variable of an enclosing function"
                        + (
                            "; or a shape of 0 and the size at the launch: "
                            "kernel[grid, block, stream, bytes]."
                            if kind == "shared"
                            else "."
                        ),
                    )
    missing = re.search(r"name '(\w+)' is not defined", message)
    if missing:
        for node in nodes:
            if isinstance(node, ast.Name) and node.id == missing[1]:
                yield node.lineno, f"{node.id!r} is not defined here or in the module."


def _shape(node: ast.AST, kind: str) -> list[ast.AST]:
    """The lengths in a call of ``cuda.<kind>.array``; empty for anything else."""
    call = node.func if isinstance(node, ast.Call) else None
    if not (
        isinstance(call, ast.Attribute)
        and call.attr == "array"
        and isinstance(call.value, ast.Attribute)
        and call.value.attr == kind
    ):
        return []
    shape = node.args[:1] + [k.value for k in node.keywords if k.arg == "shape"]
    return shape[0].elts if shape and isinstance(shape[0], ast.Tuple) else shape


def _is_computed(length: ast.AST) -> bool:
    return isinstance(length, ast.BinOp | ast.Call)


def _variable(shape: list[ast.AST], function) -> str | None:
    """The variable that a shape depends on and that is known only when the kernel runs."""
    local = function.__code__.co_varnames
    for part in shape:
        for name in ast.walk(part):
            if isinstance(name, ast.Name) and name.id in local:
                return name.id
    return None
