"""Grade on a Dask cluster: the same jobs, the same answers, one notebook a worker at a time.

The only file of hetlab's grading that knows Dask by name.  Each worker process keeps one
grading process of its own, as the local run does; a worker that is lost takes one notebook
with it, which the scheduler gives to another.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hetlab

from ..errors import HetlabError, one_line, optional
from .bundle import unpacked
from .job import Answer, Job
from .pool import Grader

__all__ = ["Cluster"]

#: Seconds that a scheduler may take to answer.
_ANSWER = 5.0
#: How often a notebook is given to another worker after one was lost.
_RETRIES = 3

_one_at_a_time = threading.Lock()
_graders: dict[str, Grader] = {}


class Cluster:
    """A Dask cluster that grades.  A context manager.

    Parameters
    ----------
    address : str
        ``tcp://host:port`` of the scheduler.
    bundle : dict
        The track's files, as :func:`~hetlab.batch.bundle.bundle_of` gives them.

    Raises
    ------
    HetlabError
        The address does not answer within seconds, there is no worker, or a worker has another
        version of hetlab.
    """

    def __init__(self, address: str, bundle: dict[str, bytes]) -> None:
        distributed = optional("distributed", "cluster", "grade on a Dask cluster")
        self._distributed, self.address, self.bundle = distributed, address, bundle
        try:
            _knock(address)
            with _quiet():
                self.client = distributed.Client(address, timeout=_ANSWER, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as cause:
            raise HetlabError(
                f"no Dask scheduler answered at {address} within {_ANSWER:g} s",
                where="--dask",
                do="Start one with: dask scheduler, and on each machine: dask worker ADDRESS",
            ) from cause

    def __enter__(self) -> Cluster:
        try:
            self._look()
        except BaseException:
            self.client.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self.client.close(timeout=5)

    def workers(self) -> int:
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    def tiers(self) -> dict[str, str]:
        """Worker -> the sandbox that it has."""
        return {worker: seen["tier"] for worker, seen in self._seen.items()}

    def _look(self) -> None:
        """Every worker must have this version: grades must not depend on where they were made."""
        if not self.workers():
            raise HetlabError(
                "the Dask cluster has no worker",
                where=self.address,
                do=f"Start some with: dask worker {self.address} --nworkers 4 --nthreads 1",
            )
        try:
            self._seen = self.client.run(_look)
        except Exception as cause:
            raise HetlabError(
                f"a worker of the cluster cannot grade: {one_line(cause)}",
                where=self.address,
                do="Install the same hetlab on every machine of the cluster.",
            ) from cause
        other = {w: s["hetlab"] for w, s in self._seen.items() if s["hetlab"] != hetlab.__version__}
        if other:
            worker, version = next(iter(other.items()))
            raise HetlabError(
                f"the worker {worker} has hetlab {version}, and this is {hetlab.__version__}",
                where=self.address,
                do="Install the same version everywhere.",
            )

    def run(self, jobs: list[Job]) -> Iterator[tuple[Job, Answer]]:
        """Grade; answers come as they are ready, whatever becomes of single workers."""
        client = self.client
        waiting: dict[Any, tuple[Job, int]] = {}
        done = self._distributed.as_completed(loop=client.loop, with_results=False)

        def submit(job: Job, turn: int) -> None:
            # The bundle goes along each time: data that is kept on workers dies with them.
            future = client.submit(_grade, job.to_json(), self.bundle, pure=False, retries=_RETRIES)
            waiting[future] = (job, turn)
            done.add(future)

        for job in jobs:
            submit(job, 0)
        for future in done:
            job, turn = waiting.pop(future)
            if future.status == "finished":
                yield job, Answer.from_json(future.result())
            elif turn < _RETRIES:
                submit(job, turn + 1)
            else:
                why = one_line(future.exception()) if future.status == "error" else future.status
                yield job, Answer(fault=f"the grader failed: {why}", sandbox=job.tier)
            future.release()


def _look() -> dict[str, str]:
    """What a worker is."""
    from ..grading.tiers import probe

    return {"hetlab": hetlab.__version__, "tier": probe().name}


def _grade(job: str, bundle: dict[str, bytes]) -> str:
    """Runs on a worker: one notebook at a time, however many threads it has."""
    root = unpacked(bundle)
    with _one_at_a_time:
        grader = _graders.setdefault(str(root), Grader(Path(root)))
        return grader.ask(Job.from_json(job)).to_json()


def _knock(address: str) -> None:
    """Connect once, before there is a client.

    A client that found nobody is closed by the garbage collector, whenever and in whichever
    thread that happens; in the thread of the next client it waits for a lock which that
    client's start holds.
    """
    from distributed.comm import get_address_host_port

    socket.create_connection(get_address_host_port(address, strict=True), _ANSWER).close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask logs a traceback for an address that does not answer; ours is one sentence."""
    import logging

    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
