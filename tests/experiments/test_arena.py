import json
import os
import time
from dataclasses import replace

import pytest

from boring.exceptions import InvalidInputError, UnknownNameError
from experiments.arena import (
    arena_tasks,
    fits,
    read_arena,
    read_plan,
    records_path,
    run_arena,
)
from experiments.arguments import select_experiments
from experiments.config import EXPERIMENTS, GROUPS, get_experiment
from experiments.peers.base import Requirement
from experiments.processes import run_all
from experiments.records import RecordError, append_record, read_records
from experiments.variants import Variant, parse_variant

METHODS = ("sobol", "random")


def main(arguments):
    """Run the command, which is imported late: a child process imports this module too."""
    from experiments.__main__ import main as command

    return command(arguments)


def small(name, budget=6):
    return replace(get_experiment(name), budget=budget, n_initial=2)


@pytest.fixture
def experiments():
    return small("parabola-1-in-2"), small("camelback-2-in-3")


def keys(tasks):
    return [(task.experiment.name, task.variant.name, task.seed) for task in tasks]


def test_every_experiment_is_in_one_group():
    listed = [name for members in GROUPS.values() for name in members]
    assert sorted(listed) == sorted(EXPERIMENTS)
    assert all(GROUPS.values())
    assert all("-noise" in name for name in GROUPS["noisy"])


def test_experiments_are_selected_by_name_group_and_exception():
    assert {one.name for one in select_experiments(("all",))} == set(EXPERIMENTS)
    chosen = select_experiments(("no-subspace", "camelback-2-in-5", "-ackley-20", "no-subspace"))
    expected = [name for name in GROUPS["no-subspace"] if name != "ackley-20"]
    assert [one.name for one in chosen] == [*expected, "camelback-2-in-5"]
    assert not select_experiments(("thesis", "-thesis"))
    with pytest.raises(UnknownNameError, match="Did you mean 'multimodal'"):
        select_experiments(("multi-modal",))


def test_the_first_seed_of_everything_comes_first(experiments):
    tasks = keys(arena_tasks(experiments, METHODS, [0, 1]))
    assert [seed for _, _, seed in tasks] == [0] * 4 + [1] * 4
    assert {name for name, _, _ in tasks[:4]} == {one.name for one in experiments}
    by_experiment = keys(arena_tasks(experiments, METHODS, [0, 1], order="experiments"))
    assert [name for name, _, _ in by_experiment[:4]] == ["parabola-1-in-2"] * 4
    assert sorted(by_experiment) == sorted(tasks)


def test_what_needs_a_dimension_is_left_out_where_there_is_none():
    no_subspace = get_experiment("ackley-20")
    methods = ["rembo", "rembo[effective_dim=3]", "sobol", "boring-thesis[burn_in=20]"]
    tasks = arena_tasks([no_subspace, get_experiment("camelback-2-in-5")], methods, [0])
    assert [name for experiment, name, _ in keys(tasks) if experiment == "ackley-20"] == [
        "rembo[effective_dim=3]",
        "sobol",
    ]
    assert len(tasks) == 6
    assert fits(no_subspace, parse_variant("boring"))


def test_wrong_plans_are_refused_before_anything_is_written(experiments, tmp_path):
    folder = tmp_path / "arena"
    with pytest.raises(InvalidInputError, match="at least one experiment"):
        run_arena(folder, [], METHODS, [0])
    with pytest.raises(UnknownNameError, match="sobol"):
        run_arena(folder, experiments, ["sobl"], [0])
    with pytest.raises(InvalidInputError, match="jobs"):
        run_arena(folder, experiments, METHODS, [0], jobs=0)
    assert not folder.exists()


def test_one_file_for_each_experiment_and_nothing_twice(experiments, tmp_path):
    first = run_arena(tmp_path, experiments, METHODS, [0])
    assert (first.n_made, first.n_held, first.left) == (4, 0, ())
    files = sorted(path.name for path in (tmp_path / "records").iterdir())
    assert files == ["camelback-2-in-3.jsonl", "parabola-1-in-2.jsonl"]
    seen = []
    second = run_arena(
        tmp_path, experiments, METHODS, [0, 1], progress=lambda *call: seen.append(call)
    )
    assert (second.n_made, second.n_held) == (4, 4)
    assert (seen[0], len(seen)) == ((None, 0, 4), 5)
    subset = run_arena(tmp_path, experiments[:1], METHODS[:1], [0])
    assert (subset.n_made, subset.n_held) == (0, 1)
    records = read_arena(tmp_path)
    assert len(records) == 8
    assert all(record.status == "ok" and record.X is None for record in records)
    with pytest.raises(RecordError, match="another --out"):
        run_arena(tmp_path, [small("parabola-1-in-2", 7)], METHODS, [0])


def test_points_are_kept_on_demand(experiments, tmp_path):
    run_arena(tmp_path, experiments[:1], ["sobol"], [0], keep_points=True)
    (record,) = read_arena(tmp_path)
    assert len(record.X) == 6
    assert record.true_basis is not None
    assert len(read_arena(tmp_path / "other", [records_path(tmp_path, "parabola-1-in-2")])) == 1


def test_the_later_of_two_records_counts_and_the_folders_own_over_others(tmp_path, make_record):
    elsewhere = tmp_path / "old.jsonl"
    append_record(elsewhere, make_record([3.0], seed=0))
    append_record(elsewhere, make_record([3.0], seed=1))
    path = records_path(tmp_path, "camelback-2-in-5")
    path.parent.mkdir()
    append_record(path, make_record([2.0], seed=0))
    append_record(path, make_record([1.0], seed=0))
    records = read_arena(tmp_path, [elsewhere])
    assert sorted((record.seed, record.value) for record in records) == [(0, (1.0,)), (1, (3.0,))]


def test_no_run_starts_after_the_time_limit(experiments, tmp_path):
    outcome = run_arena(tmp_path, experiments, METHODS, [0], minutes=1e-9)
    assert outcome.n_made == 0
    assert len(outcome.left) == 4
    assert set(read_plan(tmp_path)) == set(outcome.left)
    assert run_arena(tmp_path, experiments, METHODS, [0], minutes=10).left == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_tasks_after_the_deadline_are_left_out(jobs):
    assert list(run_all(abs, [-1, -2, -3], jobs, deadline=time.monotonic() - 1.0)) == []
    assert sorted(run_all(abs, [-1, -2], jobs, deadline=time.monotonic() + 60.0)) == [1, 2]


def test_a_killed_process_is_a_failed_run_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.runner.run_task", _run_or_die)
    methods = ("random", "sobol", "sobol[n_initial=1]")  # the last begins after the first
    outcome = run_arena(tmp_path, [small("parabola-1-in-2")], methods, [0], jobs=2)
    assert outcome.n_made == 3
    by_key = {record.key[1:]: record for record in read_arena(tmp_path)}
    assert by_key["random", 0].status == "failed"
    assert "killed" in by_key["random", 0].error
    assert by_key["random", 0].value == ()
    assert by_key["random", 0].optimum is not None
    assert {by_key[key].status for key in by_key if key != ("random", 0)} == {"ok"}


def _run_or_die(task):
    from experiments.single_run import run_task

    if task.key[1:] == ("random", 0):
        os._exit(3)
    return run_task(task)


def test_a_missing_peer_leaves_one_record_and_is_run_once_it_is_there(
    experiments, tmp_path, monkeypatch, capsys
):
    peer = "experiments.peers.cma_es.CmaPeer.requirement"
    monkeypatch.setattr(peer, Requirement("cma", ("no_such_engine",)))
    said = []
    outcome = run_arena(
        tmp_path, experiments, ["sobol", "peer-cma"], [0, 1, 2], announce=said.append
    )
    assert list(outcome.absences) == ["peer-cma"]
    assert said == [
        "Missing: peer-cma: cma is not installed; to install it: pip install -e '.[peers]'"
    ]
    missing = [record for record in read_arena(tmp_path) if record.status == "missing"]
    assert [(record.method, record.seed) for record in missing] == [("peer-cma", 0)] * 2
    monkeypatch.setattr(peer, Requirement("numpy", ("numpy",)))
    tasks = arena_tasks(experiments, ["sobol", "peer-cma"], [0, 1, 2])
    assert len(tasks) == 12


def test_the_plan_is_kept(experiments, tmp_path):
    assert read_plan(tmp_path) == ()
    run_arena(tmp_path, experiments[:1], ["sobol"], [3])
    assert read_plan(tmp_path) == (("parabola-1-in-2", "sobol", 3),)
    assert json.loads((tmp_path / "plan.json").read_text()) == {"parabola-1-in-2": {"sobol": [3]}}


def test_a_variant_is_a_method_of_its_own(experiments, tmp_path):
    methods = ["sobol", Variant("sobol[n_initial=1]", "sobol", {"n_initial": 1})]
    run_arena(tmp_path, experiments[:1], methods, [0])
    assert {record.method for record in read_arena(tmp_path)} == {"sobol", "sobol[n_initial=1]"}


def test_the_command_runs_a_group_in_two_processes_and_says_what_it_did(tmp_path, capsys):
    command = ["arena", "--experiments", "camelback-2-in-3,parabola-1-in-2", "--budget", "7"]
    command += ["--methods", "sobol", "--seeds", "1", "--out", str(tmp_path)]
    assert main([*command, "--jobs", "2"]) == 0
    captured = capsys.readouterr()
    assert "2 runs made now, 0 were on file." in captured.out
    assert "2/2" in captured.err
    assert main([*command, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(read_records(records_path(tmp_path, "camelback-2-in-3"))) == 1
    more = [*command, "--first-seed", "7", "--time-limit", "1e-9"]
    assert main(more) == 0
    assert "Incomplete: 2 runs not started in time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--experiments", "thsis"], "Did you mean 'thesis'"),
        (["--experiments", "thesis,-thesis"], "at least one experiment"),
        (["--methods", "boring[subspace_evry=0]"], "Did you mean 'subspace_every'"),
        (["--budget", "2"], "n_initial"),
    ],
)
def test_wrong_input_is_explained(tmp_path, capsys, arguments, message):
    folder = tmp_path / "arena"
    assert main(["arena", "--seeds", "1", "--out", str(folder), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize("limit", ["0", "-1", "soon", "nan"])
def test_a_time_limit_is_positive(capsys, limit):
    with pytest.raises(SystemExit):
        main(["arena", "--time-limit", limit])
    assert "positive number of minutes" in capsys.readouterr().err


def test_giving_way_is_asked_of_the_system(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("os.nice", asked.append)
    command = ["arena", "--experiments", "parabola-1-in-2", "--methods", "sobol", "--seeds", "1"]
    assert main([*command, "--out", str(tmp_path), "--nice", "5", "--quiet"]) == 0
    assert asked == [5]
