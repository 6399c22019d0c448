"""``hetlab bench vgpu``: the virtual GPU beside its peers, in turn, in one run.

The peers are Numba's simulator and Triton's interpreter, which are what a learner without
a GPU has today, and loops compiled for the CPU by ``numba.njit``, the floor.  Each runs in
a process of its own; a round asks every peer once, so that a busy machine disturbs
all of them alike.  Seconds are seconds of this host; they say nothing about a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from hetlab.units import binary_bytes, ratio, seconds

__all__ = ["Peer", "compare", "growth", "main"]

VIRTUAL, SIMULATOR, NJIT = "virtual GPU", "Numba's simulator", "njit"
INTERPRETER = "Triton's interpreter"

# case, size, counting and all hazards on, the peer
COMPARISONS = [
    ("vector add", 65_536, True, SIMULATOR),
    ("tiled matmul", 64, True, SIMULATOR),
    ("block reduction", 65_536, True, SIMULATOR),
    ("vector add", 65_536, False, NJIT),
    ("tiled matmul", 256, False, NJIT),
    ("Triton add", 100_000, True, INTERPRETER),
    ("Triton softmax of 512 rows", 781, True, INTERPRETER),
    ("Triton matmul fp16", 256, True, INTERPRETER),
    ("Triton matmul fp32", 256, True, INTERPRETER),
    ("Triton attention", 256, True, INTERPRETER),
]


class Peer:
    """A process that answers with the seconds of one launch."""

    def __init__(self, name: str) -> None:
        self.name = name
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if name == SIMULATOR else "0"}
        environment["TRITON_INTERPRET"] = "1" if name == INTERPRETER else "0"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hetlab.bench._vgpu_worker", name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=environment,
        )  # fmt: skip

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *error) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, case: str, n: int, spelling: int = 0, checked: bool = False, warm=True) -> dict:
        """One launch: its seconds, whether the result was right, the peak memory so far."""
        request = {"case": case, "n": n, "spelling": spelling, "checked": checked, "warm": warm}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return {"error": f"the process of {self.name} ended"}
        return json.loads(answer)


def machine() -> str:
    """One line that says where the figures come from."""
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        cpu = found[0] if found else cpu
    except OSError:
        pass
    versions = []
    for name in ("numpy", "numba", "numba-cuda", "triton"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


def compare(case: str, n: int, checked: bool, other: str, rounds: int, budget: float) -> dict:
    """Samples of the virtual GPU and of one peer, in turn, over both spellings.

    A peer that is slow is asked until its ``budget`` of seconds is spent, and at
    least once for each spelling.
    """
    samples: dict[str, list[list[float]]] = {VIRTUAL: [[], []], other: [[], []]}
    spent = 0.0
    errors = []
    with Peer(VIRTUAL) as ours, Peer(other) as theirs:
        for round_ in range(rounds):
            for spelling in (0, 1):
                asked = [(ours, checked)]
                if not round_ or spent < budget:
                    asked.append((theirs, False))
                for peer, check in asked:
                    warm = peer.name != SIMULATOR
                    got = peer.ask(case, n, spelling, check, warm)
                    if "error" in got or not got["right"]:
                        errors.append(f"{peer.name}: {got.get('error', 'a wrong result')}")
                        continue
                    samples[peer.name][spelling].append(got["seconds"])
                    spent += got["seconds"] if peer is theirs else 0
    result = {"case": case, "n": n, "checked": checked, "peer": other, "errors": errors}
    result["seconds"] = samples
    ratios = [
        statistics.median(them) / statistics.median(us)
        for us, them in zip(samples[VIRTUAL], samples[other])
        if us and them
    ]
    bounds = [
        (min(them) / max(us), max(them) / min(us))
        for us, them in zip(samples[VIRTUAL], samples[other])
        if us and them
    ]
    result["ratios"] = ratios
    result["spread"] = [min(b[0] for b in bounds), max(b[1] for b in bounds)] if bounds else []
    return result


def growth(powers=(12, 14, 16, 18, 20, 22, 24)) -> list[dict]:
    """Seconds and peak memory of a checked vector add of 2**power threads."""
    found = []
    for power in powers:
        with Peer(VIRTUAL) as peer:  # a new process, so that the peak is this size's own
            base = peer.ask("launch overhead", 1).get("peak_bytes", 0)
            got = peer.ask("vector add", 1 << power, checked=True)
        found.append({"threads": 1 << power, "base_bytes": base, **got})
    return found


def _overhead(rounds: int) -> list[float]:
    with Peer(VIRTUAL) as peer:
        answers = [peer.ask("launch overhead", 1) for _ in range(max(rounds, 20))]
    return [answer["seconds"] for answer in answers if "seconds" in answer]


def _mean(results: list[dict]) -> float | None:
    ratios = [r for one in results if one["peer"] == INTERPRETER for r in one["ratios"]]
    return statistics.geometric_mean(ratios) if ratios else None


def _line(result: dict) -> str:
    what = f"{result['case']} {result['n']:,}"
    mode = "counting and hazards on" if result["checked"] else "counting off"
    if not result["ratios"]:
        return f"{what:<24} failed: {'; '.join(dict.fromkeys(result['errors']))}"
    flat = {name: [s for each in per for s in each] for name, per in result["seconds"].items()}
    ours, theirs = (statistics.median(flat[name]) for name in (VIRTUAL, result["peer"]))
    low, high = result["spread"]
    if min(result["ratios"]) >= 1:
        both = " and ".join(ratio(r) for r in result["ratios"])
        text = f"{both} faster than {result['peer']} (samples {ratio(low)} to {ratio(high)})"
    else:
        both = " and ".join(ratio(1 / r) for r in result["ratios"])
        text = (
            f"{both} the time of {result['peer']} (samples {ratio(1 / high)} to {ratio(1 / low)})"
        )
    counts = f"{len(flat[VIRTUAL])} and {len(flat[result['peer']])} samples"
    return f"{what:<24} {seconds(ours):>9} against {seconds(theirs):>9}: {text}; {mode}; {counts}"


def main(argv: list[str] | None = None) -> int:
    """Run the comparison and print it; the exit status is 1 when a peer failed."""
    parser = argparse.ArgumentParser(
        prog="hetlab bench vgpu", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=7, help="samples of each spelling")
    parser.add_argument(
        "--budget", type=float, default=30, help="seconds of a slow peer for each kernel"
    )
    parser.add_argument(
        "--quick", action="store_true", help="without the slowest peer and without growth"
    )
    options = parser.parse_args(argv)
    write = sys.stderr.write if options.json else sys.stdout.write
    report = {"machine": machine(), "comparisons": [], "growth": []}
    write(f"{report['machine']}\n(seconds of this host, never of a GPU)\n")
    overhead = report["launch_overhead_seconds"] = _overhead(options.rounds)
    if overhead:
        write(
            f"{'launch overhead':<24} {seconds(statistics.median(overhead)):>9} "
            f"({seconds(min(overhead))} to {seconds(max(overhead))})\n"
        )
    for case, n, checked, other in COMPARISONS:
        if options.quick and other == SIMULATOR:
            continue
        result = compare(case, n, checked, other, options.rounds, options.budget)
        report["comparisons"].append(result)
        write(_line(result) + "\n")
    mean = report["triton_geometric_mean"] = _mean(report["comparisons"])
    if mean:
        write(f"geometric mean over the Triton kernels: {ratio(mean)}\n")
    if not options.quick:
        report["growth"] = growth()
        write("vector add, counting and hazards on, by number of threads:\n")
        for row in report["growth"]:
            if "error" in row:
                write(f"  {row['threads']:>12,}  {row['error']}\n")
                continue
            each = seconds(row["seconds"] / row["threads"])
            peak = binary_bytes(row["peak_bytes"])
            base = binary_bytes(row["base_bytes"])
            write(
                f"  {row['threads']:>12,}  {seconds(row['seconds']):>9}  {each:>9} a thread  "
                f"peak {peak} (of it {base} before)\n"
            )
    if options.json:
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    bad = [r for r in report["comparisons"] if r["errors"]]
    return 1 if bad or not overhead else 0


if __name__ == "__main__":
    raise SystemExit(main())
