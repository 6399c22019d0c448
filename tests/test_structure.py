"""The house: imports run downwards, optional libraries stay inside functions, files stay short."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1] / "hetlab"

# From the ground up.  A package may import from the floors below its own, and from itself.
FLOORS = [
    {"errors", "units"},
    {"devices"},
    {"vgpu"},
    {"models", "timing"},
    {"sched", "widgets"},
    {"grading"},
    {"tracks"},
    {"batch"},
    {"bench", "cli", "magics"},
]
CORE = {"click", "nbformat", "numpy", "psutil", "rich"}
# Frameworks whose releases break callers: known by name in their adapters only.
ADAPTERS = {
    "cuda": ("vgpu/frontends/", "vgpu/resources.py", "devices/"),
    "cupy": ("vgpu/frontends/", "devices/", "sched/executors/"),
    "dask": ("batch/cluster.py", "devices/", "sched/executors/"),
    "distributed": ("batch/cluster.py", "devices/", "sched/executors/"),
    "triton": ("vgpu/frontends/", "devices/"),
    "tvm": ("vgpu/frontends/", "devices/"),
}
# Modules whose classes or functions are made of an optional library: they may import it, and are
# themselves imported inside functions only.
MADE_OF = {
    "bench/_triton_kernels.py": {"triton"},
    "bench/_vgpu_kernels.py": {"numba"},
    "timing/ceilings_numba.py": {"numba"},
    "widgets/live.py": {"anywidget"},
    "widgets/live_access.py": {"traitlets"},
    "widgets/live_banks.py": {"traitlets"},
    "widgets/live_distribution.py": {"traitlets"},
    "widgets/live_lockstep.py": {"traitlets"},
    "widgets/live_occupancy.py": {"traitlets"},
    "widgets/live_roofline.py": {"traitlets"},
    "widgets/live_schedule.py": {"traitlets"},
    "widgets/live_sizes.py": {"traitlets"},
    "widgets/live_steps.py": {"traitlets"},
    "widgets/live_streams.py": {"traitlets"},
    "widgets/live_time.py": {"traitlets"},
    "widgets/live_warps.py": {"traitlets"},
    "widgets/live_wreck.py": {"traitlets"},
}
# A peer in a benchmark is what it is compared with; its name is the point.
BENCH = "bench/"

MODULES = sorted(p for p in HOUSE.rglob("*.py") if "templates" not in p.parts)


def floor_of(package: str) -> int:
    return next(i for i, floor in enumerate(FLOORS) if package in floor)


def imports(path: Path, *, top_level: bool = False):
    """Absolute dotted names that a module imports; relative ones are resolved."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ["hetlab", *path.relative_to(HOUSE).parts[:-1]]
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, node.module] if node.module else base)
            yield stem, node.lineno
            if stem == "hetlab":  # from .. import timing
                yield from ((f"hetlab.{alias.name}", node.lineno) for alias in node.names)


def test_every_package_has_a_floor():
    here = {p.stem if p.is_file() else p.name for p in HOUSE.iterdir()}
    rooms = here - {"__init__", "__pycache__", "__main__", "py"}
    assert rooms <= set().union(*FLOORS)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_imports_run_downwards(path):
    room = path.relative_to(HOUSE).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):
        return
    for name, line in imports(path):
        parts = name.split(".")
        if parts[0] != "hetlab" or len(parts) < 2 or parts[1] in (room, "__version__"):
            continue
        if parts[1] not in set().union(*FLOORS):
            continue  # a public name of hetlab itself
        assert floor_of(parts[1]) < floor_of(room), f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_a_module_needs_only_the_small_core_to_be_imported(path):
    allowed = CORE | MADE_OF.get(path.relative_to(HOUSE).as_posix(), set())
    for name, line in imports(path, top_level=True):
        root = name.split(".")[0]
        known = root in allowed or root == "hetlab" or root in sys.stdlib_module_names
        module = name.replace(".", "/").removeprefix("hetlab/") + ".py"
        both = path.relative_to(HOUSE).as_posix() in MADE_OF  # one of them may build on another
        assert module not in MADE_OF or both, f"{path}:{line} imports {name} for everybody"
        assert known, f"{path}:{line} imports {name}: import it inside the function that needs it"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_a_framework_is_known_by_name_in_its_adapter_only(path):
    place = path.relative_to(HOUSE).as_posix()
    for name, line in imports(path):
        root = "cuda" if name.startswith("numba.cuda") else name.split(".")[0]
        if root in ADAPTERS and not place.startswith(BENCH):
            assert place.startswith(ADAPTERS[root]), f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_a_file_is_one_idea(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_import_hetlab_loads_no_library():
    code = (
        "import sys; before = set(sys.modules); import hetlab; "
        "print(' '.join({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "hetlab" in loaded
    assert not set(loaded) - {"hetlab"} - set(sys.stdlib_module_names)


def test_every_public_name_can_be_loaded():
    import hetlab

    for name in hetlab.__all__:
        assert getattr(hetlab, name) is not None
