"""On a machine with an NVIDIA GPU: do the lessons' solutions run there, and do the counts agree?

    python tests/gpu/on_a_gpu.py [--lessons 04 05 ...] [--out FOLDER]

1. The solution notebooks of the GPU lessons run and are judged; launches go to the real GPU.
2. The transpose and reduction kernels of `ladder.py` run under Nsight Compute, where `ncu` is
   installed, and its sectors and bank conflicts stand beside those of the virtual GPU.

Without a GPU it says so and ends with status 0: nothing was tested.  It takes about five minutes.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
METRICS = {
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def solutions(chosen: list[str]) -> list[dict]:
    """Points of each solution notebook, run here."""
    from hetlab.tracks.manifest import load_track
    from hetlab.tracks.run import check_notebook

    track, rows = load_track(ROOT), []
    for lesson in track.own:
        if lesson.id[:2] in chosen:
            verdicts = check_notebook(lesson.solution, track=track)
            earned = sum(v.points for v in verdicts)
            failed = [v.task for v in verdicts if not v.passed]
            rows.append({"lesson": lesson.id, "points": earned, "of": lesson.points,
                         "failed": failed})  # fmt: skip
            print(f"{lesson.id:<24} {earned} of {lesson.points}  {', '.join(failed)}", flush=True)
    return rows


def profiled_by_ncu() -> dict[str, dict[str, int]]:
    """Nsight Compute's counts of each kernel of the ladder."""
    command = ["ncu", "--csv", "--metrics", ",".join(METRICS.values())]
    command += [sys.executable, str(HERE / "ladder.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        print("ncu gave no table:", (done.stderr or done.stdout)[-600:])
        return {}
    found: dict[str, dict[str, int]] = {}
    names = {metric: ours for ours, metric in METRICS.items()}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        kernel = row["Kernel Name"].split("(")[0].split("::")[-1]
        value = int(float(row["Metric Value"].replace(",", "")))
        found.setdefault(kernel, {})[names[row["Metric Name"]]] = value
    return found


def side_by_side() -> list[dict]:
    """The same counts from the virtual GPU and from Nsight Compute."""
    sys.path.insert(0, str(HERE))
    from ladder import counted

    ours = counted()
    theirs = profiled_by_ncu() if shutil.which("ncu") else {}
    if not theirs:
        print("Nsight Compute (ncu) is not here or not allowed to count: only our counts follow.")
    rows = []
    for kernel, counters in ours.items():
        real = next((v for name, v in theirs.items() if kernel in name), {})
        for counter in METRICS:
            rows.append({"kernel": kernel, "counter": counter, "virtual": counters[counter],
                         "ncu": real.get(counter)})  # fmt: skip
            print(
                f"{kernel:<20} {counter:<26} {counters[counter]:>10} {real.get(counter, '-'):>10}"
            )
    return rows


def main() -> int:
    """Run both parts and write what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--lessons", nargs="*", default=["04", "05", "06", "07", "08", "09"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from hetlab.vgpu.frontends import real_gpu

    reason = real_gpu()
    counts = side_by_side()
    if reason is not None:
        print(f"No GPU is used here: {reason}. The notebooks were not run.")
        return 0
    report = {"counts": counts, "solutions": solutions(options.lessons)}
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "on_a_gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    return int(any(row["failed"] for row in report["solutions"]))


if __name__ == "__main__":
    raise SystemExit(main())
