"""Workers of a Dask cluster, when its scheduler's address is given."""

from __future__ import annotations

import asyncio
import importlib.metadata
from concurrent.futures import ThreadPoolExecutor

from hetlab.devices.device import Absent, Device
from hetlab.devices.sources import BROKEN, Sources
from hetlab.errors import one_line
from hetlab.units import binary_bytes

__all__ = ["dask_workers"]

NAME = "Dask workers"
PATIENCE = 5.0  # seconds


def dask_workers(sources: Sources, address: str | None) -> list[Device | Absent]:
    """One entry a worker.

    Parameters
    ----------
    address : str or None
        Of the scheduler, such as "tcp://10.0.0.1:8786".
    """
    if not address:
        why = "No scheduler address was given."
        do = 'Give one: hetlab doctor --dask tcp://HOST:8786, or hetlab.devices("tcp://HOST:8786").'
        return [Absent("worker", NAME, why, do)]
    try:
        distributed = sources.importer("distributed")
    except ImportError:
        why = "Dask's distributed scheduler is not installed."
        return [Absent("worker", NAME, why, "Install it with: pip install 'hetlab[cluster]'")]
    except BROKEN as error:
        why = f"Dask's distributed scheduler does not load: {one_line(error)}."
        do = "Install it anew: pip install --force-reinstall distributed"
        return [Absent("worker", NAME, why, do)]
    try:
        told = _ask(distributed, address)
    except (OSError, TimeoutError, ValueError) as error:
        why = f"No scheduler answered at {address} within {PATIENCE:g} s: {_said(error)}."
        do = "Start one with: dask scheduler, and check the address and the firewall."
        return [Absent("worker", NAME, why, do)]
    except BROKEN as error:
        why = f"What answers at {address} could not be understood: {_said(error)}."
        do = f"Use the same release on both sides; here it is {_version()}."
        return [Absent("worker", NAME, why, do)]
    found = [_worker(where, about) for where, about in sorted(told.get("workers", {}).items())]
    if found:
        return found
    why = f"The scheduler at {address} answers, but no worker has joined it."
    return [Absent("worker", NAME, why, f"Start one with: dask worker {address}")]


def _ask(distributed, address: str) -> dict:
    """The scheduler's description of itself.

    One call, without a Client: that one keeps trying, and complains when it is discarded.  In
    a thread of its own, since a notebook's has an event loop already.
    """

    async def ask():
        scheduler = distributed.core.rpc(address, timeout=PATIENCE)
        try:
            return await asyncio.wait_for(scheduler.identity(), PATIENCE)
        finally:
            await scheduler.close_rpc()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()


def _worker(where: str, about: dict) -> Device:
    threads, memory = about.get("nthreads"), about.get("memory_limit")
    facts = {
        "address": where,
        "threads": threads,
        "memory_bytes": memory,
        "resources": about.get("resources") or {},
    }
    parts = [f"{threads} thread{'s' * (threads != 1)}"]
    if memory:
        parts.append(f"{binary_bytes(memory)} of memory")
    parts += [f"{name} {amount:g}" for name, amount in facts["resources"].items()]
    return Device("worker", f"Dask worker {about.get('name', where)}", "; ".join(parts), facts)


def _said(error: BaseException) -> str:
    return one_line(error).rstrip(".")


def _version() -> str:
    try:
        return f"distributed {importlib.metadata.version('distributed')}"
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"
