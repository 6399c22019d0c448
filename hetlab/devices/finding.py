"""All probes, one after the other; none of them can stop the others."""

from __future__ import annotations

from hetlab.devices.cpu import cpu_device
from hetlab.devices.device import Absent, Device, DeviceList
from hetlab.devices.disks import disks
from hetlab.devices.memory import memory_device
from hetlab.devices.nvidia import nvidia_gpus
from hetlab.devices.other_gpus import amd_gpus, apple_gpus, intel_gpus
from hetlab.devices.sources import Sources, here
from hetlab.devices.virtual import virtual_gpu
from hetlab.devices.workers import dask_workers
from hetlab.errors import one_line

__all__ = ["find"]


def find(
    address: str | None = None,
    *,
    measure_disks: bool = False,
    sources: Sources | None = None,
) -> DeviceList:
    """List the devices of this machine, and say of each absent one why and what to do.

    Parameters
    ----------
    address : str, optional
        A Dask scheduler, whose workers are listed too.
    measure_disks : bool
        Write and read a temporary file of 64 MiB three times.
    sources : Sources, optional
        Where to look; this machine by default.

    Returns
    -------
    DeviceList
    """
    at = sources or here()
    probes = [
        ("cpu", "Processor", lambda: [cpu_device(at)]),
        ("memory", "Main memory", lambda: [memory_device(at)]),
        ("disk", "Disks", lambda: disks(at, measure=measure_disks)),
        ("gpu", "NVIDIA GPU", lambda: nvidia_gpus(at)),
        ("gpu", "AMD GPU", lambda: amd_gpus(at)),
        ("gpu", "Intel GPU", lambda: intel_gpus(at)),
        ("gpu", "Apple GPU", lambda: apple_gpus(at)),
        ("virtual gpu", "Virtual GPU", lambda: [virtual_gpu(at)]),
        ("worker", "Dask workers", lambda: dask_workers(at, address)),
    ]
    found: list[Device | Absent] = []
    for kind, name, probe in probes:
        try:
            found += probe()
        except Exception as error:  # a probe's own mistake must not hide the other devices
            why = f"Looking for it failed: {one_line(error)}."
            found.append(Absent(kind, name, why, "Please report this line."))
    return DeviceList(found)
