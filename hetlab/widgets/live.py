"""What all live widgets have in common: their script, their text, and a still picture.

A script is `common.js` followed by the widget's own file.  The still picture is what a page shows
that has no kernel and no JavaScript: an exported HTML page, a repository's web view of a notebook.
"""

from __future__ import annotations

import base64
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import anywidget

from hetlab.errors import MissingLibrary
from hetlab.widgets.showing import Shown

__all__ = ["Live", "script"]

_HERE = Path(__file__).parent


def script(name: str) -> str:
    """The JavaScript module of a widget.

    Parameters
    ----------
    name : str
        A file of this folder: ``"banks.js"``.
    """
    return "\n".join((_HERE / part).read_text(encoding="utf-8") for part in ("common.js", name))


class Live(anywidget.AnyWidget):
    """A widget that can also be a figure and a text.

    Attributes
    ----------
    figure_by : tuple of str
        Module of `hetlab.widgets` and name of the function that draws `shows` with Matplotlib.
    """

    figure_by: ClassVar[tuple[str, str]]

    @property
    def shows(self):
        """What the widget shows, as data: the controls where they stand."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """What the picture says now."""
        return repr(self.shows)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view; the text and a still picture for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        text, png = self.text, self._still()
        data = {**data, "text/plain": text}
        if png is not None:
            data["image/png"] = base64.b64encode(png).decode("ascii")
            metadata = {**metadata, "image/png": {"alt": text}}
        return data, metadata

    def _still(self) -> bytes | None:
        module, name = self.figure_by
        try:
            figure = getattr(import_module(f"hetlab.widgets.{module}"), name)(self.shows)
        except MissingLibrary:
            return None  # no Matplotlib: the text remains
        return Shown(self.text, figure)._repr_png_()
