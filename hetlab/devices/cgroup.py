"""What a container grants: processors' worth of time, and memory.

Control groups come in two versions; both may lie below the path that
/proc/self/cgroup names, and inside a container only their own root is seen.  The
tightest limit on the way up is the one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from hetlab.devices.sources import Sources

__all__ = ["cpu_quota", "memory_limit"]

# Version 1 writes the largest multiple of a page that fits 63 bits for "no limit".
_NO_LIMIT = 2**60


def _folders(sources: Sources, controller: str) -> Iterator[tuple[int, str]]:
    """(version, folder) of this process's groups and of all groups above them."""
    places = {(2, "/sys/fs/cgroup"): "/", (1, f"/sys/fs/cgroup/{controller}"): "/"}
    for line in (sources.read("/proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if number == "0" and not names:
            places[2, "/sys/fs/cgroup"] = path
        elif controller in names.split(","):
            places[1, f"/sys/fs/cgroup/{controller}"] = path
    for (version, mount), path in places.items():
        below = PurePosixPath(path.lstrip("/"))
        if ".." in below.parts:  # a group outside of what this container sees
            below = PurePosixPath()
        for part in (below, *below.parents):
            yield version, f"{mount}/{part}" if str(part) != "." else mount


def cpu_quota(sources: Sources) -> float | None:
    """Processors' worth of time that is granted; None when there is no limit.

    Files: ``cpu.max`` (version 2: quota and period in microseconds, "max" for none),
    ``cpu.cfs_quota_us`` and ``cpu.cfs_period_us`` (version 1, -1 for none).
    """
    grants = []
    for version, folder in _folders(sources, "cpu"):
        if version == 2:
            parts = (sources.read(f"{folder}/cpu.max") or "").split()
            quota, period = parts if len(parts) == 2 else ("max", "1")
        else:
            quota = sources.read(f"{folder}/cpu.cfs_quota_us") or "-1"
            period = sources.read(f"{folder}/cpu.cfs_period_us") or "1"
        if quota.isdigit() and period.isdigit() and int(period):
            grants.append(int(quota) / int(period))
    return min(grants, default=None)


def memory_limit(sources: Sources) -> int | None:
    """Bytes of memory that are granted; None when there is no limit.

    Files: ``memory.max`` (version 2), ``memory.limit_in_bytes`` (version 1).
    """
    limits = []
    for version, folder in _folders(sources, "memory"):
        name = "memory.max" if version == 2 else "memory.limit_in_bytes"
        limit = sources.number(f"{folder}/{name}")
        if limit is not None and 0 < limit < _NO_LIMIT:
            limits.append(limit)
    return min(limits, default=None)
