"""Calling a function under the clock: the loop that `measure` and `compare` share."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
from collections.abc import Callable

from hetlab.errors import InvalidValue
from hetlab.timing.clock import Clock

__all__ = ["Subject", "compile_log", "quiet"]


class Subject:
    """A function with its inputs, ready to be timed.

    Parameters
    ----------
    name : str
        For messages.
    fn : callable
        What is timed.
    args : tuple
        Its arguments, or the arguments of ``setup``.
    setup : callable or None
        Called with ``args`` before every call, outside the clock; returns the call's arguments (a
        tuple, or one value).
    sync : callable or None
        Called without arguments at the end of each sample, inside the clock: it waits until work
        that ``fn`` only started (on a GPU, say) is done.
    clock : Clock
        What is read.
    """

    def __init__(self, name, fn, args, setup, sync, clock: Clock) -> None:
        for what, value in [("fn", fn), ("setup", setup), ("sync", sync)]:
            if not callable(value) and (value is not None or what == "fn"):
                raise InvalidValue(what, "something that can be called", value)
        self.name, self.fn, self.args, self.setup, self.sync = name, fn, args, setup, sync
        self.clock, self.phase = clock, "the first call"

    def inputs(self) -> tuple:
        """The arguments of one call."""
        if self.setup is None:
            return self.args
        made = self.setup(*self.args)
        return made if isinstance(made, tuple) else (made,)

    def once(self, inputs: tuple) -> tuple[float, object]:
        """Seconds and result of one call."""
        now, fn, sync = self.clock.now, self.fn, self.sync
        with self._blame():
            start = now()
            result = fn(*inputs)
            if sync is not None:
                sync()
            return (now() - start) * self.clock.tick, result

    def sample(self, loops: int) -> float:
        """Seconds of ``loops`` calls."""
        if self.setup is None:
            each = itertools.repeat(self.args, loops)
        else:
            each = [self.inputs() for _ in range(loops)]
        now, fn, sync = self.clock.now, self.fn, self.sync
        with self._blame():
            start = now()
            for inputs in each:
                fn(*inputs)
            if sync is not None:
                sync()
            return (now() - start) * self.clock.tick

    @contextlib.contextmanager
    def _blame(self):
        """The learner's exception passes through untouched, with a note of where it happened."""
        try:
            yield
        except Exception as error:
            error.add_note(f"hetlab was timing {self.name}: it raised in {self.phase}.")
            raise


@contextlib.contextmanager
def quiet():
    """No garbage collection meanwhile: it would fall into some samples and not into others."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Log:
    """Seconds of just-in-time compilation so far; compilations inside one another count once."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._start = 0.0, 0, 0.0

    def begin(self, now: float) -> None:
        if self._depth == 0:
            self._start = now
        self._depth += 1

    def end(self, now: float) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += now - self._start


@contextlib.contextmanager
def compile_log(clock: Clock):
    """Listen to Numba's compiler while the block runs.

    Yields
    ------
    log
        ``log.seconds`` is the time spent compiling so far; 0 where Numba is not loaded.
    """
    log = _Log()
    if "numba" not in sys.modules:
        yield log
        return
    from numba.core import event

    class Listen(event.Listener):
        def on_start(self, _):
            log.begin(clock.now() * clock.tick)

        def on_end(self, _):
            log.end(clock.now() * clock.tick)

    with event.install_listener("numba:compile", Listen()):
        yield log


def name_of(fn: Callable, fallback: str = "function") -> str:
    """A readable name: Numba's dispatchers and partials hide theirs one level down."""
    for candidate in (fn, getattr(fn, "py_func", None), getattr(fn, "func", None)):
        name = getattr(candidate, "__name__", None)
        if name and name != "<lambda>":
            return name
    return fallback
