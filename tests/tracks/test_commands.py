"""The commands: exit status 0, 1 or 2, and one clear line instead of a traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

import hetlab.tracks.verify as verify_module
from hetlab.cli import main
from hetlab.tracks.commands import _lab_arguments, _terminal_arguments

from .conftest import read_json, write_json


@pytest.fixture
def hetlab(monkeypatch):
    """Run the command in a folder; give (exit status, output)."""

    def run(folder, *arguments):
        monkeypatch.chdir(folder)
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            result.exception
        )
        assert "Traceback" not in result.output
        return result.exit_code, result.output

    return run


def test_from_an_empty_folder_to_a_release(hetlab, tmp_path):
    root = tmp_path / "my 课"
    assert hetlab(tmp_path, "track", "new", root, "--title", "T")[0] == 0
    status, said = hetlab(root, "track", "add-lesson", "01_first")
    assert status == 0 and "solutions/checks/01_first.py" in said
    assert hetlab(root, "track", "build", "--check")[0] == 0
    status, said = hetlab(root, "track", "release", tmp_path / "out")
    assert status == 0 and "no answer was found" in said
    for wrong in (["new", root], ["add-lesson", "01_first"], ["release", tmp_path / "out"]):
        status, said = hetlab(root, "track", *wrong)
        assert status == 2 and said.startswith("hetlab: ") and said.count("\n") == 1


def test_build_check_exits_1_when_an_exercise_is_stale(hetlab, built):
    assert hetlab(built.root, "track", "build")[0] == 0
    built.lesson("01_first").exercise.write_text("{}")
    status, said = hetlab(built.root, "track", "build", "--check")
    assert status == 1 and "stale" in said
    assert hetlab(built.root, "track", "build")[0] == 0
    assert hetlab(built.root, "track", "build", "--check")[0] == 0
    (built.root / "exercises" / "09_x.ipynb").write_text("{}")
    assert hetlab(built.root, "track", "build", "--check")[0] == 1


def test_verify_exits_0_1_or_2(hetlab, built, monkeypatch):
    with monkeypatch.context() as patch:  # test_verify.py takes all steps
        patch.setattr(verify_module, "STEPS", {"text": verify_module.STEPS["text"]})
        status, said = hetlab(built.root, "track", "verify", "01_first")
    assert status == 0 and "1 of 1 lessons verified" in said
    status, said = hetlab(built.root, "track", "verify", "01_frist")
    assert status == 2 and "01_first" in said
    built.lesson("01_first").exercise.write_text("{}")
    status, said = hetlab(built.root, "track", "verify", "01_first", "--fresh")
    assert status == 1 and "track build" in said and "0 of 1 lessons verified" in said


def test_an_empty_track_is_not_verified(hetlab, tmp_path):
    hetlab(tmp_path, "track", "new", tmp_path / "t")
    status, said = hetlab(tmp_path / "t", "track", "verify")
    assert status == 1 and "no lessons" in said


@pytest.fixture
def work(built):
    from hetlab.tracks.work import open_work

    open_work(built, built.root / "work")
    return built.root / "work"


def test_update_save_and_restore_find_the_work_folder(hetlab, built, work, tmp_path):
    assert hetlab(work / "lessons", "update") == (0, "Everything is up to date.\n")
    status, said = hetlab(built.root, "save", tmp_path / "a.zip")
    assert status == 0 and "a.zip" in said
    (work / "lessons" / "01_first.ipynb").write_text("mine")
    status, said = hetlab(built.root, "update")
    assert status == 1 and "left as it is" in said
    status, said = hetlab(built.root, "restore", tmp_path / "a.zip")
    assert status == 0 and "1 replaced" in said and "old/" in said
    status, said = hetlab(built.root, "save", tmp_path / "a.zip")
    assert status == 2 and "not overwritten" in said
    status, said = hetlab(built.root, "restore", tmp_path / "nope.zip")
    assert status == 2 and said.count("\n") == 1


def test_a_restored_folder_is_a_work_folder_again(hetlab, built, work, tmp_path):
    data = read_json(work / "exercises/01_first.ipynb")
    data["cells"][0]["source"] = "mine"
    write_json(work / "exercises/01_first.ipynb", data)
    hetlab(built.root, "save", tmp_path / "a.zip")
    assert hetlab(built.root, "restore", tmp_path / "a.zip", "--work", built.root / "w2")[0] == 0
    assert hetlab(built.root, "update", "--work", built.root / "w2")[0] == 0
    assert '"mine"' in (built.root / "w2/exercises/01_first.ipynb").read_text("utf-8")


def test_without_a_work_folder_the_next_step_is_said(hetlab, built):
    for command in (["update"], ["save"]):
        status, said = hetlab(built.root, *command)
        assert status == 2 and "hetlab lab" in said
    assert not (built.root / "work").exists()


def test_jupyterlab_opens_the_start_page_unless_the_caller_says_otherwise(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr("hetlab.tracks.commands._terminal_arguments", lambda names: [])
    work = Path("/my work")
    ours = ["--ServerApp.root_dir=/my work", "--LabApp.default_url=/lab/tree/START_HERE.ipynb"]
    given = ("--no-browser", "--port", "8899")
    assert _lab_arguments(work, given) == [*given, *ours]
    assert _lab_arguments(work, ("--LabApp.default_url=/lab",))[1:] == ours[:1]
    for own in ("--notebook-dir=/x", "--ServerApp.root_dir=/x", "some.ipynb"):
        assert _lab_arguments(work, (own,)) == [own]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert _lab_arguments(work, ())[-1] == "--allow-root"
    assert _lab_arguments(work, ("--allow-root",)).count("--allow-root") == 1


def test_a_terminal_in_jupyterlab_keeps_the_path_it_is_given(monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/zsh")
    given = _terminal_arguments("")
    assert given == ["--ServerApp.terminado_settings=shell_command=['/bin/zsh']"] * (
        os.name == "posix"
    )
    assert _terminal_arguments("--ServerApp.terminado_settings") == []


def test_a_missing_jupyterlab_is_a_sentence(hetlab, built, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    status, said = hetlab(built.root, "lab")
    assert status == 2 and "hetlab[lab]" in said and said.count("\n") == 1
    assert not (built.root / "work").exists()


def test_lab_serves_the_work_folder_and_the_start_page(built, tmp_path):
    """The real JupyterLab, in a home folder with a blank, in the plain C locale."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / "home of 我"
    home.mkdir()
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "JUPYTER"))
    }
    environment |= {"LC_ALL": "C", "HOME": str(home)}
    arguments = ["--no-browser", "--port", str(port), "--ServerApp.port_retries=0"]
    server = subprocess.Popen(
        [sys.executable, "-m", "hetlab", "lab", "--", *arguments, "--IdentityProvider.token=t"],
        cwd=built.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}/api/contents/lessons?token=t"
        for _ in range(120):
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    listing = answer.read().decode()
                break
            except OSError:
                assert server.poll() is None, server.stdout.read().decode()
                time.sleep(0.25)
        assert "01_first.ipynb" in listing and "02_" in listing
    finally:
        server.terminate()
        printed = server.communicate(timeout=30)[0].decode("utf-8", "replace")
    assert "START_HERE.ipynb" in printed and "Your work folder is" in printed
    assert (built.root / "work" / "START_HERE.ipynb").is_file()
