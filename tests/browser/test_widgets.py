"""The widgets in a real JupyterLab: seen, heard, moved by keys, alive after a restart."""

from __future__ import annotations

import json

import nbformat
import pytest

from hetlab.bench._gallery import GALLERY, notebook

from .conftest import Desk

# One worker runs them all: they share one JupyterLab.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("widgets in JupyterLab")]

PLAYS = ("warps", "schedule")  # those with a button that plays


class Page(Desk):
    """The notebook with every widget, run."""

    def __init__(self, page, address: str) -> None:
        self.asked: list[str] = []
        self.told: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.told.append(str(error)))
        super().__init__(page, address, "widgets.ipynb")
        self.command("notebook:run-all-cells")
        page.wait_for_function(
            "n => document.querySelectorAll('.jp-OutputArea .hetlab').length === n",
            arg=len(GALLERY),
            timeout=120_000,
        )
        self.wait_idle()

    def command(self, name: str, **values) -> None:
        """Run a command of JupyterLab, as its menus do, without waiting for its end."""
        self.page.evaluate(f"void jupyterapp.commands.execute('{name}', {json.dumps(values)})")

    def widget(self, name: str):
        return self.panel.locator(".jp-CodeCell").nth(list(GALLERY).index(name)).locator(".hetlab")

    def theme(self, name: str) -> None:
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        light = str(name == "Light").lower()
        there = f"body[data-jp-theme-light='{light}']"
        self.page.wait_for_selector(there, state="attached")
        self.page.wait_for_load_state("networkidle")  # the theme's own style sheet


@pytest.fixture(scope="module")
def shown(lab, browser):
    address, work = lab
    nbformat.write(notebook(), work / "widgets.ipynb")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Page(context.new_page(), address)
    context.close()


# The part of a widget that a person sees change: its pictures and its words.
SEEN = """w => [...w.querySelectorAll('svg[role], output, ul')].map(n =>
  n.innerHTML + n.getAttribute('aria-label')).join('')"""


def test_every_widget_has_a_picture_with_words_and_fetches_nothing(shown, screenshots):
    assert shown.errors() == [] and shown.told == []
    for name in GALLERY:
        widget = shown.widget(name)
        assert widget.count() == 1, name
        assert len(widget.get_attribute("aria-label")) > 10, name
        for picture in widget.locator("svg[role]").all():
            assert len(picture.get_attribute("aria-label")) > 20, name
            assert picture.bounding_box()["height"] > 20, name
        widget.screenshot(path=screenshots / f"widget-{name}.png")
    elsewhere = [u for u in shown.asked if u.startswith("http") and "//127.0.0.1:" not in u]
    assert elsewhere == []


@pytest.mark.parametrize("name", GALLERY)
def test_every_control_changes_what_is_seen_from_the_keyboard(shown, name):
    widget = shown.widget(name)
    controls = widget.locator("input:visible, select:visible").all()
    assert controls
    for control in controls:
        before = widget.evaluate(SEEN)
        control.focus()
        style = control.evaluate("n => getComputedStyle(n).outlineStyle")
        assert style == "solid", "the focus cannot be seen"
        kind = control.evaluate("n => n.type")
        keys = ["Space"] if kind == "checkbox" else ["ArrowDown", "ArrowUp"]
        for key in keys:
            shown.page.keyboard.press(key)
            if widget.evaluate(SEEN) != before:
                break
        else:
            pytest.fail(f"{name}: {control.evaluate('n => n.outerHTML')} changes nothing")
    if len(controls) > 1:
        controls[0].focus()
        for _ in range(len(controls) + 4):  # buttons may lie between
            shown.page.keyboard.press("Tab")
            if controls[-1].evaluate("n => n === document.activeElement"):
                break
        else:
            pytest.fail(f"{name}: Tab does not reach the last control")


@pytest.mark.parametrize("name", PLAYS)
def test_who_wants_no_motion_gets_the_end_in_one_step(shown, name):
    widget = shown.widget(name)
    shown.page.emulate_media(reduced_motion="reduce")
    widget.locator("button", has_text="play").click()
    assert widget.locator("button", has_text="pause").count() == 0
    cursor = widget.locator(".pick input[type=range]")
    assert cursor.evaluate("n => n.value === n.max")
    shown.page.emulate_media(reduced_motion="no-preference")
    widget.locator("button", has_text="play").click()
    assert widget.locator("output").get_attribute("aria-live") == "off"
    widget.locator("button", has_text="pause").click()
    assert widget.locator("output").get_attribute("aria-live") == "polite"


# Text of a picture on its paper, by the formula of WCAG 2.2; text on a filled shape has a colour
# of its own (`inkOn` of common.js).
CONTRASTS = """() => {
  const parse = (c) => [...c.match(/[0-9.]+/g).map(Number), 1].slice(0, 4);
  const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const on = ['[style]', '.lane', '.on', '.stored', '.thread'].map((s) => `:not(${s})`).join('');
  return [...document.querySelectorAll('.hetlab svg text' + on)].map((text) => {
    const root = text.closest('.hetlab'), paper = parse(getComputedStyle(root).backgroundColor);
    const ink = parse(getComputedStyle(text).fill);
    const mixed = [0, 1, 2].map((i) => ink[3] * ink[i] + (1 - ink[3]) * paper[i]);
    const two = [light(mixed), light(paper)].sort((x, y) => y - x);
    return [`${root.className}: ${text.textContent}`, (two[0] + 0.05) / (two[1] + 0.05)];
  });
}"""


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_axe_finds_nothing_serious_and_all_text_stands_out(shown, theme, screenshots):
    axe = pytest.importorskip("axe_playwright_python.base")
    page = shown.page
    shown.theme(theme)
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.AXE_SCRIPT)
    # Axe judges what can be seen: all of the notebook, in a body that has a height.
    page.set_viewport_size({"width": 1280, "height": 9000})
    page.evaluate("document.body.style.height = '100vh'")
    panel = "document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer')"
    page.wait_for_function(f"{panel}.clientHeight > 8000")
    page.evaluate(f"{panel}.scrollTop = 0")
    rules = {} if theme == "Dark" else {"runOnly": ["color-contrast"]}  # the rest has no colour
    found = page.evaluate("rules => axe.run({ include: [['.hetlab']] }, rules)", rules)
    judged = (*found["passes"], *found["violations"])
    looked_at = {rule["id"]: len(rule["nodes"]) for rule in judged}
    assert looked_at["color-contrast"] > 8 * len(GALLERY)
    serious = {
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    }
    assert serious == set()
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [text for text, contrast in contrasts if not contrast >= 4.5] == []
    page.screenshot(path=screenshots / f"widgets-{theme}.png")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_restart_leaves_a_working_page(shown):
    """What stands on the page still moves, and a cell that is run again is alive."""
    page = shown.page
    shown.command("kernelmenu:restart")
    page.get_by_role("dialog").locator(".jp-mod-accept").click()
    page.wait_for_timeout(300)
    shown.wait_idle()
    page.wait_for_function("!document.querySelector('.jp-Dialog')")
    widget = shown.widget("banks")
    _moves(page, widget)
    cell = shown.panel.locator(".jp-CodeCell").nth(list(GALLERY).index("banks"))
    widget.evaluate("n => { n.dataset.old = 1; }")
    shown.run(cell)
    page.wait_for_selector(".hetlab-banks:not([data-old])")
    _moves(page, shown.widget("banks"))
    assert shown.told == []


def _moves(page, widget) -> None:
    before = widget.evaluate(SEEN)
    widget.locator("input").first.focus()
    page.keyboard.press("ArrowLeft")
    assert widget.evaluate(SEEN) != before
