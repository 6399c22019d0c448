"""A processor as Linux describes it: /proc/cpuinfo and /sys/devices/system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hetlab.devices.sources import Sources

__all__ = [
    "Cache",
    "NumaNode",
    "caches",
    "cpu_list",
    "cpuinfo",
    "logical",
    "model",
    "numa",
    "physical",
    "simd",
    "size",
    "sockets",
    "vendor",
]

# Instruction set -> (flag in /proc/cpuinfo, width of its vectors in bits); widest first.
VECTORS = [
    ("AVX-512", "avx512f", 512),
    ("AVX2", "avx2", 256),
    ("AVX", "avx", 256),
    ("SSE2", "sse2", 128),
    ("NEON", "asimd", 128),
]
_VENDORS = {
    "AuthenticAMD": "AMD",
    "GenuineIntel": "Intel",
    "0x41": "Arm",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x50": "Ampere (APM)",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0xc0": "Ampere",
}
# MIDR_EL1 part numbers of the cores found in servers and boards; Linux writes no name on Arm.
_ARM_CORES = {
    "0xd03": "Cortex-A53",
    "0xd07": "Cortex-A57",
    "0xd08": "Cortex-A72",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse N1",
    "0xd40": "Neoverse V1",
    "0xd41": "Cortex-A78",
    "0xd49": "Neoverse N2",
    "0xd4f": "Neoverse V2",
}


@dataclass(frozen=True)
class Cache:
    """One kind of cache: its level, type, size of one instance, and who shares it.

    Attributes
    ----------
    level : int
    kind : str
        "data", "instruction" or "unified".
    bytes : int
        Size of one instance.
    instances : int
        How many of them there are.
    shared_by : int
        Hardware threads that share one instance.
    line : int or None
        Bytes of one cache line.
    """

    level: int
    kind: str
    bytes: int
    instances: int
    shared_by: int
    line: int | None = None

    @property
    def name(self) -> str:
        """ "L1d", "L1i", "L2", ..."""
        return f"L{self.level}{ {'data': 'd', 'instruction': 'i'}.get(self.kind, '') }"


@dataclass(frozen=True)
class NumaNode:
    """Processors that are equally near to one part of the memory.

    ``cpus`` counts hardware threads; ``memory`` is in bytes, or None when it is not told.
    """

    number: int
    cpus: int
    memory: int | None


def cpuinfo(sources: Sources, *keys: str) -> str | None:
    """The first value of the first of these keys that /proc/cpuinfo has."""
    seen: dict[str, str] = {}
    for line in (sources.read("/proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if value.strip():
            seen.setdefault(key.strip(), value.strip())
    return next((seen[key] for key in keys if key in seen), None)


def model(sources: Sources) -> str | None:
    """Name of the processor; on Arm the name of its core design, where it is known."""
    named = cpuinfo(sources, "model name", "Model", "cpu model", "uarch")
    if named:
        return named
    part = cpuinfo(sources, "CPU part")
    maker = vendor(sources)
    # Part numbers are each maker's own; the table is Arm's.
    core = _ARM_CORES.get(part or "") if maker == "Arm" else None
    if part and not core:
        core = f"{maker or 'unknown maker'}, part number {part}"
    board = cpuinfo(sources, "Hardware") or sources.read("/proc/device-tree/model")
    return f"{core} ({board})" if core and board else core or board


def vendor(sources: Sources) -> str | None:
    """Its maker; for Arm cores the holder of the design."""
    raw = cpuinfo(sources, "vendor_id", "CPU implementer")
    return _VENDORS.get(raw, raw) if raw else None


def simd(sources: Sources) -> tuple[str, int] | None:
    """The widest vector instruction set and its width in bits.

    SVE registers have a width that the machine chooses; the kernel's default for
    programs is read, or 128 bits (the least that SVE has) when it is not told.
    """
    flags = set((cpuinfo(sources, "flags", "Features") or "").split())
    for name in ("sve2", "sve"):
        if name in flags:
            told = sources.number("/proc/sys/abi/sve_default_vector_length")
            return name.upper(), 8 * (told or 16)
    return next(((name, bits) for name, flag, bits in VECTORS if flag in flags), None)


def logical(sources: Sources) -> int | None:
    """Hardware threads that are switched on."""
    online = cpu_list(sources.read("/sys/devices/system/cpu/online"))
    return len(online) or _processors(sources) or None


def physical(sources: Sources) -> int | None:
    """Cores: sets of hardware threads that are siblings, else distinct core numbers."""
    groups = set()
    for name in ("core_cpus_list", "thread_siblings_list"):
        pattern = f"/sys/devices/system/cpu/cpu[0-9]*/topology/{name}"
        groups = {sources.read(p) for p in sources.glob(pattern)} - {None}
        if groups:
            return len(groups)
    cores, package = set(), "0"
    for line in (sources.read("/proc/cpuinfo") or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "physical id":
            package = value
        elif key == "core id":
            cores.add((package, value))
    return len(cores) or None


def sockets(sources: Sources) -> int | None:
    """Processor packages."""
    pattern = "/sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id"
    return len({sources.read(p) for p in sources.glob(pattern)} - {None}) or None


def caches(sources: Sources) -> tuple[Cache, ...]:
    """Caches by level; on a machine with unlike cores, one entry for each size."""
    instances: dict[tuple, set[str]] = {}
    for index in sources.glob("/sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*"):
        told = {n: sources.read(index / n) for n in ("level", "type", "size", "shared_cpu_list")}
        if not all(told.values()):
            continue  # some virtual machines leave files out
        line = sources.number(index / "coherency_line_size")
        shared = told["shared_cpu_list"]
        key = (int(told["level"]), told["type"].lower(), size(told["size"]), line)
        instances.setdefault((*key, len(cpu_list(shared))), set()).add(shared)
    return tuple(
        Cache(level, kind, amount, len(who), shared_by, line)
        for (level, kind, amount, line, shared_by), who in sorted(
            instances.items(), key=lambda item: (item[0][0], item[0][1], -item[0][2])
        )
    )


def numa(sources: Sources) -> tuple[NumaNode, ...]:
    """NUMA nodes; empty when they are not told."""
    return tuple(
        NumaNode(
            int(folder.name.removeprefix("node")),
            len(cpu_list(sources.read(folder / "cpulist"))),
            _node_memory(sources, folder),
        )
        for folder in sources.glob("/sys/devices/system/node/node[0-9]*")
    )


def _node_memory(sources: Sources, folder: Path) -> int | None:
    for line in (sources.read(folder / "meminfo") or "").splitlines():
        words = line.split()
        if "MemTotal:" in words:
            return int(words[words.index("MemTotal:") + 1]) * 1024
    return None


def _processors(sources: Sources) -> int:
    lines = (sources.read("/proc/cpuinfo") or "").splitlines()
    return sum(line.split(":")[0].strip() == "processor" for line in lines)


def cpu_list(text: str | None) -> set[int]:
    """Numbers in the kernel's notation: ``"0-2,5"`` is {0, 1, 2, 5}."""
    numbers: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            numbers |= set(range(int(first), int(last if last.isdigit() else first) + 1))
    return numbers


def size(text: str) -> int:
    """Bytes of a size such as "48K" or "32M"."""
    text = text.strip()
    scale = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1].upper())
    return int(text[:-1]) * scale if scale else int(text)
