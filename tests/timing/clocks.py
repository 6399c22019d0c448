"""A clock that tests move by hand."""

from __future__ import annotations

from hetlab.timing import Clock


class Hand:
    """A clock that moves only when the code under test works."""

    def __init__(self, resolution: float = 1e-9) -> None:
        self.time = 0.0
        self.clock = Clock("hand", lambda: self.time, 1.0, resolution)

    def work(self, duration):
        """A function whose every call takes ``duration`` seconds, or ``duration(time)``."""

        def fn(*args):
            self.time += duration(self.time) if callable(duration) else duration

        return fn
