"""Energy, from counters that wrap, hide, refuse and break off."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.devices import Sources
from hetlab.errors import HetlabError, InvalidValue
from hetlab.timing.energy import Counter, EnergyMeter


def zone(root: Path, name: str, is_called: str, energy: int | None, largest: int = 2**32):
    folder = root / "sys/class/powercap" / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(is_called + "\n")
    (folder / "max_energy_range_uj").write_text(f"{largest}\n")
    if energy is not None:
        (folder / "energy_uj").write_text(f"{energy}\n")
    return folder / "energy_uj"


def missing(name):
    raise ModuleNotFoundError(name)


def at(root, importer=missing, **changes) -> Sources:
    nothing = SimpleNamespace(ok=False, stdout="", stderr="", failure="not found", status=None)
    settings = {"system": "Linux", "importer": importer, "runner": lambda *_: nothing}
    return Sources(root=root, **(settings | changes))


def test_packages_and_their_memory_are_added_and_their_parts_are_not(tmp_path):
    first = zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    second = zone(tmp_path, "intel-rapl:1", "package-1", 5_000_000)
    core = zone(tmp_path, "intel-rapl:0:0", "core", 10)
    dram = zone(tmp_path, "intel-rapl:0:1", "dram", 2_000_000)
    whole = zone(tmp_path, "intel-rapl:2", "psys", 10)
    with EnergyMeter("cpu", sources=at(tmp_path)) as meter:
        first.write_text("4000000")
        second.write_text("5500000")
        dram.write_text("3000000")
        core.write_text("99000000")
        whole.write_text("99000000")
    energy = meter.energy
    assert energy.joules == pytest.approx(3 + 0.5 + 1)
    assert energy.parts == pytest.approx(
        {"RAPL package-0": 3.0, "RAPL package-1": 0.5, "RAPL dram of package-0": 1.0}
    )
    assert energy.watts == pytest.approx(4.5 / energy.seconds)
    assert "4.50 J" in repr(energy) and "measured" in repr(energy)


def test_a_counter_that_wraps_is_read_on(tmp_path):
    file = zone(tmp_path, "intel-rapl:0", "package-0", 9_999_000, largest=9_999_999)
    with EnergyMeter("cpu", sources=at(tmp_path)) as meter:
        file.write_text("1000")
    assert meter.energy.joules == pytest.approx(2000e-6)


@given(
    largest=st.integers(10, 10**9),
    start=st.integers(0, 10**9),
    used=st.lists(st.integers(0, 10**9), max_size=20),
)
def test_any_number_of_wraps_is_counted_when_each_is_looked_at(largest, start, used):
    """The counter is a true sum taken modulo its size."""
    size = largest + 1
    true = start % size
    counter = Counter("c", lambda: true % size, 1.0, 1.0, largest)
    counter.start()
    steps = [step % size for step in used]
    for step in steps:
        true += step
        counter.look()
    assert counter.joules == sum(steps)


def test_a_long_block_is_looked_at_in_between(tmp_path, monkeypatch):
    """Two wraps in one block are only seen by a look between them."""
    from hetlab.timing import energy as module

    monkeypatch.setattr(module, "_LOOK_EVERY", 0.005)
    value, looked = [0], threading.Semaphore(0)

    def read():
        looked.release()
        return value[0]

    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    meter = EnergyMeter("cpu", sources=at(tmp_path))
    meter.counters = [Counter("c", read, 1.0, 1e-6, largest=99)]
    with meter:
        for after in (60, 20, 80, 40):  # 0 -> 60 -> 120 -> 180 -> 240
            value[0] = after
            while looked.acquire(blocking=False):
                pass
            assert looked.acquire(timeout=10) and looked.acquire(timeout=10)
    assert meter.energy.joules == 240


def test_a_counter_without_a_largest_value_never_goes_back():
    values = iter([5, 3])
    counter = Counter("c", lambda: next(values), 1.0, 1.0)
    counter.start()
    with pytest.raises(HetlabError, match="went back"):
        counter.look()


def test_a_short_block_says_how_long_it_should_be(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    with EnergyMeter("cpu", sources=at(tmp_path)) as meter:
        pass
    assert "at least 20.0 ms" in meter.energy.notes[0]


@pytest.mark.parametrize(
    ("build", "changes", "why"),
    [
        (lambda root: None, {}, "virtual machines and most containers"),
        (lambda root: zone(root, "intel-rapl:0", "package-0", None), {}, "only root may read"),
        (lambda root: zone(root, "intel-rapl:0", "psys", 3), {}, "no RAPL counter"),
        (lambda root: None, {"system": "Darwin"}, "Darwin offers no energy counter"),
    ],
)
def test_without_a_counter_the_energy_is_none_with_a_reason(tmp_path, build, changes, why):
    build(tmp_path)
    with EnergyMeter("cpu", sources=at(tmp_path, **changes)) as meter:
        pass
    assert meter.energy.joules is None and meter.energy.watts is None
    assert meter.energy.parts == {}
    assert why in meter.energy.why["cpu"]
    assert "energy: unknown" in repr(meter.energy)


def gpu(readings):
    left = iter(readings)

    def read(handle):
        value = next(left)
        if isinstance(value, Exception):
            raise value
        return value

    def absent(*_):
        raise RuntimeError("Function Not Found")

    return SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: 1,
        nvmlDeviceGetHandleByIndex=lambda n: n,
        nvmlDeviceGetName=lambda h: "NVIDIA H200",
        nvmlDeviceGetMemoryInfo=absent,
        nvmlDeviceGetCudaComputeCapability=absent,
        nvmlDeviceGetNumGpuCores=absent,
        nvmlDeviceGetMaxClockInfo=absent,
        nvmlDeviceGetMigMode=absent,
        nvmlSystemGetDriverVersion=lambda: "580.1",
        nvmlSystemGetCudaDriverVersion=lambda: 13000,
        nvmlDeviceGetTotalEnergyConsumption=read,
        NVML_CLOCK_SM=1,
    )


def test_a_gpu_is_read_in_millijoules_beside_the_processor(tmp_path):
    file = zone(tmp_path, "intel-rapl:0", "package-0", 0)
    library = gpu([100, 1_000, 251_000])  # asked once whether it answers
    with EnergyMeter(sources=at(tmp_path, lambda name: library)) as meter:
        file.write_text("2000000")
    assert meter.energy.parts == pytest.approx({"RAPL package-0": 2.0, "NVML NVIDIA H200 0": 250.0})
    assert meter.energy.joules == pytest.approx(252)
    assert meter.energy.why == {}


def test_a_gpu_that_does_not_count_energy_is_told(tmp_path):
    library = gpu([RuntimeError("Not Supported")])
    with EnergyMeter("gpu", sources=at(tmp_path, lambda name: library)) as meter:
        pass
    assert meter.energy.joules is None
    assert "Not Supported" in meter.energy.why["gpu"]


def test_a_gpu_lost_in_the_midst_gives_none_and_not_half_a_number(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    library = gpu([100, 200, RuntimeError("GPU is lost")])
    with EnergyMeter(sources=at(tmp_path, lambda name: library)) as meter:
        pass
    assert meter.energy.joules is None
    assert any("GPU is lost" in note for note in meter.energy.notes)


def test_an_error_in_the_block_passes_through_and_ends_the_watch(tmp_path):
    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    before = threading.active_count()
    meter = EnergyMeter("cpu", sources=at(tmp_path))
    with pytest.raises(ZeroDivisionError), meter:
        1 / 0  # noqa: B018
    assert meter.energy.joules == 0
    assert threading.active_count() == before


def test_this_machine_gives_a_number_or_a_reason():
    with EnergyMeter() as meter:
        sum(range(10**5))
    energy = meter.energy
    assert energy.seconds > 0
    assert (energy.joules is not None and energy.joules >= 0) or energy.why
    assert sys.version.split()[0] in repr(energy)


def test_an_unknown_kind_is_refused():
    with pytest.raises(InvalidValue, match="kind"):
        EnergyMeter("disk")
