"""TVM's tiny kernel with a known answer; `hetlab.vgpu.canary` knows the answer."""

from __future__ import annotations

from hetlab.errors import optional

__all__ = ["canary_operator"]


def canary_operator():
    """64 floats doubled and turned round in shared memory by 64 threads.

    Returns
    -------
    callable
        ``f(seed, song)`` with two arrays of 64 floats.
    """
    from hetlab.vgpu.frontends.switch import use_virtual_gpu
    from hetlab.vgpu.frontends.tvm_adapter import ARCHITECTURE

    use_virtual_gpu()
    tvm = optional("tvm", "tvm", "run TVM's functions")
    from tvm import s_tir, te, tirx

    seed = te.placeholder((64,), "float32", name="seed")
    air = te.compute((64,), lambda t: seed[t] * tirx.FloatImm("float32", 2.0), name="air")
    song = te.compute((64,), lambda t: air[63 - t], name="song")
    sch = s_tir.Schedule(tvm.IRModule({"main": te.create_prim_func([seed, song])}))
    sch.set_scope("air", 0, "shared")
    (thread,) = sch.get_loops("song")
    block = sch.add_unit_loop(thread)
    sch.compute_at("air", block)
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    sch.bind(sch.get_loops("air")[-1], "threadIdx.x")
    return tvm.compile(sch.mod, target={"kind": "cuda", "arch": ARCHITECTURE})["main"]
