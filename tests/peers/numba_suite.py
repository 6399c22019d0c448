"""Run numba-cuda's own tests on the virtual GPU or under Numba's simulator.

    python tests/peers/numba_suite.py [--peer virtual|simulator] [--json FILE] [MODULE ...]

The tests lie in the installed package (``numba.cuda.tests.cudapy``) and are written for
``unittest``.  Each module runs in a process of its own, each test has a time limit, and
a process that dies costs only the test that it died in.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = "numba.cuda.tests.cudapy"
TEST_SECONDS = 180
MODULE_SECONDS = 1800
OUTCOMES = ("passed", "failed", "skipped")


def modules() -> list[str]:
    """Names of the suite's modules, without importing them."""
    import numba_cuda

    folder = Path(numba_cuda.__file__).parent / "numba/cuda/tests/cudapy"
    names = (info.name for info in pkgutil.iter_modules([str(folder)]))
    return sorted(name for name in names if name.startswith("test_"))


class _Recorder(unittest.TestResult):
    """Writes one line of JSON a test, as soon as it is known."""

    def __init__(self, out: io.TextIOBase) -> None:
        super().__init__()
        self.out, self.outcome, self.why = out, "passed", ""

    def startTest(self, test) -> None:
        super().startTest(test)
        self.outcome, self.why = "passed", ""
        self._write(test, "started")
        signal.alarm(TEST_SECONDS)

    def stopTest(self, test) -> None:
        signal.alarm(0)
        super().stopTest(test)
        self._write(test, self.outcome)

    def _write(self, test, outcome: str) -> None:
        line = {"test": test.id(), "outcome": outcome, "why": self.why[-600:]}
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()

    def _fail(self, error) -> None:
        kind, value, trace = error
        if kind.__name__ == "Skipped":  # pytest.importorskip inside a test
            self.outcome, self.why = "skipped", str(value)
            return
        self.outcome = "failed"
        self.why = "".join(traceback.format_exception(kind, value, trace))

    def addError(self, test, error) -> None:
        self._fail(error)
        if not test.id().startswith(PACKAGE):  # setUpClass or setUpModule
            self._write(test, self.outcome)

    def addFailure(self, test, error) -> None:
        self._fail(error)

    def addSubTest(self, test, subtest, error) -> None:
        if error is not None:
            self._fail(error)

    def addSkip(self, test, reason) -> None:
        self.outcome, self.why = "skipped", reason

    def addExpectedFailure(self, test, error) -> None:
        self.outcome = "passed"

    def addUnexpectedSuccess(self, test) -> None:
        self.outcome, self.why = "failed", "unexpected success"


def _tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _tests(item)
        else:
            yield item


def _stop(signum, frame):
    raise TimeoutError(f"no end within {TEST_SECONDS} s")


def work(module: str, out: Path, done: set[str], only: str | None = None) -> None:
    """Run one module here, appending to ``out``; tests in ``done`` are left out."""
    signal.signal(signal.SIGALRM, _stop)
    with out.open("a") as stream:
        try:
            loaded = importlib.import_module(f"{PACKAGE}.{module}")
        except BaseException as cause:  # pytest's skip at import is no Exception
            reason = f"the module does not import: {type(cause).__name__}: {cause}"
            stream.write(json.dumps({"test": module, "outcome": "skipped", "why": reason}) + "\n")
            return
        suite = unittest.defaultTestLoader.loadTestsFromModule(loaded)
        kept = [t for t in _tests(suite) if t.id() not in done and (not only or only in t.id())]
        unittest.TestSuite(kept).run(_Recorder(stream))


def run_module(module: str, peer: str, only: str | None = None) -> dict[str, dict]:
    """Run one module in processes of its own; outcome and reason by test."""
    environment = {**os.environ, "HETLAB_PEER": peer}
    root = str(HERE.parents[1])
    path = [str(HERE / "inject"), root, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    environment.pop("NUMBA_ENABLE_CUDASIM", None)
    if peer == "simulator":
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    results: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        out, done = Path(folder, "out.jsonl"), Path(folder, "done.json")
        out.touch()
        for _ in range(20):  # each further round follows a process that died
            done.write_text(json.dumps(sorted(results)))
            command = [sys.executable, __file__, "--worker", module, str(out), str(done)]
            command += ["--only", only] if only else []
            try:
                ended = subprocess.run(
                    command, env=environment, cwd=folder, timeout=MODULE_SECONDS,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                )  # fmt: skip
                code, text = ended.returncode, ended.stderr.decode(errors="replace")
            except subprocess.TimeoutExpired:
                code, text = -1, f"no end within {MODULE_SECONDS} s"
            for line in out.read_text().splitlines():
                row = json.loads(line)
                results[row["test"]] = {"outcome": row["outcome"], "why": row["why"]}
            hung = [test for test, row in results.items() if row["outcome"] == "started"]
            for test in hung:
                why = f"the process ended with status {code}: {text[-300:]}"
                results[test] = {"outcome": "failed", "why": why}
            if code == 0 or not hung:
                break
    return results


def run(
    names: list[str], peer: str, jobs: int, only: str | None = None, save: Path | None = None
) -> dict[str, dict]:
    """Run modules, ``jobs`` at a time: module to test to outcome; ``save`` grows with them."""
    found: dict[str, dict] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for name, results in zip(names, pool.map(lambda n: run_module(n, peer, only), names)):
            found[name] = results
            sys.stderr.write(row(name, results) + "\n")
            if save:
                save.write_text(json.dumps(found, indent=1))
    return found


def count(results: dict[str, dict]) -> Counter:
    """How many tests passed, failed, were skipped."""
    return Counter(result["outcome"] for result in results.values())


def row(name: str, results: dict[str, dict]) -> str:
    """One line of the table."""
    counts = count(results)
    return f"{name:<36}" + "".join(f"{counts[outcome]:>9}" for outcome in OUTCOMES)


def table(found: dict[str, dict]) -> str:
    """Module by module: passed, failed, skipped."""
    lines = [f"{'module':<36}" + "".join(f"{outcome:>9}" for outcome in OUTCOMES)]
    lines += [row(name, results) for name, results in found.items()]
    everything = {test: result for results in found.values() for test, result in results.items()}
    return "\n".join([*lines, row("all", everything)])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--peer", choices=("virtual", "simulator"), default="virtual")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", help="a part of the tests' names")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        module, out, done = options.worker
        work(module, Path(out), set(json.loads(Path(done).read_text())), options.only)
        return
    started = time.perf_counter()
    names = options.modules or modules()
    found = run(names, options.peer, options.jobs, options.only, options.json)
    seconds = time.perf_counter() - started
    sys.stdout.write(
        f"{table(found)}\n{seconds:.0f} s on {os.cpu_count()} cores, {options.jobs} jobs\n"
    )


if __name__ == "__main__":
    main()
