"""`hetlab schedule` from a terminal."""

import json

import pytest
from click.testing import CliRunner

from hetlab.cli import main
from hetlab.sched.examples import topcuoglu

FORM = {"devices": ["P1", "P2"], "tasks": {"a": [3, 5], "b": [2, 1]}, "edges": [["a", "b", 4]]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(FORM))
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["schedule", *map(str, arguments)])


def test_it_prints_makespan_bound_ratio_and_placements(file):
    result = run(file)
    assert result.exit_code == 0
    assert "makespan 5 (modelled), 1 x the bound 5" in result.output
    assert [line.split() for line in result.output.splitlines()[-2:]] == [
        ["a", "0", "3", "P1"],
        ["b", "3", "5", "P1"],
    ]


def test_json_is_one_object_with_placements(tmp_path):
    path = tmp_path / "paper.json"
    path.write_text(json.dumps(topcuoglu().to_dict()))
    record = json.loads(run(path, "--json").output)
    assert record["makespan"] == 80 and record["ratio"] == 80 / 54
    assert record["placements"]["t10"] == {"device": "P2", "start": 73, "end": 80}
    assert json.loads(run(path, "--json", "--policy", "CPOP").output)["makespan"] == 86


def test_all_policies_are_compared_and_a_trace_is_written(file, tmp_path):
    trace = tmp_path / "trace.json"
    result = run(file, "--policy", "all", "--trace", trace)
    assert result.exit_code == 0 and len(result.output.splitlines()) == 14
    assert json.loads(trace.read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--policy", "hefty"], "there is no policy 'hefty'. Did you mean 'heft'"),
        (["--machine", "laptop7"], "there is no machine 'laptop7'"),
        (["--devices", "3"], "--devices must be 2, as many as the graph has costs for, got 3"),
        (["--trace", "/no/such/folder/t.json"], "the trace cannot be written"),
    ],
)
def test_a_wrong_option_is_one_sentence(file, arguments, says):
    result = run(file, *arguments)
    assert result.exit_code == 2 and says in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_bad_file_is_one_sentence(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"tasks": {"a": 1,}}')
    result = run(path)
    assert result.exit_code == 2 and "is not JSON" in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert "cannot be read" in run(tmp_path / "none.stg").output
