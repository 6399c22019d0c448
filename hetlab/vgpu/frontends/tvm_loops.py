"""Which loops of a TVM function a GPU would not run: TVM compiles those for the host.

A stage whose loops are bound to no block or thread becomes host code, without a word.
On a real GPU that code reads the GPU's memory from the CPU and crashes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hetlab.errors import HetlabError

__all__ = [
    "Stage",
    "UnboundLoops",
    "host_stages",
    "partly_read",
    "require_bound",
    "thread_extents",
]

_REDUCE = 2  # IterVar.CommReduce: the loop sums, or takes a maximum


class UnboundLoops(HetlabError):
    """A schedule leaves work outside of the GPU's threads."""


@dataclass
class Stage:
    """A block of a TVM function that stands under no GPU thread.

    Attributes
    ----------
    name : str
        The block.
    loops : list of str
        Its loops from the outside in.
    extents : list of str
    reducing : set of str
        The loops that it sums over, or takes a maximum over.
    parallel : list of str
        The loops that the schedule marks as parallel.
    scope : str
        Memory that it writes: "global", "shared" or "local".
    """

    name: str
    loops: list[str] = field(default_factory=list)
    extents: list[str] = field(default_factory=list)
    reducing: set[str] = field(default_factory=set)
    parallel: list[str] = field(default_factory=list)
    scope: str = "global"


def _children(node):
    from tvm import s_tir, tirx

    if isinstance(node, tirx.SeqStmt):
        return list(node.seq)
    if isinstance(node, tirx.IfThenElse):
        return [part for part in (node.then_case, node.else_case) if part is not None]
    if isinstance(node, s_tir.SBlockRealize):
        return [node.block]
    if isinstance(node, s_tir.SBlock):
        return [part for part in (node.init, node.body) if part is not None]
    body = getattr(node, "body", None)
    return [body] if body is not None else []


def _is_thread(node) -> bool:
    from tvm import tirx

    if isinstance(node, tirx.For):
        return node.thread_binding is not None
    return isinstance(node, tirx.AttrStmt) and str(node.attr_key) == "thread_extent"


def _names_in(expression) -> set[str]:
    import tvm_ffi
    from tvm import tirx

    found: set[str] = set()
    tvm_ffi.structural_walk(expression, (tirx.Var, lambda var: found.add(str(var.name))))
    return found


def host_stages(function) -> list[Stage]:
    """The blocks of a function that a GPU would not run: under no thread, or under a CPU's."""
    from tvm import s_tir, tirx

    found: dict[str, Stage] = {}

    def visit(node, loops, block, reducing, threaded) -> None:
        threaded = threaded or _is_thread(node)
        if isinstance(node, tirx.For):
            loops = [*loops, node]
        if isinstance(node, s_tir.SBlockRealize) and node.block.iter_vars:
            block = str(node.block.name_hint)
            for iteration, value in zip(node.block.iter_vars, node.iter_values):
                if int(iteration.iter_type) == _REDUCE:
                    reducing = reducing | _names_in(value)
        if isinstance(node, tirx.BufferStore):
            parallel = [str(x.loop_var.name) for x in loops if int(x.kind) == tirx.ForKind.PARALLEL]
            if parallel or not threaded:
                stage = found.setdefault(block or str(node.buffer.name), Stage(block))
                stage.name = stage.name or str(node.buffer.name)
                stage.loops = [str(loop.loop_var.name) for loop in loops]
                stage.extents = [str(loop.extent) for loop in loops]
                stage.parallel, stage.reducing = parallel, stage.reducing | reducing
                stage.scope = str(node.buffer.scope())
        for child in _children(node):
            visit(child, loops, block, reducing, threaded)

    visit(function.body, [], "", set(), False)
    return list(found.values())


def thread_extents(function) -> dict[str, str]:
    """Thread axes that a function binds, with their extents: ``{"blockIdx.x": "64"}``."""
    from tvm import tirx

    found: dict[str, str] = {}

    def visit(node) -> None:
        if isinstance(node, tirx.For) and node.thread_binding is not None:
            found.setdefault(str(node.thread_binding.thread_tag), str(node.extent))
        if isinstance(node, tirx.AttrStmt) and str(node.attr_key) == "thread_extent":
            found.setdefault(str(node.node.thread_tag), str(node.value))
        for child in _children(node):
            visit(child)

    visit(function.body)
    return found


def partly_read(function) -> list[str]:
    """Sentences about inputs of which the function reads only a part, as the loops stand."""
    from tvm import s_tir, tirx

    if not isinstance(function.body, s_tir.SBlockRealize):
        return []
    params = {p: p for p in function.params}
    reads, _ = s_tir.analysis.get_sblock_read_write_region(function.body.block, params)
    told = []
    for region in reads:
        shape = list(region.source.shape)
        bounds = [value for r in region.region for value in (r.min, r.extent)]
        if not all(isinstance(value, tirx.IntImm) for value in (*shape, *bounds)):
            continue  # a symbolic shape
        ranges = [(int(r.min), int(r.min) + int(r.extent)) for r in region.region]
        if any(part != (0, int(n)) for part, n in zip(ranges, shape)):
            index = ", ".join(f"{first}:{end}" for first, end in ranges)
            whole = tuple(map(int, shape))
            told.append(
                f"Of {region.source.name} only {region.source.name}[{index}] of shape "
                f"{whole} is read."
            )
    return told


def require_bound(module, gpu: str = "CUDA") -> None:
    """Refuse a module with work outside of the GPU's threads.

    Raises
    ------
    UnboundLoops
        With the stage, its loops, and what to write.
    """
    from tvm import tirx

    for name, function in module.functions_items():
        if not isinstance(function, tirx.PrimFunc) or _for_host(function):
            continue
        stages = host_stages(function)
        if stages:
            raise _error(str(name.name_hint), stages, gpu)


def _for_host(function) -> bool:
    attrs = function.attrs or {}
    if attrs.get("tirx.is_host_func") or attrs.get("tir.is_host_func"):
        return True
    target = attrs.get("target")
    return target is not None and str(target.kind.name) in ("llvm", "c")


def _error(function: str, stages: list[Stage], gpu: str) -> UnboundLoops:
    stage = stages[0]
    if stage.parallel:
        what = (
            f"the loop {stage.parallel[0]} of the stage {stage.name} in {function} is marked "
            f"parallel, which means threads of a CPU; {gpu} runs loops that are bound to blocks "
            "and threads"
        )
    elif stage.loops:
        none, lone = ("none of its loops", "") if stage.loops[1:] else ("its loop", " not")
        what = (
            f"the stage {stage.name} of {function} runs in no thread of a GPU: {none} "
            f"{_list(stage.loops, 'and')} is{lone} bound to a block or thread"
        )
    else:
        what = f"the stage {stage.name} of {function} runs in no thread of a GPU: it has no loop"
    if len(stages) > 1:
        what += f"; nor does {_list([other.name for other in stages[1:]], 'or')}"
    return UnboundLoops(what, do=_advice(stage))


def _advice(stage: Stage) -> str:
    free = [loop for loop in stage.loops if loop not in stage.reducing]
    if stage.scope.split(".")[0] in ("shared", "local") and not stage.parallel:
        return (
            f"It fills {stage.scope} memory, which exists only inside a kernel: move it there with "
            f"sch.compute_at({stage.name!r}, loop), or reverse_compute_at when it comes after, "
            "where loop is one of the kernel's; then bind its loops to threadIdx.x."
        )
    if not stage.loops:
        return f"Bind one: sch.bind(sch.add_unit_loop({stage.name!r}), 'threadIdx.x')."
    get = f"{', '.join(stage.loops)}{',' * (len(stage.loops) == 1)} = sch.get_loops({stage.name!r})"
    if not free:
        loop = stage.loops[0]
        return (
            f"Write {get}; sch.bind({loop}, 'threadIdx.x'): "
            "TVM then adds up across the threads of one block."
        )
    sizes = dict(zip(stage.loops, stage.extents))
    iterations = _list([f"{loop} ({sizes[loop]})" for loop in free], "and")
    told = f"The iterations of {iterations} do not depend on each other: bind these. "
    if stage.reducing:
        summing = [loop for loop in stage.loops if loop in stage.reducing]
        told += (
            f"{_list(summing, 'and')} adds up: leave it inside a thread, or split off 32 of it for "
            "threadIdx.x, and TVM adds the sums of these threads. "
        )
    fused = free[0] if len(free) == 1 else f"sch.fuse({', '.join(free)})"
    return (
        f"{told}For example: {get}; block, thread = sch.split({fused}, [None, 128]); "
        "sch.bind(block, 'blockIdx.x'); sch.bind(thread, 'threadIdx.x')."
    )


def _list(names: list[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
