"""Machines to schedule for, made of chips whose figures are published (``chips.toml``).

Speeds are peaks, which no program reaches: who *can* win, not by how much someone will.  What no
maker prints is assumed, and `ASSUMED` says what and why.
"""

from __future__ import annotations

import math

from hetlab.devices import chip
from hetlab.errors import UnknownName
from hetlab.sched.heat import Heat
from hetlab.sched.machine import Device, Link, Machine

__all__ = ["ASSUMED", "PRESETS", "WORK", "preset"]

# Kinds of work that these machines know, with the unit in which a task says how much.
WORK = {
    "fp32": "FLOP in 32-bit numbers",
    "fp64": "FLOP in 64-bit numbers",
    "matrix": "operations of a matrix product in 16-bit (on an NPU 8-bit) numbers",
    "stream": "bytes read or written in the device's memory",
    "bits": "bytes of bit logic: compression, encryption, parsing",
    "network": "bytes that go to the network or come from it",
}

ASSUMED = {
    "start": "5 µs to start a kernel on a GPU, NPU or FPGA, 1 µs on a CPU core: usual magnitudes",
    "reconfigure": "0.2 s to load another function into an FPGA: full images take 0.1 to some s",
    "idle": "a tenth of the design power when idle; a core's share of its chip's design power",
    "heat": "at design power 10 K above its limit in the end, 20 s time constant, half speed there",
    "fpga": "64 bytes a cycle at 300 MHz through one pipeline; 2 operations a DSP slice and cycle",
    "link": "a PCIe link of 16 lanes: 16 GB/s (Gen 3) or 32 GB/s (Gen 4) one way, 5 µs",
    "dpu": "its cores at 2.5 GHz with 8 operations a cycle; its network port forwards by itself",
    "npu": "it works in main memory; 5 W",
    "gpu": "a 64-bit peak that is not printed is a 64th of the 32-bit one; bit logic at a quarter "
    "of the memory's bandwidth",
}


def preset(name: str = "workstation", *, cores: int = 4, heat: bool = False) -> Machine:
    """A machine of known chips.

    Parameters
    ----------
    name : str
        A key of `PRESETS`.
    cores : int
        CPU cores that take tasks.
    heat : bool
        Whether GPUs warm up and slow down.

    Returns
    -------
    Machine
        Links carry one transfer at a time, in each direction, as DMA engines do.

    Raises
    ------
    UnknownName
        For another name.
    """
    key = name.strip().lower()
    if key not in PRESETS:
        raise UnknownName("machine", name, PRESETS)
    _, cpu, others = PRESETS[key]
    devices = [_core(cpu, i) for i in range(cores)]
    links: list[Link] = []
    memories = {"host": 256e9}
    for own, maker, model, pace in others:
        device = maker(own, model, heat)
        devices.append(device)
        if device.memory != "host":
            links.append(Link("host", device.memory, pace, 5e-6))
            memories[device.memory] = chip(model).memory or math.inf
    gpus = [d for d in devices if d.kind == "gpu" and chip(d.chip).value("peer_link")]
    for i, a in enumerate(gpus):
        for b in gpus[:i]:
            peer = chip(a.chip).value("peer_link") / 2  # it is printed for both directions together
            links.append(Link(b.memory, a.memory, peer, 5e-6))
    options = {"memories": memories, "home": "host", "contention": "queue", "name": key}
    return Machine(devices, links, **options)


def _core(model: str, i: int) -> Device:
    c = chip(model)
    clock = c.value("base_clock") or c.clock
    flops = c.lanes * 2 * clock
    speeds = {"fp32": flops, "fp64": flops / 2, "matrix": flops, "bits": clock}
    # One core cannot use all of the chip's bandwidth; ten can, as a rule of thumb.
    speeds |= {"stream": c.bandwidth / 10, "network": 42e9 / 8}
    watts = (c.power or 0.0) / c.units
    return Device(
        f"cpu{i}", "cpu", speeds=speeds, memory="host", start=1e-6, chip=c.name,
        idle_watts=watts / 10, busy_watts=watts,
    )  # fmt: skip


def _gpu(own: str, model: str, heat: bool) -> Device:
    c = chip(model)
    fp64 = c.value("fp64") or c.peak_fp32 / 64
    speeds = {"fp32": c.value("fp32") or c.peak_fp32, "fp64": fp64, "stream": c.bandwidth}
    speeds["matrix"] = c.value("matrix_fp16") or speeds["fp32"]
    speeds["bits"] = c.bandwidth / 4
    watts = c.power or 0.0
    warm = Heat((90 + 10 - 25) / watts, 20.0, 90.0, 80.0) if heat and watts else None
    return Device(
        own, "gpu", speeds=speeds, memory=f"{own} memory", start=5e-6, chip=c.name,
        idle_watts=watts / 10, busy_watts=watts, heat=warm,
    )  # fmt: skip


def _fpga(own: str, model: str, heat: bool) -> Device:
    c = chip(model)
    pipeline = 64 * 300e6
    speeds = {"bits": pipeline, "stream": min(pipeline, c.bandwidth), "network": 12.5e9}
    speeds["matrix"] = c.units * 2 * 300e6
    watts = c.power or 0.0
    return Device(
        own, "fpga", speeds=speeds, memory=f"{own} memory", start=5e-6, chip=c.name,
        reconfigure=0.2, idle_watts=watts / 10, busy_watts=watts,
    )  # fmt: skip


def _dpu(own: str, model: str, heat: bool) -> Device:
    c = chip(model)
    flops = c.units * 8 * 2.5e9
    speeds = {"network": c.value("network"), "bits": c.value("network") / 2, "fp32": flops}
    speeds["stream"] = c.bandwidth
    return Device(own, "dpu", speeds=speeds, memory=f"{own} memory", start=5e-6, chip=c.name)


def _npu(own: str, model: str, heat: bool) -> Device:
    c = chip(model)
    speeds = {"matrix": c.value("int8"), "stream": c.bandwidth}
    return Device(
        own, "npu", speeds=speeds, memory="host", start=5e-6, chip=c.name,
        idle_watts=0.5, busy_watts=5.0,
    )  # fmt: skip


# name -> (what it is, the CPU's chip, the others: own name, maker, chip, B/s of its link)
PRESETS: dict[str, tuple] = {
    "workstation": (
        "CPU cores and one GPU",
        "EPYC 9654",
        (("gpu0", _gpu, "RTX 4090", 32e9),),
    ),
    "server": (
        "CPU cores and two GPUs that reach each other",
        "EPYC 9654",
        (("gpu0", _gpu, "A100 80GB", 32e9), ("gpu1", _gpu, "A100 80GB", 32e9)),
    ),
    "one of each": (
        "CPU cores, a GPU, an NPU, an FPGA and a DPU",
        "EPYC 9654",
        (
            ("gpu0", _gpu, "A100 40GB", 32e9),
            ("npu0", _npu, "Hexagon NPU (Snapdragon X Elite)", math.inf),
            ("fpga0", _fpga, "Alveo U280", 16e9),
            ("dpu0", _dpu, "BlueField-2", 32e9),
        ),
    ),
}
