"""What Binder builds from: pinned packages only, in step with the constraints."""

import os
import runpy
import subprocess
from pathlib import Path

import pytest

BINDER = Path(__file__).parents[1] / "binder"


def test_the_requirements_are_those_of_the_lab_as_it_is_installed_here():
    """To make them anew: python binder/pin.py > binder/requirements.txt"""
    import platform
    import sys

    if (sys.version_info[:2], platform.machine(), sys.platform) != ((3, 11), "x86_64", "linux"):
        pytest.skip("Binder's image is Linux on x86-64 with Python 3.11")
    due = runpy.run_path(str(BINDER / "pin.py"))["requirements"]()
    assert (BINDER / "requirements.txt").read_text("utf-8") == due


def test_the_image_holds_no_local_reference_no_test_tool_and_no_cupy():
    lines = (BINDER / "requirements.txt").read_text("utf-8").splitlines()[1:]
    assert all("==" in line and "/" not in line for line in lines)
    names = {line.partition("==")[0].lower() for line in lines}
    assert not names & {"hetlab", "pytest", "playwright", "hypothesis", "ortools"}
    assert not [n for n in names if n.startswith("cupy")]
    assert {"jupyterlab", "numba-cuda", "triton", "apache-tvm"} <= names


def test_the_build_step_lays_out_the_learners_copies(tmp_path):
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    assert "--no-deps" in script.read_text("utf-8")
