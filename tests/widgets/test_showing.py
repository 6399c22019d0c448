"""Figures, texts and displays: what is shown where."""

import subprocess
import sys

import pytest
from samples import comparison, measurement, peaks, points

from hetlab.errors import InvalidValue
from hetlab.models import Roofline
from hetlab.timing import reveal
from hetlab.widgets import Shown, showing
from hetlab.widgets.roof import roof_of
from hetlab.widgets.spread import spread_of


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(showing, "in_notebook", lambda: True)


def hide(monkeypatch, *names):
    """As if these libraries were not installed."""
    for name in list(sys.modules):
        if name.split(".")[0] in names or name.startswith("hetlab.widgets.live_"):
            monkeypatch.delitem(sys.modules, name)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


SHOWS = [
    (lambda: showing.show_roofline(peaks(), points()), "ridge point"),
    (lambda: showing.show_distribution(comparison()), "no difference seen"),
    (lambda: showing.show_distribution(measurement("a"), measurement("b")), "Samples from"),
    (lambda: showing.show_sizes("matrix product"), "GPU: faster than the CPU from n = "),
]


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_a_terminal_gets_text_and_a_figure_that_can_be_saved(show, says):
    pytest.importorskip("matplotlib")
    shown = show()
    assert isinstance(shown, Shown)
    assert says in repr(shown)
    assert shown._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_a_notebook_gets_a_live_widget_that_carries_its_text(show, says, notebook):
    anywidget = pytest.importorskip("anywidget")
    widget = show()
    assert isinstance(widget, anywidget.AnyWidget)
    data, _ = widget._repr_mimebundle_()
    assert says in data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_without_anywidget_a_notebook_gets_the_figure(show, says, notebook, monkeypatch):
    pytest.importorskip("matplotlib")
    hide(monkeypatch, "anywidget")
    shown = show()
    assert shown.figure is not None
    assert says in repr(shown)


@pytest.mark.parametrize(("show", "says"), SHOWS)
def test_without_matplotlib_too_the_text_remains(show, says, notebook, monkeypatch):
    hide(monkeypatch, "anywidget", "matplotlib")
    shown = show()
    assert shown.figure is None
    assert shown._repr_png_() is None
    assert says in repr(shown)


def test_the_figure_holds_every_ceiling_and_point_where_they_belong():
    pytest.importorskip("matplotlib")
    from hetlab.widgets import roofline_figure

    (axes,) = roofline_figure(roof_of(peaks(), points())).axes
    dots = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in axes.lines
        if line.get_marker() not in {"None", ""}
    }
    assert dots == {(x, float(y)) for x, y in points().values()}
    texts = " ".join(t.get_text() for t in axes.texts)
    for ceiling in ("200 GFLOP/s", "50.0 GFLOP/s", "40.0 GB/s", "20.0 GB/s"):
        assert ceiling in texts


def test_the_figure_of_a_distribution_draws_all_samples_in_focus():
    pytest.importorskip("matplotlib")
    from hetlab.widgets import distribution_figure

    spread = spread_of(comparison())
    (axes,) = distribution_figure(spread).axes
    drawn = sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "o")
    samples = [s for m in spread.measurements for s in m.samples]
    assert drawn == sum(s <= spread.focus[1] for s in samples) == len(samples) - 2
    assert "2 slower" in " ".join(t.get_text() for t in axes.texts)


def test_a_point_is_told_its_share_and_what_binds_it():
    roof = roof_of(Roofline({"DRAM": 20e9, "L2": 80e9}, {"fp64": 100e9}), {"k": (0.5, 20e9)})
    assert roof.standing(roof.points[0]) == "50% of the 40.0 GFLOP/s attainable; bound by L2"
    above = roof_of(Roofline({"DRAM": 20e9}, {"fp64": 100e9}), {"k": (0.5, 20e9)})
    assert "came from a cache or the count is off" in above.standing(above.points[0])
    assert roof.source == "modelled"


def test_ceilings_that_are_no_peaks_are_called_lower_bounds():
    from dataclasses import replace

    plain = replace(peaks(), method="NumPy and BLAS")
    assert "lower bounds" in repr(roof_of(plain))
    assert "lower bounds" not in repr(roof_of(peaks()))


def test_precision_chooses_the_arithmetic_ceilings():
    assert roof_of(peaks(), {}, "fp32").peak == ("fp32, 4 threads", 400e9)
    with pytest.raises(InvalidValue, match="precision"):
        roof_of(peaks(), {}, "fp8")


@pytest.mark.parametrize(
    "bad", [3, (1,), (0, 1), (1, -1), (float("nan"), 1), ("a", "b"), None, (1, None)]
)
def test_a_point_without_a_place_is_refused_by_name(bad):
    with pytest.raises(InvalidValue, match=r"points\['mine'\]"):
        roof_of(peaks(), {"mine": bad})


@pytest.mark.parametrize("bad", [3, [], (), "x", [3], None])
def test_other_things_than_measurements_are_refused(bad):
    with pytest.raises(InvalidValue, match="a Measurement, a Comparison"):
        spread_of(bad)
    with pytest.raises(InvalidValue, match="peaks must be"):
        roof_of(bad)


def test_equal_samples_and_very_different_rows_can_be_drawn():
    pytest.importorskip("matplotlib")
    from hetlab.widgets import distribution_figure

    flat = measurement("flat", spread=0)
    for rows in ([flat], [flat, measurement("slow", level=5.0)], [measurement("few", n=2)]):
        spread = spread_of(rows)
        assert spread.focus[0] < spread.focus[1]
        assert sum(spread.bins(rows[0], spread.focus)) == len(rows[0].samples)
        distribution_figure(spread).draw_without_rendering()
    assert spread_of([flat, measurement("slow", level=5.0)]).logarithmic


def test_registered_displays_are_html_that_escapes_names():
    ipython = pytest.importorskip("IPython.core.interactiveshell")
    from hetlab.widgets.display import register

    shell = ipython.InteractiveShell()
    register(shell)
    shown = [measurement("<b>"), comparison(), peaks(), reveal("<i>", 3.0, "ms")]
    for value in shown:
        data, _ = shell.display_formatter.format(value)
        assert data["text/html"].startswith("<div>")
        assert "<b><b>" not in data["text/html"]
        assert "<i>" not in data["text/html"]
        assert data["text/plain"] == repr(value)
    assert "&lt;b&gt;" in shell.display_formatter.format(shown[0])[0]["text/html"]


def test_registering_loads_nothing():
    code = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "before = set(sys.modules)\nfrom hetlab.widgets.display import register\n"
        "register(InteractiveShell())\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "assert not new & {'numpy', 'matplotlib', 'anywidget', 'numba'}, new\n"
    )
    pytest.importorskip("IPython")
    subprocess.run([sys.executable, "-c", code], check=True)
