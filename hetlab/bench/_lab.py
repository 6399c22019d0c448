"""A real JupyterLab with one notebook, and a browser that shows it, for measurements."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from hetlab.errors import HetlabError, optional

__all__ = ["chromium_path", "jupyterlab", "notebook_page"]

_TOKEN = "bench"
# A notebook that is run before its kernel is known asks which one to take, and waits.
_CONNECTED = (
    "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium_path() -> str | None:
    """Where Chromium lies: ``HETLAB_CHROMIUM``, or the first on the path."""
    return os.environ.get("HETLAB_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@contextlib.contextmanager
def jupyterlab(notebook) -> Iterator[str]:
    """Start JupyterLab in a folder of its own; gives the address of the notebook.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Raises
    ------
    MissingLibrary
        Without JupyterLab.
    HetlabError
        When it does not start.
    """
    optional("jupyterlab", "lab", "open a notebook")
    import nbformat

    with tempfile.TemporaryDirectory(prefix="hetlab-lab-") as folder:
        home = Path(folder)
        nbformat.write(notebook, home / "bench.ipynb")
        # Only visible cells are rendered otherwise.
        tracker = home / "settings" / "@jupyterlab" / "notebook-extension"
        tracker.mkdir(parents=True)
        (tracker / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}"]
        command += [f"--IdentityProvider.token={_TOKEN}", f"--ServerApp.root_dir={home}"]
        command += ["--LabApp.expose_app_in_browser=True"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")
        environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
        log = home / "log"
        with log.open("w") as told:
            server = subprocess.Popen(
                command, env=environment, stdout=told, stderr=told, start_new_session=True
            )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api/status?token={_TOKEN}", server, log)
            yield f"{address}/lab/tree/bench.ipynb?token={_TOKEN}&reset"
        finally:
            os.killpg(server.pid, signal.SIGKILL)  # with its kernels
            server.wait(30)


@contextlib.contextmanager
def notebook_page(address: str, ready: str) -> Iterator:
    """Open a notebook in Chromium and run it.

    Parameters
    ----------
    address : str
        From `jupyterlab`.
    ready : str
        A JavaScript expression that is true once everything is shown.

    Yields
    ------
    playwright.sync_api.Page

    Raises
    ------
    MissingLibrary
        Without Playwright.
    HetlabError
        Without Chromium.
    """
    optional("playwright", "test", "drive a browser")
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    if path is None:
        raise HetlabError(
            "Chromium is not installed",
            where="hetlab bench widgets",
            do="Debian: apt-get install chromium; or name it: HETLAB_CHROMIUM=/path/to/chromium",
        )
    with sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = play.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(180_000)
        page.goto(address)
        page.wait_for_selector(".jp-NotebookPanel .jp-MarkdownOutput h1")
        page.wait_for_function(_CONNECTED)
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_function(ready)
        page.wait_for_function(_CONNECTED)
        yield page
        browser.close()


def _wait_for(url: str, server, log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1):
            return
        time.sleep(0.2)
    raise HetlabError(
        f"JupyterLab does not answer: {log.read_text()[-1000:]}",
        where="hetlab bench widgets",
        do="Start it by hand and see: jupyter lab",
    )
