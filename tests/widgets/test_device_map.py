"""The map of the machine: what is drawn is what was found."""

import re
import xml.etree.ElementTree as ET

import pytest

import hetlab
from hetlab.devices import Absent, Device, DeviceList
from hetlab.widgets.device_map import WIDTH, devices_html, machine_map

SVG = "{http://www.w3.org/2000/svg}"


def cpu(cores=8, groups=2, **facts):
    l3 = {"level": 3, "kind": "unified", "bytes": 2**25, "instances": groups, "shared_by": 8}
    l1 = {"level": 1, "kind": "data", "bytes": 2**15, "instances": cores, "shared_by": 2}
    told = {"physical": cores, "caches": [l1, l3], "simd": "AVX2", "vector_bits": 256}
    return Device("cpu", "A <processor>", f"{cores} cores; more", told | facts)


MEMORY = Device(
    "memory", "8 GiB of main memory", "2 GiB available", {"total_bytes": 8, "available_bytes": 2}
)
GPU = Device("gpu", "NVIDIA H200", "132 multiprocessors", {"multiprocessors": 132})
GONE = Absent("gpu", "AMD GPU", "There is & never was one.", "Do nothing.")


def drawn(devices):
    return ET.fromstring(machine_map(devices))


def squares(svg, kind=None):
    """Rectangles that stand for a core or a multiprocessor: those with the smallest corner."""
    return [r for r in svg.iter(f"{SVG}rect") if r.get("rx") == "1"]


def texts(svg):
    return " ".join(t.text or "" for t in svg.iter(f"{SVG}text"))


@pytest.mark.parametrize(("cores", "groups"), [(1, 1), (8, 2), (96, 12), (7, 2), (192, 24)])
def test_there_is_one_square_a_core(cores, groups):
    svg = drawn(DeviceList([cpu(cores, groups), MEMORY]))
    assert len(squares(svg)) == cores
    labels = [t for t in svg.iter(f"{SVG}text") if t.text == "L3 32 MiB"]
    assert len(labels) == (groups if cores % groups == 0 else 1)


def test_there_is_one_square_a_multiprocessor_and_a_dashed_frame_for_what_is_not_here():
    svg = drawn(DeviceList([GPU, GONE]))
    assert len(squares(svg)) == 132
    dashed = [r for r in svg.iter(f"{SVG}rect") if r.get("stroke-dasharray")]
    assert len(dashed) == 1
    assert "There is & never was one." in texts(svg)


def test_the_memory_bar_is_as_long_as_what_is_in_use():
    svg = drawn(DeviceList([MEMORY]))
    whole, used = (float(r.get("width")) for r in svg.iter(f"{SVG}rect") if r.get("height") == "18")
    assert used / whole == pytest.approx(0.75)
    assert "75% in use" in texts(svg)


def test_nothing_is_drawn_outside_of_the_picture():
    many = [cpu(96, 12), MEMORY, *[GPU] * 8, GONE, GONE, GONE, GONE]
    svg = drawn(DeviceList(many))
    left, top, wide, high = map(float, svg.get("viewBox").split())
    assert wide == WIDTH

    def walk(node, x, y):
        move = re.match(r"translate\(([\d.]+) ([\d.]+)\)", node.get("transform", ""))
        if move:
            x, y = x + float(move[1]), y + float(move[2])
        if node.tag == f"{SVG}rect":
            x0, y0 = x + float(node.get("x", 0)), y + float(node.get("y", 0))
            assert left <= x0 and x0 + float(node.get("width")) <= wide
            assert top <= y0 and y0 + float(node.get("height")) <= high
        for child in node:
            walk(child, x, y)

    walk(svg, 0, 0)


def test_an_empty_list_and_a_list_without_facts_are_drawn_too():
    assert drawn(DeviceList([])) is not None
    assert "A <processor>" in texts(drawn(DeviceList([Device("cpu", "A <processor>", "")])))


def test_the_table_has_every_reason_and_next_step():
    text = devices_html(DeviceList([cpu(), GONE]))
    assert "There is &amp; never was one." in text and "Do nothing." in text
    assert "A &lt;processor&gt;" in text and "A <processor>" not in text


def test_this_machine_is_drawn_and_shown_by_the_notebook():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    from hetlab.widgets.display import register

    shell = InteractiveShell()
    register(shell)
    data, _ = shell.display_formatter.format(hetlab.devices())
    assert "<svg" in data["text/html"] and "cpu" in data["text/plain"]
    ET.fromstring(re.search(r"<svg.*</svg>", data["text/html"], re.S).group())
