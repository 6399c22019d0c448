"""Where facts about a machine come from: files, environment, libraries, commands.

Probes ask a :class:`Sources` instead of the operating system, so that a test can
show them a machine without /sys, with half a driver, or of another architecture.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import platform
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

__all__ = ["BROKEN", "Done", "Sources", "here"]

# What a broken library may raise when it is imported or called; some even end the process.
BROKEN = (Exception, SystemExit)


@dataclass(frozen=True)
class Done:
    """What a command left behind; ``status`` is None when it did not end in time.

    ``failure`` is empty when the command could be started and ended in time.
    """

    status: int | None
    stdout: str = ""
    stderr: str = ""
    failure: str = ""

    @property
    def ok(self) -> bool:
        """True when it ended by itself with status 0."""
        return self.status == 0


def _run(argv: Sequence[str], timeout: float, environ: Mapping[str, str]) -> Done:
    name = Path(argv[0]).name
    try:
        process = subprocess.Popen(
            list(argv),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        return Done(None, failure=f"{name} could not be started: {error}")
    with process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            out, err = process.communicate()
            told = f"{name} did not end within {timeout:g} s"
            return Done(None, _text(out), _text(err), told)
        except BaseException:
            _end(process)
            raise
    return Done(process.returncode, _text(out), _text(err))


def _end(process: subprocess.Popen) -> None:
    """End it and what it started: a grandchild that lives on would keep our pipes open."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Sources:
    """One machine as the probes see it.

    Attributes
    ----------
    root : Path
        What stands for "/" when /proc, /sys and /dev are read.
    environ : mapping of str to str
        Environment variables.
    importer : callable
        Takes a module's dotted name; may raise anything.
    runner : callable
        Takes (argv, timeout in seconds, environment) and returns a `Done`.
    affinity : callable
        Number of hardware threads that this process may run on.
    system, machine : str
        As `platform.system` and `platform.machine` name them.
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    importer: Callable[[str], ModuleType] = importlib.import_module
    runner: Callable[[Sequence[str], float, Mapping[str, str]], Done] = _run
    affinity: Callable[[], int] = _affinity
    system: str = field(default_factory=platform.system)
    machine: str = field(default_factory=platform.machine)

    @property
    def real(self) -> bool:
        """True when this is the machine we run on, so that calls without a path may be asked."""
        return self.root == Path("/") and self.system == platform.system()

    def path(self, name: str) -> Path:
        """The file that stands for an absolute path such as "/proc/cpuinfo"."""
        return self.root / name.lstrip("/")

    def read(self, name: str | Path) -> str | None:
        """Stripped text of a file; None when it cannot be read."""
        place = name if isinstance(name, Path) else self.path(name)
        try:
            return place.read_text(encoding="utf-8", errors="replace").strip("\0 \n\t")
        except OSError:
            return None

    def number(self, name: str | Path) -> int | None:
        """The whole number in a file; None when there is none."""
        try:
            return int(self.read(name) or "")
        except ValueError:
            return None

    def exists(self, name: str) -> bool:
        """Whether there is such a file or folder; False when that may not even be asked."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def glob(self, pattern: str) -> list[Path]:
        """Files below the root, sorted with numbers in order (cpu2 before cpu10)."""
        try:
            found = list(self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []
        return sorted(found, key=_natural)

    def run(self, *argv: str, timeout: float = 10.0) -> Done:
        """Run a command; a missing or a hanging one is told, never raised."""
        return self.runner(argv, timeout, self.environ)

    @property
    def arm(self) -> bool:
        """Whether the processor is a 64-bit Arm."""
        return self.machine.lower() in {"arm64", "aarch64"}


def _natural(path: Path) -> list:
    import re

    return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", str(path))]


@functools.cache
def here() -> Sources:
    """This machine."""
    return Sources()
