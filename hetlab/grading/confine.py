"""Give up rights, inside the sandbox and before any of the student's code runs.

Nothing here is trusted to hold an attacker (bubblewrap does that); it keeps accidents small.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

__all__ = ["adopt_orphans", "confine", "die_with_parent", "no_new_rights"]

_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 36, 38  # <linux/prctl.h>
# Opened here and not after a fork, where another thread may have held the loader's lock.
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


def confine(settings: dict) -> None:
    """Limit this process and those that it will start.

    Parameters
    ----------
    settings : dict
        ``uid`` (0: stay), ``memory``, ``processes``, ``file`` (bytes a file), ``files`` (open at
        one time); a limit of 0 is none.
    """
    if settings.get("uid"):
        uid = settings["uid"]
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    no_new_rights()
    with contextlib.suppress(ImportError):
        import resource

        _limit(resource.RLIMIT_CORE, 0)
        for name, key in (
            ("RLIMIT_NPROC", "processes"),
            ("RLIMIT_FSIZE", "file"),
            ("RLIMIT_NOFILE", "files"),
            # Not RLIMIT_AS: compilers and thread stacks reserve much more than they touch.
            ("RLIMIT_DATA", "memory"),
        ):
            if settings.get(key) and hasattr(resource, name):
                _limit(getattr(resource, name), settings[key])


def _limit(what: int, value: int) -> None:
    import resource

    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(what, (value, value))


def no_new_rights() -> None:
    """No program that is started from here gains rights, as sudo would."""
    _prctl(_SET_NO_NEW_PRIVS)


def adopt_orphans() -> None:
    """What descends from this process stays below it, also when its own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER)


def die_with_parent(parent: int) -> None:
    """End when the thread ends that started this process, even if it was killed.

    Parameters
    ----------
    parent : int
        The process id of the parent, asked before the fork: it may have ended meanwhile.
    """
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if sys.platform.startswith("linux") and os.getppid() != parent:
        os._exit(1)


def _prctl(what: int, value: int = 1) -> None:
    if _LIBC is not None:
        with contextlib.suppress(AttributeError):
            _LIBC.prctl(what, value, 0, 0, 0)
