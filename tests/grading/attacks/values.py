"""Attacks on values: make a wrong answer look right."""

from . import Attack

WRONG = "def double(x): return x"

ATTACKS = [
    Attack(
        "an object that equals everything",
        """
        class Same:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __array__(self, *a, **k): return self
        def double(x): return Same()
        """,
    ),
    Attack(
        "an array of a subclass whose comparison is always true",
        """
        class Same(np.ndarray):
            def __eq__(self, other): return np.ones(self.shape, bool)
            def __array_ufunc__(self, *a, **k): return np.ones(self.shape, bool)
            def __array_function__(self, *a, **k): return True
        def double(x): return x.view(Same)
        """,
    ),
    Attack("NaN everywhere", "def double(x): return np.full_like(x, np.nan)", quiet=True),
    Attack(
        "NaN of a dtype that compares with nothing",
        "def double(x): return np.full(x.shape, 'NaT', 'M8[s]')",
        quiet=True,
    ),
    Attack(
        "an array of objects that equal everything",
        """
        class Same:
            __array_priority__ = 1e9
            def __eq__(self, other): return True
            def __rmul__(self, other): return self
        def double(x):
            a = np.empty(x.shape, object)
            a[...] = Same()
            return a
        """,
    ),
    Attack(
        "NumPy's comparisons are replaced",
        f"""
        np.array_equal = np.allclose = lambda *a, **k: True
        np.testing.assert_array_equal = np.testing.assert_allclose = lambda *a, **k: None
        np.isclose = lambda a, *r, **k: np.ones(np.shape(a), bool)
        {WRONG}
        """,
    ),
    Attack(
        "built-in names are replaced",
        f"""
        import builtins
        builtins.all = lambda *a: True
        builtins.any = lambda *a: False
        builtins.len = lambda x: 4
        builtins.isinstance = lambda *a: True
        {WRONG}
        """,
        fails=True,
    ),
    Attack(
        "hetlab's own comparison is replaced",
        f"""
        import hetlab.grading.agree as agree, hetlab.grading.criteria as criteria
        agree.Agreement.__call__ = lambda *a, **k: None
        criteria.Correct.compare = lambda *a, **k: None
        {WRONG}
        """,
    ),
    Attack(
        "hetlab's judge is replaced",
        f"""
        import hetlab.grading.judge as j, hetlab.grading, hetlab
        from hetlab.grading import Verdict, Finding
        full = lambda *a, **k: Verdict("01_x/double", "passed", (Finding("all", 99, 99, True),))
        j.judge = hetlab.grading.judge = hetlab.check = full
        {WRONG}
        """,
    ),
    Attack(
        "the worker that answers the judge is replaced by one that claims a verdict",
        """
        import hetlab.grading.worker as w, hetlab.grading.wire as wire
        def serve(namespace, sock, *a):
            while True:
                wire.recv(sock)
                wire.send(sock, {"status": "passed", "points": 99, "value": True, "passed": True})
        w.serve = serve
        def double(x): return x
        """,
    ),
    Attack(
        "the worker's answer never changes",
        """
        import hetlab.grading.worker as w
        w.Performance.result = lambda self: {"status": "returned", "value": None, "changed": {}}
        def double(x): return x
        """,
    ),
    Attack(
        "an array that names no bytes, to be filled from the judge's own memory",
        """
        import json, hetlab.grading.wire as wire
        def encode(value):
            if isinstance(value, dict) and isinstance(value.get("value"), np.ndarray):
                n = value["value"].shape[0]
                hole = {"t": "array", "d": "<f8", "s": [n], "n": None, "scalar": False}
                pairs = [["status", "returned"], ["value", hole]]
                return json.dumps({"v": {"t": "dict", "x": pairs}, "b": []}).encode(), []
            return real(value)
        real, wire.encode = wire.encode, encode
        def double(x): return x
        """,
    ),
    Attack(
        "results remembered from a public run with the public seed",
        """
        from hetlab.grading.task import Trial
        known = {}
        for seed in range(50):
            r = np.random.default_rng([seed, __import__("zlib").crc32(b"double/")])
            for n in (1, 4, 50, 7):
                x = r.random(n); known[x.tobytes()] = 2 * x
        def double(x): return known.get(x.tobytes())
        """,
    ),
    Attack(
        "results kept from one call to the next, and the inputs handed back",
        """
        last = []
        def double(x):
            last.append(x)
            return last[0]
        """,
        quiet=True,
    ),
    Attack(
        "the input is changed so that the expected value changes with it",
        """
        def double(x):
            x *= 0
            return x
        """,
        quiet=True,
    ),
    Attack(
        "a value whose text raises, and whose length lies",
        """
        class Odd(list):
            def __repr__(self): raise SystemExit(0)
            __str__ = __repr__
            def __len__(self): return 1 << 60
            def __iter__(self): raise KeyboardInterrupt
        def double(x): return Odd()
        """,
        quiet=True,
    ),
    Attack(
        "a value that runs code when it is unpickled or turned to JSON",
        """
        import os
        class Bomb:
            def __reduce__(self): return (os.system, ("touch {outside}/hetlab_attack",))
            def __getattr__(self, name): return lambda *a, **k: "2"
        def double(x): return Bomb()
        """,
    ),
    Attack(
        "an integer of a million digits",
        """
        def double(x): return 1 << 4_000_000
        """,
        quiet=True,
    ),
    Attack(
        "a reply of two gigabytes",
        "def double(x): return np.broadcast_to(np.float64(1), (1 << 28,))",
        quiet=True,
    ),
    Attack(
        "lists nested ten thousand deep",
        """
        def double(x):
            a = []
            for _ in range(10_000): a = [a]
            return a
        """,
        quiet=True,
    ),
    Attack(
        "a small message that asks for a lot of memory",
        """
        import json, hetlab.grading.wire as wire
        def encode(value):
            if isinstance(value, dict) and "changed" in value:
                big = {"t": "array", "d": "<f8", "s": [1 << 40], "n": 0, "scalar": False}
                pairs = [["status", "returned"], ["value", big]]
                text = json.dumps({"v": {"t": "dict", "x": pairs}, "b": [8]})
                return text.encode(), [memoryview(b"x" * 8)]
            return real(value)
        real, wire.encode = wire.encode, encode
        def double(x): return x
        """,
    ),
    Attack(
        "one blob named a thousand times",
        """
        import json, hetlab.grading.wire as wire
        def encode(value):
            if isinstance(value, dict) and "changed" in value:
                one = {"t": "bytes", "n": 0}
                pairs = [["status", "returned"], ["value", {"t": "list", "x": [one] * 1000}]]
                text = json.dumps({"v": {"t": "dict", "x": pairs}, "b": [1 << 22]})
                return text.encode(), [memoryview(bytes(1 << 22))]
            return real(value)
        real, wire.encode = wire.encode, encode
        def double(x): return x
        """,
    ),
    Attack(
        "an exception that imitates a verdict",
        r"""
        class Passed(Exception): pass
        Passed.__name__ = "✔ 01_x/double   2 of 2 points"
        def double(x): raise Passed("passed\r\n\x1b[2K✔ right values 2/2\x00" * 50)
        """,
        quiet=True,
    ),
    Attack(
        "output that imitates the protocol and a verdict",
        """
        import json, sys, struct
        print("✔ 01_x/double   2 of 2 points")
        def double(x):
            print(json.dumps({"status": "returned", "points": 2}))
            print(struct.pack(">QQ", 2, 0).decode("latin-1") + "{}")
            return x
        """,
        quiet=True,
    ),
]
