"""GPUs, present and absent: half-installed drivers, broken libraries, hidden files."""

from types import SimpleNamespace

import pytest

from hetlab.devices import find
from hetlab.devices.device import Absent
from hetlab.devices.nvidia import driver, nvidia_gpus
from hetlab.devices.other_gpus import amd_gpus, apple_gpus, intel_gpus
from hetlab.devices.ptx_versions import cuda_for, newest_ptx
from hetlab.devices.sources import Done

from .machines import EPYC, NvmlError, importer, make, nvml, raises, runner

CARD = {
    "sys/bus/pci/devices/0000:17:00.0/vendor": "0x10de",
    "sys/bus/pci/devices/0000:17:00.0/class": "0x030200",
}
LOADED = {"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module"}


def nvidia(tmp_path, files, library, **commands):
    at = make(
        tmp_path, EPYC | files, importer=importer({"pynvml": library}), runner=runner(commands)
    )
    return nvidia_gpus(at)


def test_a_gpu_is_read_as_its_data_sheet_has_it(tmp_path):
    (gpu,) = nvidia(tmp_path, LOADED, nvml())
    assert gpu.name == "NVIDIA H200"
    assert gpu.facts["multiprocessors"] == 132
    assert gpu.facts["chip"] == "H200"
    assert gpu.facts["compute_capability"] == "9.0"
    assert gpu.facts["clock_hz"] == 1980 * 10**6
    assert (gpu.facts["driver"], gpu.facts["cuda"]) == ("580.65.06", "13.0")
    assert "140.4 GiB" in gpu.says


def test_an_old_driver_that_lacks_a_question_still_gives_the_rest(tmp_path):
    """Older drivers answer "function not found"; older nvidia-ml-py gives bytes."""
    missing = NvmlError("Function Not Found")
    library = nvml(
        nvmlDeviceGetName=lambda h: b"Tesla T4",
        nvmlDeviceGetNumGpuCores=raises(missing),
        nvmlSystemGetCudaDriverVersion=raises(missing),
    )
    (gpu,) = nvidia(tmp_path, LOADED, library)
    assert gpu.name == "Tesla T4"
    assert gpu.facts["multiprocessors"] is None
    assert gpu.facts["cuda"] is None
    assert "Function Not Found" in gpu.unread["cores"]


def test_a_gpu_split_by_mig_says_what_to_set(tmp_path):
    (gpu,) = nvidia(tmp_path, LOADED, nvml(nvmlDeviceGetMigMode=lambda h: (1, 1)))
    assert "CUDA_VISIBLE_DEVICES" in gpu.do


@pytest.mark.parametrize(
    ("files", "library", "why", "do"),
    [
        ({}, ModuleNotFoundError("x"), "No NVIDIA driver is installed", "virtual GPU"),
        (CARD, ModuleNotFoundError("x"), "its driver is not loaded", "Install NVIDIA's driver"),
        (LOADED, ModuleNotFoundError("x"), "nvidia-ml-py", "pip install nvidia-ml-py"),
        (LOADED, RuntimeError("half a wheel"), "broken", "force-reinstall"),
        (LOADED, SystemExit(3), "broken", "force-reinstall"),
        (LOADED, SimpleNamespace(), "not NVIDIA's", "pip uninstall pynvml"),
        (
            LOADED,
            nvml(nvmlInit=raises(NvmlError("RM has detected an NVML/RM version mismatch."))),
            "different versions",
            "Restart",
        ),
        (LOADED, nvml(nvmlInit=raises(NvmlError("Driver Not Loaded"))), "not loaded", "Restart"),
        (
            LOADED,
            nvml(nvmlInit=raises(NvmlError("Insufficient Permissions"))),
            "may not ask",
            "administrator",
        ),
        (
            LOADED,
            nvml(nvmlInit=raises(NvmlError("NVML Shared Library Not Found"))),
            "half of it",
            "Install NVIDIA's driver",
        ),
        (
            {},
            nvml(nvmlInit=raises(NvmlError("NVML Shared Library Not Found"))),
            "No NVIDIA driver is installed",
            "virtual GPU",
        ),
        (LOADED, nvml(nvmlInit=raises(OSError("exotic"))), "does not answer", "nvidia-smi"),
        (
            LOADED,
            nvml(nvmlDeviceGetCount=raises(NvmlError("GPU is lost"))),
            "does not answer",
            "nvidia-smi",
        ),
        (LOADED, nvml(nvmlDeviceGetCount=lambda: 0), "shows no GPU", "--gpus all"),
    ],
)
def test_an_absent_gpu_has_a_reason_and_a_next_step(tmp_path, files, library, why, do):
    (absent,) = nvidia(tmp_path, files, library)
    assert isinstance(absent, Absent)
    assert why in absent.why
    assert do in absent.do
    assert absent.why.endswith(".")


def test_a_hidden_gpu_names_the_variable_that_hides_it(tmp_path):
    at = make(
        tmp_path,
        EPYC | LOADED,
        importer=importer({"pynvml": nvml(nvmlDeviceGetCount=lambda: 0)}),
        environ={"CUDA_VISIBLE_DEVICES": "7"},
    )
    (absent,) = nvidia_gpus(at)
    assert "'7'" in absent.do


def test_colab_opened_without_a_gpu_says_where_to_click(tmp_path):
    at = make(tmp_path, EPYC, environ={"COLAB_RELEASE_TAG": "release-colab"})
    (absent,) = nvidia_gpus(at)
    assert "Change runtime type" in absent.do and "virtual GPU" in absent.do


def test_the_virtual_gpu_is_present_when_it_loads_and_says_why_when_not(tmp_path, monkeypatch):
    from hetlab.devices import virtual

    here = {"hetlab.vgpu", "hetlab.vgpu.frontends.nvrtc"}
    monkeypatch.setattr(
        virtual.importlib.util, "find_spec", lambda name: name if name in here else None
    )
    at = make(tmp_path, EPYC, importer=importer({"hetlab.vgpu": SimpleNamespace()}))
    assert virtual.virtual_gpu(at).facts == {"status": "present", "languages": ["CUDA C++"]}
    at = make(tmp_path, EPYC, importer=importer({"hetlab.vgpu": SyntaxError("half written")}))
    assert "does not load: SyntaxError: half written" in virtual.virtual_gpu(at).why
    here.clear()
    assert "not built yet" in virtual.virtual_gpu(at).why


SMI = Done(0, "| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2 |\n")


def test_without_the_library_nvidia_smi_is_asked(tmp_path):
    def run(argv, timeout, environ):
        if len(argv) > 1:
            return Done(0, "Tesla T4, 15360, 535.104.05, 7.5\nTesla T4, [N/A], 535.104.05, 7.5\n")
        return SMI

    at = make(tmp_path, EPYC | LOADED, runner=run)
    first, second = nvidia_gpus(at)
    assert first.facts["memory_bytes"] == 15360 * 2**20
    assert second.facts["memory_bytes"] is None
    assert first.facts["cuda"] == "12.2"
    assert driver(at).cuda == (12, 2)


KFD = "sys/class/kfd/kfd/topology/nodes"
MI300X = {
    f"{KFD}/0/properties": "cpu_cores_count 96\nsimd_count 0\n",
    f"{KFD}/1/name": "ip discovery",
    f"{KFD}/1/properties": (
        "simd_count 1216\nsimd_per_cu 4\nwave_front_size 64\n"
        "gfx_target_version 90402\nmax_engine_clk_fcompute 2100\n"
    ),
    f"{KFD}/1/mem_banks/0/properties": "size_in_bytes 206141652992\n",
    "dev/kfd": "",
}


def test_an_amd_gpu_is_read_as_its_data_sheet_has_it(tmp_path):
    (gpu,) = amd_gpus(make(tmp_path, EPYC | MI300X))
    assert gpu.facts["compute_units"] == 304
    assert gpu.facts["wavefront"] == 64
    assert gpu.facts["target"] == "gfx942"
    assert gpu.facts["clock_hz"] == 2100 * 10**6
    assert "192.0 GiB" in gpu.says


def test_an_amd_card_without_its_driver_is_not_called_absent(tmp_path):
    card = {
        "sys/bus/pci/devices/0000:03:00.0/vendor": "0x1002",
        "sys/bus/pci/devices/0000:03:00.0/class": "0x030000",
    }
    (absent,) = amd_gpus(make(tmp_path, EPYC | card))
    assert "is in this machine" in absent.why
    assert "ROCm" in absent.do


def test_intel_and_apple_gpus_are_listed(tmp_path):
    card = {
        "sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086",
        "sys/bus/pci/devices/0000:00:02.0/class": "0x030000",
        "sys/bus/pci/devices/0000:00:02.0/device": "0x56a0",
    }
    (gpu,) = intel_gpus(make(tmp_path, EPYC | card))
    assert "0x56a0" in gpu.name
    told = '{"SPDisplaysDataType": [{"sppci_model": "Apple M2", "sppci_cores": "10"}]}'
    mac = make(
        tmp_path / "mac", {}, system="Darwin", runner=runner({"system_profiler": Done(0, told)})
    )
    (gpu,) = apple_gpus(mac)
    assert (gpu.name, gpu.facts["cores"]) == ("Apple M2", 10)
    bare = make(tmp_path / "bare", {}, system="Darwin")
    (absent,) = apple_gpus(bare)
    assert "could not be started" in absent.why


@pytest.mark.parametrize(
    ("cuda", "ptx"),
    [
        ((11, 0), (7, 0)),
        ((12, 4), (8, 4)),
        ((12, 6), (8, 5)),
        ((12, 9), (8, 8)),
        ((13, 0), (9, 0)),
        ((14, 2), (9, 5)),
        ((10, 2), None),
    ],
)
def test_newest_ptx_of_a_driver_by_nvidias_table(cuda, ptx):
    assert newest_ptx(cuda) == ptx


def test_the_first_release_that_reads_a_ptx_version():
    assert cuda_for((8, 6)) == (12, 7)
    assert cuda_for((9, 9)) is None
    for release in [(11, 3), (12, 2), (13, 4)]:
        assert cuda_for(newest_ptx(release)) == release


def test_no_probe_can_stop_the_others(tmp_path, monkeypatch):
    from hetlab.devices import finding

    for name in ("cpu_device", "memory_device", "disks", "nvidia_gpus", "amd_gpus"):
        monkeypatch.setattr(finding, name, lambda *a, **k: 1 / 0)
    found = find(sources=make(tmp_path, EPYC))
    failed = [d.name for d in found.absent if "ZeroDivisionError" in d.why]
    assert failed == ["Processor", "Main memory", "Disks", "NVIDIA GPU", "AMD GPU"]
    assert any(d.kind == "virtual gpu" for d in (*found.present, *found.absent))


def test_a_mac_is_asked_for_no_files(tmp_path):
    found = find(sources=make(tmp_path, {}, system="Darwin", machine="arm64"))
    text = repr(found)
    assert "macOS has no NVIDIA driver." in text
    assert "NEON vectors of 128 bits" in text
