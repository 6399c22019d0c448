"""Special registers: ``%tid``, ``%ctaid``, ``%laneid``, ``%clock`` and their kin."""

from __future__ import annotations

import numpy as np

__all__ = ["special_register"]


def special_register(batch, name: str):
    """The value for all slots of a batch, or a scalar."""
    u4 = np.uint32
    stem, _, axis = name.partition(".")
    k = {"": 0, "x": 0, "y": 1, "z": 2}.get(axis, 3)
    shape, grid = batch.shape, batch.run.grid
    if stem in ("tid", "ntid", "ctaid", "nctaid") and k == 3:
        return u4(0)
    if stem == "tid":
        return shape.tid_xyz[k]
    if stem == "ntid":
        return u4(shape.block[k])
    if stem == "nctaid":
        return u4(grid[k])
    if stem in ("ctaid", "clusterid"):
        if grid[k] == 1:
            return u4(0)
        ids = batch.block_ids
        value = (ids // [1, grid[0], grid[0] * grid[1]][k] % grid[k]).astype(u4)
        return value[0] if len(ids) == 1 else value[shape.cta]
    if stem == "nclusterid":
        return u4(grid[k])
    if stem == "laneid":
        return shape.lane
    if stem.startswith("lanemask"):
        one = u4(1) << shape.lane
        low = one - u4(1)
        return {"eq": one, "lt": low, "le": low | one, "gt": ~(low | one), "ge": ~low}[stem[-2:]]
    if stem == "warpid":
        return (shape.tid >> 5).astype(u4)
    if stem in ("clock64", "globaltimer"):
        return np.uint64(batch.run.ticks_of_time())
    if stem in ("clock", "globaltimer_lo"):
        return u4(batch.run.ticks_of_time() & 0xFFFFFFFF)
    if stem in ("clock_hi", "globaltimer_hi"):
        return u4(batch.run.ticks_of_time() >> 32)
    if stem == "gridid":
        return np.uint64(1)
    if stem.startswith("envreg"):
        return u4(batch.run.environment(int(stem[6:] or 0)))
    ones = {"cluster_nctaid", "cluster_nctarank"}
    sizes = {
        "nwarpid": 64,
        "nsmid": 108,
        "dynamic_smem_size": batch.run.dynamic_shared,
        "total_smem_size": batch.run.shared_bytes,
        "aggr_smem_size": batch.run.shared_bytes,
    }
    if stem == "smid":
        return (batch.block_ids % 108).astype(u4)[shape.cta]
    return u4(1 if stem in ones else sizes.get(stem, 0))
