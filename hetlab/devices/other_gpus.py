"""GPUs of AMD, Intel and Apple, as the operating system lists them."""

from __future__ import annotations

import json

from hetlab.devices.device import Absent, Device
from hetlab.devices.pci import PCI_AMD, PCI_INTEL, cards
from hetlab.devices.sources import Sources
from hetlab.units import binary_bytes

__all__ = ["amd_gpus", "apple_gpus", "intel_gpus"]

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_SIMDS_PER_CU = 4  # GCN and CDNA; the kernel counts SIMD units


def amd_gpus(sources: Sources) -> list[Device | Absent]:
    """AMD GPUs that the kernel's compute driver (KFD, part of ROCm) offers."""
    found = []
    for node in sources.glob(f"{_NODES}/[0-9]*"):
        told = _properties(sources, node / "properties")
        if not told.get("simd_count"):
            continue  # a node without SIMD units is the processor
        per = told.get("simd_per_cu") or _SIMDS_PER_CU
        banks = sources.glob(f"{_NODES}/{node.name}/mem_banks/[0-9]*/properties")
        memory = sum(_properties(sources, b).get("size_in_bytes", 0) for b in banks) or None
        version = told.get("gfx_target_version", 0)
        target = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
        facts = {
            "vendor": "AMD",
            "index": len(found),
            "memory_bytes": memory,
            "compute_units": told["simd_count"] // per,
            "wavefront": told.get("wave_front_size"),
            "target": target if version else None,
            "clock_hz": told["max_engine_clk_fcompute"] * 10**6
            if told.get("max_engine_clk_fcompute")
            else None,
        }
        parts = [f"{binary_bytes(memory)} of memory"] if memory else []
        parts.append(f"{facts['compute_units']} compute units, wavefronts of {facts['wavefront']}")
        if not sources.exists("/dev/kfd"):
            parts.append("/dev/kfd is not visible to this process")
        name = sources.read(node / "name") or ""
        if name in {"", "ip discovery"}:  # what newer kernels write for every card
            name = "GPU"
        found.append(Device("gpu", f"AMD {name} ({target})", "; ".join(parts), facts))
    if found:
        return found
    seen = cards(sources, PCI_AMD)
    if seen:
        why = "An AMD card is in this machine, but its compute driver (KFD) is not loaded."
        do = "Install ROCm's driver if AMD lists this card; the lessons do not need it."
    elif sources.system != "Linux":
        why = "AMD GPUs are looked for on Linux only."
        do = "The lessons do not need one; the virtual GPU is always there."
    elif seen is None:
        why = "No AMD compute driver is loaded; the list of PCI cards cannot be read here."
        do = "The lessons do not need an AMD GPU; Triton still shows AMD code on any machine."
    else:
        why = "There is no AMD GPU in this machine."
        do = "The lessons do not need one; Triton still shows AMD code on any machine."
    return [Absent("gpu", "AMD GPU", why, do)]


def _properties(sources: Sources, path) -> dict[str, int]:
    found = {}
    for line in (sources.read(path) or "").splitlines():
        name, _, value = line.partition(" ")
        if value.strip().isdigit():
            found[name] = int(value)
    return found


def intel_gpus(sources: Sources) -> list[Device | Absent]:
    """Intel GPUs on the PCI bus; listed only, no lesson runs on them."""
    found = []
    for number, address in enumerate(cards(sources, PCI_INTEL) or []):
        code = sources.read(f"/sys/bus/pci/devices/{address}/device") or "of unknown type"
        facts = {"vendor": "Intel", "index": number, "pci_address": address, "pci_device": code}
        says = "listed only: no lesson runs on it"
        found.append(Device("gpu", f"Intel GPU {code}", says, facts))
    return found


def apple_gpus(sources: Sources) -> list[Device | Absent]:
    """The GPU of a Mac; listed only, no lesson runs on it."""
    if sources.system != "Darwin":
        return []
    done = sources.run("system_profiler", "-json", "SPDisplaysDataType", timeout=8)
    try:
        told = json.loads(done.stdout)["SPDisplaysDataType"]
        return [_apple(number, card) for number, card in enumerate(told)]
    except (ValueError, KeyError, TypeError, AttributeError):
        why = done.failure or "system_profiler gave no list of graphics cards"
        do = "The lessons do not need it; the virtual GPU is always there."
        return [Absent("gpu", "Apple GPU", f"{why}.", do)]


def _apple(number: int, card: dict) -> Device:
    cores = card.get("sppci_cores")
    facts = {"vendor": "Apple", "index": number, "cores": int(cores) if cores else None}
    says = f"{cores} cores; " if cores else ""
    says += "it shares main memory; listed only: no lesson runs on it"
    return Device("gpu", card.get("sppci_model", "Apple GPU"), says, facts)
