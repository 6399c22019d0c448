"""Exported pages show a widget's picture, and fetch nothing for it.

nbconvert prefers the saved state of a widget, and the page that it writes then fetches a loader
from another server.  A widget of hetlab carries a still picture beside its state, and
`choose_pictures` leaves only that.  The course's Jupyter configuration (`nbconvert.json` in this
folder, installed as ``etc/jupyter/jupyter_nbconvert_config.json``) hands every HTML page to it.
"""

from __future__ import annotations

import html

__all__ = ["choose_pictures"]

_VIEW = "application/vnd.jupyter.widget-view+json"
_PICTURES = ("image/svg+xml", "image/png", "text/html")


def choose_pictures(notebook, resources: dict) -> tuple:
    """Drop the live view of each output that has a picture; a preprocessor for nbconvert.

    Widgets of other libraries, which have none, stay as they are.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Changed in place: nbconvert hands out a copy.
    resources : dict
        Handed through.

    Returns
    -------
    tuple
        The notebook and the resources.
    """
    left = False
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if _VIEW in data and any(kind in data for kind in _PICTURES):
                del data[_VIEW]
                _describe(output)
            left = left or _VIEW in data
    if not left:
        # The state of widgets that nobody shows is what makes the page fetch the loader.
        notebook.metadata.pop("widgets", None)
    return notebook, resources


def _describe(output) -> None:
    """Give the picture its words: nbconvert's own template leaves them out."""
    words = output.metadata.get("image/png", {}).get("alt")
    if words and "image/png" in output.data:
        source = f"data:image/png;base64,{output.data.pop('image/png').strip()}"
        output.data["text/html"] = f'<img alt="{html.escape(words)}" src="{source}">'
