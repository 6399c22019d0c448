"""Where the time goes, and a benchmark to wreck: data, figures, and the browser."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import measurement
from test_in_browser import (  # noqa: F401  (fixtures)
    browser,
    luminance,
    open_page,
    picture,
    site,
)
from test_showing import notebook  # noqa: F401
from wrecks import wreck

from hetlab.errors import InvalidValue
from hetlab.timing import Calibration, Comparison, Measurement, machine
from hetlab.timing.clock import Clock
from hetlab.widgets import Shown
from hetlab.widgets.showing_timing import show_time, wreck_benchmark
from hetlab.widgets.time_parts import time_parts
from hetlab.widgets.wreck import FEW, NEW, OLD, ROUNDS, SWITCHES, WARM, measure_wreck, set_aside

DURATION = st.floats(1e-9, 10.0)


def taken(samples, first=0.5, compiled=0.4, loops=4, warmup=9):
    how = Calibration(loops, warmup, "hand", 1e-9)
    return Measurement("f", tuple(samples), 0.99, first, compiled, how, machine(), "today")


@given(st.lists(DURATION, min_size=1, max_size=40), DURATION, DURATION, st.integers(1, 99))
def test_the_parts_of_the_time_add_up_to_what_was_spent(samples, first, compiled, loops):
    parts = time_parts(taken(samples, first, compiled, loops, warmup=11))
    ordered = sorted(samples)
    middle = (ordered[(len(samples) - 1) // 2] + ordered[len(samples) // 2]) / 2
    assert math.isclose(parts.total, first + 10 * middle + loops * sum(samples), rel_tol=1e-9)
    assert all(part.seconds > 0 for part in parts.parts)


def test_compilation_warm_up_runs_and_noise_are_told_apart():
    parts = time_parts(taken([1.0, 1.0, 4.0], first=0.5, compiled=0.4, loops=2, warmup=6))
    assert {p.name: pytest.approx(p.seconds) for p in parts.parts} == {
        "compiling": 0.4,
        "first call": 0.1,
        "warm-up": 5.0,
        "runs": 6.0,
        "noise": 6.0,
    }
    assert parts.once == 0  # the first call was quicker than the median: nothing was paid once


def test_a_function_that_never_compiles_has_no_such_part():
    assert "compiling" not in repr(time_parts(taken([0.1], first=0.1, compiled=0.0)))


def test_the_first_call_is_weighed_against_later_ones():
    parts = time_parts(taken([0.001] * 9, first=0.5005, compiled=0.4))
    assert parts.even == 500
    assert parts.program(1000) == pytest.approx((0.4995, 1.0))
    assert "as much as 500 calls" in repr(parts)


def test_only_a_measurement_can_be_taken_apart():
    with pytest.raises(InvalidValue, match="one Measurement"):
        show_time([1.0, 2.0])


def test_an_untouched_wreck_says_what_compare_would_say():
    told = wreck().conclude()
    how = Calibration(1, 1, "hand", 1e-9)
    rows = {
        name: Measurement(name, samples, 0.99, 1.0, 0.0, how, machine(), "today")
        for name, samples in told.samples.items()
    }
    oracle = Comparison(rows, OLD, "", 0).speedup(NEW)
    assert told.ratio.value == pytest.approx(oracle.value)
    assert (told.ratio.low, told.ratio.high) == pytest.approx((oracle.low, oracle.high))
    assert len(told.samples[OLD]) == ROUNDS


def test_each_switch_changes_which_samples_are_used_and_the_conclusion_turns():
    w = wreck()
    careful = w.conclude()
    assert 6 < careful.quick < 8
    first = w.conclude(no_warmup=True)
    assert first.samples[NEW][0] > 0.4  # the compilation is among them
    assert first.quick < 1 < first.ratio.value  # the mean falls for it, the median does not
    assert w.conclude(dropped=True).quick > 5 * careful.quick
    assert w.conclude(cold=True).samples[OLD] != careful.samples[OLD]
    few = w.conclude(few=True, start=7)
    assert few.samples[OLD] == w.series[False, False][OLD][WARM + 7 : WARM + 7 + FEW]
    assert "too few rounds" in few.ratio.verdict


def test_the_samples_set_aside_are_those_of_the_exact_rule():
    def tail(n, k):  # P(fewer than k heads in n fair tosses)
        return sum(math.comb(n, j) for j in range(k)) / 2**n

    for n in (FEW, 8, ROUNDS):
        k = set_aside(n)
        assert 2 * tail(n, k) <= 0.01 < 2 * tail(n, k + 1)


def test_the_benchmark_is_measured_with_the_clock_it_is_given():
    pytest.importorskip("numba")
    ticks = itertools.count()
    w = measure_wreck(clock=Clock("steps", lambda: next(ticks), 1e-3, 1e-3))
    assert set(w.series) == set(itertools.product((False, True), repeat=2))
    for one in w.series.values():
        assert {len(samples) for samples in one.values()} == {WARM + ROUNDS}
        assert {x for samples in one.values() for x in samples} == {1e-3}
    assert w.conclude().quick == 1


SHOWS = [
    (lambda: show_time(measurement()), "Where the time went: numba"),
    (lambda: wreck_benchmark(wreck()), "compiled against NumPy, measured"),
]


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_a_terminal_gets_text_and_a_figure(show, says):
    pytest.importorskip("matplotlib")
    shown = show()
    assert isinstance(shown, Shown)
    assert says in repr(shown)
    assert shown._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_a_notebook_gets_a_live_widget_that_carries_its_text(show, says, notebook):  # noqa: F811
    anywidget = pytest.importorskip("anywidget")
    widget = show()
    assert isinstance(widget, anywidget.AnyWidget)
    data, _ = widget._repr_mimebundle_()
    assert says in data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


def time_state():
    from hetlab.widgets.live_time import TimeWidget

    widget = TimeWidget(time_parts(taken([0.001] * 5 + [0.002] * 4, first=0.5, compiled=0.4)))
    return {"time": widget.time, "calls": widget.calls}


def wreck_state(**switches):
    from hetlab.widgets.live_wreck import WreckWidget

    return {
        "wreck": WreckWidget(wreck()).wreck,
        **dict.fromkeys(SWITCHES, False),
        "start": 0,
        **switches,
    }


@pytest.mark.browser
def test_the_slider_tells_how_much_of_a_program_is_paid_once(open_page):  # noqa: F811
    page = open_page("time_parts", time_state())
    answer, slider = page.locator("output"), page.get_by_role("slider")
    page.evaluate("change('calls', 500)")
    assert "Called 500 times: 999 ms, of it 50 % paid once" in answer.inner_text()
    slider.focus()
    page.keyboard.press("Home")
    assert page.evaluate("state.calls") == 1
    assert "Called 1 time: 500 ms, of it 100 % paid once" in answer.inner_text()
    assert slider.get_attribute("aria-valuetext") == "1 time"
    for calls in (2, 3, 4, 5, 7, 10, 15):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("state.calls") == calls
    page.keyboard.press("End")
    assert page.evaluate("state.calls") == 10_000_000
    rows = page.locator("table tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["compiling", "first", "warm-up", "runs", "noise"]
    page.evaluate("cleanup()")
    assert page.evaluate("heard['change:calls'].length") == 0


@pytest.mark.browser
@pytest.mark.parametrize(("script", "make"), [("time_parts", time_state), ("wreck", wreck_state)])
def test_jupyterlab_leaves_the_arrow_keys_to_the_controls(open_page, script, make):  # noqa: F811
    # Seen in JupyterLab 4: in command mode ArrowRight opens a heading unless the control says this.
    page = open_page(script, make())
    assert page.locator("input").count() > 0
    assert page.locator("input:not([data-lm-suppress-shortcuts])").count() == 0


@pytest.mark.browser
def test_the_browser_concludes_what_python_concludes_for_all_switches(open_page):  # noqa: F811
    page, w = open_page("wreck", wreck_state()), wreck()
    for values in itertools.product((False, True), repeat=4):
        switches = dict(zip(SWITCHES, values))
        for name, value in switches.items():
            page.evaluate(f"change('{name}', {str(value).lower()})")
        for start in (0, 11) if switches["few"] else (0,):
            page.evaluate(f"change('start', {start})")
            told = w.conclude(**switches, start=start)
            found = page.evaluate("({...document.querySelector('output').dataset})")
            assert float(found["quick"]) == pytest.approx(told.quick)
            assert float(found["value"]) == pytest.approx(told.ratio.value)
            if math.isfinite(told.ratio.high):
                ends = float(found["low"]), float(found["high"])
                assert ends == pytest.approx((told.ratio.low, told.ratio.high))
            else:
                assert found["low"] == found["high"] == ""
            assert told.claim.split("x ")[1] in page.locator(".says").inner_text()
            count = 2 * (FEW if switches["few"] else ROUNDS)
            assert page.locator("circle").count() == count + 1  # and the ring of the careful one


@pytest.mark.browser
def test_the_switches_work_from_the_keyboard(open_page):  # noqa: F811
    page = open_page("wreck", wreck_state())
    assert page.locator(".says.true").count() == 1
    assert not page.get_by_role("slider").is_visible()
    page.get_by_label("no warm-up").focus()
    page.keyboard.press("Space")
    assert page.evaluate("[state.no_warmup, saved]") == [True, 1]
    assert "slower" in page.locator(".says.false").inner_text()
    page.get_by_label("too few runs").focus()
    page.keyboard.press("Space")
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("state.start") == 1
    assert "Nothing may be concluded" in page.locator("output").inner_text()
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")


LOOKS = [
    ("time_parts", time_state, {}),
    ("wreck", wreck_state, {}),
    ("wreck", wreck_state, {"no_warmup": True}),
    ("wreck", wreck_state, {"dropped": True, "cold": True, "few": True}),
]


@pytest.mark.browser
@pytest.mark.parametrize(("script", "make", "switches"), LOOKS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows(open_page, script, make, switches, scheme):  # noqa: F811
    page = open_page(script, make(**switches), scheme)
    picture(page, "-".join([script, *switches, scheme]))
    paper, *inks = (
        luminance(colour)
        for colour in page.evaluate(
            """() => { const root = document.querySelector('[class^=hetlab-]');
            return [getComputedStyle(root).backgroundColor, getComputedStyle(root).color,
              ...[...root.querySelectorAll('.tick, output p')].map((n) =>
                n.matches('.tick') ? getComputedStyle(n).fill : getComputedStyle(n).color)]; }"""
        )
    )
    assert (paper < 0.1) == (scheme == "dark")
    for ink in inks:
        high, low = max(paper, ink), min(paper, ink)
        assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2.2, level AA
    assert page.evaluate("document.documentElement.scrollWidth <= 600")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img] text')].filter((t) => {
          const b = t.getBoundingClientRect();
          const frame = t.closest('svg').getBoundingClientRect();
          return b.left < frame.left - 1 || b.right > frame.right + 1
            || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
        }).map((t) => t.textContent)"""
    )
    assert outside == []
