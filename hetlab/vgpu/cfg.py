"""Basic blocks, their order, and what is live between them.

A block ends at a jump and before each instruction that threads must reach
together (a *gate*: a barrier or a ``*.sync``), so a gate is always the first
instruction of its block.  Warps that came whole to one gate are still whole at the
next ones of the same straight line, so that these need no block of their own.

Blocks are numbered in topological order with loops contiguous: strongly
connected components in order, and each component again after its header.
Running the lowest block first then makes threads meet again as early as
possible; the order of the text does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hetlab.vgpu.ir import Addr, Function, Imm, Instr, Neg, PtxError, Reg, Sym, Vec

__all__ = ["CARRY", "Block", "build", "defs", "gate_of", "symbols", "uses"]

CARRY = Reg("%cc")
"""The carry flag that ``add.cc`` writes and ``addc`` reads."""

_ENDS = {"bra", "brx", "ret", "exit", "trap"}
_SYNC_OPS = {"shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}
_NO_RESULT = {"st", "red", "bra", "brx", "ret", "exit", "trap", "membar", "fence", "nanosleep",
              "bar", "barrier", "cp", "nop", "pmevent", "brkpt", "prefetch", "prefetchu",
              "stmatrix", "discard", "applypriority", "griddepcontrol", "setmaxnreg"}  # fmt: skip
_STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}


@dataclass(slots=True)
class Block:
    """Straight-line code.

    Attributes
    ----------
    code : list of Instr
        Without the jump that ends it.
    gate : str
        ``""``, ``"warp"``, ``"barrier"`` or ``"grid"``: what threads wait for on entry.
    jump : Instr or None
        The branch, ``ret``, ``exit`` or ``trap`` at the end.
    successors : list of int
        The block after a taken branch (or a table's blocks) first, then the next one; the number
        of blocks stands for the end of the kernel.
    live_in, live_out : set of str
        Registers.
    loop : bool
        Inside a loop.
    polls : bool
        In a loop that another thread's store can end.
    """

    code: list[Instr]
    gate: str
    jump: Instr | None
    successors: list[int] = field(default_factory=list)
    live_in: set[str] = field(default_factory=set)
    live_out: set[str] = field(default_factory=set)
    loop: bool = False
    polls: bool = False


def gate_of(i: Instr) -> str:
    """What threads wait for before this instruction."""
    if i.op in ("bar", "barrier"):
        if "warp" in i.mods:
            return "warp"
        return "" if "arrive" in i.mods else "barrier"
    if i.op in _SYNC_OPS:
        return "warp"
    if i.op == "call" and i.mods[0].startswith("cudaCGSync"):
        return "grid"
    return ""


def _whole_warp(i: Instr) -> bool:
    """Whether each warp comes to this gate with all its lanes, and with them goes on."""
    if i.pred is not None or gate_of(i) != "warp":
        return False
    if i.op in ("mma", "ldmatrix", "stmatrix", "movmatrix"):
        return True
    mask = i.operands[-1] if i.op in ("shfl", "vote", "redux") else None
    return isinstance(mask, Imm) and mask.value in (-1, 0xFFFFFFFF)


def _registers(x, out: list[str]) -> None:
    match x:
        case Reg(name):
            out.append(name)
        case Neg(reg):
            out.append(reg.name)
        case Addr(base, _):
            _registers(base, out)
        case Vec(items):
            for y in items:
                _registers(y, out)


def defs(i: Instr) -> list[str]:
    """Registers that the instruction writes."""
    out: list[str] = []
    has_result = i.op not in _NO_RESULT or (i.op in ("bar", "barrier") and "red" in i.mods)
    if has_result and i.operands:
        _registers(i.operands[0], out)
    if "cc" in i.mods:
        out.append(CARRY.name)
    return out


def uses(i: Instr) -> list[str]:
    """Registers that the instruction reads."""
    out: list[str] = []
    has_result = i.op not in _NO_RESULT or (i.op in ("bar", "barrier") and "red" in i.mods)
    written = 1 if has_result else 0
    for x in i.operands[written:]:
        _registers(x, out)
    if i.op in ("addc", "subc", "madc"):
        out.append(CARRY.name)
    if i.pred:
        out.append(i.pred[0].name)
    out.extend(i.wraps)
    return out


def build(f: Function) -> list[Block]:
    """Cut a flattened kernel into blocks, in the order in which they should run."""
    code = f.code
    if not code:
        raise PtxError(f"the kernel {f.name} has no instructions", f.line)
    heads = {0, *f.labels.values()}
    together = False  # warps are whole since the last gate
    for index, i in enumerate(code):
        together = together and index not in heads
        if i.op in _ENDS:
            heads.add(index + 1)
        if gate_of(i):
            whole = _whole_warp(i)
            if not (whole and together):
                heads.add(index)
            together = whole
    cuts = sorted(h for h in heads if h < len(code))
    number = {h: n for n, h in enumerate(cuts)}
    end = len(cuts)
    blocks = []
    for n, head in enumerate(cuts):
        body = code[head : cuts[n + 1] if n + 1 < end else len(code)]
        jump = body[-1] if body[-1].op in _ENDS else None
        block = Block(body[:-1] if jump else body, gate_of(body[0]), jump)
        following = n + 1
        if jump is None:
            block.successors = [following]
        elif jump.op in ("ret", "exit", "trap"):
            block.successors = [end] + ([following] if jump.pred else [])
        else:
            if jump.op == "brx":
                key = jump.operands[1].name if len(jump.operands) > 1 else ""
                targets = f.tables.get(key)
                if targets is None:
                    raise jump.error("brx.idx needs a .branchtargets list")
            else:
                targets = [jump.operands[0].name]
            block.successors = [number.get(f.labels[t], end) for t in targets]
            if jump.pred:
                block.successors.append(following)
        blocks.append(block)
    order, looping = _order([[s for s in b.successors if s < end] for b in blocks])
    place = {old: new for new, old in enumerate(order)}
    place[end] = len(order)
    out = [blocks[old] for old in order]
    for block, old in zip(out, order):
        block.successors = [place[s] for s in block.successors]
        block.loop = old in looping
    _liveness(out)
    loops: dict[int, tuple[set[str], set[str]]] = {}  # by identity: a loop's blocks share its list
    for old, members in looping.items():
        block = blocks[old]
        if any(i.op in ("atom", "ld") for i in block.code):
            if id(members) not in loops:
                loops[id(members)] = _deciding([blocks[m] for m in members])
            _find_polls(block, *loops[id(members)])
    return out


def _components(nodes: list[int], succ) -> list[list[int]]:
    """Strongly connected components in topological order (Tarjan, without recursion)."""
    inside, index, low = set(nodes), {}, {}
    stack, on, out = [], set(), []
    for root in nodes:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        work = [(root, iter([s for s in reversed(succ[root]) if s in inside]))]
        while work:
            v, following = work[-1]
            for w in following:
                if w not in index:
                    index[w] = low[w] = len(index)
                    stack.append(w)
                    on.add(w)
                    work.append((w, iter([s for s in reversed(succ[w]) if s in inside])))
                    break
                if w in on:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    group = []
                    while True:
                        w = stack.pop()
                        on.discard(w)
                        group.append(w)
                        if w == v:
                            break
                    out.append(sorted(group))
    return out[::-1]


def _order(succ: list[list[int]]) -> tuple[list[int], dict[int, list[int]]]:
    """Reachable nodes in running order, and for each node in a loop its innermost loop."""
    reach, work = {0}, [0]
    while work:
        for s in succ[work.pop()]:
            if s not in reach:
                reach.add(s)
                work.append(s)
    order: list[int] = []
    loops: dict[int, list[int]] = {}
    preds: dict[int, list[int]] = {n: [] for n in reach}
    for n in reach:
        for s in succ[n]:
            preds[s].append(n)
    # each item is either a node, or a component still to be ordered
    todo: list = [(sorted(reach), succ)]
    while todo:
        item = todo.pop()
        if isinstance(item, int):
            order.append(item)
            continue
        nodes, edges = item
        parts: list = []
        for group in _components(nodes, edges):
            if len(group) == 1 and group[0] not in edges[group[0]]:
                parts.append(group[0])
                continue
            members = set(group)
            for n in group:
                loops[n] = group
            entered = [n for n in group if n == 0 or any(p not in members for p in preds[n])]
            header = entered[0] if entered else group[0]
            rest = {n: [s for s in edges[n] if s in members and s != header] for n in group}
            parts.append(header)
            if len(group) > 1:
                parts.append((sorted(members - {header}), rest))
        todo.extend(reversed(parts))
    return order, loops


def _liveness(blocks: list[Block]) -> None:
    names: dict[str, int] = {}

    def bits(registers) -> int:
        mask = 0
        for r in registers:
            mask |= 1 << names.setdefault(r, len(names))
        return mask

    gen, kill = [], []
    for b in blocks:
        g = k = 0
        for i in [*b.code, *([b.jump] if b.jump else [])]:
            g |= bits(uses(i)) & ~k
            written = bits(defs(i))
            if i.pred:
                g |= written & ~k  # a predicated write keeps the old value in other threads
            else:
                k |= written
        gen.append(g)
        kill.append(k)
    live = [0] * (len(blocks) + 1)
    out = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for n in range(len(blocks) - 1, -1, -1):
            out[n] = 0
            for s in blocks[n].successors:
                out[n] |= live[s]
            new = gen[n] | (out[n] & ~kill[n])
            if new != live[n]:
                live[n], changed = new, True
    listed = list(names)

    def members(mask: int) -> set[str]:
        found = set()
        while mask:
            low = mask & -mask
            found.add(listed[low.bit_length() - 1])
            mask ^= low
        return found

    for n, b in enumerate(blocks):
        b.live_in, b.live_out = members(live[n]), members(out[n])


def _deciding(loop: list[Block]) -> tuple[set[str], set[str]]:
    """Registers that decide whether a loop goes on, and all that it writes."""
    makers: dict[str, list[Instr]] = {}
    for b in loop:
        for i in b.code:
            for r in defs(i):
                makers.setdefault(r, []).append(i)
    written = set(makers)
    work = [r for b in loop if b.jump is not None for r in uses(b.jump)]
    wanted: set[str] = set()
    while work:
        r = work.pop()
        if r not in wanted:
            wanted.add(r)
            for i in makers.pop(r, ()):
                work += uses(i)
    return wanted, written


def _find_polls(block: Block, wanted: set[str], written: set[str]) -> None:
    """Mark `block` when what it reads from memory decides whether its loop goes on."""
    for i in block.code:
        reads = i.op in ("atom", "ld") and any(r in wanted for r in defs(i))
        if not reads or "param" in i.mods or "const" in i.mods or "local" in i.mods:
            continue
        fixed = not any(r in written for r in uses(i))
        if i.op == "atom" or _STRONG & set(i.mods) or fixed:
            block.polls = True


def symbols(f: Function) -> set[str]:
    """Names of variables whose address the kernel uses."""
    out: set[str] = set()

    def walk(x):
        match x:
            case Sym(name, _):
                out.add(name)
            case Addr(base, _):
                walk(base)
            case Vec(items):
                for y in items:
                    walk(y)

    for i in f.code:
        if i.op not in ("bra", "brx", "call"):
            for x in i.operands:
                walk(x)
    return out
