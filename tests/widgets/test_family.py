"""The scripts of the widgets: one set of colours, text that stands out on them, nothing fetched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_in_browser import luminance

import hetlab.widgets
from hetlab.widgets import palette

FOLDER = Path(hetlab.widgets.__file__).parent
COMMON = (FOLDER / "common.js").read_text(encoding="utf-8")
SCRIPTS = sorted(FOLDER.glob("*.js"))
KNOWN = dict(re.findall(r'\b([A-Z]+) = "(#[0-9A-F]{6})"', COMMON))


def test_the_scripts_have_the_colours_of_the_figures():
    assert {name: getattr(palette, name) for name in KNOWN} == KNOWN
    assert set(KNOWN.values()) == set(palette.COLOURS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_names_no_other_server_and_no_colour_of_its_own(script):
    text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|\bimport\b.*\bfrom\b|@import|\bfetch\(", text)
    if script.name != "common.js":
        colours = set(re.findall(r"#[0-9A-Fa-f]{6}\b", text)) - {"#1a1a1a"}  # text on orange
        assert colours <= set(palette.COLOURS)


@pytest.mark.parametrize("name", KNOWN)
def test_text_stands_out_on_each_colour(name):
    # `inkOn` of common.js
    white, dark = re.search(r'colour === (\w+) \? "#fff" : "#111"', COMMON), "#111111"
    ink = "#ffffff" if name == white[1] else dark
    high, low = sorted(map(grey, (KNOWN[name], ink)), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2.2, level AA


def grey(colour: str) -> float:
    """Relative luminance from '#rrggbb'."""
    parts = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return luminance(f"rgb({parts})")
