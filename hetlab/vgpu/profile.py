"""``hetlab.profile`` and ``hetlab.sanitize``: run a launch on the virtual GPU and look."""

from __future__ import annotations

from collections.abc import Callable

from hetlab.errors import InvalidValue
from hetlab.vgpu.device import Options, watching
from hetlab.vgpu.report import Launch, Launches

__all__ = ["profile", "sanitize"]


def profile(
    launch: Callable,
    *args,
    sample: float | None = None,
    order_seed: int | None = None,
    step_budget: int | None = None,
    **named,
) -> Launch | Launches:
    """Run a launch on the virtual GPU, count what it does, and look for hazards.

    The arrays hold the results afterwards, as after a plain launch.

    Parameters
    ----------
    launch : callable
        A configured kernel, as in ``hetlab.profile(kernel[grid, block], a, b)``; a raw
        kernel, as in ``hetlab.profile(kernel, grid, block, (a, b))``; a function of a TVM
        library, ``hetlab.profile(lib["main"], a, b)``; or any function that launches kernels.
    *args, **named
        What the launch is called with.
    sample : float, optional
        Run only this fraction of the blocks, evenly spread, always the same ones; the
        arrays then hold only what these blocks computed.
    order_seed : int, optional
        Run blocks and warps in an order drawn from this seed.
    step_budget : int, optional
        When to give up on a kernel that does not end.

    Returns
    -------
    Launch
        Or ``Launches`` when more than one kernel was launched.

    Examples
    --------
    >>> report = hetlab.profile(add[4, 256], a, b, c)
    >>> report.counters["global_load_sectors"]
    1024
    """
    if sample is not None and not 0 < sample <= 1:
        raise InvalidValue("sample", "a fraction above 0 and at most 1", sample)
    options = Options(True, True, sample, order_seed, step_budget)
    return _watch(launch, args, named, options)


def sanitize(
    launch: Callable,
    *args,
    thorough: bool = False,
    order_seed: int | None = None,
    step_budget: int | None = None,
    **named,
) -> Launch | Launches:
    """Run a launch on the virtual GPU and look for hazards; nothing is counted.

    Parameters
    ----------
    launch, *args, **named
        As for :func:`profile`.
    thorough : bool
        Compile without optimisation first: faults in code that the optimiser would
        remove show too.  Three to twelve times as many instructions run.
    order_seed, step_budget
        As for :func:`profile`.

    Returns
    -------
    Launch
        Its ``ok`` is true when no hazard was found, else see ``hazards``.
    """
    if thorough:
        from hetlab.vgpu.frontends import unoptimised

        launch = unoptimised(launch)
    options = Options(False, True, None, order_seed, step_budget)
    return _watch(launch, args, named, options)


def _watch(launch, args, named, options: Options) -> Launch | Launches:
    from hetlab.vgpu.frontends import advice, on_virtual_gpu

    if not callable(launch):
        raise InvalidValue(
            "launch",
            "a configured kernel or a function that launches kernels",
            launch,
            do="Write hetlab.profile(kernel[grid, block], *arrays).",
        )
    with watching(options) as traces:
        on_virtual_gpu(launch)(*args, **named)
    if not traces:
        raise InvalidValue(
            "launch",
            "something that launches a kernel on the virtual GPU",
            launch,
            do=advice(launch),
        )
    found = [Launch(trace) for trace in traces]
    return found[0] if len(found) == 1 else Launches(found)
