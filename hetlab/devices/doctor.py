"""Everything about this machine that the course depends on, and what to do next."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from hetlab import __version__
from hetlab.devices.canary import Compiler, beside_driver, try_compilers
from hetlab.devices.canary_process import MODES
from hetlab.devices.device import DeviceList
from hetlab.devices.finding import find
from hetlab.devices.nvidia import driver
from hetlab.devices.sources import BROKEN, Sources, here

__all__ = ["Diagnosis", "Step", "diagnose"]

# Distribution -> (what it is for, the command that installs it).
_LIBRARIES = {
    "numpy": ("arrays", "pip install numpy"),
    "jupyterlab": ("notebooks", "pip install 'hetlab[lab]'"),
    "ipykernel": ("notebooks", "pip install 'hetlab[lab]'"),
    "matplotlib": ("figures", "pip install 'hetlab[lab]'"),
    "anywidget": ("figures that move", "pip install 'hetlab[lab]'"),
}
SCHEMA = 1  # of the JSON; a number that grows when a field changes its meaning


@dataclass(frozen=True)
class Step:
    """One thing to do; ``level`` is "problem" or "advice"."""

    level: str
    text: str


@dataclass(frozen=True)
class Diagnosis:
    """What `hetlab doctor` found.

    Attributes
    ----------
    machine : dict of str to str
        Operating system, processor architecture, Python, hetlab.
    devices : DeviceList
    compilers : list of Compiler
    libraries : dict
        Version by distribution; None when it is not installed.
    steps : list of Step
    """

    machine: dict[str, str]
    devices: DeviceList
    compilers: list[Compiler]
    libraries: dict[str, str | None]
    steps: list[Step]

    @property
    def healthy(self) -> bool:
        """True when nothing that the course needs is broken."""
        return not any(step.level == "problem" for step in self.steps)

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {
            "schema": SCHEMA,
            "healthy": self.healthy,
            "machine": self.machine,
            "devices": self.devices.to_dict(),
            "compilers": [c.to_dict() for c in self.compilers],
            "libraries": self.libraries,
            "steps": [asdict(step) for step in self.steps],
        }

    def __repr__(self) -> str:
        lines = [", ".join(self.machine.values()), "", repr(self.devices), "", "compilers"]
        lines += [f"  {c!r}" for c in self.compilers]
        lines += ["", "what to do next"]
        lines += [f"  {step.level}: {step.text}" for step in self.steps]
        return "\n".join(lines)


def diagnose(
    address: str | None = None,
    *,
    measure_disks: bool = False,
    sources: Sources | None = None,
) -> Diagnosis:
    """Look at the machine, try the compilers, and say what to do next.

    Parameters
    ----------
    address : str, optional
        A Dask scheduler, whose workers are listed too.
    measure_disks : bool
        Measure the disk's bandwidth too.
    sources : Sources, optional
        Where to look; this machine by default.
    """
    at = sources or here()
    with ThreadPoolExecutor(max_workers=1) as pool:
        tried = pool.submit(try_compilers, sources=at)  # these wait for processes of their own
        found = find(address, measure_disks=measure_disks, sources=at)
        try:
            loaded = driver(at)
        except BROKEN:  # it was told already, as the reason for an absent GPU
            loaded = None
        rows = [beside_driver(row, loaded) for row in tried.result()]
    libraries = {name: _version(name) for name in _LIBRARIES}
    return Diagnosis(_machine(at), found, rows, libraries, _steps(at, found, rows, libraries))


def _machine(at: Sources) -> dict[str, str]:
    release = platform.release() if at.real else ""
    system = f"{at.system or 'unknown system'} {release}".strip()
    if "microsoft" in (at.read("/proc/sys/kernel/osrelease") or "").lower():
        system += " (WSL)"
    elif at.exists("/.dockerenv") or at.exists("/run/.containerenv"):
        system += " (in a container)"
    return {
        "system": system,
        "architecture": at.machine or "unknown architecture",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "hetlab": f"hetlab {__version__}",
    }


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _steps(at: Sources, found: DeviceList, rows: list[Compiler], libraries: dict) -> list[Step]:
    problems = [row.says for row in rows if row.hurts]
    if not libraries["numpy"]:
        problems.append("NumPy is not installed. Install it with: pip install numpy")
    if not any(d.kind == "virtual gpu" for d in found):
        broken = [d for d in found.absent if d.kind == "virtual gpu" and "load" in d.why]
        problems += [f"{d.name}: {d.says}" for d in broken]
    advice = []
    absent: dict[str, list[str]] = {}
    for name, (purpose, command) in _LIBRARIES.items():
        if name != "numpy" and not libraries[name]:
            absent.setdefault(command, []).append(f"{name} ({purpose})")
    for command, names in absent.items():
        plural = "are" if len(names) > 1 else "is"
        advice.append(f"{', '.join(names)} {plural} not installed. Install with: {command}")
    advice += [f"{row.name}: {row.says}" for row in rows if row.state == "works" and row.do]
    advice += [f"{d.name}: {d.do}" for d in found if d.do]
    for name in MODES:
        if at.environ.get(name, "0") not in {"", "0"}:
            advice.append(
                f"{name} is set, which puts a simulator in the compiler's place. Unset it."
            )
    if sys.maxsize < 2**32:
        advice.append("This Python is a 32-bit one. Install a 64-bit Python.")
    steps = [Step("problem", text) for text in problems]
    steps += [Step("advice", text) for text in advice]
    if not problems:
        steps.append(
            Step("advice", "Nothing the course needs is broken. Open the lessons with: hetlab lab")
        )
    return steps
