"""The widgets' JavaScript in a real browser: drawing, keyboard, light and dark."""

import functools
import http.server
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from samples import comparison, peaks, points

import hetlab.widgets

pytest.importorskip("anywidget")
sync_api = pytest.importorskip("playwright.sync_api")

from hetlab.widgets.live import script  # noqa: E402  (needs anywidget)

pytestmark = pytest.mark.browser

# A front end as small as can be: anywidget's model interface over a plain object.
PAGE = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><body style="margin:10px"><div id="el"></div><script type="module">
import widget from "./WIDGET.js";
const state = STATE, heard = {};
window.state = state;
window.saved = 0;
window.change = (key, value) => {
  state[key] = value;
  (heard["change:" + key] ?? []).forEach((f) => f());
};
const model = {
  get: (key) => state[key],
  set: (key, value) => { if (state[key] !== value) window.change(key, value); },
  save_changes: () => { window.saved += 1; },
  on: (event, f) => { (heard[event] ??= []).push(f); },
  off: (event, f) => { heard[event] = (heard[event] ?? []).filter((g) => g !== f); },
};
window.heard = heard;
window.cleanup = widget.render({ model, el: document.getElementById("el") });
window.ready = true;
</script>"""


def chromium_path():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("HETLAB_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    path = chromium_path()
    if path is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as play:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        running = play.chromium.launch(executable_path=path, args=arguments)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the widgets' own files, served from 127.0.0.1."""
    folder = tmp_path_factory.mktemp("site")
    for file in Path(hetlab.widgets.__file__).parent.glob("*.js"):
        (folder / file.name).write_text(script(file.name), encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def open_page(browser, site, request):
    """Opens a page of 600 pixels with one widget; any error or console message fails the test."""
    folder, address = site
    contexts, errors = [], []

    def open_(name, state, scheme="light"):
        page_file = folder / f"{request.node.name.replace('[', '-').strip(']')}.html"
        text = PAGE.replace("WIDGET", name).replace("STATE", json.dumps(state))
        page_file.write_text(text, encoding="utf-8")
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": 600, "height": 700}, device_scale_factor=1
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text))
        page.goto(f"{address}/{page_file.name}")
        page.wait_for_function("window.ready === true")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


def roofline_state():
    from hetlab.widgets.live_roofline import RooflineWidget
    from hetlab.widgets.roof import roof_of

    widget = RooflineWidget(roof_of(peaks(), points()))
    return {"roof": widget.roof, "intensity": widget.intensity}


def distribution_state():
    from hetlab.widgets.live_distribution import DistributionWidget
    from hetlab.widgets.spread import spread_of

    widget = DistributionWidget(spread_of(comparison()))
    return {"spread": widget.spread, "show_all": False}


def sizes_state():
    from hetlab.widgets.live_sizes import SizesWidget
    from hetlab.widgets.sizes import sizes_of

    widget = SizesWidget(sizes_of("matrix product"))
    return {"sizes": widget.sizes, "stop": widget.stop, "host": widget.host}


def picture(page, name):
    """Keep a screenshot where HETLAB_SCREENSHOTS says, for people to look at."""
    folder = os.environ.get("HETLAB_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_the_slider_says_what_is_attainable_and_what_binds(open_page):
    page = open_page("roofline", roofline_state())
    slider = page.get_by_role("slider")
    answer = page.locator("output")
    page.evaluate("change('intensity', 0.5)")
    assert "At 0.5 FLOP/B at most 20 GFLOP/s are attainable (modelled): memory binds" in (
        answer.inner_text()
    )
    slider.focus()
    page.keyboard.press("End")
    assert "at most 200 GFLOP/s are attainable (modelled): arithmetic binds" in answer.inner_text()
    assert page.evaluate("saved") == 1
    page.keyboard.press("Home")
    assert "memory binds" in answer.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("state.intensity") == pytest.approx(
        roofline_state()["roof"]["limits"][0] * 10**0.01
    )
    assert "FLOP per byte" in slider.get_attribute("aria-valuetext")
    page.evaluate("cleanup()")
    assert page.evaluate("heard['change:intensity'].length") == 0


def test_every_point_is_on_the_picture_with_a_label_and_a_row(open_page):
    page = open_page("roofline", roofline_state())
    labels = page.locator("svg[role=img] text").all_text_contents()
    for name in points():
        assert name in labels
        assert page.locator("table").get_by_text(name, exact=False).count() == 1
    assert "Roofline of" in page.locator("svg[role=img]").get_attribute("aria-label")


def test_every_sample_is_a_dot_and_the_slow_ones_are_one_click_away(open_page):
    page = open_page("distribution", distribution_state())
    rows = comparison().measurements.values()
    beyond = page.get_by_text("slower →").count()
    assert beyond == 1
    total = sum(len(m.samples) for m in rows)
    assert page.locator("circle").count() == total - 2
    page.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    assert page.locator("circle").count() == total
    assert page.evaluate("state.show_all") is True
    assert page.get_by_text("numba, parallel: 2.3", exact=False).count() >= 1


def test_the_size_decides_who_has_the_star_and_so_does_the_place_of_the_data(open_page):
    page = open_page("sizes", sizes_state())
    slider, bars = page.get_by_role("slider"), page.locator("svg[role=img]")
    slider.focus()
    page.keyboard.press("End")
    assert "n = 81,920 rows" in slider.get_attribute("aria-valuetext")
    grid, times = sizes_state()["sizes"]["grid"], sizes_state()["sizes"]["times"]
    assert grid[-1] == 81920
    last = float(f"{times['host']['GPU'][-1]:.3g}")
    starred = bars.locator("text", has_text="★")
    assert starred.all_text_contents() == [f"★ {last:g} s"]
    assert page.get_by_text("GPU: faster than the CPU from n = 743 on").count() == 1
    page.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    assert page.evaluate("state.host") is False
    assert page.get_by_text("GPU: faster than the CPU from n = 743 on").count() == 0
    slider.focus()
    page.keyboard.press("Home")
    assert starred.all_text_contents() == ["★ 5 µs"]
    assert page.evaluate("saved") == 3
    page.evaluate("cleanup()")
    assert page.evaluate("heard['change:stop'].length + heard['change:host'].length") == 0


STATES = {
    "roofline": roofline_state,
    "distribution": distribution_state,
    "sizes": sizes_state,
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows_at_600_pixels(open_page, name, scheme):
    page = open_page(name, STATES[name](), scheme)
    picture(page, f"{name}-{scheme}")
    colours = page.evaluate(
        """() => { const root = document.querySelector('[class^=hetlab-]');
        const style = getComputedStyle(root);
        const text = getComputedStyle(root.querySelector('svg[role=img] text'));
        return [style.backgroundColor, style.color, text.fill]; }"""
    )
    paper, *inks = (luminance(c) for c in colours)
    assert (paper < 0.1) == (scheme == "dark")
    for ink in inks:
        high, low = max(paper, ink), min(paper, ink)
        assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2.2, level AA
    assert page.evaluate("document.documentElement.scrollWidth <= 600")
    outside = page.evaluate(
        """() => { const frame = document.querySelector('svg[role=img]').getBoundingClientRect();
        return [...document.querySelectorAll('svg[role=img] text')].filter((t) => {
          const b = t.getBoundingClientRect();
          return b.left < frame.left - 1 || b.right > frame.right + 1
            || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
        }).map((t) => t.textContent); }"""
    )
    assert outside == []


def luminance(colour: str) -> float:
    """Relative luminance of WCAG from 'rgb(r, g, b)'."""
    values = [float(v) / 255 for v in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear))


def test_jupyters_own_colours_win_over_the_systems(open_page):
    page = open_page("roofline", roofline_state(), "light")
    page.evaluate(
        "document.body.style.cssText = "
        "'--jp-layout-color1: rgb(17, 17, 17); --jp-ui-font-color1: rgb(240, 240, 240)'"
    )
    assert page.evaluate(
        "getComputedStyle(document.querySelector('.hetlab-roof')).backgroundColor"
    ) == ("rgb(17, 17, 17)")
