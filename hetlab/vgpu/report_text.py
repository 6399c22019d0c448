"""The report of a launch as text for a terminal: hazards first, then counters, then lines."""

from __future__ import annotations

from pathlib import Path

from hetlab.units import binary_bytes
from hetlab.vgpu.launch import Hazard
from hetlab.vgpu.report import HOT, SECTOR, Launch, SourceLine, moved

__all__ = ["as_text", "counter_rows", "hazard_text"]

WIDTH = 100


def dims(value: tuple[int, int, int]) -> str:
    """``(4, 2, 1)`` as ``4 x 2``."""
    kept = value[:3] if value[2] > 1 else value[:2] if value[1] > 1 else value[:1]
    return " x ".join(f"{n:,}" for n in kept)


def heading(launch: Launch) -> str:
    """What was launched, where, and how much of it ran."""
    unit = launch.trace.origin.unit
    size = f"{dims(launch.block)} thread{'' if launch.threads == 1 else 's'}"
    if unit == "program":
        warps = launch.threads // 32
        size = f"{warps} warp{'' if warps == 1 else 's'}"
    text = (
        f"{launch.name}: {dims(launch.grid)} {unit}{'' if launch.blocks == 1 else 's'} of "
        f"{size}, {launch.language} on the virtual GPU"
    )
    if launch.sampled:
        raw = launch.trace.raw
        text += f"; counted on a sample of {raw.blocks_run:,} of {raw.blocks:,} {unit}s"
    return text


def verdict(launch: Launch) -> str:
    """One sentence about hazards."""
    if not launch.checked:
        return "hazards: not looked for"
    if launch.ok:
        return "hazards: none found" + (" in the sample" if launch.sampled else "")
    n = len(launch.hazards)
    return f"hazards: {n} found"


def place(file: str, line: int) -> str:
    """``file:line`` as a person would say it."""
    name = Path(file).name
    if "ipykernel" in file or name.startswith("<ipython"):
        name = "this notebook"
    return f"{name}, line {line}" if line > 0 else name or "an unknown line"


def hazard_text(hazard: Hazard) -> str:
    """A hazard in one line: its sentence, and its lines where the sentence has none."""
    index = "" if hazard.index is None else f"[{_index(hazard.index)}]"
    subject = f"{hazard.array}{index}" if hazard.array else ""
    text = hazard.message or subject
    times = f" ({hazard.count:,} times)" if hazard.count > 1 else ""
    return f"{hazard.kind}: {text}{times}"


def _index(index) -> str:
    return ", ".join(map(str, index)) if isinstance(index, (tuple, list)) else str(index)


def counter_rows(launch: Launch) -> list[tuple[str, str]]:
    """The counters that say most, as (name, text); only what the kernel used."""
    c = {name: launch.counters.get(name, 0) for name in launch.counters}
    rows: list[tuple[str, str]] = []

    def has(name: str) -> int:
        return c.get(name, 0)

    for what in ("load", "store"):
        requests, sectors = has(f"global_{what}_requests"), has(f"global_{what}_sectors")
        if requests:
            text = (
                f"{requests:,} requests, {sectors:,} sectors "
                f"({sectors / requests:.2f} a request), {moved(sectors)} moved"
            )
            asked = has(f"global_{what}_bytes")
            if asked and sectors:
                text += f", {100 * asked / (sectors * SECTOR):.0f} % of it asked for"
            rows.append((f"global {what}s", text))
    for what in ("load", "store"):
        requests, waves = has(f"shared_{what}_requests"), has(f"shared_{what}_wavefronts")
        if requests:
            each = waves / requests
            text = f"{requests:,} requests, {waves:,} wavefronts ({each:.2f} a request)"
            rows.append((f"shared {what}s", text))
    if has("shared_load_requests") or has("shared_store_requests"):
        rows.append(("bank conflicts", f"{has('shared_bank_conflicts'):,}"))
    local = has("local_load_requests") + has("local_store_requests")
    if local:
        rows.append(("local memory", f"{local:,} requests"))
    if has("instructions"):
        lanes = has("thread_instructions") / has("instructions")
        text = f"{has('instructions'):,} of warps, {lanes:.1f} of 32 lanes active"
        rows.append(("instructions", text))
    if has("branches"):
        rows.append(("branches", f"{has('branches'):,}, {has('divergent_branches'):,} divergent"))
    if has("barriers"):
        rows.append(("barriers", f"{has('barriers'):,} (warps that arrived)"))
    if has("atomics"):
        requests, turns = has("atomics"), has("atomic_turns")
        text = f"{requests:,} requests, {turns:,} turns ({turns / requests:.2f} a request)"
        rows.append(("atomics", text))
    traffic = SECTOR * (has("global_load_sectors") + has("global_store_sectors"))
    if has("flops") and traffic:
        text = f"{has('flops'):,} operations, {has('flops') / traffic:.3g} a byte moved"
        rows.append(("floating point", text))
    return rows


def resource_rows(launch: Launch) -> list[tuple[str, str]]:
    """Registers, shared memory and occupancy, labelled as what they are."""
    rows = []
    assembled = launch._assembled
    rows.append(("resources", str(assembled)))
    if launch.trace.dynamic_shared:
        text = f"{binary_bytes(launch.trace.dynamic_shared)} a block"
        rows.append(("dynamic shared", text))
    rows.append(("occupancy", str(launch.occupancy).removeprefix("occupancy ")))
    return rows


def _line_row(line: SourceLine) -> tuple[str, ...]:
    sectors, waves, lanes = line.sectors_per_request, line.wavefronts_per_request, line.lanes
    return (
        f"{line.number}",
        f"{line.count('instructions'):,}" if line.counters else "",
        "" if sectors is None else f"{sectors:.2f}",
        "" if waves is None else f"{waves:.2f}",
        f"{line.count('shared_bank_conflicts'):,}" if waves is not None else "",
        "" if lanes is None else f"{lanes:.1f}",
    )


def as_text(launch: Launch) -> str:
    """The whole report, aligned, at most 100 columns wide where the source allows."""
    out = [heading(launch), verdict(launch)]
    out += [f"  ! {hazard_text(hazard)}" for hazard in launch.hazards]
    if launch.warnings:
        out.append(f"warnings: {len(launch.warnings)}")
        out += [f"  ? {hazard_text(hazard)}" for hazard in launch.warnings]
    rows = counter_rows(launch) if launch.counted else []
    rows += resource_rows(launch)
    wide = max(len(name) for name, _ in rows)
    out += [f"{name:<{wide}}  {text}" for name, text in rows]
    lines = [line for line in launch.source() if line.counters or line.hazards]
    if lines:
        out += ["", *_table(lines, launch)]
    return "\n".join(out)


def _table(lines: list[SourceLine], launch: Launch) -> list[str]:
    head = ("line", "instr.", "sectors/req", "waves/req", "conflicts", "lanes")
    shown = len(head) if launch.counted else 1
    cells = [_line_row(line)[:shown] for line in lines]
    widths = [max(map(len, column)) for column in zip(head, *cells)]
    home = launch.trace.origin.home
    out, file = [], home[0] if home else None

    def row(mark: str, values) -> str:
        return mark + " ".join(f"{value:>{w}}" for value, w in zip(values, widths)) + "  "

    out.append(row("  ", head[:shown]) + "source")
    for line, values in zip(lines, cells):
        if line.file != file:
            file = line.file
            out.append(f"  {Path(file).name}:")
        mark = "! " if line.hazards else "> " if line.heat >= HOT else "  "
        left = row(mark, values)
        out.append((left + line.text.rstrip().expandtabs(4))[: max(WIDTH, len(left) + 24)])
    hot = f"> moves or issues at least {100 * HOT:.0f} % of the kernel's total, "
    out.append(f"  ({hot if launch.counted else ''}! has a hazard)")
    return out
