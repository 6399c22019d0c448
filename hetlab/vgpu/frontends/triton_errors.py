"""Triton's compile errors in a few words: the line, and the reason that stands at their end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["explain"]

_WRAPPED = re.compile(r"""\w+(?:Error|Exception)\((["'])(.*)\1\)""", re.DOTALL)
"""An exception's ``repr``, which Triton puts where its text should be."""


def explain(kernel, error: BaseException) -> None:
    """Add a note with the line and the reason to an error of Triton's compiler.

    Parameters
    ----------
    kernel : triton.runtime.JITFunction
        What was launched; a tuner's own function is looked through.
    error : Exception
        Left alone when it does not say where it arose.
    """
    causes = list(_causes(error))
    # An error inside a function that the kernel calls is told from the inside, at the end.
    node, source = causes[-1].node, causes[-1].src or ""
    if not hasattr(node, "lineno"):
        return
    while hasattr(kernel, "fn") and not hasattr(kernel, "def_file_line_number"):
        kernel = kernel.fn
    text = source.splitlines()[node.lineno - 1 : node.lineno]
    line = node.lineno
    if source and source == getattr(kernel, "src", None):
        line += kernel.def_file_line_number - 1
    reason = _reason(node, causes[-1])
    error.add_note(f"line {line}:  {text[0].strip() if text else ''}\n{reason}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    while error is not None and hasattr(error, "node"):
        yield error
        error = error.__cause__


def _reason(node: ast.AST, error: BaseException) -> str:
    message = (getattr(error, "error_message", None) or str(error.__cause__ or error)).strip()
    if wrapped := _WRAPPED.fullmatch(message):
        message = wrapped[2]
    read = isinstance(node, ast.Subscript) and "_semantic" in message
    if read or "__setitem__" in message:
        return (
            "An array comes to a kernel as a pointer, which takes no [ ]: read with "
            "tl.load(x + at), write with tl.store(out + at, value)."
        )
    return message
