"""``hetlab bench widgets``: the time from a key to the changed picture, in a real JupyterLab.

The browser's own clock takes it: from the time stamp of the key's event to the moment after the
frame that shows the change.  So the frame that the screen waits for (16.7 ms at 60 Hz) is in it;
a screen's and a keyboard's own delay are not.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

import click

from hetlab.bench._gallery import GALLERY, notebook
from hetlab.bench._lab import jupyterlab, notebook_page
from hetlab.timing import machine

__all__ = ["Delay", "delays", "main"]

AIM = 0.1
"""Seconds within which a change seems to follow at once (J. Nielsen, "Usability Engineering",
1993, chapter 5)."""

# A keydown is seen first by this listener, so nothing that happens afterwards is left out.  Two
# messages after the frame's callback the frame has been handed to the compositor.
_WATCH = """() => {
  window.hetlabDelays = [];
  addEventListener('keydown', (event) => {
    const began = event.timeStamp;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => hetlabDelays.push(performance.now() - began);
      channel.port2.postMessage(0);
    });
  }, { capture: true });
}"""
_SEEN = """w => [...w.querySelectorAll('svg[role], output, ul')].map(n =>
  n.innerHTML + n.getAttribute('aria-label')).join('')"""


@dataclass(frozen=True)
class Delay:
    """From key to picture, of one widget.

    Attributes
    ----------
    name : str
        A key of the gallery.
    samples : tuple of float
        Seconds, of the keys that changed the picture.
    """

    name: str
    samples: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """The sample below which this share of them lies, in seconds."""
        ordered = sorted(self.samples)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def __repr__(self) -> str:
        median, late, most = (1e3 * self.quantile(q) for q in (0.5, 0.95, 1))
        verdict = "✔" if self.quantile(0.95) <= AIM else "✘"
        return (
            f"{self.name:<13} {median:6.1f} {late:8.1f} {verdict} {most:7.1f} "
            f"{len(self.samples):6d}"
        )


def delays(keys: int = 40, names: Sequence[str] = tuple(GALLERY)) -> tuple[list[Delay], str]:
    """Press keys on every control of every widget.

    Parameters
    ----------
    keys : int
        Keys for each control.
    names : sequence of str
        Which widgets.

    Returns
    -------
    delays : list of Delay
    browser : str
        Its name and version.
    """
    ready = f"document.querySelectorAll('.jp-OutputArea .hetlab').length === {len(GALLERY)}"
    with jupyterlab(notebook()) as address, notebook_page(address, ready) as page:
        page.evaluate(_WATCH)
        cells = page.locator(".jp-CodeCell")
        found = [
            Delay(name, tuple(_press(page, cells.nth(i).locator(".hetlab"), keys)))
            for i, name in enumerate(GALLERY)
            if name in names
        ]
        return found, f"Chromium {page.context.browser.version}"


def _press(page, widget, keys: int) -> list[float]:
    """Seconds of every key that changed what is seen."""
    samples = []
    for control in widget.locator("input:visible, select:visible").all():
        control.focus()
        pair = ("Space", "Space")
        if control.evaluate("n => n.type") != "checkbox":
            pair = ("ArrowUp", "ArrowDown")  # to and fro: no end of a slider is in the way
        for k in range(keys):
            before = widget.evaluate(_SEEN)
            page.evaluate("hetlabDelays.length = 0")
            page.keyboard.press(pair[k % 2])
            page.wait_for_function("hetlabDelays.length > 0")
            if widget.evaluate(_SEEN) != before:
                samples.append(page.evaluate("hetlabDelays[0]") / 1e3)
    return samples


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print.

    Parameters
    ----------
    argv : sequence of str, optional
        ``--keys N`` for each control, ``--only NAME`` (repeatable), ``--json`` prints every sample.

    Returns
    -------
    int
        Exit status: 0.
    """
    parser = argparse.ArgumentParser(prog="hetlab bench widgets", description=__doc__)
    parser.add_argument("--keys", type=int, default=40, help="keys for each control (40)")
    parser.add_argument("--only", action="append", choices=list(GALLERY), help="one widget")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON")
    options = parser.parse_args(argv)
    found, browser = delays(options.keys, options.only or tuple(GALLERY))
    if options.json:
        record = {"machine": machine().to_dict(), "browser": browser, "unit": "s"}
        record["samples"] = {delay.name: list(delay.samples) for delay in found}
        click.echo(json.dumps(record, ensure_ascii=False))
        return 0
    click.echo("From a key to the changed picture in JupyterLab, ms, measured; aim: 95 % in 100 ms")
    click.echo(f"{'widget':<13} {'median':>6} {'95 %':>8}   {'longest':>7} {'keys':>6}")
    for delay in found:
        click.echo(repr(delay))
    click.echo(f"{browser}, without a screen; {machine().line}{_load()}")
    return 0


def _load() -> str:
    """How busy the machine was: a browser that waits for a core shows it in every figure."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f"; load {os.getloadavg()[0]:.1f} (last minute)"


if __name__ == "__main__":
    raise SystemExit(main())
