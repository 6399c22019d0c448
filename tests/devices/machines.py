"""Machines made of files: a folder that stands for "/", and libraries that behave badly."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace

from hetlab.devices.sources import Done, Sources


def _epyc() -> dict[str, str]:
    """Two sockets of two cores of two threads: the EPYC 9654's files, with fewer cores."""
    files = {"sys/devices/system/cpu/online": "0-7"}
    info = []
    for cpu in range(8):
        socket, core = cpu % 4 // 2, cpu % 2  # threads 0-3 are first siblings, 4-7 second ones
        info.append(
            f"processor\t: {cpu}\nvendor_id\t: AuthenticAMD\n"
            "model name\t: AMD EPYC 9654 96-Core Processor\n"
            f"physical id\t: {socket}\ncore id\t\t: {core}\n"
            "flags\t\t: fpu sse2 avx avx2 avx512f\n"
        )
        here = f"sys/devices/system/cpu/cpu{cpu}"
        siblings = f"{cpu % 4},{cpu % 4 + 4}"
        files[f"{here}/topology/core_cpus_list"] = siblings
        files[f"{here}/topology/physical_package_id"] = str(socket)
        mates = f"{2 * socket}-{2 * socket + 1},{2 * socket + 4}-{2 * socket + 5}"
        for index, (level, kind, amount, who) in enumerate(
            [
                (1, "Data", "32K", siblings),
                (1, "Instruction", "32K", siblings),
                (2, "Unified", "1024K", siblings),
                (3, "Unified", "32768K", mates),
            ]
        ):
            cache = f"{here}/cache/index{index}"
            files |= {
                f"{cache}/level": str(level),
                f"{cache}/type": kind,
                f"{cache}/size": amount,
                f"{cache}/shared_cpu_list": who,
                f"{cache}/coherency_line_size": "64",
            }
    for node in range(2):
        folder = f"sys/devices/system/node/node{node}"
        files[f"{folder}/cpulist"] = f"{2 * node}-{2 * node + 1},{2 * node + 4}-{2 * node + 5}"
        files[f"{folder}/meminfo"] = f"Node {node} MemTotal:  1048576 kB\n"
    files["proc/cpuinfo"] = "\n".join(info)
    files["proc/meminfo"] = "MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\n"
    files["proc/self/mounts"] = "/dev/nvme0n1p1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n"
    files["sys/bus/pci/devices/0000:00:00.0/vendor"] = "0x1022"
    files["sys/bus/pci/devices/0000:00:00.0/class"] = "0x060000"
    return files


EPYC = _epyc()

GRAVITON = {
    "machine": "aarch64",
    "sys/devices/system/cpu/online": "0-1",
    "proc/cpuinfo": "".join(
        f"processor\t: {n}\nFeatures\t: fp asimd sve\n"
        "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n\n"
        for n in range(2)
    ),
    "proc/sys/abi/sve_default_vector_length": "32",
    "proc/meminfo": "MemTotal: 8388608 kB\n",
}


def make(root: Path, files: dict[str, str], **changes) -> Sources:
    """Sources of a machine whose files are these; the entry "machine" is its architecture."""
    for name, text in files.items():
        if name != "machine":
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    settings = {
        "root": root,
        "environ": {},
        "system": "Linux",
        "machine": files.get("machine", "x86_64"),
        "affinity": lambda: 2,
        "importer": importer({}),
        "runner": runner({}),
    }
    return Sources(**(settings | changes))


def importer(modules: dict[str, object]):
    """Modules by name; an exception is raised, and what is not named is not installed.

    What the small core needs, and hetlab itself, stay as they are.
    """

    def give(name: str):
        if name in modules:
            if isinstance(modules[name], BaseException):
                raise modules[name]
            return modules[name]
        if name.split(".")[0] in {"hetlab", "psutil"}:
            return importlib.import_module(name)
        raise ModuleNotFoundError(f"No module named {name!r}")

    return give


def runner(commands: dict[str, Done]):
    """Commands by the name of their program; what is not named cannot be started."""

    def run(argv, timeout, environ):
        name = Path(argv[0]).name
        return commands.get(name, Done(None, failure=f"{name} could not be started: not found"))

    return run


class NvmlError(Exception):
    """As nvidia-ml-py raises it."""


def nvml(**changes) -> SimpleNamespace:
    """A working nvidia-ml-py of a machine with one H200 and a CUDA 13.0 driver."""
    gpu = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda n: n,
        "nvmlDeviceGetName": lambda h: "NVIDIA H200",
        "nvmlDeviceGetMemoryInfo": lambda h: SimpleNamespace(total=150_754_820_096, free=2**37),
        "nvmlDeviceGetCudaComputeCapability": lambda h: (9, 0),
        "nvmlDeviceGetNumGpuCores": lambda h: 16896,
        "nvmlDeviceGetMaxClockInfo": lambda h, kind: 1980,
        "nvmlDeviceGetMigMode": lambda h: (0, 0),
        "nvmlSystemGetDriverVersion": lambda: "580.65.06",
        "nvmlSystemGetCudaDriverVersion": lambda: 13000,
        "nvmlDeviceGetTotalEnergyConsumption": lambda h: 5_000,
        "nvmlDeviceGetPowerUsage": lambda h: 100_000,
        "NVML_CLOCK_SM": 1,
    }
    return SimpleNamespace(**(gpu | changes))


def raises(error: BaseException):
    """A function that raises."""

    def call(*_):
        raise error

    return call
