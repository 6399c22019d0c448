"""Workers of a Dask cluster."""

from types import SimpleNamespace

import pytest

from hetlab.devices.workers import dask_workers

from .machines import EPYC, importer, make, raises


def ask(tmp_path, library, address="tcp://127.0.0.1:1"):
    return dask_workers(make(tmp_path, EPYC, importer=importer({"distributed": library})), address)


def scheduler(identity):
    """A distributed whose scheduler answers that."""

    class Rpc:
        def __init__(self, address, timeout):
            pass

        async def identity(self):
            return identity()

        async def close_rpc(self):
            pass

    return SimpleNamespace(core=SimpleNamespace(rpc=Rpc))


def test_without_an_address_it_says_how_to_give_one(tmp_path):
    (absent,) = ask(tmp_path, ModuleNotFoundError("x"), None)
    assert "--dask" in absent.do


@pytest.mark.parametrize(
    ("library", "why", "do"),
    [
        (ModuleNotFoundError("x"), "not installed", "hetlab[cluster]"),
        (AttributeError("no such thing"), "does not load", "force-reinstall"),
        (scheduler(raises(OSError("refused"))), "No scheduler answered", "dask scheduler"),
        (scheduler(lambda: {"workers": {}}), "no worker has joined", "dask worker tcp://127"),
        (scheduler(raises(TypeError("other protocol"))), "not be understood", "same release"),
    ],
)
def test_each_absence_has_a_reason_and_a_next_step(tmp_path, library, why, do):
    (absent,) = ask(tmp_path, library)
    assert why in absent.why
    assert do in absent.do


def test_a_real_cluster_lists_its_workers_with_their_resources():
    distributed = pytest.importorskip("distributed")
    from hetlab.devices.sources import here

    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=None,
        resources={"GPU": 1},
    ) as cluster:
        found = dask_workers(here(), cluster.scheduler_address)
        assert [d.facts["threads"] for d in found] == [1, 1]
        assert all(d.facts["resources"] == {"GPU": 1} for d in found)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "", "127.0.0.1"])
def test_a_real_distributed_tells_a_wrong_address_in_one_line(address, capfd):
    pytest.importorskip("distributed")
    from hetlab.devices import workers
    from hetlab.devices.sources import here

    (absent,) = workers.dask_workers(here(), address)
    assert absent.why.count("\n") == 0
    assert "Traceback" not in "".join(capfd.readouterr())
