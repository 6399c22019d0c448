"""Time as a GPU tells it: CUDA events, through numba-cuda."""

from __future__ import annotations

from collections.abc import Callable

from hetlab.errors import optional

__all__ = ["EVENT_RESOLUTION", "event_milliseconds"]

#: Seconds; the CUDA Runtime API reference of cudaEventElapsedTime: "around 0.5 microseconds".
EVENT_RESOLUTION = 0.5e-6


def event_milliseconds() -> Callable[[], float]:
    """A function that waits for the GPU and gives its time in milliseconds, from now on.

    Each call records an event in the default stream, behind all work that was launched, and
    waits for it.  So the difference of two calls is the time the GPU spent between them.

    Raises
    ------
    MissingLibrary
        When numba-cuda is not installed.
    """
    cuda = optional("numba.cuda", "cuda", "take the time with CUDA events")

    def record():
        event = cuda.event(timing=True)
        event.record()
        event.synchronize()
        return event

    start = record()
    return lambda: cuda.event_elapsed_time(start, record())
