"""The GPU's own clock, for ``measure(..., clock=device_clock())``."""

from __future__ import annotations

from hetlab.devices.cuda_events import EVENT_RESOLUTION, event_milliseconds
from hetlab.errors import HetlabError
from hetlab.timing.clock import Clock
from hetlab.vgpu.frontends import real_gpu

__all__ = ["device_clock"]


def device_clock() -> Clock:
    """A clock that reads CUDA events: it waits for launched work, and leaves the host out.

    Returns
    -------
    Clock
        To pass to `measure` or `compare`.

    Raises
    ------
    HetlabError
        Where there is no GPU: the virtual GPU has no time of its own.

    Examples
    --------
    >>> measure(kernel[grid, block], x, clock=device_clock())  # doctest: +SKIP
    """
    reason = real_gpu()
    if reason is not None:
        raise HetlabError(
            f"there is no GPU whose time could be taken: {reason}",
            do="hetlab.profile counts what a launch does, and estimates its time on a chip.",
        )
    return Clock("CUDA events", event_milliseconds(), 1e-3, EVENT_RESOLUTION)
