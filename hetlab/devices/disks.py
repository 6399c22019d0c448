"""Disks: where they are mounted, how much is free, and, when asked, how fast they are."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hetlab.devices.device import Absent, Device
from hetlab.devices.sources import Sources
from hetlab.units import binary_bytes, quantity

__all__ = ["DiskSpeed", "disks", "measure_disk"]

# File systems that keep data; the rest of /proc/mounts are views of the kernel.
_KEEPS = {
    *("apfs", "bcachefs", "btrfs", "ceph", "cifs", "exfat", "ext2", "ext3", "ext4", "f2fs"),
    *("fuseblk", "hfs", "jfs", "lustre", "msdos", "nfs", "nfs4", "ntfs", "ntfs3", "overlay"),
    *("9p", "virtiofs", "vfat", "xfs", "zfs", "refs"),
}
# Asking these how full they are waits for ever when their server is gone.
_REMOTE = {"9p", "ceph", "cifs", "fuse", "lustre", "nfs", "nfs4"}


@dataclass(frozen=True)
class DiskSpeed:
    """Measured bandwidth of a folder's disk, in B/s: the median, and all repeats.

    ``cached`` is True when the system could not be told to forget the file, so that
    reading may have come from memory.
    """

    folder: str
    size: int
    write: float
    read: float
    writes: tuple[float, ...]
    reads: tuple[float, ...]
    cached: bool

    def __repr__(self) -> str:
        note = ", from the cache in memory" if self.cached else ""
        return (
            f"{self.folder}: writes {_range(self.writes)}, reads {_range(self.reads)}{note} "
            f"(measured: {len(self.writes)} times {binary_bytes(self.size)})"
        )


def _range(rates: tuple[float, ...]) -> str:
    middle = quantity(statistics.median(rates), "B/s")
    return f"{middle} ({quantity(min(rates), 'B/s')} to {quantity(max(rates), 'B/s')})"


def disks(sources: Sources, *, measure: bool = False) -> list[Device | Absent]:
    """File systems that keep data; with ``measure``, the speed of the one for temporary files."""
    found = [_disk(sources, *mount) for mount in _mounts(sources)]
    if not found and sources.real:
        found = [_disk(sources, "", str(Path.cwd()), "")]
    if not found:
        why = "The list of mounted file systems cannot be read here."
        return [Absent("disk", "Disks", why, "Everything that fits into memory still works.")]
    if measure:
        try:
            speed = measure_disk()
        except OSError as error:
            why = f"Nothing could be written there: {error}."
            found.append(Absent("disk", "Disk bandwidth", why, "Free some space and ask again."))
        else:
            facts = {
                "folder": speed.folder,
                "write_bytes_per_s": speed.write,
                "read_bytes_per_s": speed.read,
                "label": "measured",
            }
            found.append(Device("disk", "Bandwidth of temporary files", repr(speed), facts))
    return found


def _mounts(sources: Sources) -> list[tuple[str, str, str]]:
    """(device, mount point, type); of several mounts of one device the shortest path."""
    if sources.system != "Linux":
        if not sources.real:
            return []
        with contextlib.suppress(Exception):
            told = sources.importer("psutil").disk_partitions(all=False)
            return [(p.device, p.mountpoint, p.fstype) for p in told]
        return []
    best: dict[str, tuple[str, str, str]] = {}
    for line in (sources.read("/proc/self/mounts") or "").splitlines():
        words = line.split()
        if len(words) < 3 or words[2].split(".")[0] not in _KEEPS | {"fuse"}:
            continue
        # The kernel writes spaces in names as octal escapes.
        device, point = (w.replace("\\040", " ").replace("\\011", "\t") for w in words[:2])
        if device not in best or len(point) < len(best[device][1]):
            best[device] = (device, point, words[2])
    return sorted(best.values(), key=lambda mount: mount[1])


def _disk(sources: Sources, device: str, point: str, kind: str) -> Device:
    facts = {"device": device, "mount": point, "type": kind, "total_bytes": None}
    unread, parts = {}, [kind] if kind else []
    if kind.split(".")[0] in _REMOTE:
        parts.append("over a network or another program; its free space was not asked")
    elif sources.real:
        try:
            usage = shutil.disk_usage(point)
            facts |= {"total_bytes": usage.total, "free_bytes": usage.free}
            parts.append(f"{binary_bytes(usage.free)} free of {binary_bytes(usage.total)}")
        except OSError as error:
            unread["space"] = str(error)
    name = Path(device).name
    spins = sources.number(f"/sys/class/block/{name}/queue/rotational")
    if name.startswith(("vd", "xvd")):  # these report 1, whatever lies below them
        parts.append("disk of a virtual machine")
    elif spins is not None:
        facts["rotational"] = bool(spins)
        parts.append("spinning disk" if spins else "solid state disk")
    return Device("disk", point, "; ".join(parts), facts, unread)


def measure_disk(folder: str | os.PathLike | None = None, *, size: int = 2**26) -> DiskSpeed:
    """Measure how fast a folder's disk writes and reads a file.

    Parameters
    ----------
    folder : path, optional
        The folder for temporary files by default.
    size : int
        Bytes of the file, which is written (and flushed to the disk) and read three times.

    Raises
    ------
    OSError
        When the folder cannot be written, or is full.
    """
    block = os.urandom(min(size, 2**22))  # what cannot be compressed
    writes, reads, cached = [], [], False
    with tempfile.NamedTemporaryFile(dir=folder, prefix="hetlab-disk-", buffering=0) as file:
        for _ in range(3):
            file.seek(0)
            start = time.perf_counter()
            left = size
            while left > 0:
                left -= file.write(block[: min(left, len(block))])
            os.fsync(file.fileno())
            writes.append(size / (time.perf_counter() - start))
            try:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            except (AttributeError, OSError):
                cached = True
            file.seek(0)
            start = time.perf_counter()
            while file.read(len(block)):
                pass
            reads.append(size / (time.perf_counter() - start))
        place = str(Path(file.name).parent)
    return DiskSpeed(
        place,
        size,
        statistics.median(writes),
        statistics.median(reads),
        tuple(writes),
        tuple(reads),
        cached,
    )
