"""Attacks on the connection to the judge, and searches for what the judge knows."""

from . import Attack

WRONG = "def double(x): return x"
FDS = """
import os, socket, struct, json
def sockets():
    for n in map(int, os.listdir("/proc/self/fd")):
        try:
            if os.readlink(f"/proc/self/fd/{n}").startswith("socket:"): yield n
        except OSError: pass
def message(value):
    text = json.dumps({"v": value, "b": []}).encode()
    return struct.pack(">QQ", len(text), 0) + text
"""

ATTACKS = [
    Attack(
        "a verdict is written into every open descriptor",
        f"""
        import os
        for n in range(3, 64):
            try: os.write(n, b'{{"status": "passed", "points": 2}}')
            except OSError: pass
        {WRONG}
        """,
        fails=True,
    ),
    Attack(
        "a well-formed answer is written ahead of the question",
        (
            FDS,
            """
            pairs = [["status", "forked"], ["pid", 1]]
            for n in sockets():
                try: os.write(n, message({"t": "dict", "x": pairs}))
                except OSError: pass
            """,
            WRONG,
        ),
    ),
    Attack(
        "the answers of a check are forged from within the call",
        (
            FDS,
            """
            def double(x):
                pairs = [["status", "returned"], ["value", True], ["points", 2]]
                for n in sockets():
                    try: os.write(n, message({"t": "dict", "x": pairs}))
                    except OSError: pass
                return x
            """,
        ),
    ),
    Attack(
        "nonsense is written into the socket from within the call",
        (
            FDS,
            """
            def double(x):
                for n in sockets():
                    try: os.write(n, os.urandom(4096))
                    except OSError: pass
                return x
            """,
        ),
    ),
    Attack(
        "a header announces more bytes than there are in the world",
        (
            FDS,
            """
            def double(x):
                for n in sockets():
                    try: os.write(n, struct.pack(">QQ", 2**63, 2**63))
                    except OSError: pass
                return x
            """,
        ),
    ),
    Attack(
        "every descriptor is closed",
        f"""
        import os
        os.closerange(0, 1000)
        {WRONG}
        """,
        fails=True,
    ),
    Attack(
        "all descriptors are used up",
        f"""
        import os
        held = []
        try:
            while True: held.append(os.open("/dev/null", 0))
        except OSError: pass
        {WRONG}
        """,
        quiet=True,
    ),
    Attack(
        "frames are searched for the expected value",
        """
        import sys
        def double(x):
            frame = sys._getframe()
            while frame:
                for name, value in frame.f_locals.items():
                    if name in ("expected", "spec", "answer"): return value
                    if hasattr(value, "expected"): return value.expected.value
                frame = frame.f_back
            return x
        """,
    ),
    Attack(
        "the collector is searched for the expected value",
        """
        import gc
        def double(x):
            for thing in gc.get_objects():
                if isinstance(thing, np.ndarray) and thing.shape == x.shape and (thing != x).any():
                    return thing
                if type(thing).__name__ in ("Correct", "Task", "Trial"):
                    return thing.spec(x)
            return x
        """,
    ),
    Attack(
        "the memory of the judge is read",
        """
        import os, re
        def double(x):
            for pid in ("{parent}", str(os.getppid()), "1"):
                try:
                    maps = open(f"/proc/{pid}/maps").read()
                    memory = open(f"/proc/{pid}/mem", "rb", 0)
                except OSError: continue
                if pid == "{parent}": return 2 * x
            return x
        """,
        leaks=True,
    ),
    Attack(
        "memory of this process is scribbled over",
        """
        import ctypes
        def double(x):
            ctypes.memset(id(x), 0, 64)
            return x
        """,
    ),
    Attack(
        "the track is looked for on disk",
        """
        import os, glob
        def double(x):
            for place in ("{outside}", "{track}", os.path.expanduser("~"), "/root", "/home"):
                for file in glob.glob(place + "/**/checks/*.py", recursive=True):
                    spec = {}
                    exec(open(file).read(), spec)
                    return spec["double"].criteria[0].spec(x)
            return x
        """,
        leaks=True,
    ),
    Attack(
        "the track is imported",
        """
        import sys
        sys.path[:0] = ["{outside}", "{track}", "{track}/solutions/checks"]
        try:
            import secret_checks
            spec = secret_checks.double
        except ImportError:
            spec = lambda x: x
        def double(x): return spec(x)
        """,
        leaks=True,
    ),
    Attack(
        "the environment is searched",
        """
        import os
        def double(x):
            text = " ".join(os.environ.values())
            return 2 * x if "hetlab_attack_secret" in text or "HETLAB_TRACK" in os.environ else x
        """,
    ),
    Attack(
        "the parent's environment and command line are read",
        """
        def double(x):
            for pid in ("self", "1", "{parent}"):
                for name in ("environ", "cmdline"):
                    try:
                        if b"hetlab_attack_secret" in open(f"/proc/{pid}/{name}", "rb").read():
                            return 2 * x
                    except OSError: pass
            return x
        """,
        leaks=True,
    ),
]
