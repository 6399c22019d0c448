"""Wrong answers made from the specification, which every check must reject.

They are the cheats and slips that are seen in public benchmarks again and again:
doing nothing, zeros, a remembered constant, the input handed back, everything
shifted by one, the last element forgotten, another precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .criteria import Answer, Correct
from .launched import HostKernel
from .task import Case, Task, Wrong

__all__ = ["mutants"]

_NO = object()  # this mutant makes no sense for this answer


def mutants(task: Task) -> list[Wrong]:
    """Generic wrong answers of a task, one list for each function that it specifies."""
    found = []
    specs = {c.function_name(task): c for c in task.criteria if isinstance(c, Correct)}
    for name, criterion in specs.items():
        first = next(iter(criterion.cases(np.random.default_rng(0))), None)
        cases = list(criterion.cases(np.random.default_rng(0)))
        for title, change in _CHANGES.items():
            if first is None or not any(_makes_sense(criterion, change, c) for c in cases):
                continue
            functions = {n: c.spec for n, c in specs.items()}
            functions[name] = _mutant(criterion, change)
            given = {n: _stand_in(specs[n], function) for n, function in functions.items()}
            found.append(Wrong(title, given))
    return found


def _stand_in(criterion: Correct, function: Callable) -> Any:
    """What takes the place of a kernel must be launched like one."""
    launched = any(c.grid is not None for c in criterion.cases(np.random.default_rng(0)))
    return HostKernel(function) if launched else function


def _makes_sense(criterion: Correct, change: Callable, case: Case) -> bool:
    answer = criterion.answer(criterion.spec, case)
    if answer.after and change is _other_precision:
        return False  # an array that is written in place keeps its own precision
    return any(change(v, case.inputs) is not _NO for v in _values(answer))


def _values(answer: Answer) -> list:
    return list(answer.after) if answer.after else [answer.value]


def _mutant(criterion: Correct, change: Callable) -> Callable:
    remembered: list = []

    def function(*inputs: Any) -> Any:
        answer = criterion.answer(criterion.spec, Case("", *inputs))
        values = []
        for value in _values(answer):
            changed = change(value, inputs)
            values.append(value if changed is _NO else changed)
        if change is _constant:
            remembered.append(values)
            values = remembered[0]
        if not answer.after:
            return values[0]
        for position, value in zip(criterion.changes, values):
            target = inputs[position]
            if isinstance(target, np.ndarray):
                if value is None or np.shape(value) != target.shape:
                    continue
                target[...] = value
            elif isinstance(target, list) and value is not None:
                target[:] = value
        return answer.value if change is not _nothing else None

    return function


def _nothing(value: Any, inputs: tuple) -> Any:
    return None


def _zeros(value: Any, inputs: tuple) -> Any:
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | float | complex | np.number):
        return type(value)(0)
    if isinstance(value, list | tuple):
        return type(value)(_zeros(v, inputs) for v in value)
    return _NO if not isinstance(value, str) else ""


def _constant(value: Any, inputs: tuple) -> Any:
    return value


def _copy_of_input(value: Any, inputs: tuple) -> Any:
    same = [v for v in inputs if type(v) is type(value) and np.shape(v) == np.shape(value)]
    return same[0] if same else _NO


def _off_by_one(value: Any, inputs: tuple) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        return np.roll(value, 1, axis=-1) if value.dtype.kind != "b" else ~value
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return _NO
    if isinstance(value, int | float | np.number):
        return type(value)(value + 1)
    return _NO


def _last_forgotten(value: Any, inputs: tuple) -> Any:
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "iufcb":
        changed = value.copy()
        changed.reshape(-1)[-1] = 0
        return changed
    if isinstance(value, list | tuple) and value:
        return type(value)(value[:-1])
    return _NO


def _other_precision(value: Any, inputs: tuple) -> Any:
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiu":
        other = np.float32 if value.dtype == np.float64 else np.float64
        return value.astype(other)
    return _NO


_CHANGES: dict[str, Callable] = {
    "does nothing": _nothing,
    "always zero": _zeros,
    "the answer to the first input, always": _constant,
    "a copy of the input": _copy_of_input,
    "off by one": _off_by_one,
    "the last element forgotten": _last_forgotten,
    "another precision": _other_precision,
}
