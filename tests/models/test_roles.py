"""Who does what: the model against sums done by hand, the figures against their sources."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.devices import chip
from hetlab.errors import InvalidValue, UnknownName
from hetlab.models import break_even, estimate, modelled_devices, roles, workloads
from hetlab.models.roles import Given, ModelledDevice, Workload

DEVICES, JOBS = modelled_devices(), workloads()


def number(value, low=None, high=None):
    return Given(value, "", "assumed", "a test", low or value, high or value)


def device(rate, bandwidth=1e30, start=0.0, link=None, power=None):
    link, power = (number(v) if v else None for v in (link, power))
    return ModelledDevice(
        "d", "a test", {"k": number(rate)}, number(bandwidth), number(start), link, power
    )


def job(work, touched=0, moved=0, serial=False):
    size = work, touched, moved
    return Workload("j", "", "k", "n", 1, *(lambda n, v=v: v * n for v in size), serial)


def test_the_three_terms_of_a_time_add_up():
    """100 operations at 10/s against 40 bytes at 8 B/s; 6 bytes over a link of 2 B/s; start 1 s."""
    told = estimate(job(100, 40, 6), 1, device(10, 8, 1.0, link=2.0, power=3.0), "host")
    assert (told.start, told.moving, told.working) == (1.0, 3.0, 10.0)
    assert (told.seconds, told.joules, told.limit) == (14.0, 42.0, "its rate")
    memory = estimate(job(10, 40, 6), 1, device(10, 8, 1.0, link=2.0), "device")
    assert (memory.seconds, memory.limit, memory.joules) == (6.0, "its memory", None)


def test_a_host_needs_no_link_and_no_start_for_steps_one_after_the_other():
    assert estimate(job(1, 0, 1e9), 5, device(1, start=2.0), "host").seconds == 7.0
    assert estimate(job(1, 0, 1e9, serial=True), 5, device(1, start=2.0), "host").seconds == 5.0
    away = device(1, start=2.0, link=1e30)
    assert estimate(job(1, serial=True), 5, away).seconds == 7.0


@given(st.integers(0, 10**6), st.sampled_from(["device", "host"]))
def test_a_value_lies_within_its_range(n, data):
    for work, on in itertools.product(JOBS.values(), DEVICES.values()):
        told = estimate(work, n, on, data)
        if told:
            assert told.low <= told.seconds <= told.high
            assert told.seconds == pytest.approx(told.start + told.moving + told.working)


@settings(deadline=None)
@given(*(st.integers(1, 50) for _ in range(3)), st.integers(0, 500), st.integers(1, 10), st.data())
def test_break_even_is_the_first_size_that_a_walk_through_all_sizes_finds(
    host, rate, link, start, moved, data
):
    """Costs of a matrix product, whose work grows with n cubed and its data with n squared."""
    work = Workload("m", "", "k", "n", 1, lambda n: 2 * n**3, lambda n: 0, lambda n: moved * n**2)
    here, there = device(host), device(rate, start=float(start), link=float(link))
    found = break_even(work, there, here, "host", most=400)
    walk = (
        n
        for n in range(1, 401)
        if estimate(work, n, there, "host").seconds < estimate(work, n, here).seconds
    )
    assert found == next(walk, None)


def test_what_is_labelled_published_is_what_the_chips_file_says():
    pairs = [
        ("CPU", "memory", "EPYC 9654", "bandwidth", 1),
        ("GPU", "16-bit product", "A100", "matrix_fp16", 1),
        ("GPU", "link", "A100", "host_link", 0.5),
        ("TPU", "16-bit product", "TPU v4", "matrix_bf16", 1),
        ("FPGA", "memory", "Alveo U280", "bandwidth", 1),
        ("DPU", "network data", "BlueField-2", "network", 1),
    ]
    for name, kind, sold_as, figure, share in pairs:
        told = DEVICES[name].numbers[kind]
        assert told.label == "published"
        assert told.value == chip(sold_as).value(figure) * share
        assert chip(sold_as).figures[figure].source.title in told.source


def test_every_number_says_where_it_is_from_and_only_assumed_ones_have_a_range():
    for on in DEVICES.values():
        for told in on.numbers.values():
            assert told.source
            assert told.low <= told.value <= told.high
            assert told.label in ("published", "derived", "assumed")
            if told.label != "assumed":
                assert told.low == told.value == told.high
        for work in JOBS.values():
            assert (work.kind in on.rates) != (work.kind in on.cannot)


def test_derived_peaks_are_the_products_that_their_text_names():
    assert DEVICES["CPU"].rates["simple math"].value == 96 * 16 * 2 * 2.4e9
    assert DEVICES["GPU"].rates["bit logic"].value == 108 * 64 * 32 * 1.41e9


def test_what_the_lesson_says_of_the_table_holds():
    """Sentences of lesson 01 that would become wrong when a figure changes."""
    near, far = roles(), roles("host")
    assert near.winners("decisions") == ["CPU"]
    assert near.winners("stream") == near.winners("matrix product") == ["GPU"]
    assert near.winners("bit pipeline")[0] == "FPGA"
    assert len(near.winners("bit pipeline")) > 1
    assert near.best("network data") == ["CPU", "DPU"]
    assert [far.winners(name)[0] for name in JOBS] == ["CPU", "CPU", "GPU", "CPU", "CPU"]
    energy = roles(of="energy")
    assert energy.winners("matrix product") == energy.winners("stream") == ["TPU"]
    short, wide = near.row("matrix product"), roles(bits=64).row("matrix product")
    assert short["CPU"].seconds / short["GPU"].seconds == pytest.approx(42, abs=0.5)
    assert wide["CPU"].seconds / wide["GPU"].high > 2
    assert wide["CPU"].seconds / wide["GPU"].low < 6
    assert wide["TPU"] is None
    for name in ("stream", "bit pipeline"):
        assert break_even(JOBS[name], DEVICES["GPU"], DEVICES["CPU"]) is None


def test_the_table_in_words_marks_ties_doubts_and_gaps():
    text = repr(roles())
    assert "CPU = DPU" in text
    assert "FPGA, GPU?" in text
    assert "cannot" in text
    assert "unknown" in repr(roles(of="energy"))
    assert "main memory" in repr(roles("host"))


def test_sizes_and_scale_are_taken():
    assert roles(matrix_product=7).sizes["matrix product"] == 7
    assert roles(scale=1e-3).sizes["stream"] == 100_000
    assert roles(scale=1e-30).sizes["stream"] == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: roles("moon"), '"device" or "host"'),
        (lambda: roles(of="money"), '"time" or "energy"'),
        (lambda: roles(scale=0), "scale must be"),
        (lambda: roles(bits=12), "16 or 64"),
        (lambda: roles(matrix_product=-3), "matrix_product must be"),
        (lambda: estimate(JOBS["stream"], -1, DEVICES["CPU"]), "n must be"),
        (lambda: estimate(JOBS["stream"], 1, DEVICES["CPU"], "moon"), "data must be"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(InvalidValue, match=says):
        call()


def test_an_unknown_workload_is_told_the_close_ones():
    with pytest.raises(UnknownName, match="matrix_product"):
        roles(matrix_produkt=3)
    with pytest.raises(UnknownName, match="decisions"):
        roles().row("decision")


def test_a_device_tells_all_its_numbers_with_their_labels():
    text = repr(DEVICES["FPGA"])
    assert "published" in text
    assert "assumed" in text
    assert "look-up tables" in text
    assert "network data" in text
