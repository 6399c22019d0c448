"""One peer of ``hetlab bench vgpu``: reads requests as lines of JSON, answers with seconds.

Started as ``python -m hetlab.bench._vgpu_worker PEER``; it ends when its input ends.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

__all__ = ["main"]


def _kernel(request: dict) -> tuple[Callable, Callable[[], bool]]:
    from hetlab.bench._vgpu_kernels import CASES

    case = CASES[request["case"]](request["spelling"], request["n"])
    launch = case.kernel[case.grid, case.block]
    if not request["checked"]:
        return lambda: launch(*case.args), case.check
    import hetlab

    def profiled() -> None:
        if not hetlab.profile(launch, *case.args).ok:
            raise RuntimeError("the benchmark's own kernel has a hazard")

    return profiled, case.check


def _triton(request: dict, interpreted: bool) -> tuple[Callable, Callable[[], bool]]:
    from hetlab.bench._triton_kernels import CASES, Loan

    kernel, grid, args, constants, check = CASES[request["case"]](request["n"])
    if interpreted:
        lent = [Loan(a) if hasattr(a, "dtype") else a for a in args]
        return lambda: kernel[grid](*lent, **constants), check
    import hetlab

    def profiled() -> None:
        if not hetlab.profile(kernel[grid], *args, **constants).ok:
            raise RuntimeError("the benchmark's own kernel has a hazard")

    return profiled, check


def _overhead(request: dict) -> tuple[Callable, Callable[[], bool]]:
    import numpy as np
    from numba import cuda

    out = np.zeros(1, np.int32)

    @cuda.jit
    def one(a):
        a[0] = 1

    launch = one[1, 1]
    return lambda: launch(out), lambda: bool(out[0] == 1)


def _peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(peer: str) -> None:
    """Serve requests until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # a library's print must not look like one
    if peer == "virtual GPU":
        import hetlab

        hetlab.use_virtual_gpu()
    ready: dict[str, tuple[Callable, Callable[[], bool]]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = line
        try:
            if key not in ready:
                if request["case"] == "launch overhead":
                    ready[key] = _overhead(request)
                elif request["case"].startswith("Triton"):
                    ready[key] = _triton(request, peer == "Triton's interpreter")
                elif peer == "njit":
                    from hetlab.bench._vgpu_kernels import loops

                    ready[key] = loops(request["case"], request["n"])
                else:
                    ready[key] = _kernel(request)
                if request["warm"]:
                    ready[key][0]()
            run, check = ready[key]
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            answer = {"seconds": seconds, "right": bool(check()), "peak_bytes": _peak_bytes()}
        except Exception as cause:
            answer = {"error": f"{type(cause).__name__}: {cause}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
