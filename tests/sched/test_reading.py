"""Graphs from files and libraries, and what is said of bad ones."""

import csv
import json
from pathlib import Path

import pytest

from hetlab.errors import HetlabError
from hetlab.sched import GraphError, Machine, TaskGraph, from_networkx, heft, read_graph, simulate

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_data = pytest.mark.skipif(
    not SHARED.exists(), reason="the Standard Task Graphs and WfCommons records lie elsewhere"
)
STG = sorted(SHARED.glob("stg/*.stg"))
WORKFLOWS = sorted(SHARED.glob("wf/*.json"))


def optima():
    """(file, processors) -> optimum, or its lower bound."""
    found = {}
    for table in sorted(SHARED.glob("stg/opt_*.csv")):
        for row in csv.reader(table.open()):
            found[row[0], int(row[1])] = int(row[2])
    for row in csv.DictReader((SHARED / "stg" / "closed_by_cpsat.csv").open()):
        found[row["file"], int(row["processors"])] = int(row["optimum"])
    return found


@needs_data
@pytest.mark.parametrize("path", STG, ids=lambda p: p.stem)
def test_heft_and_peft_are_near_the_optima_of_standard_task_graphs(path):
    """HEFT within 7 % on each, PEFT within 12 %, CPOP within 50 %; none below an optimum."""
    known, graph = optima(), read_graph(path)
    assert len(graph) == int(path.stem.split("-")[0]) + 2
    for processors in (2, 4, 8, 16):
        least = known[path.stem.replace("-", "/") + ".stg", processors]
        machine = Machine.uniform(processors)
        for policy in ("heft", "peft", "cpop"):
            ratio = simulate(graph, machine, policy).makespan / least
            assert 1 <= ratio <= {"heft": 1.07, "peft": 1.12, "cpop": 1.5}[policy]


@needs_data
def test_heft_is_within_two_percent_of_the_optima_in_the_mean():
    known, ratios = optima(), []
    for path in STG:
        graph = read_graph(path)
        for processors in (2, 4, 8, 16):
            least = known[path.stem.replace("-", "/") + ".stg", processors]
            ratios.append(heft(graph, Machine.uniform(processors)).makespan / least)
    assert sum(ratios) / len(ratios) < 1.02


@needs_data
def test_the_solver_reaches_published_optima():
    pytest.importorskip("ortools", reason="OR-Tools is an extra: pip install 'hetlab[exact]'")
    from hetlab.sched import optimum

    cases = {("50-rand0000", 2): 131, ("50-rand0000", 4): 66, ("50-rand0000", 8): 55}
    cases |= {("50-rand0000", 16): 55, ("50-rand0009", 4): 134, ("100-rand0000", 8): 94}
    for (name, processors), least in cases.items():
        found = optimum(read_graph(SHARED / "stg" / f"{name}.stg"), Machine.uniform(processors))
        assert found.proven and found.makespan == least


@needs_data
@pytest.mark.soak
@pytest.mark.parametrize("path", STG, ids=lambda p: p.stem)
def test_the_solver_reaches_the_optimum_of_every_standard_task_graph(path):
    """On 2, 4, 8 and 16 devices; its bound never passes what is known."""
    pytest.importorskip("ortools", reason="OR-Tools is an extra: pip install 'hetlab[exact]'")
    from hetlab.sched import optimum

    known, graph = optima(), read_graph(path)
    for processors in (2, 4, 8, 16):
        least = known[path.stem.replace("-", "/") + ".stg", processors]
        found = optimum(graph, Machine.uniform(processors), seconds=60)
        assert found.makespan == least and found.bound.value <= least


@needs_data
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_workflow_records_run(path):
    """Every task of the record runs once, with its recorded time and files."""
    record, graph = json.loads(path.read_text()), read_graph(path)
    tasks = record["workflow"]["specification"]["tasks"]
    assert len(graph) == len(tasks)
    machine = Machine.uniform(4, bandwidth=1.25e9, latency=1e-4)
    timeline = simulate(graph, machine, "heft")
    assert timeline.complete and timeline.ratio >= 1
    ran = {t["id"]: t["runtimeInSeconds"] for t in record["workflow"]["execution"]["tasks"]}
    for name, span in timeline.runs.items():
        assert span.seconds == pytest.approx(ran[name])
    for task in tasks:
        for parent in task["parents"]:
            assert timeline.runs[parent].end <= timeline.runs[task["id"]].start + 1e-9


def test_a_graph_of_networkx_keeps_names_costs_and_sizes():
    networkx = pytest.importorskip("networkx")
    given = networkx.DiGraph()
    given.add_node(("a", 1), cost=3)
    given.add_node(frozenset({2}), cost=[1, 2])
    given.add_edge(("a", 1), frozenset({2}), size=5)
    graph = from_networkx(given, devices=["P1", "P2"])
    assert graph.order == (("a", 1), frozenset({2}))
    assert graph.after(("a", 1)) == {frozenset({2}): 5}
    given.add_node("x")
    with pytest.raises(GraphError, match="node 'x' has no 'cost'"):
        from_networkx(given)


def test_plain_data_go_there_and_back():
    from hetlab.sched.examples import topcuoglu

    record = topcuoglu().to_dict()
    assert json.loads(json.dumps(record)) == record
    again = TaskGraph.from_dict(record)
    assert again.to_dict() == record
    assert heft(again, Machine.uniform(3)).makespan == 80
    machine = Machine.from_dict(json.loads(json.dumps(Machine.uniform(3).to_dict())))
    assert simulate(again, machine, "cpop").makespan == 86


FORM = {"devices": ["P1", "P2"], "tasks": {"a": [3, 5], "b": [2, 1]}, "edges": [["a", "b", 4]]}
BAD = {
    "cycle": ({**FORM, "edges": [["a", "b", 1], ["b", "a", 1]]}, "a cycle: 'a', 'b' and back to"),
    "self": ({**FORM, "edges": [["a", "a", 1]]}, "'a' waits for itself"),
    "unknown": ({**FORM, "edges": [["a", "x", 1]]}, "there is no task 'x'"),
    "negative": ({**FORM, "tasks": {"a": [-1, 2]}, "edges": []}, "cost must be at least 0, got -1"),
    "nan": ({**FORM, "tasks": {"a": [float("nan"), 2]}, "edges": []}, "cost must be finite"),
    "length": ({**FORM, "tasks": {"a": [1]}, "edges": []}, "a number for each of the 2 devices"),
    "twice": ({**FORM, "edges": [["a", "b", 1], ["a", "b", 1]]}, "is there twice"),
    "text": ({**FORM, "tasks": {"a": "slow"}, "edges": []}, "a number or a list, got 'slow'"),
    "no tasks": ({"devices": []}, 'an entry "tasks"'),
    "edge": ({**FORM, "edges": [["a"]]}, "an edge must be"),
    "list": ([1, 2], 'an entry "tasks"'),
    "empty": ({"tasks": {}}, "has no task"),
    "workflow": ({"workflow": {}}, "not of WfCommons' format"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_that_names_the_file(name, tmp_path):
    record, says = BAD[name]
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(record))
    with pytest.raises(HetlabError) as caught:
        read_graph(path)
    text = str(caught.value)
    assert says in text and path.name in text and "\n" not in text


STG_BAD = {
    "words": ("hello", "the first line must be the number of tasks"),
    "short": ("5\n0 0 0\n", "7 tasks (with two dummies) are announced, 1 lines follow"),
    "count": ("0\n0 0 0\n1 0 2 0\n", "announces 2 predecessors and lists 1"),
    "letters": ("0\n0 0 0\n1 x 1 0\n", "a task must be"),
}


@pytest.mark.parametrize("name", STG_BAD)
def test_a_bad_stg_file_names_the_line(name, tmp_path):
    text, says = STG_BAD[name]
    path = tmp_path / "bad.stg"
    path.write_text(text)
    with pytest.raises(HetlabError) as caught:
        read_graph(path)
    assert says in str(caught.value)


def test_three_cycles_are_listed_and_a_task_behind_one_is_not():
    graph = TaskGraph()
    for name in "abcdefg":
        graph.add(name, 1)
    for before, after in ("ab", "ba", "cd", "de", "ec", "fb", "bg"):
        graph.connect(before, after)
    with pytest.raises(GraphError) as caught:
        graph.check()
    text = str(caught.value)
    assert "2 cycles" in text and "'a', 'b'" in text and "'c', 'd', 'e'" in text
    assert "'g'" not in text and "'f'" not in text
