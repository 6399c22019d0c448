"""bubblewrap: the command line of a sandbox, and why it fails where it does.

What the sandbox sees is a list of what is allowed: the interpreter, its libraries, the
system's libraries.  Everything else, the track above all, does not exist in it.
"""

from __future__ import annotations

import shutil
import site
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["HOME", "command", "remedy"]

#: The student's empty home.
HOME = "/tmp/home"

#: Parts of /etc that libraries read; none of them says who uses this machine.
_ETC = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
)


def command(
    program: list[str], *, drop_uid: bool, disk: int, shared: int, hidden: Iterable[Path] = ()
) -> list[str]:
    """The whole command line that runs `program` in a sandbox.

    Parameters
    ----------
    program : list of str
    drop_uid : bool
        Root starts it: no user namespace is made, and `program` gives its rights up itself.
        Root's own uid would lift the limit on processes even inside a user namespace.
    disk, shared : int
        Bytes that ``/tmp`` (with the home in it) and ``/dev/shm`` may hold.
    hidden : iterable of path
        Folders that stay invisible even inside of what is allowed.
    """
    found = [_bwrap(), "--die-with-parent", "--new-session"]
    found += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    found += ["--unshare-cgroup-try", "--hostname", "sandbox"]
    if drop_uid:
        found += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        found += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
        found += ["--disable-userns"] if "--disable-userns" in _help() else []
    made: set[Path] = set()
    for path in _visible():
        found += _folders(path.parent, made)
        if path.is_symlink() and path.parent == Path("/"):
            found += ["--symlink", str(path.readlink()), str(path)]
        else:
            found += ["--ro-bind", str(path), str(path)]
    for path in hidden:
        found += ["--tmpfs", str(path), "--remount-ro", str(path)]
    found += ["--proc", "/proc", "--dev", "/dev"]
    found += [*_tmpfs("/dev/shm", shared), "--remount-ro", "/dev"]
    found += [*_tmpfs("/tmp", disk), "--perms", "0777", "--dir", HOME, "--remount-ro", "/"]
    return [*found, "--chdir", HOME, "--", *program]


def _tmpfs(path: str, size: int) -> list[str]:
    limit = ["--size", str(size)] if "--size" in _help() else []  # since bubblewrap 0.7
    return [*limit, "--perms", "1777", "--tmpfs", path]


def _folders(folder: Path, made: set[Path]) -> list[str]:
    """Make a folder and those above it: those that bubblewrap makes are root's alone."""
    found = []
    for path in reversed([folder, *folder.parents]):
        if path != Path("/") and path not in made:
            made.add(path)
            found += ["--perms", "0755", "--dir", str(path)]
    return found


@cache
def _visible() -> tuple[Path, ...]:
    """What a sandbox sees of this machine, outer folders first."""
    places = [Path(p) for p in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")]
    places += [Path("/etc", name) for name in _ETC]
    places += [Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)]
    places += [Path(p).resolve() for p in (sys.prefix, sys.base_prefix)]
    places += [Path(sys.executable).resolve().parents[1]]
    places += [Path(p) for p in (*site.getsitepackages(), site.getusersitepackages())]
    # An editable install lies in a folder that may hold a track: only the package is shown.
    places.append(Path(__file__).resolve().parents[1])
    forbidden = {Path("/"), Path.home(), Path.home().parent}
    here = sorted({p for p in places if p.exists() and p not in forbidden})
    inside: list[Path] = []
    for path in here:
        if not any(path.is_relative_to(outer) for outer in inside):
            inside.append(path)
    return tuple(inside)


def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"


@cache
def _help() -> str:
    done = subprocess.run([_bwrap(), "--help"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def remedy(said: str) -> str:
    """What to do when bubblewrap said this instead of starting."""
    if shutil.which("bwrap") is None:
        return "Install it: sudo apt install bubblewrap (or dnf, pacman, zypper)."
    if _reads("/proc/sys/user/max_user_namespaces") == "0":
        return "Allow user namespaces: sudo sysctl -w user.max_user_namespaces=10000"
    if _in_container():
        return (
            "Containers forbid it by default. Start this one with: docker run --security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
            "systempaths=unconfined (Podman: --security-opt seccomp=unconfined --security-opt "
            "unmask=ALL)."
        )
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "Ubuntu 24.04 lets only named programs make user namespaces. Name bubblewrap: write "
            "'abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap "
            "flags=(unconfined) { userns, }' to /etc/apparmor.d/bwrap, then: sudo systemctl "
            "reload apparmor"
        )
    if _reads("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "Allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if "permission" in said.lower() or "not permitted" in said.lower():
        return "This machine's security settings forbid user namespaces: ask who looks after it."
    return "Try it by itself: bwrap --ro-bind / / --unshare-all true"


def _reads(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _in_container() -> bool:
    marks = ("/.dockerenv", "/run/.containerenv")
    return any(Path(p).exists() for p in marks)
