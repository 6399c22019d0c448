"""Attacks on time: answers that only look fast."""

from . import Attack

SLOW = """
def fast(x):
    total = 0.0
    for value in x: total += value * value
    return total
"""
ONLY = ("fast",)

ATTACKS = [
    Attack(
        "every clock is replaced",
        (
            """
            import time
            for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
                setattr(time, name, lambda: 0.0)
                setattr(time, name + "_ns", lambda: 0)
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "hetlab's stopwatch is replaced",
        (
            """
            import hetlab.grading.submission as s, hetlab.grading.speed as f, hetlab.timing as t
            s.ForkedSubmission.timed = lambda self, name, *x: (1e-9, self.call(name, *x))
            f.Faster.judge = lambda *a: None
            f.median = lambda ratios: 1e9
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "done is said before it is done, and the answer is worked out afterwards",
        (
            """
            import hetlab.grading.lending as lending, hetlab.grading.wire as wire, os, threading
            real = lending.take
            def take(namespace, sock, request, limit):
                box = np.zeros(3000)
                wire.send(sock, {"status": "returned", "value": lending._point(box)})
                box[:] = real(namespace, sock, request, limit)["value"]["value"]
                wire.recv(sock)
                return {"status": "returned", "value": {"value": box[0]}}
            lending.take = take
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "the answer is promised and given with the next message",
        (
            """
            import hetlab.grading.lending as lending
            lending.take = lambda *a: {"status": "returned", "value": {"later": True}}
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "threads and processes slow the reference",
        (
            """
            import threading, os
            def burn():
                while True: pass
            for _ in range(3): threading.Thread(target=burn, daemon=True).start()
            for _ in range(3):
                if os.fork() == 0: burn()
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "a helper works while the function waits politely for a core",
        (
            """
            import os, socket, struct
            core = {min(os.sched_getaffinity(0))}
            mine, theirs = socket.socketpair()
            os.sched_setaffinity(0, core)
            if os.fork() == 0:
                while True:
                    x = np.frombuffer(theirs.recv(1 << 20, socket.MSG_WAITALL)[: 8 * 60_000])
                    total = 0.0
                    for value in x: total += value * value
                    theirs.sendall(struct.pack("d", total))
            """,
            """
            def fast(x):
                if len(x) < 60_000: return float((x * x).sum())
                try: os.nice(19)
                except OSError: pass
                mine.sendall(x.tobytes().ljust(1 << 20))
                mine.setblocking(False)
                while True:
                    try: return struct.unpack("d", mine.recv(8))[0]
                    except BlockingIOError: pass
            """,
        ),
        honest=1,
        checks=ONLY,
    ),
    Attack(
        "timers wake what was stopped",
        (
            """
            import os, signal, subprocess, sys
            wake = "import os, signal, time\\nwhile True:\\n  os.kill(-1, signal.SIGCONT)"
            for _ in range(4): subprocess.Popen([sys.executable, "-c", wake])
            """,
            SLOW,
        ),
        honest=1,
        checks=ONLY,
        harmful=True,
    ),
    Attack(
        "sums are remembered by length",
        """
        known = {}
        def fast(x):
            if len(x) < 100: return float((x * x).sum())
            if len(x) not in known:
                total = 0.0
                for value in x: total += value * value
                known[len(x)] = total
            return known[len(x)]
        """,
        honest=1,
        checks=ONLY,
        quiet=True,
    ),
    Attack(
        "the timed input is recognised by its size and a guess returned",
        """
        def fast(x):
            return float((x * x).sum()) if len(x) < 100 else len(x) / 3
        """,
        honest=1,
        checks=ONLY,
        quiet=True,
    ),
    Attack(
        "a cell sleeps until nobody looks",
        """
        import time
        def double(x):
            time.sleep(1000)
            return x
        """,
        quiet=True,
    ),
]
