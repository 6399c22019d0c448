"""How well this machine can keep a student's code to itself: the tiers, probed at start."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from ..errors import HetlabError, InvalidValue

__all__ = ["TIERS", "Limits", "Tier", "probe", "tier_named"]

TIERS = ("bubblewrap", "rlimit", "none")


@dataclass(frozen=True)
class Tier:
    """How a student's code is kept.

    Attributes
    ----------
    name : str
        ``bubblewrap``, ``rlimit`` or ``none``.
    reason : str
        Why it is not a stronger one; empty for the strongest.
    remedy : str
        What would give a stronger one.
    drop_uid : bool
        Whether root starts the sandbox, which then takes a user id of its own.
    """

    name: str
    reason: str = ""
    remedy: str = ""
    drop_uid: bool = False

    @property
    def strong(self) -> bool:
        """Whether it holds against somebody who means harm, and not only against accidents."""
        return self.name == "bubblewrap"

    def __str__(self) -> str:
        if self.strong:
            return "bubblewrap"
        return f"{self.name} ({self.reason})" if self.reason else self.name


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes
    ----------
    cell, notebook : float
        Seconds that a cell, and all cells together, may take.
    memory : int
        Bytes of memory, of any one process and of all together.
    processes : int
        Processes and threads at one time.
    file, disk : int
        Bytes a file, and all files together.
    output : int
        Characters that a cell may print.
    reply : int
        Bytes of one answer to a check.
    grace : float
        Seconds that a cell goes on after its interrupt before its kernel is ended.
    """

    cell: float = 60.0
    notebook: float = 600.0
    memory: int = 2 << 30
    processes: int = 256
    file: int = 64 << 20
    disk: int = 256 << 20
    output: int = 1_000_000
    reply: int = 256 << 20
    grace: float = 3.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InvalidValue(name, "above 0", value)


@cache
def probe() -> Tier:
    """The strongest tier that really works here: each is started and looked at from within.

    Returns
    -------
    Tier
        With the reason and the remedy when it is not bubblewrap.
    """
    if not sys.platform.startswith("linux"):
        why = f"bubblewrap needs Linux, and this is {sys.platform}"
        return Tier("none", why, "Grade on Linux, in WSL2 or in the dev container.")
    reason, remedy = "", ""
    for drop_uid in (True, False) if os.geteuid() == 0 else (False,):
        said = _try_bubblewrap(drop_uid)
        if not said:
            return Tier("bubblewrap", drop_uid=drop_uid)
        if not reason:
            from . import bubblewrap

            reason, remedy = f"bubblewrap does not work here: {said}", bubblewrap.remedy(said)
    return Tier("rlimit", reason, remedy, _may_drop_uid())


def tier_named(name: str) -> Tier:
    """The tier of that name, whether or not there is a stronger one.

    Raises
    ------
    InvalidValue
        When there is no such tier.
    HetlabError
        When it does not work here, with the reason and the remedy.
    """
    if name not in TIERS:
        raise InvalidValue("tier", " or ".join(TIERS), name)
    best = probe()
    if best.name == name:
        return best
    if TIERS.index(name) < TIERS.index(best.name):
        raise HetlabError(f"the sandbox {name} is not to be had: {best.reason}", do=best.remedy)
    return Tier(name, "asked for", "", name == "rlimit" and _may_drop_uid())


# Looks at its own sandbox from within; prints "kept" when all of it holds.
_LOOK = """
import os, socket, sys
from hetlab.grading.confine import confine
confine({"uid": int(sys.argv[1])})
import numpy
faults = []
if os.getuid() == 0: faults.append("it runs as root")
if sum(name.isdigit() for name in os.listdir("/proc")) > 4: faults.append("it sees processes")
if len(socket.if_nameindex()) > 1: faults.append("it sees a network")
for place in ("/", "/usr", sys.prefix, "/dev"):
    if os.access(place, os.W_OK): faults.append("it may write to " + place)
open("probe", "w").write("x")
print("; ".join(faults) or "kept")
"""


def _try_bubblewrap(drop_uid: bool) -> str:
    """Start a sandbox and look around in it; why it does not hold, or nothing."""
    from . import bubblewrap
    from .sandbox import environment, fresh_uid

    program = [sys.executable, "-c", _LOOK, str(fresh_uid() if drop_uid else 0)]
    line = bubblewrap.command(program, drop_uid=drop_uid, disk=1 << 20, shared=1 << 20)
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, env=environment(bubblewrap.HOME), timeout=60
        )
    except FileNotFoundError:
        return "it is not installed"
    except (OSError, subprocess.SubprocessError) as fault:
        return f"{type(fault).__name__}"
    if done.stdout.strip() == "kept":
        return ""
    said = (done.stderr.strip().splitlines() or [done.stdout.strip() or "it said nothing"])[-1]
    return said.removeprefix("bwrap: ")[:300]


@cache
def _may_drop_uid() -> bool:
    """Whether a user id without rights could still read the interpreter and its libraries."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    from .sandbox import fresh_uid

    code = "import os, sys; os.setuid(int(sys.argv[1])); import json.tool, numpy.fft, hetlab.units"
    line = [sys.executable, "-c", code, str(fresh_uid())]
    from .sandbox import environment

    done = subprocess.run(line, capture_output=True, check=False, env=environment("/tmp"))
    return done.returncode == 0
