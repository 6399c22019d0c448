"""Memory accesses that break a rule: reported thread by thread, the others served."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.elements import by_elements, fetch
from hetlab.vgpu.hazards import name_of
from hetlab.vgpu.lanes import Addresses
from hetlab.vgpu.memory import SLOT_BITS

__all__ = ["Rules", "taken"]


class Rules:
    """The part of a `MemoryPort` that knows what an access may not do."""

    def _in_global(self, site, v):
        """Which addresses are good, and the rule that the others break."""
        fixed = self.run.fixed[site.id]
        slots = v >> SLOT_BITS
        inside = np.zeros(len(v), np.bool_)
        writable = np.ones(len(v), np.bool_)
        for slot in [None] if fixed else sorted(set(slots.tolist())):
            seg = fixed or self.run.segment(slot)
            if seg is None:
                continue
            here = (v >= seg.lo) & (v + site.size <= seg.hi)
            if slot is not None:
                here &= slots == slot
            inside |= here
            if site.stores and seg.alloc.readonly:
                writable &= ~here
        return inside, writable

    def _in_shared(self, site, v):
        lo, hi = self.run.shared_bounds[site.id]
        return (v >= lo) & (v + site.size <= hi), None

    def _in_local(self, site, v):
        lo, hi = self.run.local_bounds[site.id]
        return (v >= lo) & (v + site.size <= hi), None

    def _careful(self, verb: str, site, a, offset, inside, *rest):
        """Report the threads whose access breaks a rule, and serve the others."""
        v = a.vector() + offset
        space = {self._in_shared: "shared", self._in_local: "local"}.get(inside, "global")
        good, writable = inside(site, v)
        aligned = (v & (site.size - 1)) == 0
        self._complain("out-of-bounds", site, a, v, ~good, space)
        self._complain("misaligned", site, a, v, good & ~aligned, space)
        good = good & aligned
        if writable is not None:
            self._complain("read-only-write", site, a, v, good & ~writable, space)
            good = good & writable
        if good.all():  # each is right, but no single array holds all of them
            slots = v >> SLOT_BITS
            masks = [slots == s for s in sorted(set(slots.tolist()))]
        else:
            masks = [good]

        def again(part, keep):
            if verb == "atomic":
                return self._atomic_in(space, site, part, 0, *taken(rest, keep))
            return getattr(self, verb)(site, part, 0, *taken(rest, keep))

        return self._pieces(masks, again, site, Addresses(a.lanes, v), verb)

    def _pieces(self, masks, do, site, a, verb):
        """Serve groups of threads one after another and put their results together."""
        n = a.lanes.n
        out = [np.zeros(n, site.dtype) for _ in range(site.parts)]
        for keep in masks:
            part = a.narrow(keep)
            if part is None:
                continue
            got = do(part, keep)
            if got is None:
                continue
            for target, value in zip(out, got if site.parts > 1 else (got,)):
                target[keep] = value
        if verb.startswith("store"):
            return None
        return tuple(out) if site.parts > 1 else out[0]

    def _complain(self, kind, site, a, v, bad, space) -> None:
        if not bad.any():
            return
        k = int(np.argmax(bad))
        run = self.run

        def make():
            thread = run.thread(int(self.batch.threads(a.lanes)[k]))
            array, index = run.describe(space, site, int(v[k]))
            return {
                "array": array,
                "index": index,
                "threads": [thread],
                "lines": [site.place],
                "space": space,
                "message": _SENTENCES[kind].format(
                    who=run.who(thread).capitalize(),
                    verb="stores to" if site.stores else "reads",
                    what=name_of(array, index, space),
                    line=site.place[1],
                    size=site.size,
                    address=int(v[k]),
                    extent=run.extent(space, site, int(v[k])),
                ),
            }

        warning = kind == "wrapped-index"
        count = int(np.count_nonzero(bad))
        run.recorder.add(kind, (space, site.id), count, make, warning=warning)

    # -- bytes that nobody has written
    def _check_written(self, site, a, offset, written, base, space, inner=None) -> None:
        """Report threads that read elements of which no byte has ever been written.

        A partly written element is a struct with a hole, copied as a whole.  `inner` has the
        addresses to name.
        """
        got = fetch(site, by_elements(written, site.elem), a, base, offset)
        unwritten = [part == 0 for part in (got if site.parts > 1 else (got,))]
        if not any(np.any(part) for part in unwritten):
            return
        unwritten = np.stack([a.lanes.full(np.asarray(part)[()]) for part in unwritten])
        named = inner if inner is not None else a
        v = named.vector() + offset + site.elem * unwritten.argmax(axis=0)  # of a vector, this one
        self._complain("uninitialised-read", site, named, v, unwritten.any(axis=0), space)


_SENTENCES = {
    "out-of-bounds": "{who} {verb} {what} in line {line}, outside {extent}.",
    "misaligned": "{who} {verb} {what} in line {line} at address {address:#x}, "
    "which is no multiple of {size}.",
    "read-only-write": "{who} {verb} {what} in line {line}, which is read-only.",
    "wrapped-index": "{who} {verb} {what} in line {line} by a negative index, which "
    "counts from the end.",
    "uninitialised-read": "{who} {verb} {what} in line {line} before anything was stored there.",
}


def taken(rest, keep):
    """The same arguments for some of the threads."""

    def take(x):
        if isinstance(x, tuple):
            return tuple(take(y) for y in x)
        return x[keep] if isinstance(x, np.ndarray) else x

    return tuple(take(x) for x in rest)
