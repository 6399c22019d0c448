"""The command line: every command answers, and every mistake gets one clear line."""

import pytest
from click.testing import CliRunner

from hetlab.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_every_command_has_a_help_text():
    listing = run("--help")
    assert listing.exit_code == 0
    for name in main.list_commands(None):
        assert name in listing.output
        done = run(name, "--help")
        assert done.exit_code == 0 and "Usage" in done.output, name


def test_a_mistyped_command_names_the_close_one():
    done = run("chek", "x.ipynb")
    assert done.exit_code == 2 and "Did you mean check" in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("hint", "03_speed_up_the_cpu/saxpi"),
        ("check", "nothing/here.ipynb"),
        ("restore", "nothing.zip"),
        ("track", "release", "/dev/null/x"),
        ("bench", "toaster"),
    ],
)
def test_a_mistake_is_one_clear_sentence_and_exit_status_2(arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output and done.output.strip()


def test_an_unknown_task_lists_the_close_ones():
    assert "03_speed_up_the_cpu/saxpy" in run("hint", "03_speed_up_the_cpu/saxpi").output
