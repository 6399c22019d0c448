"""Between the scheduler and a policy: it may be wrong, lazy or hostile, and the run goes on.

A policy of someone else answers in a thread of its own, so that an answer that never comes is a
sentence too.  Its answer becomes our own messages inside that thread; nothing of what it returned
reaches the scheduler.  A policy that wants to harm the process can: grading runs it in a sandbox.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import queue
import threading
import weakref
from collections.abc import Callable
from numbers import Real

from hetlab.errors import InvalidValue, UnknownName, one_line
from hetlab.sched.faults import PolicyError
from hetlab.sched.messages import Backup, Run, Wait
from hetlab.sched.policy import as_policy

__all__ = ["Asker"]


class Asker:
    """Asks a policy, and checks the form of what it says.

    Parameters
    ----------
    policy : object
        What `as_policy` takes.
    view : View
        What the policy is shown.
    patience : float
        Seconds for one answer of a policy that is not hetlab's own; inf asks it directly.
    """

    def __init__(self, policy, view, patience: float) -> None:
        if isinstance(patience, bool) or not isinstance(patience, Real) or not patience > 0:
            raise InvalidValue("patience", "seconds above 0", patience)
        self._policy, self._view, self._patience = as_policy(policy), view, patience
        self.name = _name(self._policy)
        p = view._board.problem
        self._tasks = {name: name for name in p.names}
        self._devices = {name: name for name in p.devices}
        # A task may move from queue to queue, so more decisions than tasks make sense.
        self._most = 4 * len(p.names) + 64
        own = type(self._policy).__module__.startswith("hetlab.sched.")
        own &= type(self._policy).__name__ != "_Function"
        self._direct = own or math.isinf(patience)
        self._helper: _Helper | None = None

    def ask(self) -> list:
        """The policy's decisions, as messages of ours with names that exist.

        Raises
        ------
        PolicyError
            When it raised, took too long, or returned something else.
        """
        if self._direct:
            done, value = _attempt(self._answer, Exception)
        else:
            self._helper = self._helper or _Helper(self)
            done, value = self._helper.call(self._answer, self._patience)
        if done is None:
            what = f"the policy took longer than {self._patience:g} s for one answer"
            do = "Look for a loop that does not end in decide()."
            raise PolicyError(what, where=f"policy {self.name}", do=do)
        if done:
            return value
        if isinstance(value, PolicyError):
            raise value from None
        what = f"the policy raised {one_line(value)}"
        raise PolicyError(what, where=f"policy {self.name}{_line(value)}") from value

    def _answer(self) -> list:
        answer = self._policy.decide(self._view)
        if answer is None:
            return []
        if isinstance(answer, (str, bytes)) or not hasattr(type(answer), "__iter__"):
            raise self._wrong("its answer must be a list of pairs (task, device)", answer)
        if isinstance(answer, (Run, Backup, Wait)):
            answer = [answer]
        found = [self._decision(each) for each in itertools.islice(answer, self._most + 1)]
        if len(found) > self._most:
            raise self._wrong(f"more than {self._most:,} decisions at once", type(answer).__name__)
        return found

    def _decision(self, each):
        kind = type(each)
        if kind is Wait:
            seconds = each.seconds
            if isinstance(seconds, Real) and math.isfinite(seconds) and seconds > 0:
                return Wait(float(seconds))
            raise self._wrong("it must wait a finite number of seconds above 0", seconds)
        if kind in (Run, Backup):
            task, device = each.task, each.device
        elif isinstance(each, (tuple, list)) and len(each) == 2:
            task, device = each
        else:
            raise self._wrong("a decision must be a pair (task, device)", each)
        task = self._known(self._tasks, "task", task)
        device = self._known(self._devices, "device", device)
        if kind is Backup:
            return Backup(task, device)
        return Run(task, device, kind is Run and bool(each.front))

    def _known(self, names: dict, kind: str, name):
        try:
            return names[name]
        except (KeyError, TypeError):
            error = UnknownName(kind, str(name)[:80], names)
            raise PolicyError(error.what, where=f"policy {self.name}", do=error.do) from None

    def _wrong(self, rule: str, value) -> PolicyError:
        text = InvalidValue("x", "y", value).what.partition("got ")[2][:120]
        do = "Return a list such as [(task, device)]; an empty one waits."
        return PolicyError(f"{rule}, got {text}", where=f"policy {self.name}", do=do)


class _Helper:
    """A thread that calls one thing after another for someone who will not wait for ever."""

    def __init__(self, owner: object) -> None:
        self._todo: queue.SimpleQueue = queue.SimpleQueue()
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        work = (self._todo, self._done)
        self._thread = threading.Thread(target=_serve, args=work, daemon=True, name="policy")
        self._thread.start()
        weakref.finalize(owner, self._todo.put, None)

    def call(self, function: Callable, patience: float) -> tuple:
        self._todo.put(function)
        try:
            return self._done.get(timeout=patience)
        except queue.Empty:
            # Python code stops at its next instruction; a C function never hears of it.
            stop = ctypes.py_object(SystemExit)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), stop)
            return None, None


def _serve(todo: queue.SimpleQueue, done: queue.SimpleQueue) -> None:
    while (function := todo.get()) is not None:
        done.put(_attempt(function, BaseException))
        del function


def _attempt(function: Callable, caught: type) -> tuple:
    try:
        return True, function()
    except caught as error:
        return False, error


def _name(policy) -> str:
    try:
        name = policy.name
    except Exception:  # without one, or with one that raises
        name = None
    name = name if isinstance(name, str) and name else type(policy).__name__
    return " ".join(name[:80].split()) or "without a name"


def _line(error: BaseException) -> str:
    """The policy's own line that raised, where it is known."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "hetlab" not in code.co_filename:
            place = f", line {trace.tb_lineno} of {code.co_name}"
        trace = trace.tb_next
    return place
