"""JupyterLab as a learner meets it: a real server, a real kernel, a real browser."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOKEN = "course"
# Only visible cells are rendered otherwise, so a test could not read the others.
RENDER_ALL = {"windowingMode": "none"}


def chromium_path():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("HETLAB_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """Where pictures of the run are kept: ``HETLAB_SCREENSHOTS``, or a temporary folder."""
    named = os.environ.get("HETLAB_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """What `make lab` starts, in a home of its own: its address and the work folder."""
    pytest.importorskip("jupyterlab")
    home = tmp_path_factory.mktemp("home 家")
    settings = home / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps(RENDER_ALL))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    environment |= {
        "HOME": str(home),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "HETLAB_CACHE_DIR": str(home / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "hetlab", "lab", "--work", str(home / "work"), "--"]
    command += ["--no-browser", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    command += ["--LabApp.expose_app_in_browser=True"]  # a test can change the theme
    log = (home / "log").open("w+")
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api/status?token={TOKEN}", server, home / "log")
        yield address, home / "work"
    finally:
        # The whole group: a server that is told to stop waits for its kernels.
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(30)


def _wait_for(url, server, log):
    for _ in range(600):
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab does not answer: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")  # not longer: its event loop would stand in the way of others
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = chromium_path()
    if path is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        running = play.chromium.launch(executable_path=path, args=arguments)
        yield running
        running.close()


CONTEXT = "jupyterapp.shell.currentWidget?.context?.sessionContext"


class Desk:
    """A browser tab with one notebook of the course open."""

    def __init__(self, page, address: str, path: str) -> None:
        self.page = page
        page.goto(f"{address}/lab/tree/{path}?token={TOKEN}&reset")
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        # A notebook that is not read yet shows one empty cell.
        page.wait_for_selector(".jp-NotebookPanel .jp-MarkdownOutput h1", timeout=120_000)
        # A cell that is run before its kernel is known asks which one to take, and waits.
        page.wait_for_function(f"{CONTEXT}?.session?.kernel?.status === 'idle'", timeout=120_000)
        self.wait_idle()

    def wait_idle(self, seconds: float = 120) -> None:
        """Until the kernel has nothing to do."""
        panel = ".jp-NotebookPanel:not(.lm-mod-hidden)"
        idle = f"{panel} .jp-Notebook-ExecutionIndicator[data-status='idle']"
        self.page.wait_for_selector(idle, timeout=seconds * 1000, state="attached")

    def cell(self, text: str):
        """The first code cell that holds a text; the same cell when its text has changed."""
        cells = self.panel.locator(".jp-CodeCell")
        cells.filter(has_text=text).first.wait_for()
        sources = cells.locator(".jp-InputArea").all_inner_texts()
        return cells.nth(next(i for i, source in enumerate(sources) if text in source))

    def write(self, cell, source: str) -> None:
        """Put a text in the place of a cell's source."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(source)

    def run(self, cell, seconds: float = 120) -> str:
        """Run a cell, wait for its end, and give the text of its output."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+Enter")
        self.page.wait_for_timeout(150)
        self.wait_idle(seconds)
        cell.locator(".jp-InputPrompt", has_text="[*]").wait_for(
            state="detached", timeout=seconds * 1000
        )
        return cell.locator(".jp-OutputArea").inner_text()

    def run_all(self, seconds: float = 240) -> None:
        """Run all cells by the menu, as a learner does."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.page.wait_for_timeout(500)
        self.wait_idle(seconds)
        busy = self.panel.locator(".jp-InputPrompt", has_text="[*]")
        busy.first.wait_for(state="detached", timeout=seconds * 1000)

    def errors(self) -> list[str]:
        """Tracebacks in any output."""
        return self.panel.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'], "
            ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"
        ).all_inner_texts()


@pytest.fixture
def open_notebook(lab, browser, screenshots, request):
    """Opens a notebook of the work folder; keeps a picture of how the test left it."""
    address, _work = lab
    opened = []

    def open_(path, scheme="light"):
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
        page = context.new_page()
        opened.append((context, page))
        return Desk(page, address, path)

    yield open_
    for number, (context, page) in enumerate(opened):
        page.screenshot(path=screenshots / f"{request.node.name}-{number}.png")
        context.close()
