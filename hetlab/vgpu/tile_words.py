"""A hazard in the words of tile programs: programs and elements in the place of threads.

Which thread of a program holds an element is the compiler's choice; what a learner wrote
is a program with a number, and tiles of elements.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hetlab.vgpu.hazards import Hazard, name_of

__all__ = ["reword"]

_THREAD = re.compile(r"([Tt])hread (?:\([\d, ]+\)|\d+) of block (\([\d, ]+\)|\d+)")

_VERB = re.compile(r"\b(reads|stores|updates) it")


def reword(hazard: Hazard) -> Hazard | None:
    """The same hazard with a sentence about programs; None for what concerns nobody.

    Copies of one element that threads keep in shared memory are the compiler's own.
    """
    if hazard.kind == "same-value-store" and hazard.space == "shared":
        return None
    text = _of_one_program(hazard) or hazard.message
    text = text.replace("Threads of different warps store", "Two programs store")
    text = _THREAD.sub(lambda m: f"{'P' if m[1] == 'T' else 'p'}rogram {m[2]}", text)
    return replace(hazard, message=text)


def _of_one_program(hazard: Hazard) -> str:
    """Two elements of one program's tiles that meet at one address; "" for anything else."""
    if hazard.kind not in ("race", "same-value-store") or len(hazard.threads) < 2:
        return ""
    one, two = (thread["block"] for thread in hazard.threads[:2])
    if one != two:
        return ""
    kept = list(one)
    while len(kept) > 1 and kept[-1] == 0:
        kept.pop()
    program = str(kept[0]) if len(kept) == 1 else f"({', '.join(map(str, kept))})"
    lines = [line for _, line in hazard.lines]
    what = name_of(hazard.array, hazard.index, hazard.space)
    same = "the same value" if hazard.kind == "same-value-store" else "different values"
    if hazard.space == "shared":
        return (
            f"Race inside program {program} on shared memory, which the compiler laid out, "
            f"between lines {lines[0]} and {lines[-1]}."
        )
    verbs = _VERB.findall(hazard.message)
    if len(set(lines)) == 1 and all(verb == "stores" for verb in verbs):
        chance = ": which one stays is chance" if hazard.kind == "race" else ""
        return (
            f"Two elements of a tile of program {program} point to {what} and store {same} there "
            f"in line {lines[0]}{chance}."
        )
    does = " and ".join(f"{verb} it in line {line}" for verb, line in zip(verbs, lines))
    return (
        f"Race on {what}: program {program} {does or 'touches it twice'}, through different "
        "elements of its tiles and with no barrier between (tl.debug_barrier())."
    )
