"""Pictures of lesson 01: what they show is right, and bad input gets a sentence."""

import pytest

from hetlab.errors import InvalidValue, UnknownName
from hetlab.models import amdahl, gustafson, modelled_devices, roles
from hetlab.widgets import figures_machine as figures
from hetlab.widgets.sizes import sizes_of

pytest.importorskip("matplotlib")


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def test_each_road_is_as_wide_as_its_bandwidth():
    from matplotlib.patches import Rectangle

    figure = figures.roads()
    patches = [p for p in figure.axes[0].patches if isinstance(p, Rectangle)]
    widths = sorted(min(p.get_width(), p.get_height()) for p in patches)
    known = modelled_devices()
    rates = [known["CPU"].bandwidth, known["GPU"].bandwidth, known["GPU"].link]
    rates = sorted(g.value for g in [*rates, known["DPU"].rates["network data"]])
    assert [w / widths[0] for w in widths] == pytest.approx([r / rates[0] for r in rates])
    assert "link: 32.0 GB/s" in texts(figure)


@pytest.mark.parametrize(("count", "stages"), [(4, 4), (1, 3), (5, 1)])
def test_a_chain_takes_all_cycles_and_independent_steps_overlap(count, stages):
    chain, free = (ax.get_title() for ax in figures.instructions(count, stages).axes)
    assert chain.endswith(f": {count * stages} cycles")
    assert free.endswith(f": {count + stages - 1} cycles")


def test_the_bars_carry_the_speedups_of_both_laws():
    shown = texts(figures.shares(0.2, (1, 4, 16)))
    assert [t for t in shown if t.endswith("x")] == [
        f"{law(0.2, p):.1f}x" for law in (amdahl, gustafson) for p in (1, 4, 16)
    ]


@pytest.mark.parametrize("serial", [0, 0.01, 0.99, 1])
def test_shares_at_the_ends_are_drawn_too(serial):
    assert figures.shares(serial).axes


def test_the_curves_are_the_models_and_the_rings_stand_where_they_cross():
    sizes = sizes_of("matrix product")
    (axes,) = figures.sizes_figure(sizes).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
    assert [list(line.get_ydata()) for line in lines] == list(sizes.times["host"].values())
    rings = [line for line in axes.lines if len(line.get_xdata()) == 1]
    for ring, name in zip(rings, ("GPU", "TPU"), strict=True):
        meets = sizes.meets["host"][name]
        below = max(n for n in sizes.grid if n < meets)
        assert below < meets <= ring.get_xdata()[0]


def test_a_device_that_cannot_is_left_out_and_one_that_never_wins_is_told():
    assert list(sizes_of("network data").times["host"]) == ["CPU", "DPU"]
    told = repr(sizes_of("stream"))
    assert "GPU: at no size faster than the CPU" in told
    assert "data in main memory" in told


def test_the_table_in_html_stars_the_best_and_keeps_reasons():
    text = figures.roles_html(roles(of="energy"))
    assert text.count("★") == 1 + 5  # the legend and five rows
    assert "unknown" in text
    assert "<b>FPGA</b>, GPU?" in text


def test_a_device_in_html_shows_every_number_and_escapes_what_it_is_told():
    device = modelled_devices()["TPU"]
    text = figures.device_html(device)
    for name in (*device.numbers, *device.cannot):
        assert f">{name}<" in text
    odd = type(device)("<b>", "<i>&", {}, device.bandwidth, device.start)
    assert "<i>&" not in figures.device_html(odd)
    assert "<b><b>" not in figures.device_html(odd)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: figures.instructions(0), InvalidValue),
        (lambda: figures.shares(1.5), InvalidValue),
        (lambda: figures.shares(0.1, [0]), InvalidValue),
        (lambda: sizes_of("matrix produkt"), UnknownName),
        (lambda: sizes_of("stream", "moon"), InvalidValue),
        (lambda: sizes_of(bits=8), InvalidValue),
    ],
)
def test_bad_input_gets_a_sentence(call, error):
    with pytest.raises(error):
        call()
