"""A Dask cluster gives the rows of a local run, also when a worker is lost on the way."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from hetlab.batch.batch import Batch, Options
from hetlab.batch.bundle import bundle_of, unpacked
from hetlab.batch.cluster import Cluster
from hetlab.batch.report import write_reports
from hetlab.errors import HetlabError
from hetlab.grading.tiers import probe
from hetlab.tracks.manifest import load_track
from hetlab.tracks.tasks import load_tasks

from ..tracks.tiny_track import LESSON
from .classroom import RIGHT, contents, handed_in, lay_out

pytest.importorskip("distributed")


@contextlib.contextmanager
def cluster(folder, workers):
    """A scheduler and some workers, each a process of its own, on loopback."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    file = folder / "scheduler.json"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
                 "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]  # fmt: skip
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file),
              "--no-nanny", "--nthreads", "2", "--no-dashboard", "--host", "127.0.0.1"]  # fmt: skip
    running = [subprocess.Popen(scheduler, **quiet)]
    try:
        end = time.monotonic() + 60
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.1)
        running += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        import json

        yield json.loads(file.read_text())["address"], running[1:]
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


@pytest.fixture
def classroom(track, tmp_path):
    files = {f"s{i}.ipynb": handed_in(track) for i in range(3)}
    files["张三.ipynb"] = handed_in(track, {**RIGHT, "double": "x * x"})
    files["broken.ipynb"] = b"{"

    def dies(notebook):
        notebook.cells[3].source = "import os\nos._exit(0)"

    files["dead.ipynb"] = handed_in(track, change=dies)
    return lay_out(tmp_path / "in", files)


def limits():
    from dataclasses import asdict

    from hetlab.grading.tiers import Limits

    return asdict(Limits())


def graded(track, place, out, runner=None):
    batch = Batch(place, track, out, Options(tier=probe().name, limits=limits(), jobs=2))
    with batch.ledger.locked():
        batch.run(batch.prepare(), runner)
        return {r.student: r.points for r in write_reports(batch)}


@pytest.mark.soak
def test_the_rows_of_a_cluster_are_those_of_a_local_run_with_a_worker_lost(
    track, classroom, tmp_path
):
    with cluster(tmp_path, 3) as (address, workers):
        here = graded(track, classroom, tmp_path / "here")
        end = time.monotonic() + 60
        with Cluster(address, bundle_of(track, (LESSON,))) as crew:
            while crew.workers() < 3 and time.monotonic() < end:
                time.sleep(0.1)
            assert crew.workers() == 3

            def one_is_lost(jobs):
                for n, pair in enumerate(crew.run(jobs)):
                    if n == 0:
                        # In the middle of a notebook: its grading process is at work.
                        busy = [w for w in workers if psutil.Process(w.pid).children()]
                        os.kill(busy[0].pid, signal.SIGKILL)
                    yield pair

            there = graded(track, classroom, tmp_path / "there", one_is_lost)
    assert here == there == {"s0": 6, "s1": 6, "s2": 6, "张三": 4, "broken": 0, "dead": 2}
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_an_address_that_does_not_answer_is_an_error_within_seconds():
    before = set(threading.enumerate())
    with pytest.raises(HetlabError, match=r"no Dask scheduler answered at tcp://127\.0\.0\.1:1"):
        Cluster("tcp://127.0.0.1:1", {})
    with pytest.raises(HetlabError, match="no Dask scheduler answered"):
        Cluster("127.0.0.1", {})
    # A client left half made would be closed later, in some other thread.
    assert not set(threading.enumerate()) - before


def test_a_cluster_without_workers_is_an_error(track, tmp_path):
    with (
        cluster(tmp_path, 0) as (address, _),
        pytest.raises(HetlabError, match="has no worker"),
        Cluster(address, {}),
    ):
        pass


def test_a_bundle_is_a_track_that_grades_and_that_only_its_owner_reads(track):
    place = unpacked(bundle_of(track, (LESSON,)))
    assert unpacked(bundle_of(track, (LESSON,))) == place
    assert place.stat().st_mode & 0o077 == 0
    assert list(load_tasks(load_track(place), LESSON)) == list(RIGHT)
    assert not (place / "solutions" / f"{LESSON}.ipynb").exists()
