"""TVM: compiles a function through LLVM, and runs it."""

from __future__ import annotations

__all__ = ["canary"]

NAME = "TVM"
MODULE = "tvm"
DISTRIBUTIONS = ("apache-tvm", "apache-tvm-ffi")
INSTALL = "pip install 'hetlab[tvm]'"
NEEDED = "by lessons"
PLATFORMS = {
    "Linux": ("x86_64", "aarch64"),
    "Windows": ("x86_64",),
    "Darwin": ("aarch64",),
}


def canary() -> dict:
    """Three times a number and seven, for the numbers 0 to 3."""
    import numpy as np
    import tvm
    from tvm import te

    a = te.placeholder((4,), "int32", name="a")
    b = te.compute((4,), lambda i: a[i] * 3 + 7, name="b")
    function = te.create_prim_func([a, b]).with_attr("global_symbol", "canary")
    library = tvm.compile(tvm.IRModule({"canary": function}), target="llvm")
    given = tvm.runtime.tensor(np.arange(4, dtype="int32"))
    out = tvm.runtime.tensor(np.zeros(4, "int32"))
    library["canary"](given, out)
    return {
        "answer": out.numpy().tolist(),
        "expected": [7, 10, 13, 16],
        "ran_on": "this processor",
    }
