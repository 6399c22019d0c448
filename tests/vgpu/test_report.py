"""The report of a launch: hazards first, every number in its place, safe in a notebook."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from hetlab.vgpu.device import Options, Origin, Trace
from hetlab.vgpu.launch import COUNTERS, Hazard, RawLaunch
from hetlab.vgpu.report import Launch, Launches, rename

SOURCE = """\
__global__ void add(const float* a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= 0) out[i] = a[i];  // <b>not HTML</b>
}
"""

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p) { ret; }
"""

COUNTS = {
    "global_load_requests": 128,
    "global_load_sectors": 4096,
    "global_load_bytes": 128 * 128,
    "global_store_requests": 128,
    "global_store_sectors": 512,
    "global_store_bytes": 128 * 128,
    "shared_load_requests": 10,
    "shared_load_wavefronts": 320,
    "shared_bank_conflicts": 310,
    "instructions": 1000,
    "thread_instructions": 24_000,
    "branches": 128,
    "divergent_branches": 4,
    "barriers": 32,
}


def hazard(**changed) -> Hazard:
    basic = {
        "kind": "out-of-bounds",
        "array": "a",
        "index": 4096,
        "threads": [{"block": [16, 0, 0], "thread": [0, 0, 0]}],
        "lines": [("add.cu", 3)],
        "space": "global",
        "message": "a[4096] is past the end of a (4096 elements)",
        "count": 7,
    }
    return Hazard(**{**basic, **changed})


def launch(hazards=(), warnings=(), names=None, options=None, **raw) -> Launch:
    counters = dict.fromkeys(COUNTERS, 0) | COUNTS
    lines = {
        ("add.cu", 2): {"instructions": 500, "thread_instructions": 16_000},
        ("add.cu", 3): {k: v for k, v in COUNTS.items() if k != "instructions"}
        | {"instructions": 500},
    }
    made = {
        "counters": counters,
        "lines": lines,
        "hazards": list(hazards),
        "warnings": list(warnings),
        "seconds": 0.01,
        "printf": [],
        "blocks": 16,
        "blocks_run": 16,
        "sites": [],
    }
    origin = Origin(
        "add", "CUDA C++", PTX, "add", sources={"add.cu": SOURCE}, home=("add.cu", 1, 4),
        names=names,
    )  # fmt: skip
    return Launch(
        Trace(
            origin, (16, 1, 1), (256, 1, 1), 0, 0, RawLaunch(**(made | raw)), options or Options()
        )
    )


class Checker(HTMLParser):
    """Every element that opens must close, in order."""

    VOID = ("br", "img", "line", "rect", "hr", "meta")

    def __init__(self) -> None:
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def html_text(html: str) -> str:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open
    return " ".join(checker.text)


def test_the_text_has_the_hazard_before_the_counters_and_the_hot_line():
    text = repr(launch([hazard()]))
    assert text.index("a[4096] is past the end") < text.index("128 requests")
    assert "hazards: 1 found" in text and "(7 times)" in text
    assert "! 3" in text.replace("!    3", "! 3"), text
    assert "32.00 a request" in text and "4.00 a request" in text
    assert "24.0 of 32 lanes active" in text
    assert "out[i] = a[i]" in text


def test_a_clean_launch_says_so_and_marks_the_hot_line():
    text = repr(launch())
    assert "hazards: none found" in text
    assert any(row.startswith("> ") and "out[i]" in row for row in text.splitlines())
    assert launch().ok and not launch([hazard()]).ok


def test_warnings_do_not_make_a_launch_wrong():
    got = launch(warnings=[hazard(kind="wrapped-index", message="a[-1] wraps to the end")])
    assert got.ok and "wraps to the end" in repr(got) and "warnings: 1" in repr(got)


def test_what_was_not_looked_at_is_not_claimed():
    unchecked = launch(options=Options(count=True, hazards=False))
    assert "hazards: not looked for" in repr(unchecked)
    uncounted = launch(options=Options(count=False, hazards=True))
    assert "requests" not in repr(uncounted).split("\n\n")[0]
    sampled = launch(blocks_run=2)
    assert "sample of 2 of 16 blocks" in repr(sampled) and sampled.sampled


def test_the_html_is_well_formed_and_escapes_the_source():
    html = launch([hazard()], [hazard(kind="wrapped-index")])._repr_html_()
    text = html_text(html)
    assert "<b>not HTML</b>" not in html and "<b>not HTML</b>" in text
    assert "a[4096] is past the end" in text
    assert html.index("past the end") < html.index("128 requests")
    assert "--jp-ui-font-color1" in html and "#D55E00" in html
    assert "<script" not in html


def test_the_html_draws_the_requests_of_one_warp():
    sites = [
        {"line": ("add.cu", 3), "space": "global", "op": "load", "array": "a", "size": 4,
         "requests": 128, "transactions": 4096, "bytes": 1, "lanes": 32,
         "pattern": [128 * lane for lane in range(32)]},
        {"line": ("add.cu", 3), "space": "shared", "op": "load", "array": "tile", "size": 4,
         "requests": 10, "transactions": 320, "bytes": 1, "lanes": 32,
         "pattern": [128 * lane for lane in range(32)]},
    ]  # fmt: skip
    text = html_text(launch(sites=sites)._repr_html_())
    assert "32 lanes, 32 sectors" in text and "32 wavefronts" in text
    assert "line 3: a load of tile by one warp" in text


def test_json_holds_everything_and_survives_a_round_trip():
    data = json.loads(json.dumps(launch([hazard(index=(3, 4))]).to_json()))
    assert data["label"] == "counted" and data["occupancy"]["label"] == "modelled"
    assert data["counters"]["global_load_sectors"] == 4096
    assert data["hazards"][0]["index"] == [3, 4] and data["ok"] is False
    assert {row["line"] for row in data["lines"]} == {2, 3}


def test_symbols_become_the_learners_names():
    symbol = "_ZZ3addPKfPfiE4tile"
    found = hazard(kind="race", array=symbol, space="shared", message=f"{symbol}[3] is written")
    got = launch([found], names=lambda: {symbol: "tile"})
    assert got.hazards[0].array == "tile" and got.hazards[0].message == "tile[3] is written"


def test_the_estimate_of_a_sample_is_scaled_to_the_grid():
    pytest.importorskip("cuda.bindings.nvjitlink", reason="nvJitLink is not installed")
    whole, part = launch().estimate("A100"), launch(blocks_run=4).estimate("A100")
    assert part.bounds["memory"] == pytest.approx(4 * whole.bounds["memory"])
    assert "modelled" in str(whole)


def test_registers_and_occupancy_come_with_the_launch():
    pytest.importorskip("cuda.bindings.nvjitlink", reason="nvJitLink is not installed")
    got = launch()
    assert got.registers >= 1 and got.occupancy.blocks == 8
    assert "modelled" in str(got.occupancy)


def test_several_launches_add_up():
    both = Launches([launch(), launch([hazard()])])
    assert not both.ok and len(both.hazards) == 1
    assert both.counters["global_load_requests"] == 256
    assert repr(both).count("16 blocks of 256 threads") == 2
    html_text(both._repr_html_())


def test_longer_symbols_are_renamed_before_their_prefixes():
    names = {"_cudapy_smem_1": "a", "_cudapy_smem_12": "b"}
    assert rename("_cudapy_smem_12[0], _cudapy_smem_1[3]", names) == "b[0], a[3]"
