"""From a key to the picture: every control of every widget is pressed, and what is said of it."""

from __future__ import annotations

import json

import pytest

from hetlab.bench._gallery import GALLERY, notebook
from hetlab.bench._lab import chromium_path
from hetlab.bench.widgets import AIM, Delay, main


def test_the_95th_percentile_decides_whether_the_aim_is_met():
    calm = Delay("a", (0.02,) * 95 + (0.5,) * 4)
    late = Delay("b", (0.02,) * 94 + (0.5,) * 6)
    assert calm.quantile(0.5) == 0.02 and calm.quantile(1) == 0.5
    assert calm.quantile(0.95) <= AIM < late.quantile(0.95)
    assert "✔" in repr(calm) and "✘" in repr(late)


def test_the_gallery_holds_every_live_widget():
    from pathlib import Path

    import hetlab.widgets

    folder = Path(hetlab.widgets.__file__).parent
    scripts = {path.stem for path in folder.glob("*.js")} - {"common"}
    assert len(scripts) == len(list(folder.glob("live_*.py"))) == len(GALLERY)
    assert [cell.id for cell in notebook().cells[1:]] == list(GALLERY)


@pytest.mark.soak
@pytest.mark.browser
def test_a_run_gives_every_sample_with_its_machine(capsys):
    pytest.importorskip("playwright")
    if chromium_path() is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    assert main(["--keys", "4", "--only", "banks", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["unit"] == "s" and record["machine"]["cpu"]
    assert len(record["samples"]["banks"]) > 4
    assert all(0 < sample < 10 for sample in record["samples"]["banks"])
