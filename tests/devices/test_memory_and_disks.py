"""Main memory and disks."""

import shutil

import pytest

from hetlab.devices import measure_disk
from hetlab.devices.device import Absent
from hetlab.devices.disks import disks
from hetlab.devices.memory import memory_device
from hetlab.devices.sources import here

from .machines import EPYC, importer, make


def test_memory_is_what_psutil_says():
    import psutil

    facts = memory_device(here()).facts
    assert facts["total_bytes"] == psutil.virtual_memory().total
    assert 0 < facts["available_bytes"] <= facts["total_bytes"]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"sys/fs/cgroup/memory.max": "1073741824"}, 2**30),
        ({"sys/fs/cgroup/memory.max": "max"}, None),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, None),
        (
            {
                "proc/self/cgroup": "4:cpu,memory:/job",
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "536870912",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824",
            },
            2**29,
        ),
    ],
)
def test_memory_that_a_container_grants(tmp_path, files, limit):
    memory = memory_device(make(tmp_path, EPYC | files))
    assert memory.facts["limit_bytes"] == limit
    assert ("a container grants" in memory.says) == (limit is not None)


def test_hidden_memory_is_absent_with_a_reason(tmp_path):
    absent = memory_device(make(tmp_path, {}))
    assert isinstance(absent, Absent) and "hidden here" in absent.why


def test_the_disk_below_the_tests_is_listed_with_its_size():
    found = [d for d in disks(here()) if not isinstance(d, Absent)]
    assert found
    for d in found:
        if d.facts["total_bytes"]:
            assert d.facts["total_bytes"] == shutil.disk_usage(d.facts["mount"]).total


MOUNTS = r"""
/dev/nvme0n1p2 / ext4 rw 0 0
/dev/nvme0n1p2 /var/lib/docker ext4 rw 0 0
/dev/sda1 /mnt/my\040disk xfs rw 0 0
proc /proc proc rw 0 0
tmpfs /run tmpfs rw 0 0
server:/home /home nfs4 rw 0 0
sshfs#host /mnt/far fuse.sshfs rw 0 0
broken
"""


def test_only_file_systems_that_keep_data_are_listed_once(tmp_path):
    files = {
        "proc/self/mounts": MOUNTS,
        "sys/class/block/sda1/queue/rotational": "1",
        "sys/class/block/nvme0n1p2/queue/rotational": "0",
    }
    found = {d.name: d for d in disks(make(tmp_path, files))}
    assert list(found) == ["/", "/home", "/mnt/far", "/mnt/my disk"]
    assert "spinning disk" in found["/mnt/my disk"].says
    assert "solid state disk" in found["/"].says


def test_a_server_that_may_be_gone_is_not_asked(monkeypatch):
    """A dead NFS server would hold up everything."""
    from hetlab.devices import disks as module

    asked = []

    def usage(path):
        asked.append(path)
        raise OSError("not here")

    monkeypatch.setattr(shutil, "disk_usage", usage)
    mounts = [("server:/home", "/home", "nfs4"), ("x", "/far", "fuse.sshfs"), ("d", "/x", "xfs")]
    monkeypatch.setattr(module, "_mounts", lambda sources: mounts)
    home, far, local = disks(here())
    assert asked == ["/x"]
    assert "not asked" in home.says and "not asked" in far.says
    assert local.unread == {"space": "not here"}


def test_no_list_of_mounts_is_told(tmp_path):
    (absent,) = disks(make(tmp_path, {}))
    assert isinstance(absent, Absent)
    (absent,) = disks(make(tmp_path, {}, system="Windows", importer=importer({})))
    assert isinstance(absent, Absent)


def test_measured_bandwidth_has_unit_spread_and_label(tmp_path):
    speed = measure_disk(tmp_path, size=2**20)
    assert len(speed.writes) == len(speed.reads) == 3
    assert min(speed.writes) <= speed.write <= max(speed.writes)
    assert min(speed.reads) <= speed.read <= max(speed.reads)
    assert "B/s" in repr(speed) and "measured: 3 times 1 MiB" in repr(speed)
    assert list(tmp_path.iterdir()) == []


def test_the_speed_of_a_disk_is_measured_only_when_asked(monkeypatch):
    from hetlab.devices import disks as module

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "measure_disk", full)
    assert all(d.name != "Disk bandwidth" for d in disks(here()))
    (absent,) = [d for d in disks(here(), measure=True) if d.name == "Disk bandwidth"]
    assert "No space left" in absent.why
