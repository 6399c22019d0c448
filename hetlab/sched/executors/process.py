"""One memory of its own with the devices that work in it: a process that obeys `here`.

Started as ``python -m hetlab.sched.executors.process ADDRESS``; it ends when its parent does.  It
connects once for what comes in, once for what goes out, and once for each device, so that copies
and kernels overlap as they do on a device with copy engines.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import traceback
from multiprocessing.connection import Client, Connection

import numpy as np

from hetlab.errors import one_line
from hetlab.sched.executors.kernels import nothing, outputs_of

__all__ = ["main", "receive", "send"]


def send(line: Connection, array) -> int:
    """Send one piece of data; its bytes are returned.  NumPy arrays go without a copy."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "biufc" and array.flags.c_contiguous:
        line.send(("array", array.dtype.str, array.shape))
        if array.nbytes:
            _all(line, memoryview(array.reshape(-1).view(np.uint8)))
        return array.nbytes
    body = pickle.dumps(array)
    line.send(("pickle", len(body), None))
    line.send_bytes(body)
    return len(body)


def receive(line: Connection):
    """Receive what `send` sent."""
    kind, what, shape = line.recv()
    if kind == "pickle":
        return pickle.loads(line.recv_bytes())
    array = np.empty(shape, np.dtype(what))
    flat = array.reshape(-1).view(np.uint8)
    at = 0
    while at < flat.size:
        at += line.recv_bytes_into(flat, at)
    return array


# Pieces: the other side reads one while this side writes the next.
_PIECE = 1 << 22


def _all(line: Connection, body: memoryview) -> None:
    for at in range(0, len(body), _PIECE):
        line.send_bytes(body[at : at + _PIECE])


class _Memory:
    """The data of this process by name, and its threads."""

    def __init__(self) -> None:
        self.data: dict = {}
        self.kernels: dict = {}

    def take_in(self, line: Connection) -> None:
        """Serve puts and drops."""
        while True:
            command, *rest = line.recv()
            if command == "put":
                self.data[rest[0]] = receive(line)
                line.send(time.perf_counter())
            elif command == "drop":
                self.data.pop(rest[0], None)
            elif command == "kernels":
                self.kernels = pickle.loads(line.recv_bytes())
                line.send(True)
            elif command == "clear":
                self.data.clear()
                line.send(True)

    def give_out(self, line: Connection) -> None:
        """Serve gets."""
        while True:
            send(line, self.data[line.recv()])

    def device(self, line: Connection) -> None:
        """Serve one device: run tasks one after another."""
        while True:
            command = line.recv()
            if command[0] == "run":
                line.send(self._run(line, *command[1:]))

    def _run(self, line, number, key, reads, writes, sizes, until):
        begin = time.perf_counter()
        try:
            kernel = self.kernels.get(key, nothing)
            outputs = outputs_of(kernel(*[self.data[name] for name in reads]), sizes)
            self.data |= dict(zip(writes, outputs))
        except BaseException as error:
            return number, "failed", begin, time.perf_counter(), one_line(error)
        if until is not None:
            # Sleep most of it, then look at the clock: a sleep alone is late by a scheduler tick.
            # Both processes read the machine's one monotonic clock.
            while (left := until - time.perf_counter()) > 0:
                if left > 2e-3:
                    if line.poll(left - 1e-3):
                        break  # cancelled: the next command is here
                else:
                    time.sleep(left / 4)
        return number, "done", begin, time.perf_counter(), ""


def main(address: str, devices: int) -> None:
    """Connect, serve, and end with the parent."""
    key = bytes.fromhex(os.environ.pop("HETLAB_SCHED_KEY"))
    sys.stdout = sys.stderr
    memory = _Memory()
    jobs = [memory.take_in, memory.give_out, *[memory.device] * devices]
    threads = []
    for number, job in enumerate(jobs):
        line = Client(address, authkey=key)
        line.send(number)
        threads.append(threading.Thread(target=_serve, args=(job, line), daemon=True))
        threads[-1].start()
    threads[0].join()  # the parent closed the line


def _serve(job, line: Connection) -> None:
    try:
        job(line)
    except (EOFError, OSError):
        os._exit(0)  # the parent is gone
    except BaseException:
        # A process that no longer serves would leave the run waiting; one that ended is noticed.
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
