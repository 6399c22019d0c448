"""Workers of a Dask cluster."""

from types import SimpleNamespace

import pytest

from hetlab.devices.workers import dask_workers

from .machines import EPYC, importer, make, raises


def ask(tmp_path, library, address="tcp://127.0.0.1:1"):
    return dask_workers(make(tmp_path, EPYC, importer=importer({"distributed": library})), address)


def test_without_an_address_it_says_how_to_give_one(tmp_path):
    (absent,) = ask(tmp_path, ModuleNotFoundError("x"), None)
    assert "--dask" in absent.do


@pytest.mark.parametrize(
    ("library", "why", "do"),
    [
        (ModuleNotFoundError("x"), "not installed", "hetlab[cluster]"),
        (AttributeError("no such thing"), "does not load", "force-reinstall"),
        (SimpleNamespace(Client=raises(OSError("refused"))), "No scheduler answered", "dask sched"),
        (
            SimpleNamespace(
                Client=lambda *a, **k: SimpleNamespace(
                    scheduler_info=lambda n_workers: {"workers": {}}, close=lambda: None
                )
            ),
            "no worker has joined",
            "dask worker tcp://127.0.0.1:1",
        ),
        (
            SimpleNamespace(
                Client=lambda *a, **k: SimpleNamespace(
                    scheduler_info=raises(TypeError("other protocol")), close=lambda: None
                )
            ),
            "did not tell its workers",
            "same release",
        ),
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
        dashboard_address=None,
        resources={"GPU": 1},
    ) as cluster:
        found = dask_workers(here(), cluster.scheduler_address)
        assert [d.facts["threads"] for d in found] == [1, 1]
        assert all(d.facts["resources"] == {"GPU": 1} for d in found)
