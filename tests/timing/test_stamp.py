"""The machine stamp."""

import subprocess
import sys

import pytest

from hetlab.errors import InvalidValue
from hetlab.timing import Machine, machine


def test_fingerprint_is_the_same_in_another_process_and_whatever_is_imported():
    code = "import hetlab; print(hetlab.machine().fingerprint)"
    runs = {
        subprocess.run(
            [sys.executable, "-c", head + code], capture_output=True, text=True, check=True
        ).stdout.strip()
        for head in ("", "import numpy;")
    }
    assert runs == {machine().fingerprint}


def test_only_loaded_libraries_are_named():
    code = (
        "import hetlab, sys; m = hetlab.machine(); "
        "assert 'numpy' not in m.versions and 'numpy' not in sys.modules; print(repr(m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "none of those that matter is loaded yet" in done.stdout


def test_there_and_back():
    assert Machine.from_dict(machine().to_dict()) == machine()
    with pytest.raises(InvalidValue, match="machine stamp"):
        Machine.from_dict({"cpu": "x"})


def test_difference_is_empty_for_one_machine():
    assert machine().difference(machine()) == ""
