"""Run a notebook from top to bottom in a kernel of its own and judge each of its tasks.

The kernel runs the learner's cells; the parent holds the clock, caps the output
and asks, at each check cell, what the task's check says.  A check cell that was
changed or deleted does not matter: the track's own check is what runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import NotebookError, one_line, optional
from ..grading import Finding, Task, Verdict, judge, open_submission, settle
from .manifest import Lesson, Track, find_track, load_track
from .notebooks import CHECK_CALL, is_untouched, lesson_of, normal_source, read_notebook, task_of
from .tasks import find_task, load_tasks

__all__ = ["check_notebook"]

#: Seconds that a cell goes on after it was interrupted, before its kernel is ended.
_GRACE = 5.0
#: Bytes of output that a cell may make before it is interrupted.
_OUTPUT_LIMIT = 1_000_000


def check_notebook(
    path: str | os.PathLike[str],
    *,
    track: Track | None = None,
    time_limit: float = 60.0,
    told: Callable[[str], None] = lambda _: None,
) -> list[Verdict]:
    """Run a notebook and judge all tasks of its lesson.

    Parameters
    ----------
    path : path
        An exercise notebook, of any name and state.
    track : Track, optional
        Its track.  Default: the one around `path`.
    time_limit : float
        Seconds that one cell may take.
    told : callable
        Is called with a short text at each step, for a progress display.

    Returns
    -------
    list of Verdict
        One for each task of the lesson, in order, whatever the notebook holds.

    Raises
    ------
    NotebookError
        When the file cannot be read as a notebook, or its lesson is not known.
    """
    path = Path(path)
    notebook = read_notebook(path)
    track = track or find_track(path.absolute().parent)
    lesson = _lesson(notebook, path, track)
    tasks = load_tasks(track, lesson.id)
    untouched = _untouched(notebook, lesson)
    run = _Run(notebook, path, track, lesson.id, tasks, time_limit, told)
    found = asyncio.run(run.all())
    return [settle(found[name], name in untouched) for name in tasks]


def _lesson(notebook: Any, path: Path, track: Track) -> Lesson:
    name = lesson_of(notebook, path, tuple(lesson.id for lesson in track.lessons))
    if name is None:
        known = ", ".join(lesson.id for lesson in track.lessons)
        raise NotebookError(
            f"this notebook belongs to no lesson of the track {track.name!r}",
            where=str(path),
            do=f"Name the file after its lesson. The lessons are: {known}.",
        )
    return track.lesson(name)


def _untouched(notebook: Any, lesson: Lesson) -> set[str]:
    """The tasks whose solution cells all hold their stubs, known by hash or by their text."""
    stubs = {}
    if lesson.exercise.exists():
        # The exercise may be where the learner wrote: only what still is a stub tells stubs.
        cells = filter(is_untouched, read_notebook(lesson.exercise).cells)
        stubs = {normal_source(c.source): t[1] for c in cells if (t := task_of(c))}
    touched: dict[str, bool] = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        same_text = stubs.get(normal_source(cell.source))
        kind, task = task_of(cell) or ("solution", same_text)
        if kind == "solution" and task:
            mine = same_text != task and not is_untouched(cell)
            touched[task] = touched.get(task, False) or mine
    return {task for task, yes in touched.items() if not yes}


class _Run:
    """One run of one notebook."""

    def __init__(
        self,
        notebook: Any,
        path: Path,
        track: Track,
        lesson: str,
        tasks: dict[str, Task],
        time_limit: float,
        told: Callable[[str], None],
    ) -> None:
        self.notebook, self.path, self.track, self.lesson = notebook, path, track, lesson
        self.tasks, self.time_limit, self.told = tasks, time_limit, told
        self.verdicts: dict[str, Verdict] = {}
        self.death = ""
        self.faults: dict[str, str] = {}

    async def all(self) -> dict[str, Verdict]:
        with tempfile.TemporaryDirectory(prefix="hetlab-") as folder:
            self.answer = Path(folder) / "verdict.json"
            client = _client(self.notebook, self.path, self.track, Path(folder) / "kernel")
            async with _kernel(client):
                for index, cell in enumerate(self.notebook.cells):
                    if cell.cell_type == "code" and not self.death:
                        await self._cell(client, index, cell)
                for name in self.tasks:
                    if name not in self.verdicts:
                        await self._judge(client, name)
        return self.verdicts

    async def _cell(self, client: Any, index: int, cell: Any) -> None:
        name = _checked(cell, self.lesson)
        if name in self.tasks:
            await self._judge(client, name)
            return
        self.told(f"cell {index + 1} of {len(self.notebook.cells)}")
        fault = await self._execute(client, cell, index, self.time_limit)
        kind, task = task_of(cell) or ("", "")
        if fault and kind == "solution" and task not in self.faults:
            self.faults[task] = f"cell {index + 1}: {fault}"

    async def _judge(self, client: Any, name: str) -> None:
        task = self.tasks[name]
        self.told(f"checking {name}")
        if not self.death:
            self.answer.unlink(missing_ok=True)
            code = (
                "import hetlab.tracks.run as _hetlab_run; _hetlab_run.judge_here("
                f"{f'{self.lesson}/{name}'!r}, {str(self.track.root)!r}, {str(self.answer)!r}); "
                "del _hetlab_run"
            )
            cell = client.nb.cells[0].__class__(
                cell_type="code", source=code, metadata={}, outputs=[], execution_count=None
            )
            # The judge bounds each call; this bounds a kernel that no longer answers.
            fault = await self._execute(client, cell, 0, 60 + 20 * task.time_limit)
            if self.answer.exists():
                data = json.loads(self.answer.read_text(encoding="utf-8"))
                self.verdicts[name] = self._with_fault(Verdict.from_json(data), name)
                return
            self.death = self.death or fault or "the kernel gave no answer"
        first = Finding("right values", 0, task.points, False, self.death, "died")
        self.verdicts[name] = Verdict(f"{self.lesson}/{name}", "failed", (first,), title=task.title)

    def _with_fault(self, verdict: Verdict, name: str) -> Verdict:
        """Add why the learner's own cell failed to a verdict that misses its function."""
        fault = self.faults.get(name)
        if not fault or verdict.passed:
            return verdict
        first, *rest = verdict.findings
        return replace(verdict, findings=(replace(first, details=(*first.details, fault)), *rest))

    async def _execute(self, client: Any, cell: Any, index: int, limit: float) -> str:
        """Run one cell within a time limit; say in a few words what went wrong, if anything."""
        client.flooded = False
        running = asyncio.ensure_future(client.async_execute_cell(cell, index))
        try:
            await asyncio.wait_for(asyncio.shield(running), limit)
        except TimeoutError:
            await client.km.interrupt_kernel()
            late = f"it did not end within {limit:g} s and was stopped"
            try:
                await asyncio.wait_for(asyncio.shield(running), _GRACE)
            except TimeoutError:
                running.cancel()
                await client.km.shutdown_kernel(now=True)
                self.death = f"cell {index + 1} ignored the interrupt after {limit:g} s"
            except Exception as error:
                self._look_for_death(error, index)
            return self.death or late
        except Exception as error:
            self._look_for_death(error, index)
            return self.death or one_line(error)
        if client.flooded:
            return "it printed without end and was stopped"
        errors = [o for o in cell.get("outputs", []) if o["output_type"] == "error"]
        return f"{errors[0]['ename']}: {errors[0]['evalue'][:200]}" if errors else ""

    def _look_for_death(self, error: Exception, index: int) -> None:
        if type(error).__name__ == "DeadKernelError":
            self.death = f"the kernel died in cell {index + 1}"


@contextlib.asynccontextmanager
async def _kernel(client: Any) -> AsyncIterator[None]:
    """Start the client's kernel; afterwards neither it nor what it started is left.

    nbclient's own context manager leaves a kernel alive whose manager it was given, and
    takes Ctrl-C for itself.
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        await client.async_start_new_kernel(**quiet)
        await client.async_start_new_kernel_client()
        yield
    finally:
        # To the whole process group, while the kernel's id is still its own.
        with contextlib.suppress(RuntimeError, OSError):
            await client.km.signal_kernel(getattr(signal, "SIGKILL", signal.SIGTERM))
        with contextlib.suppress(RuntimeError, OSError):
            await client.km.shutdown_kernel(now=True)
        if client.kc is not None:
            client.kc.stop_channels()


def judge_here(task_id: str, root: str, answer: str) -> None:
    """Judge a task inside the kernel that ran the notebook, and write the verdict to a file."""
    from IPython import get_ipython

    lesson, task = find_task(load_track(root), task_id)
    with open_submission(get_ipython().user_ns) as submission:
        verdict = judge(task, submission, lesson=lesson.id)
    Path(answer).write_text(json.dumps(verdict.to_json()), encoding="utf-8")


def _checked(cell: Any, lesson: str) -> str:
    """The task that a check cell checks, from its metadata or its text; else empty."""
    kind, task = task_of(cell) or ("", "")
    if kind == "check":
        return task
    calls = [name for where, name in CHECK_CALL.findall(cell.source) if where == lesson]
    # A cell that does more than check is the learner's own.
    return calls[0] if calls and len(cell.source.strip().splitlines()) == 1 else ""


def _client(notebook: Any, path: Path, track: Track, sockets: Path) -> Any:
    """A client whose kernel is this Python, in the notebook's folder."""
    nbclient = optional("nbclient", "lab", "run notebooks")
    manager = optional("jupyter_client", "lab", "run notebooks")
    optional("ipykernel", "lab", "run notebooks")

    class Client(nbclient.NotebookClient):
        """Drops what a cell prints above the limit, and interrupts it."""

        flooded = False
        _size = (None, 0)

        def process_message(self, msg: dict, cell: Any, cell_index: int) -> Any:
            if msg["msg_type"] == "stream":
                seen = self._size[1] if self._size[0] is cell else 0
                seen += len(msg["content"]["text"])
                self._size = (cell, seen)
                if seen > _OUTPUT_LIMIT:
                    if not self.flooded:
                        self.flooded = True
                        self.interruption = asyncio.ensure_future(self.km.interrupt_kernel())
                    return None
            return super().process_message(msg, cell, cell_index)

    km = manager.AsyncKernelManager()
    if os.name == "posix" and len(str(sockets)) < 90:  # the longest name of a Unix socket is 108
        km.transport, km.ip = "ipc", str(sockets)
    # The kernel spec "python3" of this user may start another Python.
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    km._kernel_spec = manager.kernelspec.KernelSpec(
        argv=argv, display_name="Python 3", language="python", env={"HETLAB_TRACK": str(track.root)}
    )
    return Client(
        notebook,
        km=km,
        timeout=None,
        allow_errors=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.absolute().parent)}},
    )
