"""The processor of this machine: cores, caches, vector units.

Nothing is guessed.  What the operating system does not tell is listed in
``Cpu.unread`` with the reason, and its field is None.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from hetlab.errors import one_line
from hetlab.units import binary_bytes

__all__ = ["Cpu", "this_cpu"]

# Instruction set -> (flag in /proc/cpuinfo, width of its vectors in bits); widest first.
_VECTORS = [
    ("AVX-512", "avx512f", 512),
    ("AVX2", "avx2", 256),
    ("AVX", "avx", 256),
    ("SSE2", "sse2", 128),
    ("NEON", "asimd", 128),
]


@dataclass(frozen=True)
class Cpu:
    """One machine's processor, as the operating system describes it.

    Attributes
    ----------
    model : str or None
        The maker's name of the processor.
    architecture : str
        "x86_64", "arm64", ...
    physical, logical : int or None
        Cores, and hardware threads.
    usable : int
        Hardware threads that this process may run on.
    quota : float or None
        Processors' worth of time a container grants; None when there is no limit.
    l1d, l2 : int or None
        Bytes of the first and second level data cache of one core.
    last_level : int or None
        Bytes of the last cache level, all instances together.
    simd : str or None
        The widest vector instruction set.
    vector_bits : int or None
        Width of its registers.
    memory : int or None
        Bytes of main memory.
    unread : dict of str to str
        Fields that could not be read, with the reason.
    """

    model: str | None
    architecture: str
    physical: int | None
    logical: int | None
    usable: int
    quota: float | None
    l1d: int | None
    l2: int | None
    last_level: int | None
    simd: str | None
    vector_bits: int | None
    memory: int | None
    unread: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        cores = f"{_known(self.physical)} cores, {_known(self.logical)} threads"
        if self.usable != self.logical:
            cores += f", {self.usable} usable here"
        if self.quota is not None:
            cores += f", limited to {self.quota:g} processors' worth of time"
        caches = ", ".join(
            f"{name} {binary_bytes(size) if size else 'unknown'}"
            for name, size in [("L1d", self.l1d), ("L2", self.l2), ("last level", self.last_level)]
        )
        vectors = f"{self.simd} ({self.vector_bits} bits)" if self.simd else "unknown"
        memory = binary_bytes(self.memory) if self.memory else "unknown"
        lines = [
            f"{self.model or 'Unknown processor'} ({self.architecture})",
            f"  cores    {cores}",
            f"  caches   {caches}",
            f"  vectors  {vectors}",
            f"  memory   {memory}",
        ]
        lines += [f"  not read: {name}: {why}" for name, why in self.unread.items()]
        return "\n".join(lines)


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


@functools.cache
def this_cpu() -> Cpu:
    """Describe the processor of this machine.

    Returns
    -------
    Cpu
        Fields that cannot be read are None, with the reason in ``unread``.
    """
    unread: dict[str, str] = {}

    def read(name, reader):
        try:
            value = reader()
        except Exception as error:  # whatever the platform does, the rest must still be read
            unread[name] = one_line(error)
            return None
        if value is None:
            unread[name] = f"{platform.system() or 'this system'} does not tell"
        return value

    caches = read("caches", _caches) or {}
    simd = read("simd", _simd)
    return Cpu(
        model=read("model", _model),
        architecture=platform.machine(),
        physical=read("physical", lambda: _psutil().cpu_count(logical=False)),
        logical=read("logical", os.cpu_count),
        usable=_usable(),
        quota=_quota(),
        l1d=caches.get("l1d"),
        l2=caches.get("l2"),
        last_level=caches.get("last"),
        simd=simd[0] if simd else None,
        vector_bits=simd[1] if simd else None,
        memory=read("memory", lambda: _psutil().virtual_memory().total),
        unread=unread,
    )


def _psutil():
    import psutil

    return psutil


def _usable() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota() -> float | None:
    """Control group limit: quota and period in microseconds, "max" for none (version 2, then 1)."""
    two, one = Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu")
    try:
        if two.exists():
            quota, period = two.read_text().split()
        else:
            quota = (one / "cpu.cfs_quota_us").read_text().strip()
            period = (one / "cpu.cfs_period_us").read_text().strip()
        return None if quota in {"max", "-1"} else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def _sysctl(name: str) -> str:
    done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=10)
    if done.returncode:
        raise OSError(f"sysctl {name}: {done.stderr.strip()}")
    return done.stdout.strip()


def _cpuinfo(*keys: str) -> str | None:
    """The first value of one of these keys in /proc/cpuinfo."""
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in keys and value.strip():
            return value.strip()
    return None


def _model() -> str | None:
    system = platform.system()
    if system == "Linux":
        return _cpuinfo("model name", "Model", "cpu model", "Hardware")
    if system == "Darwin":
        return _sysctl("machdep.cpu.brand_string")
    if system == "Windows":
        import winreg

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return winreg.QueryValueEx(key, "ProcessorNameString")[0].strip()
    return platform.processor() or None


def _simd() -> tuple[str, int] | None:
    system, arch = platform.system(), platform.machine().lower()
    if arch in {"arm64", "aarch64"}:
        return ("NEON", 128)  # part of every 64-bit Arm processor; wider SVE is not looked for
    if system == "Linux":
        flags = set((_cpuinfo("flags", "Features") or "").split())
        return next(((name, bits) for name, flag, bits in _VECTORS if flag in flags), None)
    if system == "Darwin":
        seven = _sysctl("machdep.cpu.leaf7_features").lower()
        if "avx512f" in seven:
            return ("AVX-512", 512)
        return ("AVX2", 256) if "avx2" in seven else ("SSE2", 128)
    return None


def _caches() -> dict[str, int] | None:
    """Bytes: "l1d" and "l2" of core 0, "last" summed over all instances of the last level."""
    if platform.system() == "Darwin":
        sizes = {}
        for level, names in {
            "l1d": ("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"),
            "l2": ("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
            "last": ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"),
        }.items():
            for name in names:
                try:
                    sizes[level] = int(_sysctl(name))
                    break
                except (OSError, ValueError):
                    continue
        return sizes or None
    folder = Path("/sys/devices/system/cpu")
    if not folder.is_dir():
        return None
    sizes, last, instances = {}, 0, {}
    for index in folder.glob("cpu[0-9]*/cache/index*"):
        kind = (index / "type").read_text().strip()
        if kind == "Instruction":
            continue
        level = int((index / "level").read_text())
        size = _size((index / "size").read_text())
        last = max(last, level)
        instances[level, (index / "shared_cpu_list").read_text().strip()] = size
        if index.parent.parent.name == "cpu0" and level <= 2:
            sizes["l1d" if level == 1 else "l2"] = size
    if not instances:
        return None
    sizes["last"] = sum(size for (level, _), size in instances.items() if level == last)
    return sizes


def _size(text: str) -> int:
    text = text.strip()
    scale = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1])
    return int(text[:-1]) * scale if scale else int(text)
