"""Which compilers give a known answer, each tried in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from hetlab.devices.canary_process import MARK
from hetlab.devices.compilers import ADAPTERS, adapter, runs_on
from hetlab.devices.ptx_versions import cuda_for, newest_ptx
from hetlab.devices.sources import Sources, here

__all__ = ["Compiler", "beside_driver", "try_compiler", "try_compilers"]

PATIENCE = 60.0  # seconds; a cold disk can make a first import slow


@dataclass(frozen=True)
class Compiler:
    """One compiler, and whether it gives the known answer.

    Attributes
    ----------
    key, name : str
        As in ``trusted("triton")``, and as people write it.
    state : str
        "works", "wrong answer", "broken", "idle" (it needs a GPU), "missing",
        or "unavailable" (it has no wheel for this platform).
    versions : dict of str to str
        Installed distributions.
    why, do : str
        The reason and the next step, when it does not simply work.
    ptx : str or None
        Version of the PTX that it writes.
    ran_on : str or None
        What executed the answer; None when it was read from the compiled code.
    needed : str
        By whom in the course: "always", "by lessons" that use it, or "never".
    """

    key: str
    name: str
    state: str
    versions: dict[str, str] = field(default_factory=dict)
    why: str = ""
    do: str = ""
    ptx: str | None = None
    ran_on: str | None = None
    needed: str = "by lessons"

    @property
    def graded(self) -> bool:
        """Whether work in its language can be judged here."""
        return self.state == "works"

    @property
    def hurts(self) -> bool:
        """Whether the course meets a problem here."""
        if self.state in {"missing", "unavailable"}:
            return self.needed == "always"
        return self.state in {"broken", "wrong answer"} and self.needed != "never"

    @property
    def version(self) -> str:
        """Version of the distribution that gives it its name, or ""."""
        return next(iter(self.versions.values()), "")

    @property
    def says(self) -> str:
        """One line: what was found."""
        if self.state != "works":
            return f"{self.why} {self.do}".strip()
        how = f"ran on {self.ran_on}" if self.ran_on else "its code holds the known answer"
        wrote = f"; writes PTX {self.ptx}" if self.ptx else ""
        return " ".join(filter(None, [f"{how}{wrote}.", self.why, self.do]))

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {**asdict(self), "graded": self.graded}

    def __repr__(self) -> str:
        version = f" {self.version}" if self.version else ""
        return f"{self.name}{version}: {self.state}: {self.says}"


def try_compilers(
    keys: Iterable[str] = ADAPTERS,
    *,
    sources: Sources | None = None,
    driver=None,
) -> list[Compiler]:
    """Try compilers side by side.

    Parameters
    ----------
    keys : iterable of str
        Which ones; all by default.
    sources : Sources, optional
        Where to look; this machine by default.
    driver : hetlab.devices.nvidia.Driver, optional
        When given, PTX that is newer than this driver reads is pointed out.
    """
    sources = sources or here()
    keys = list(keys)
    # Largest first, so that the longest is not the last one to start.
    order = sorted(keys, key=lambda k: k not in {"numba_cuda", "tvm"})
    with ThreadPoolExecutor(max_workers=max(2, min(4, sources.affinity()))) as pool:
        jobs = {key: pool.submit(try_compiler, key, sources) for key in order}
        found = [jobs[key].result() for key in keys]
    return [beside_driver(one, driver) for one in found]


def try_compiler(
    key: str, sources: Sources | None = None, *, patience: float = PATIENCE
) -> Compiler:
    """Let one compiler compute a known answer, in a process with a time limit in seconds."""
    sources = sources or here()
    module = adapter(key)
    row = Compiler(key, module.NAME, "missing", needed=module.NEEDED)
    above = str(Path(__file__).parents[2])
    environ = dict(sources.environ)
    paths = filter(None, [environ.get("PYTHONPATH"), above])
    environ["PYTHONPATH"] = os.pathsep.join(paths)
    # -P: a file called triton.py in the learner's folder must not be taken for Triton.
    argv = (sys.executable or "python3", "-P", "-m", "hetlab.devices.canary_process", key)
    with tempfile.TemporaryDirectory(prefix="hetlab-canary-", ignore_cleanup_errors=True) as folder:
        # Made and removed here: a process that crashes or is killed cleans nothing up.
        done = sources.runner(argv, patience, {**environ, "TMPDIR": folder, "TEMP": folder})
    lines = [text for text in done.stdout.splitlines() if text.startswith(MARK)]
    try:
        told = json.loads(lines[-1].removeprefix(MARK))
        row = _judged(row, told, module)
    except (LookupError, ValueError, TypeError, AttributeError):
        return replace(row, state="broken", why=_ended(module.NAME, done), do=_again(module))
    if row.state == "missing" and not runs_on(module, sources.system, sources.machine):
        place = f"{sources.system or 'this system'} on {sources.machine or 'this processor'}"
        return replace(
            row,
            state="unavailable",
            why=f"There is no {module.NAME} for {place}.",
            do="Use the dev container or Binder for the lessons that need it.",
        )
    return row


def _judged(row: Compiler, told: dict, module) -> Compiler:
    row = replace(row, versions=told["versions"] if told.get("versions") else {})
    if not told.get("installed"):
        why = f"{row.name} is not installed."
        return replace(row, why=why, do=f"If a lesson asks for it: {module.INSTALL}")
    if "error" in told:
        why = f"{row.name} is installed but fails: {told['error']}."
        return replace(row, state="broken", why=why, do=_again(module))
    if "idle" in told:
        return replace(row, state="idle", why=told["idle"])
    answer, expected = told.get("answer"), told["expected"]
    if answer != expected or type(answer) is not type(expected):
        why = f"{row.name} gave {answer} where {expected} is right."
        do = f"Work in its language is not graded with this version. {_again(module)}"
        return replace(row, state="wrong answer", why=why, do=do, ptx=told.get("ptx"))
    row = replace(row, state="works", ptx=told.get("ptx"), ran_on=told.get("ran_on"))
    if told.get("gpu_error"):
        why = f"Its code does not run on this machine's GPU: {told['gpu_error']}."
        return replace(row, why=why, do="The virtual GPU goes on working.")
    return row


def beside_driver(row: Compiler, driver) -> Compiler:
    """The same row, with a warning when it writes newer PTX than the driver reads."""
    cuda = driver.cuda if driver else None
    if row.state != "works" or not row.ptx or not cuda:
        return row
    wrote = tuple(map(int, row.ptx.split(".")))
    reads = newest_ptx(cuda)
    if reads is not None and wrote <= reads:
        return row
    needs = cuda_for(wrote)
    release = f"CUDA {needs[0]}.{needs[1]}" if needs else "a newer CUDA"
    most = f"PTX up to {reads[0]}.{reads[1]}" if reads else "only PTX older than 7.0"
    why = (
        f"It writes PTX {row.ptx}, and the driver {driver.version or ''} "
        f"(CUDA {cuda[0]}.{cuda[1]}) reads {most}.".replace("  ", " ")
    )
    do = f"Update the NVIDIA driver to one for {release}; the virtual GPU goes on working."
    return replace(row, why=why, do=do)


def _again(module) -> str:
    return f"Install the tested versions: {module.INSTALL}"


def _ended(name: str, done) -> str:
    """How the process of a canary ended that left no answer."""
    if done.failure:
        return f"{name} gave no answer: {done.failure}."
    if done.status is not None and done.status < 0:
        try:
            how = signal.Signals(-done.status).name
        except ValueError:
            how = f"signal {-done.status}"
        return f"{name} crashed ({how})."
    said = done.stderr.strip().splitlines()
    last = f": {said[-1].strip()[:200]}" if said else ""
    return f"{name} ended the process with status {done.status}{last}."
