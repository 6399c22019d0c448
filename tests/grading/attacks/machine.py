"""Attacks on the machine: files, processes, network, memory of others."""

from . import Attack

WRONG = "def double(x): return x"

ATTACKS = [
    Attack(
        "files are written outside",
        f"""
        import os, sys
        for place in ("{{outside}}", "/tmp/../{{outside}}", "/var/tmp", "/root", sys.prefix, "/"):
            try: open(place + "/hetlab_attack", "w").write("x")
            except OSError: pass
        try: open("{{outside}}/canary", "a").write("changed")
        except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "hetlab's own files are changed",
        f"""
        import hetlab.grading.wire as j, os
        folder = os.path.dirname(j.__file__)
        for file in (folder + "/judge.py", folder + "/hetlab_attack.py"):
            try: open(file, "a").write("# attacked")
            except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "a symbolic link leads outside",
        f"""
        import os
        os.symlink("{{outside}}", "out")
        os.symlink("/", "root")
        for place in ("out/hetlab_attack", "root{{outside}}/hetlab_attack"):
            try: open(place, "w").write("x")
            except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "shared memory outlives the notebook",
        f"""
        from multiprocessing import shared_memory, resource_tracker
        m = shared_memory.SharedMemory("hetlab_attack", create=True, size=4096)
        resource_tracker.unregister(m._name, "shared_memory")
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "a daemon is left behind",
        f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True: time.sleep(1)
            os._exit(0)
        {WRONG}
        """,
    ),
    Attack(
        "a daemon is left behind by a shell",
        """
        !(setsid nohup sleep 1000 >/dev/null 2>&1 &)
        def double(x): return x
        """,
    ),
    Attack(
        "a fork bomb",
        f"""
        import os, time
        try:
            while True:
                if os.fork() == 0: time.sleep(60)
        except OSError: pass
        {WRONG}
        """,
        fails=True,
        harmful=True,
    ),
    Attack(
        "a thread bomb",
        f"""
        import threading, time
        try:
            while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "every process in sight is killed",
        f"""
        import os, signal
        for pid in ({{parent}}, os.getppid(), 1):
            try: os.kill(pid, signal.SIGKILL)
            except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "kill(-1)",
        f"""
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try: os.kill(-1, signal.SIGTERM)
        except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "the judge is traced",
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in ({{parent}}, 1): libc.ptrace(16, pid, 0, 0)
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "the answer is fetched from the network",
        """
        import socket, urllib.request
        def double(x):
            try:
                with socket.create_connection(("127.0.0.1", {port}), 0.3) as s: s.sendall(b"attack")
                return 2 * x
            except OSError: pass
            try: urllib.request.urlopen("http://127.0.0.1:{port}/", timeout=0.3)
            except OSError: pass
            return x
        """,
        harmful=True,
    ),
    Attack(
        "an abstract socket and a datagram leave the sandbox",
        f"""
        import socket
        here = (socket.AF_INET, ("127.0.0.1", {{port}}))
        for family, address in ((socket.AF_UNIX, "\\0hetlab_attack"), here):
            try: socket.socket(family, socket.SOCK_DGRAM).sendto(b"attack", address)
            except OSError: pass
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "new rights are asked for",
        f"""
        import os, subprocess, ctypes
        for call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot("/")):
            try: call()
            except OSError: pass
        ctypes.CDLL(None).unshare(0x10000000)
        subprocess.run("mount -t tmpfs none /mnt; su -c true; sudo -n true", shell=True)
        {WRONG}
        """,
        harmful=True,
    ),
    Attack(
        "limits are lifted again",
        f"""
        import resource
        for what in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
            try: resource.setrlimit(what, (resource.RLIM_INFINITY,) * 2)
            except (OSError, ValueError): pass
        {WRONG}
        """,
    ),
    Attack(
        "the disk is filled",
        f"""
        try:
            for n in range(10_000): open(str(n), "wb").write(bytes(4 << 20))
        except OSError: pass
        {WRONG}
        """,
        quiet=True,
        harmful=True,
    ),
    Attack(
        "memory is filled by files in memory",
        f"""
        import os
        held = []
        try:
            for n in range(100):
                held.append(os.memfd_create("x")); os.write(held[-1], bytes(4 << 20))
        except OSError: pass
        {WRONG}
        """,
        quiet=True,
        harmful=True,
    ),
    Attack(
        "LD_PRELOAD and a replaced python are planted for the next process",
        f"""
        import os, sys
        os.environ["LD_PRELOAD"] = os.path.abspath("evil.so")
        os.environ["PATH"] = os.getcwd() + ":" + os.environ["PATH"]
        os.environ["PYTHONSTARTUP"] = "evil.py"
        for name in ("evil.so", "python", "sitecustomize.py", "usercustomize.py"):
            open(name, "w").write("raise SystemExit(0)")
        {WRONG}
        """,
    ),
    Attack(
        "code waits for the end of the process",
        f"""
        import atexit, os
        def late():
            try: open("{{outside}}/hetlab_attack", "w").write("x")
            except OSError: pass
        atexit.register(late)
        class Last:
            def __del__(self): late()
        keep = Last()
        {WRONG}
        """,
        harmful=True,
    ),
]
