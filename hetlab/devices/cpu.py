"""The processor of this machine: cores, caches, vector units.

Nothing is guessed.  What the operating system does not tell is listed in
``Cpu.unread`` with the reason, and its field is None.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field

from hetlab.devices import linux_cpu
from hetlab.devices.cgroup import cpu_quota
from hetlab.devices.device import Device
from hetlab.devices.linux_cpu import Cache, NumaNode
from hetlab.devices.sources import Sources, here
from hetlab.errors import one_line
from hetlab.units import binary_bytes

__all__ = ["Cache", "Cpu", "NumaNode", "cpu_device", "this_cpu"]


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
    vendor : str or None
        The maker.
    sockets : int or None
        Processor packages.
    caches : tuple of Cache
        Each kind of cache with its size and who shares it.
    numa : tuple of NumaNode
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
    vendor: str | None = None
    sockets: int | None = None
    caches: tuple[Cache, ...] = ()
    numa: tuple[NumaNode, ...] = ()

    @property
    def cores_line(self) -> str:
        """Cores, threads and what of them this process may use."""
        text = f"{_known(self.physical)} cores, {_known(self.logical)} threads"
        if self.usable != self.logical:
            text += f", {self.usable} usable here"
        if self.quota is not None:
            text += f", limited to {self.quota:g} processors' worth of time"
        return text

    def __repr__(self) -> str:
        caches = ", ".join(
            f"{name} {binary_bytes(size) if size else 'unknown'}"
            for name, size in [("L1d", self.l1d), ("L2", self.l2), ("last level", self.last_level)]
        )
        vectors = f"{self.simd} ({self.vector_bits} bits)" if self.simd else "unknown"
        memory = binary_bytes(self.memory) if self.memory else "unknown"
        lines = [
            f"{self.model or 'Unknown processor'} ({self.architecture})",
            f"  cores    {self.cores_line}",
            f"  caches   {caches}",
            f"  vectors  {vectors}",
            f"  memory   {memory}",
        ]
        lines += [f"  not read: {name}: {why}" for name, why in self.unread.items()]
        return "\n".join(lines)


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def this_cpu(sources: Sources | None = None) -> Cpu:
    """Describe the processor of this machine.

    Parameters
    ----------
    sources : Sources, optional
        Where to look; this machine by default, which is read once.

    Returns
    -------
    Cpu
        Fields that cannot be read are None, with the reason in ``unread``.
    """
    return _this_cpu() if sources is None else _read(sources)


@functools.cache
def _this_cpu() -> Cpu:
    return _read(here())


def _read(sources: Sources) -> Cpu:
    unread: dict[str, str] = {}

    def read(name, reader):
        try:
            value = reader(sources)
        except Exception as error:  # whatever the platform does, the rest must still be read
            unread[name] = one_line(error)
            return None
        if value is None:
            unread[name] = _why(sources, name)
        return value

    caches = read("caches", _caches) or ()
    simd = read("simd", _simd)
    last = max((c.level for c in caches), default=0)
    return Cpu(
        model=read("model", _model),
        architecture=sources.machine or "unknown architecture",
        physical=read("physical", _physical),
        logical=read("logical", _logical),
        usable=sources.affinity(),
        quota=cpu_quota(sources),
        l1d=_size_of(caches, 1),
        l2=_size_of(caches, 2),
        last_level=sum(c.bytes * c.instances for c in _data(caches) if c.level == last) or None,
        simd=simd[0] if simd else None,
        vector_bits=simd[1] if simd else None,
        memory=read("memory", _memory),
        unread=unread,
        vendor=read("vendor", _vendor),
        sockets=linux_cpu.sockets(sources),
        caches=tuple(caches),
        numa=linux_cpu.numa(sources),
    )


def cpu_device(sources: Sources) -> Device:
    """The processor as one entry of the list of devices."""
    cpu = this_cpu(None if sources is here() else sources)
    parts = [cpu.cores_line]
    if cpu.simd:
        parts.append(f"{cpu.simd} vectors of {cpu.vector_bits} bits")
    for c in cpu.caches:
        count = f"{c.instances} x " if c.instances > 1 else ""
        shared = f" (shared by {c.shared_by} threads)" if c.shared_by > 1 else ""
        parts.append(f"{c.name} {count}{binary_bytes(c.bytes)}{shared}")
    if len(cpu.numa) > 1:
        parts.append(f"{len(cpu.numa)} NUMA nodes")
    facts = asdict(cpu)
    for key in ("memory", "l1d", "l2", "last_level"):
        facts[f"{key}_bytes"] = facts.pop(key)
    unread = facts.pop("unread")
    name = cpu.model or f"a processor of the {cpu.architecture} family"
    return Device("cpu", name, "; ".join(parts), facts, unread)


def _why(sources: Sources, name: str) -> str:
    """Why a reader came back with nothing, as far as can be told."""
    if sources.system == "Linux":
        if name == "caches":
            if not sources.exists("/sys/devices/system/cpu"):
                return "/sys/devices/system/cpu is hidden here, as in some containers"
            return "the kernel lists no caches, as in some virtual machines"
        file = "/proc/meminfo" if name == "memory" else "/proc/cpuinfo"
        if not sources.exists(file):
            return f"{file} is hidden here, as in some containers"
        return "Linux does not tell on this machine"
    return f"{sources.system or 'this system'} does not tell"


def _data(caches) -> list[Cache]:
    return [c for c in caches if c.kind != "instruction"]


def _size_of(caches, level: int) -> int | None:
    """Size of one instance; on unlike cores the largest."""
    return max((c.bytes for c in _data(caches) if c.level == level), default=None)


def _sysctl(sources: Sources, name: str) -> str:
    done = sources.run("sysctl", "-n", name)
    if not done.ok:
        raise OSError(f"sysctl {name}: {done.failure or done.stderr.strip()}")
    return done.stdout.strip()


def _psutil(sources: Sources):
    return sources.importer("psutil")


def _model(sources: Sources) -> str | None:
    if sources.system == "Linux":
        return linux_cpu.model(sources)
    if sources.system == "Darwin":
        return _sysctl(sources, "machdep.cpu.brand_string")
    if sources.system == "Windows":
        winreg = sources.importer("winreg")
        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return winreg.QueryValueEx(key, "ProcessorNameString")[0].strip()
    return None


def _vendor(sources: Sources) -> str | None:
    if sources.system == "Linux":
        return linux_cpu.vendor(sources)
    model = _model(sources) or ""
    return next((v for v in ("Apple", "Intel", "AMD", "Qualcomm") if v in model), None)


def _simd(sources: Sources) -> tuple[str, int] | None:
    if sources.system == "Linux":
        found = linux_cpu.simd(sources)
        if found:
            return found
    if sources.arm:
        return ("NEON", 128)  # part of every 64-bit Arm processor
    if sources.system == "Darwin":
        seven = _sysctl(sources, "machdep.cpu.leaf7_features").lower()
        if "avx512f" in seven:
            return ("AVX-512", 512)
        return ("AVX2", 256) if "avx2" in seven else ("SSE2", 128)
    return None


def _logical(sources: Sources) -> int | None:
    found = linux_cpu.logical(sources) if sources.system == "Linux" else None
    return found or (_psutil(sources).cpu_count() if sources.real else None)


def _physical(sources: Sources) -> int | None:
    found = linux_cpu.physical(sources) if sources.system == "Linux" else None
    return found or (_psutil(sources).cpu_count(logical=False) if sources.real else None)


def _memory(sources: Sources) -> int | None:
    from hetlab.devices.memory import meminfo

    found = meminfo(sources).get("MemTotal") if sources.system == "Linux" else None
    return found or (_psutil(sources).virtual_memory().total if sources.real else None)


def _caches(sources: Sources) -> tuple[Cache, ...] | None:
    if sources.system == "Linux":
        return linux_cpu.caches(sources) or None
    if sources.system != "Darwin":
        return None
    # Apple's two kinds of cores are "performance levels"; level 0 holds the fast ones.
    found = []
    for level, kind, names in [
        (1, "data", ("hw.perflevel0.l1dcachesize", "hw.l1dcachesize")),
        (2, "unified", ("hw.perflevel0.l2cachesize", "hw.l2cachesize")),
        (3, "unified", ("hw.l3cachesize",)),
    ]:
        for name in names:
            try:
                amount = int(_sysctl(sources, name))
            except (OSError, ValueError):
                continue
            if amount:
                found.append(Cache(level, kind, amount, 1, 1))
                break
    return tuple(found) or None
