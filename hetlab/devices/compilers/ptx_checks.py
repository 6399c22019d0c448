"""What right PTX of the canary kernel looks like.

Without a GPU the kernel cannot run, but the answer is in the text: the loop has
constant bounds, so an optimising compiler computes it, and stores a constant.
"""

from __future__ import annotations

import re

__all__ = ["ptx_version", "stored_constant"]


def ptx_version(ptx: str) -> str | None:
    """The version that the PTX declares, such as "9.0"."""
    found = re.search(r"^\s*\.version\s+(\d+\.\d+)", ptx, re.M)
    return found.group(1) if found else None


def stored_constant(ptx: str) -> int | None:
    """The constant that the only entry stores to global memory; None when it stores none."""
    body = re.search(r"\.visible\s+\.entry.*?^}", ptx, re.M | re.S)
    if not body:
        return None
    constants = {
        name: int(value, 0)
        for name, value in re.findall(
            r"\bmov\.[bsu]32\s+(%\w+),\s*(-?(?:0x)?[0-9a-fA-F]+)\s*;", body.group()
        )
    }
    stored = re.findall(r"\bst\.global\.[bsu]32\s+\[[^\]]+\],\s*\{?\s*([%\w-]+)", body.group())
    if len(stored) != 1:
        return None
    operand = stored[0]
    return constants.get(operand) if operand.startswith("%") else int(operand, 0)
