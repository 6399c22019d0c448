"""Grade on this machine: some processes, each with one notebook at a time."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .job import Answer, Job

__all__ = ["Grader", "cores", "patience", "run_here"]


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def patience(job: Job) -> float:
    """Seconds after which a grader that gives no answer is given up.

    The sandbox keeps its own limits; this is the last resort, and twice as much.
    """
    return 120 + 2 * float(job.limits.get("notebook", 600))


class Grader:
    """A grading process that is started when needed and replaced when it dies."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ended = False
        self._process: subprocess.Popen | None = None

    def ask(self, job: Job) -> Answer:
        """Grade one notebook.  A process that dies is replaced and asked once more."""
        for _ in range(2):
            answer, cause = self._ask(job)
            if answer is not None:
                return answer
            if self.ended:
                break
        return Answer(fault=f"the grader failed: {cause}", sandbox=job.tier)

    def _ask(self, job: Job) -> tuple[Answer | None, str]:
        process = self._start()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(patience(job), give_up)
        timer.start()
        try:
            process.stdin.write(job.to_json() + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError, OSError):
            line = ""
        finally:
            timer.cancel()
        if line:
            return Answer.from_json(line), ""
        self.close()
        if late.is_set():
            why = f"it gave no answer within {patience(job):g} s"
            return Answer(fault=f"the grader failed: {why}", sandbox=job.tier), why
        return None, f"its process ended with exit status {process.returncode}"

    def _start(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hetlab.batch.worker", str(self.root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def end(self) -> None:
        """Take no more jobs, and give up the one in hand."""
        self.ended = True
        self.close()

    def close(self) -> None:
        """End the process, at once."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


def run_here(
    jobs: Iterable[Job],
    root: Path,
    *,
    count: int,
    started: Callable[[Job], None] = lambda _: None,
) -> Iterator[tuple[Job, Answer]]:
    """Grade on this machine, `count` notebooks at a time; answers come as they are ready."""
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    jobs = list(jobs)
    for job in jobs:
        waiting.put(job)
    done: queue.SimpleQueue = queue.SimpleQueue()
    stop = threading.Event()
    graders = [Grader(root) for _ in range(max(1, min(count, len(jobs))))]

    def serve(grader: Grader) -> None:
        while not stop.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                break
            started(job)
            answer = grader.ask(job)
            if not stop.is_set():
                done.put((job, answer))
        grader.end()

    threads = [threading.Thread(target=serve, args=(g,), daemon=True) for g in graders]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            yield done.get()
    finally:
        stop.set()
        for grader in graders:
            grader.end()
        for thread in threads:
            thread.join(10)
