"""Main memory: what there is, what is free, what a container grants."""

from __future__ import annotations

from hetlab.devices.cgroup import memory_limit
from hetlab.devices.device import Absent, Device
from hetlab.devices.sources import Sources
from hetlab.errors import one_line
from hetlab.units import binary_bytes

__all__ = ["meminfo", "memory_device"]


def meminfo(sources: Sources) -> dict[str, int]:
    """Bytes by name, as in /proc/meminfo; empty when it cannot be read."""
    found = {}
    for line in (sources.read("/proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        number = value.split()
        if number and number[0].isdigit():
            found[name] = int(number[0]) * (1024 if number[1:] == ["kB"] else 1)
    return found


def memory_device(sources: Sources) -> Device | Absent:
    """Main memory as one entry of the list of devices."""
    unread: dict[str, str] = {}
    info = meminfo(sources)
    total, free = info.get("MemTotal"), info.get("MemAvailable")
    if total is None and sources.real:
        try:
            told = sources.importer("psutil").virtual_memory()
            total, free = told.total, told.available
        except Exception as error:
            unread["total"] = one_line(error)
    limit = memory_limit(sources)
    if total is None and limit is None:
        return Absent(
            "memory",
            "Main memory",
            f"Its size could not be read ({unread.get('total', '/proc/meminfo is hidden here')}).",
            "Everything else works; keep arrays small.",
        )
    facts = {"total_bytes": total, "available_bytes": free, "limit_bytes": limit}
    parts = []
    if free is not None:
        parts.append(f"{binary_bytes(free)} available")
    do = ""
    if limit is not None and (total is None or limit < total):
        parts.append(f"a container grants {binary_bytes(limit)}")
        if limit < 1 << 30:
            do = "Less than 1 GiB is granted: close other notebooks before you run a lesson."
    name = f"{binary_bytes(total)} of main memory" if total else "Main memory of unknown size"
    return Device("memory", name, "; ".join(parts), facts, unread, do)
