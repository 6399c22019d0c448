"""NVIDIA GPUs, through the driver's management library (nvidia-ml-py, or nvidia-smi)."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from hetlab.devices.device import Absent, Device
from hetlab.devices.pci import PCI_NVIDIA, cards
from hetlab.devices.sources import BROKEN, Sources
from hetlab.errors import UnknownName, one_line
from hetlab.units import binary_bytes

__all__ = ["Driver", "driver", "nvidia_gpus"]

NAME = "NVIDIA GPU"
VIRTUAL = "The virtual GPU runs the same kernels; nothing else needs to be done."
COLAB = "In Colab, choose Runtime, Change runtime type, and a GPU; the virtual GPU works without."
# FP32 lanes of one multiprocessor (CUDA Programming Guide, "Arithmetic Instructions").
_LANES = {
    (7, 0): 64,
    (7, 2): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (12, 0): 128,
    (12, 1): 128,
}


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver: its version, and the newest CUDA release (major, minor) it serves."""

    version: str | None
    cuda: tuple[int, int] | None


class _NoNvml(Exception):
    """The management library cannot be used; carries the reason and the next step."""

    def __init__(self, why: str, do: str) -> None:
        super().__init__(why)
        self.why, self.do = why, do


def nvidia_gpus(sources: Sources) -> list[Device | Absent]:
    """All NVIDIA GPUs, or one `Absent` that says why there is none to be seen."""
    try:
        found = _by_nvml(sources)
    except _NoNvml as no:
        found = _by_smi(sources)
        if not found:
            return [_absent(sources, no)]
    if found:
        return found
    hidden = sources.environ.get("CUDA_VISIBLE_DEVICES")
    why = "The NVIDIA driver is loaded, but it shows no GPU to this process."
    do = "Start the container with --gpus all, or ask for a GPU where jobs are queued."
    if hidden is not None:
        do = f"CUDA_VISIBLE_DEVICES is set to {hidden!r}: unset it, or name a GPU there."
    return [Absent("gpu", NAME, why, do)]


def driver(sources: Sources) -> Driver | None:
    """The driver that is loaded; None when there is none."""
    try:
        nvml = _nvml(sources)
    except _NoNvml:
        return _driver_by_smi(sources)
    return _driver_by_nvml(nvml)


def _nvml(sources: Sources):
    """The library, initialised; whatever goes wrong becomes a `_NoNvml` with two sentences."""
    try:
        nvml = sources.importer("pynvml")
    except ImportError:
        raise _NoNvml(
            "nvidia-ml-py, which asks the driver, is not installed.",
            "Install it with: pip install nvidia-ml-py",
        ) from None
    except BROKEN as error:
        raise _NoNvml(
            f"nvidia-ml-py is broken: {_said(error)}.",
            "Install it anew: pip install --force-reinstall nvidia-ml-py",
        ) from None
    try:
        nvml.nvmlInit()
    except AttributeError:
        raise _NoNvml(
            "The module called pynvml is not NVIDIA's.",
            "Install NVIDIA's: pip uninstall pynvml, then pip install nvidia-ml-py",
        ) from None
    except BROKEN as error:
        raise _NoNvml(*_explained(error)) from None
    return nvml


def _explained(error: BaseException) -> tuple[str, str]:
    said = _said(error)
    plain = said.lower()
    if "mismatch" in plain:
        return (
            f"The driver's kernel module and its libraries are of different versions ({said}).",
            "Restart the machine; this is how an update of the driver is finished.",
        )
    if "permission" in plain:
        return (
            f"This account may not ask the NVIDIA driver ({said}).",
            "Ask the machine's administrator for access to /dev/nvidia*.",
        )
    if ("library" in plain and "not found" in plain) or "not found" in plain:
        return (
            f"The NVIDIA driver is not installed, or only half of it ({said}).",
            "Install NVIDIA's driver for this system, if there is an NVIDIA card in it.",
        )
    if "not loaded" in plain:
        return (
            f"The NVIDIA driver is installed but not loaded ({said}).",
            "Restart the machine; if that does not help, install the driver anew.",
        )
    return (
        f"The NVIDIA driver does not answer ({said}).",
        "Run nvidia-smi in a terminal; if it fails too, install the driver anew.",
    )


def _said(error: BaseException) -> str:
    return one_line(error).rstrip(".")


def _absent(sources: Sources, no: _NoNvml) -> Absent:
    """Which of several reasons explains it: no card, a card without driver, or no library."""
    if sources.system == "Darwin":
        return Absent("gpu", NAME, "macOS has no NVIDIA driver.", VIRTUAL)
    files = any(
        sources.exists(p) for p in ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
    )
    seen = cards(sources, PCI_NVIDIA)
    if files:
        return Absent("gpu", NAME, no.why, no.do)
    if seen:
        return Absent(
            "gpu",
            NAME,
            "An NVIDIA card is in this machine, but its driver is not loaded.",
            "Install NVIDIA's driver for this system and restart it.",
        )
    if seen is None and "installed" not in no.why:
        return Absent("gpu", NAME, no.why, no.do)
    if "not installed" in no.why or "half" in no.why:
        told = "" if seen is not None else "; the list of PCI cards cannot be read here"
        do = COLAB if any(name.startswith("COLAB_") for name in sources.environ) else VIRTUAL
        return Absent("gpu", NAME, f"No NVIDIA driver is installed here{told}.", do)
    return Absent("gpu", NAME, no.why, no.do)


def _by_nvml(sources: Sources) -> list[Device]:
    nvml = _nvml(sources)
    told = _driver_by_nvml(nvml)
    try:
        count = nvml.nvmlDeviceGetCount()
        return [_one(nvml, number, told) for number in range(count)]
    except BROKEN as error:
        raise _NoNvml(*_explained(error)) from None


def _one(nvml, number: int, told: Driver) -> Device:
    handle = nvml.nvmlDeviceGetHandleByIndex(number)
    unread: dict[str, str] = {}

    def ask(name: str, reader):
        try:
            return reader()
        except BROKEN as error:  # one fact that an old driver does not know
            unread[name] = _said(error)
            return None

    name = _text(ask("name", lambda: nvml.nvmlDeviceGetName(handle))) or f"GPU {number}"
    memory = ask("memory", lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).total))
    free = ask("free memory", lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).free))
    cc = ask("capability", lambda: tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle)))
    cores = ask("cores", lambda: int(nvml.nvmlDeviceGetNumGpuCores(handle)))
    clock = ask("clock", lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM))
    try:  # only some GPUs can be split at all
        split = bool(nvml.nvmlDeviceGetMigMode(handle)[0])
    except BROKEN:
        split = False
    lanes = _LANES.get(cc) if cc else None
    sms = cores // lanes if cores and lanes else None
    if sms is None:
        unread.setdefault("multiprocessors", "the driver does not tell")
    facts = {
        "vendor": "NVIDIA",
        "index": number,
        "chip": _published(name),
        "memory_bytes": memory,
        "free_bytes": free,
        "compute_capability": ".".join(map(str, cc)) if cc else None,
        "multiprocessors": sms,
        "fp32_lanes": cores,
        "clock_hz": clock * 10**6 if clock else None,
        "driver": told.version,
        "cuda": ".".join(map(str, told.cuda)) if told.cuda else None,
        "mig": split,
    }
    do = (
        "It is split by MIG: set CUDA_VISIBLE_DEVICES to the MIG instance you own." if split else ""
    )
    return Device("gpu", name, _line(facts), facts, unread, do)


def _published(name: str) -> str | None:
    """Its name in the table of published figures; None when it is not in there."""
    from hetlab.devices.chips import chip

    try:
        return chip(name).name
    except UnknownName:
        return None


def _line(facts: dict) -> str:
    parts = []
    if facts.get("memory_bytes"):
        parts.append(f"{binary_bytes(facts['memory_bytes'])} of memory")
    if facts.get("multiprocessors"):
        parts.append(f"{facts['multiprocessors']} multiprocessors")
    if facts.get("compute_capability"):
        parts.append(f"compute capability {facts['compute_capability']}")
    cuda = f" (CUDA {facts['cuda']})" if facts.get("cuda") else ""
    parts.append(f"driver {facts.get('driver') or 'of unknown version'}{cuda}")
    return "; ".join(parts)


def _driver_by_nvml(nvml) -> Driver:
    version = cuda = None
    with contextlib.suppress(*BROKEN):
        version = _text(nvml.nvmlSystemGetDriverVersion())
    with contextlib.suppress(*BROKEN):
        number = int(nvml.nvmlSystemGetCudaDriverVersion())
        cuda = (number // 1000, number % 1000 // 10)
    return Driver(version, cuda)


def _text(value) -> str | None:
    """Older releases of nvidia-ml-py return bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _by_smi(sources: Sources) -> list[Device]:
    """What nvidia-smi tells when the library is missing; empty when it tells nothing."""
    done = sources.run(
        "nvidia-smi",
        "--query-gpu=name,memory.total,driver_version,compute_cap",
        "--format=csv,noheader,nounits",
    )
    if not done.ok:
        return []
    told = _driver_by_smi(sources)
    found = []
    for number, line in enumerate(done.stdout.strip().splitlines()):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != 4:
            continue
        facts = {
            "vendor": "NVIDIA",
            "index": number,
            "memory_bytes": int(cells[1]) * 2**20 if cells[1].isdigit() else None,
            "compute_capability": cells[3] if re.fullmatch(r"\d+\.\d+", cells[3]) else None,
            "driver": cells[2],
            "cuda": ".".join(map(str, told.cuda)) if told and told.cuda else None,
        }
        do = "For all its facts and its energy meter: pip install nvidia-ml-py"
        found.append(Device("gpu", cells[0], _line(facts), facts, {}, do))
    return found


def _driver_by_smi(sources: Sources) -> Driver | None:
    done = sources.run("nvidia-smi")
    if not done.ok:
        return None
    version = re.search(r"Driver Version:\s*([\d.]+)", done.stdout)
    cuda = re.search(r"CUDA Version:\s*(\d+)\.(\d+)", done.stdout)
    return Driver(
        version.group(1) if version else None,
        (int(cuda.group(1)), int(cuda.group(2))) if cuda else None,
    )
