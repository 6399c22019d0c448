"""Five devices and five workloads for the question who does what: the numbers and their sources.

Published figures come from ``chips.toml`` through `hetlab.devices.chip`.  What no maker prints is
*assumed*, with a reason and a range, so that a reader can see which conclusions hang on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from hetlab.devices import chip
from hetlab.errors import InvalidValue, UnknownName
from hetlab.models.domain import number
from hetlab.models.role_table import RoleTable
from hetlab.models.roles import Given, ModelledDevice, Workload

__all__ = ["modelled_devices", "roles", "workloads"]

# Kinds of work, and the unit of their rates.
STEPS, FP32, MATRIX16, MATRIX64, BITS, FORWARD = (
    "dependent steps",
    "simple math",
    "16-bit product",
    "64-bit product",
    "bit logic",
    "network data",
)
_UNIT = {STEPS: "step/s", BITS: "bit/s", FORWARD: "B/s"}
# Logic steps that the fixed pipeline applies to each 64-bit word.
PIPELINE = 500
# A server's network port, in B/s: 200 Gb/s, as on the modelled DPU.
NETWORK = 25e9


def _assumed(value: float, unit: str, low: float, high: float, why: str) -> Given:
    return Given(value, unit, "assumed", why, low, high)


def _published(name: str, figure: str, share: float = 1.0, note: str = "") -> Given:
    found = chip(name).figures[figure]
    source = found.citation + (f"; {note}" if note else "")
    value = found.value * share
    return Given(value, found.unit, "published", source, value, value)


def _derived(value: float, unit: str, how: str, high: float | None = None) -> Given:
    label = "derived" if high is None else "assumed"
    return Given(value, unit, label, how, value, value if high is None else high)


def _cpu() -> ModelledDevice:
    c = chip("EPYC 9654")
    cores, each, base = c.units, c.lanes, c.value("base_clock")
    fp32 = cores * each * 2 * base
    logic = cores * each * 32 * base
    network = "its server's port of 200 Gb/s; five cores serve it (42 Gb/s each: Cai and others, "
    network += "Understanding Host Network Stack Overheads, SIGCOMM 2021)"
    return ModelledDevice(
        "CPU",
        f"{c.vendor} {c.name}, {cores:.0f} cores, {c.year}",
        {
            STEPS: _derived(c.clock, "step/s", "highest clock of one core x 1 step a cycle"),
            FP32: _derived(
                fp32, "FLOP/s", "96 cores x 16 multiply-adds a cycle x 2 x 2.4 GHz (base clock)"
            ),
            MATRIX16: _derived(
                fp32, "FLOP/s", "as its simple math; 16-bit instructions may double it", 2 * fp32
            ),
            MATRIX64: _derived(fp32 / 2, "FLOP/s", "half of simple math: numbers twice as wide"),
            BITS: _derived(
                logic, "bit/s", "96 cores x 16 x 32 bits x 2.4 GHz; up to twice that", 2 * logic
            ),
            FORWARD: _assumed(NETWORK, "B/s", NETWORK, NETWORK, network),
        },
        _published("EPYC 9654", "bandwidth"),
        _assumed(5e-6, "s", 1e-6, 20e-6, "to wake the threads of all cores"),
        power=_published("EPYC 9654", "power"),
    )


def _gpu() -> ModelledDevice:
    c = chip("A100 40GB")
    steps = c.clock / 4
    why = "clock / 4 cycles a step (Jia and others, Dissecting the NVIDIA Volta GPU, 2018)"
    return ModelledDevice(
        "GPU",
        f"{c.vendor} {c.name}, {c.units:.0f} multiprocessors, {c.year}",
        {
            STEPS: _assumed(steps, "step/s", c.clock / 6, steps, why),
            FP32: _published("A100 40GB", "fp32"),
            MATRIX16: _published("A100 40GB", "matrix_fp16"),
            MATRIX64: _assumed(
                c.value("fp64"),
                "FLOP/s",
                c.value("fp64"),
                2 * c.value("fp64"),
                f"{c.figures['fp64'].citation}; its matrix units may double it",
            ),
            BITS: _derived(
                c.units * 64 * 32 * c.clock,
                "bit/s",
                "108 multiprocessors x 64 operations of 32 bits a cycle "
                "(CUDA programming guide, throughput of instructions) x 1.41 GHz",
            ),
        },
        _published("A100 40GB", "bandwidth"),
        _assumed(10e-6, "s", 5e-6, 20e-6, "one launch and the wait for its end"),
        link=_published("A100 40GB", "host_link", 0.5, "one direction is half"),
        power=_published("A100 40GB", "power"),
        cannot={FORWARD: "no network port of its own"},
    )


def _tpu() -> ModelledDevice:
    c = chip("TPU v4")
    one = 2 * 1024 * c.clock  # operations a second of two vector units with 1,024 places
    return ModelledDevice(
        "TPU",
        f"{c.vendor} {c.name}, {c.year}",
        {
            STEPS: _assumed(
                c.clock / 2, "step/s", c.clock / 4, c.clock, "not published: 1 to 4 cycles a step"
            ),
            FP32: _assumed(2 * one, "FLOP/s", one, 4 * one, "not published; memory decides anyway"),
            MATRIX16: _published("TPU v4", "matrix_bf16"),
            BITS: _assumed(
                64 * one, "bit/s", 32 * one, 128 * one, "not published: vector unit, 32 bits each"
            ),
        },
        _published("TPU v4", "bandwidth"),
        _assumed(20e-6, "s", 10e-6, 100e-6, "one launch and the wait for its end"),
        link=_assumed(16e9, "B/s", 8e9, 32e9, "not published: a PCIe link"),
        power=_published("TPU v4", "power"),
        cannot={
            MATRIX64: "its matrix units multiply 16-bit and 8-bit numbers",
            FORWARD: "no network port of its own in this model",
        },
    )


def _fpga() -> ModelledDevice:
    c = chip("Alveo U280")
    multipliers, tables = c.units, c.value("lookup_tables")
    slow, clock, fast = 200e6, 300e6, 450e6  # what a design reaches, not what the chip allows
    return ModelledDevice(
        "FPGA",
        f"{c.vendor} {c.name}, {c.year}",
        {
            STEPS: _assumed(
                clock, "step/s", slow, 4 * clock, "design clock 300 MHz; 1 to 4 steps a cycle"
            ),
            FP32: _assumed(
                multipliers / 5 * 2 * clock,
                "FLOP/s",
                multipliers / 6 * 2 * slow,
                multipliers / 4 * 2 * fast,
                "9,024 multipliers, about 5 for one multiply-add, at 200 to 450 MHz",
            ),
            MATRIX16: _assumed(
                multipliers * 2 * clock,
                "FLOP/s",
                multipliers * 2 * slow,
                multipliers * 2 * fast,
                "9,024 multipliers, one 16-bit (fixed point) multiply-add each, 200 to 450 MHz",
            ),
            MATRIX64: _assumed(
                multipliers / 12 * 2 * clock,
                "FLOP/s",
                multipliers / 16 * 2 * slow,
                multipliers / 8 * 2 * fast,
                "about 12 multipliers for one multiply-add of 64 bits",
            ),
            BITS: _assumed(
                tables * 0.6 * 3 * clock,
                "bit/s",
                tables * 0.5 * 1 * slow,
                tables * 0.8 * 5 * fast,
                "60 % of 1.3 million look-up tables, each worth 1 to 5 logic operations a cycle",
            ),
        },
        _published("Alveo U280", "bandwidth"),
        _assumed(20e-6, "s", 5e-6, 100e-6, "a call through its driver"),
        link=_assumed(16e9, "B/s", 8e9, 16e9, "PCIe 3 with 16 links, one direction"),
        power=_published("Alveo U280", "power"),
        cannot={FORWARD: "its network ports are left out here"},
    )


def _dpu() -> ModelledDevice:
    c = chip("BlueField-2")
    clock = 2.5e9
    fp32 = c.units * 4 * 2 * clock
    why = "8 cores x 4 multiply-adds a cycle x 2 x 2.5 GHz"
    return ModelledDevice(
        "DPU",
        f"{c.vendor} {c.name}, {c.units:.0f} Arm cores, {c.year}",
        {
            STEPS: _assumed(clock, "step/s", 2e9, 2.75e9, "clock of its Arm cores, 1 step a cycle"),
            FP32: _assumed(fp32, "FLOP/s", fp32 / 2, 2 * fp32, why),
            MATRIX16: _assumed(fp32, "FLOP/s", fp32 / 2, 4 * fp32, why),
            MATRIX64: _assumed(fp32 / 2, "FLOP/s", fp32 / 4, fp32, "half of that"),
            BITS: _assumed(
                c.units * 128 * clock,
                "bit/s",
                c.units * 128 * 2e9,
                c.units * 256 * 2.75e9,
                "8 cores x 128 bits a cycle, up to twice that",
            ),
            FORWARD: _published("BlueField-2", "network", note="no core of the server takes part"),
        },
        _published("BlueField-2", "bandwidth"),
        _assumed(5e-6, "s", 2e-6, 20e-6, "a message over PCIe and back"),
        link=_assumed(32e9, "B/s", 16e9, 32e9, "PCIe 4 with 16 links, one direction"),
    )


def modelled_devices() -> Mapping[str, ModelledDevice]:
    """The five devices by name: CPU, GPU, TPU, FPGA, DPU.

    Examples
    --------
    >>> modelled_devices()["GPU"].rates["16-bit product"].value
    312000000000000.0
    """
    return {d.name: d for d in (_cpu(), _gpu(), _tpu(), _fpga(), _dpu())}


def workloads(bits: int = 16) -> Mapping[str, Workload]:
    """The five workloads by name.

    Parameters
    ----------
    bits : int
        Width of the numbers of the matrix product: 16 or 64.

    Raises
    ------
    InvalidValue
        For another width.
    """
    if bits not in (16, 64):
        raise InvalidValue("bits", "16 or 64", bits)
    wide = bits // 8
    found = (
        Workload(
            "decisions",
            "n decisions of ten steps; each step needs the result of the one before",
            STEPS,
            "decisions",
            1_000_000,
            lambda n: 10 * n,
            lambda n: 0.0,
            lambda n: 0.0,
            serial=True,
        ),
        Workload(
            "stream",
            "y = a * x + y for n numbers of 32 bits",
            FP32,
            "numbers",
            100_000_000,
            lambda n: 2 * n,
            lambda n: 12 * n,
            lambda n: 12 * n,
        ),
        Workload(
            "matrix product",
            f"c = a @ b for n x n numbers of {bits} bits",
            MATRIX16 if bits == 16 else MATRIX64,
            "rows",
            8192,
            lambda n: 2 * n**3,
            lambda n: 3 * wide * n**2,
            lambda n: 3 * wide * n**2,
        ),
        Workload(
            "bit pipeline",
            f"n words of 64 bits through {PIPELINE} fixed logic steps",
            BITS,
            "words",
            100_000_000,
            lambda n: 64 * PIPELINE * n,
            lambda n: 16 * n,
            lambda n: 16 * n,
        ),
        Workload(
            "network data",
            "n bytes from the network into main memory",
            FORWARD,
            "bytes",
            10_000_000_000,
            lambda n: n,
            lambda n: n,
            lambda n: 0.0,  # into main memory is where they go anyway
        ),
    )
    return {w.name: w for w in found}


def roles(
    data: str = "device", of: str = "time", *, scale: float = 1.0, bits: int = 16, **sizes: int
) -> RoleTable:
    """Who does what: five workloads on five modelled devices.

    Parameters
    ----------
    data : str
        "device": the data lie in each device's memory; "host": in main memory.
    of : str
        "time" or "energy".
    scale : float
        All sizes times this.
    bits : int
        Width of the numbers of the matrix product, 16 or 64.
    **sizes : int
        n for single workloads, with ``_`` for the space: ``matrix_product=100``.

    Returns
    -------
    RoleTable
        Modelled; its text is the table.

    Examples
    --------
    >>> roles().winners("decisions")
    ['CPU']
    """
    if data not in ("device", "host"):
        raise InvalidValue("data", '"device" or "host"', data)
    if of not in ("time", "energy"):
        raise InvalidValue("of", '"time" or "energy"', of)
    scale = float(number("scale", scale, least=0, open_=True))
    known = workloads(bits)
    chosen = {name: max(1, round(w.typical * scale)) for name, w in known.items()}
    for name, n in sizes.items():
        plain = name.replace("_", " ")
        if plain not in known:
            raise UnknownName("workload", name, [k.replace(" ", "_") for k in known])
        chosen[plain] = int(number(name, n, least=1))
    devices = tuple(modelled_devices().values())
    return RoleTable(tuple(known.values()), devices, chosen, data, of)
