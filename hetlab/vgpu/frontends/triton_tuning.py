"""Autotuning on the virtual GPU: by estimate, not by a clock, and the same every time."""

from __future__ import annotations

import contextlib
import io
import sys

from hetlab.vgpu.device import Options, watching

__all__ = ["CHIP", "by_estimate", "listen"]

CHIP = "A100"
BLOCKS = 128
"""Programs that are run for an estimate: about one for each multiprocessor of the chip."""

_told: set[int] = set()


def by_estimate(call, *, quantiles=None, **settings):
    """How long a launch would take on the chip, in milliseconds: modelled.

    Stands for ``triton.testing.do_bench``: the launch runs once, on a sample of its
    programs, and its counters are turned into a time.

    Parameters
    ----------
    call : callable
        Launches the kernel.
    quantiles : sequence of float, optional
        As many times as this are returned, all the same.
    """
    from hetlab.vgpu.report import Launch

    options = Options(count=True, hazards=False, most_blocks=BLOCKS)
    with watching(options) as traces, contextlib.redirect_stdout(io.StringIO()):
        call()
    took = 1e3 * sum(Launch(trace).estimate(CHIP).seconds for trace in traces)
    return [took] * len(quantiles) if quantiles else took


def listen() -> None:
    """Say what autotuning picked, once for each kernel, unless somebody listens already."""
    from triton import knobs

    if knobs.autotuning.listener is None:
        knobs.autotuning.listener = _tell


def _tell(*, fn, best_config, configs_timings, **more) -> None:
    from hetlab.vgpu.frontends.triton_adapter import _is_active

    if id(fn) in _told or not _is_active():
        return
    _told.add(id(fn))
    named = {**best_config.kwargs, "num_warps": best_config.num_warps,
             "num_stages": best_config.num_stages}  # fmt: skip
    picked = ", ".join(f"{name}={value}" for name, value in named.items())
    sys.stdout.write(
        f"{fn.__name__}: {len(configs_timings)} configurations compared by the virtual GPU's "
        f"estimate for an {CHIP} (modelled, not measured); picked {picked}\n"
    )
    sys.stdout.flush()
