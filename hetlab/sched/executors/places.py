"""Where kernels really run: threads beside the home memory, processes with their own."""

from __future__ import annotations

import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Listener

from hetlab.errors import HetlabError, one_line
from hetlab.sched.executors.kernels import nothing, outputs_of
from hetlab.sched.executors.process import receive, send

__all__ = ["ProcessPlace", "ThreadPlace", "bring_home"]


class ThreadPlace:
    """The home memory, and a thread for each device that works in it.

    NumPy, Numba with ``nogil`` and most compiled code release Python's lock, so that threads run
    at the same time; kernels written in plain Python take turns.
    """

    def __init__(self, devices: list[str], kernels: dict, post: Callable) -> None:
        self.data: dict = {}
        self._kernels, self._post = kernels, post
        self._todo = {name: queue.SimpleQueue() for name in devices}
        for name in devices:
            work = (name, self._todo[name])
            threading.Thread(target=self._serve, args=work, daemon=True, name=name).start()

    def run(self, device: str, number: int, key, reads, writes, sizes, until) -> None:
        """Start a task; it ends at ``until`` on the clock, unless that is None, and is posted."""
        self._todo[device].put((number, key, reads, writes, sizes, until))

    def drop(self, name) -> None:
        """Forget data."""
        self.data.pop(name, None)

    def clear(self) -> None:
        """Forget all data."""
        self.data = {}

    def close(self) -> None:
        """End the threads."""
        for todo in self._todo.values():
            todo.put(None)

    def _serve(self, device: str, todo: queue.SimpleQueue) -> None:
        while (task := todo.get()) is not None:
            number, key, reads, writes, sizes, until = task
            begin = time.perf_counter()
            try:
                data = self.data
                result = self._kernels.get(key, nothing)(*[data[name] for name in reads])
                data |= dict(zip(writes, outputs_of(result, sizes)))
                status, reason = "done", ""
            except BaseException as error:
                status, reason = "failed", one_line(error)
            while until and (left := until - time.perf_counter()) > 0:
                time.sleep(left - 1e-3 if left > 2e-3 else left / 4)
            self._post(("ran", device, number, status, begin, time.perf_counter(), reason))
            del task


class ProcessPlace:
    """A process with a memory of its own, and its devices.

    Attributes
    ----------
    pid : int
    """

    def __init__(self, memory: str, devices: list[str], kernels: bytes, post: Callable) -> None:
        self.memory, self.devices, self._post = memory, devices, post
        key = secrets.token_bytes(16)
        environment = {**os.environ, "HETLAB_SCHED_KEY": key.hex()}
        with Listener(authkey=key) as door:
            command = [sys.executable, "-m", "hetlab.sched.executors.process"]
            command += [str(door.address), str(len(devices))]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
            self._child = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            self.pid = self._child.pid
            lines = {}
            watch = threading.Timer(60.0, self._child.kill)
            watch.start()
            try:
                while len(lines) < len(devices) + 2:
                    line = self._accept(door)
                    lines[line.recv()] = line
            finally:
                watch.cancel()
        self._in, self._out = lines[0], lines[1]
        self._lines = {name: lines[i + 2] for i, name in enumerate(devices)}
        self._in.send(("kernels",))
        self._in.send_bytes(kernels)
        self._in.recv()
        self._moves_in: queue.SimpleQueue = queue.SimpleQueue()
        self._moves_out: queue.SimpleQueue = queue.SimpleQueue()
        self._closing = False
        for job in (self._serve_in, self._serve_out):
            threading.Thread(target=self._guard, args=(job,), daemon=True).start()
        for name in devices:
            threading.Thread(target=self._guard, args=(self._hear, name), daemon=True).start()

    def run(self, device: str, number: int, key, reads, writes, sizes, until) -> None:
        """Start a task; it ends at ``until`` on the clock, unless that is None, and is posted."""
        self._try(self._lines[device].send, ("run", number, key, reads, writes, sizes, until))

    def cancel(self, device: str) -> None:
        """Interrupt the pause of a paced task."""
        self._try(self._lines[device].send, ("cancel",))

    def take_in(self, name, value, done: Callable) -> None:
        """Copy data in, in turn; ``done(begin, end, bytes)`` is called after it."""
        self._moves_in.put((name, value, done))

    def give_out(self, name, done: Callable) -> None:
        """Copy data out, in turn; ``done(value, begin, end)`` is called after it."""
        self._moves_out.put((name, done))

    def drop(self, name) -> None:
        """Forget data, after what is on its way in."""
        self._moves_in.put((name, None, None))

    def clear(self) -> None:
        """Forget all data, and return when that is done: the next run must not lose its own."""
        cleared = threading.Event()
        self._moves_in.put((None, None, cleared.set))
        while not cleared.wait(0.2) and self._child.poll() is None:
            pass

    def kill(self) -> None:
        """End the process without a word, as a crash would."""
        self._child.kill()

    def close(self) -> None:
        """End the process."""
        self._closing = True
        self._child.kill()
        self._child.wait()
        self._moves_in.put(None)
        self._moves_out.put(None)
        for line in (self._in, self._out, *self._lines.values()):
            line.close()

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child.poll() is None

    def ended(self) -> str:
        """How the process ended, as a sentence without its full stop."""
        try:
            code = self._child.wait(5.0)
        except subprocess.TimeoutExpired:
            return f"process {self.pid} no longer answers"
        name = ""
        if code < 0:
            name = f" ({signal.Signals(-code).name})" if -code in set(signal.Signals) else ""
        return f"process {self.pid} ended with exit code {code}{name}"

    def _accept(self, door: Listener):
        try:
            return door.accept()
        except OSError as error:
            what = f"the process of {self.memory} did not start: {one_line(error)}"
            raise HetlabError(what, do="See what it printed above.") from None

    def _serve_in(self) -> None:
        while (item := self._moves_in.get()) is not None:
            name, value, done = item
            if name is None:
                self._in.send(("clear",))
                self._in.recv()
                done()
                continue
            if done is None:
                self._in.send(("drop", name))
                continue
            begin = time.perf_counter()
            self._in.send(("put", name))
            size = send(self._in, value)
            done(begin, self._in.recv(), size)
            del item, value

    def _serve_out(self) -> None:
        while (item := self._moves_out.get()) is not None:
            name, done = item
            begin = time.perf_counter()
            self._out.send(name)
            value = receive(self._out)
            done(value, begin, time.perf_counter())
            del item, value

    def _hear(self, device: str) -> None:
        while True:
            number, status, begin, end, reason = self._lines[device].recv()
            self._post(("ran", device, number, status, begin, end, reason))

    def _guard(self, job: Callable, *arguments) -> None:
        try:
            job(*arguments)
        except (EOFError, OSError):
            if not self._closing:
                self._post(("gone", self.memory))

    def _try(self, action: Callable, message) -> None:
        try:
            action(message)
        except OSError:
            self._post(("gone", self.memory))


def bring_home(where: dict, places: dict, home: str) -> dict:
    """Values of data by name, from the memories that they lie in; what is gone is left out."""
    found: dict = {}
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    for data, memory in where.items():
        place = places.get(memory)
        if memory == home and data in place.data:
            found[data] = place.data[data]
        elif isinstance(place, ProcessPlace):
            place.give_out(data, lambda v, b, e, name=data: waiting.put((name, v)))
            try:
                name, value = waiting.get(timeout=30 if place.alive else 0)
                found[name] = value
            except queue.Empty:
                continue
    return found
