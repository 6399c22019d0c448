"""Colours that people with any colour vision can tell apart.

M. Okabe, K. Ito, "Color universal design", 2008.  Yellow is left out: it vanishes on white.  The
order keeps neighbours apart in lightness; shapes repeat what colours say.
"""

from __future__ import annotations

import functools

__all__ = ["COLOURS", "FAINT", "INK", "MARKERS", "fonts"]

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE = "#56B4E9", "#CC79A7"

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, FAINT = "#222222", "#8a8a8a"

_CHINESE = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei")
_CHINESE += ("Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans GB", "Arial Unicode MS")


@functools.cache
def fonts() -> list[str]:
    """Families for Matplotlib: its own, then one with Chinese characters where one is installed."""
    from matplotlib.font_manager import get_font_names

    installed = set(get_font_names())
    return ["DejaVu Sans", *[name for name in _CHINESE if name in installed][:1]]
