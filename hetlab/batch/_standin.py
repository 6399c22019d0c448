"""Stand-in."""
from __future__ import annotations
import tempfile, time
from dataclasses import dataclass
from pathlib import Path
from ..tracks.manifest import load_track
from ..tracks.notebooks import write_notebook
from ..tracks.run import check_notebook
@dataclass
class Graded:
    verdicts: tuple; reason: str = ""; notes: tuple = (); sandbox: str = "none"; seconds: float = 0; incidents: tuple = ()
ROOT = None
def run_notebook(notebook, tasks, *, seed, limits, tier):
    import sys
    t = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hetlab-") as d:
        p = Path(d) / f"{tasks[0][0]}.ipynb"
        write_notebook(p, notebook)
        vs = check_notebook(p, track=load_track(sys.argv[1]), time_limit=5)
    names = {t.name for _, t in tasks}
    vs = tuple(v for v in vs if v.task.partition("/")[2] in names)
    died = [f.text for v in vs for f in v.findings if f.kind == "died"]
    return Graded(vs, died[0] if died else "", (), tier, time.perf_counter() - t)
