"""The words of PTX, as regular expressions."""

from __future__ import annotations

import re

__all__ = [
    "COMMENT",
    "HEADER",
    "HEAD_WORDS",
    "INT",
    "LABEL",
    "LINE_DIRECTIVE",
    "LOC",
    "NAME",
    "OPERAND",
    "REGS",
    "STATEMENT",
    "VAR",
    "blank",
    "settled",
]

COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.S)
LINE_DIRECTIVE = re.compile(r"\.(loc|file|version|target|address_size)\b[^\n]*")
LABEL = re.compile(r"([A-Za-z$_%][\w$]*)\s*:(?!:)")
STATEMENT = re.compile(r'(?:"[^"\n]*"|[^";])*+;')
HEADER = re.compile(r'(?:"[^"\n]*"|[^"{;])*+[{;]')
HEAD_WORDS = re.compile(r"\.(?:entry|func|section|alias)\b")
REGS = re.compile(r"\.reg\s*(?:\.v[24]\s+)?\.(\w+)\s+(.*)", re.S)
VAR = re.compile(
    r"(?P<link>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<space>global|shared|const|local|param|tex)"
    r"\s+(?P<rest>.*)",
    re.S,
)
OPERAND = re.compile(r"\s*([^\s,{}\[\]()|!+-][^\s,{}\[\]()|+-]*|[{}\[\]()|!,+-])")
INT = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
NAME = re.compile(r"[A-Za-z$_%][\w$.]*$")
LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?", re.S)


_ASM = re.compile(r"// begin inline asm\n.*?// end inline asm", re.S)
_ASM_LOC = re.compile(r"^\s*\.loc\b[^\n]*", re.M)


def settled(text: str) -> str:
    """The text without the ``.loc`` inside inline assembly.

    LLVM counts the lines of the assembly from the line that holds it, which names lines of the
    source that have nothing to do with it; the ``.loc`` before the assembly is right.
    """
    if "// begin inline asm" not in text:
        return text
    return _ASM.sub(lambda found: _ASM_LOC.sub("", found[0]), text)


def blank(match: re.Match) -> str:
    """A comment becomes its newlines, so that line numbers stay right; strings stay."""
    found = match[0]
    return found if found[0] == '"' else "\n" * found.count("\n") or " "
