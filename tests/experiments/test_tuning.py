"""Tuning tasks: what is evaluated, how tuners begin, what is kept, and what the report says."""

import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip("sklearn")

from boring.exceptions import InvalidInputError, UnknownNameError
from experiments.__main__ import main
from experiments.records import RecordError, RunRecord, append_record, read_records
from experiments.tuning import command
from experiments.tuning.methods import METHODS, Evaluated, first_design, is_active, tuner_of
from experiments.tuning.objective import LossCache, TuningObjective
from experiments.tuning.report import gaps_of, tuning_report
from experiments.tuning.runs import TuningRun, run_tuner, run_tuning
from experiments.tuning.tasks import TASKS, get_task

SVM = get_task("svm-digits")


def some(task, n=40, seed=0):
    """Configurations from all over the space."""
    return first_design(task.space, seed, n)


@pytest.mark.parametrize("name", TASKS)
def test_the_description_counts_the_parameters(name):
    task = TASKS[name]
    parameters = task.space.parameters.values()
    assert f"{len(parameters)} parameters" in task.description
    categories = sum(hasattr(p, "choices") for p in parameters)
    assert f"{categories} of them categories" in task.description


@pytest.mark.filterwarnings("ignore")  # of networks that are stopped early
@pytest.mark.parametrize("name", TASKS)
def test_losses_are_those_of_scikit_learn_and_depend_on_the_seed(name):
    from sklearn.model_selection import cross_validate

    task = dataclasses.replace(TASKS[name], n_rows=100)
    configuration = some(task, 3)[2]
    objective = TuningObjective(task, 1)
    scores = cross_validate(
        task.build(configuration, 1),
        objective.X,
        objective.y,
        cv=objective.folds,
        scoring=task.scoring,
    )["test_score"].mean()
    expected = 1.0 - scores if task.scoring == "accuracy" else -scores
    assert objective(configuration) == pytest.approx(expected, rel=1e-9)
    assert TuningObjective(task, 2)(configuration) != objective(configuration)


@pytest.mark.parametrize("name", TASKS)
def test_every_choice_can_be_fitted(name):
    task = dataclasses.replace(TASKS[name], n_rows=90)
    objective = TuningObjective(task, 0)
    left = {
        (n, str(c)) for n, p in task.space.parameters.items() for c in getattr(p, "choices", ())
    }
    for configuration in some(task):
        pairs = {(n, str(v)) for n, v in configuration.items()}
        if left & pairs:
            left -= pairs
            assert np.isfinite(objective(configuration))
    assert not left


def test_the_cache_keeps_losses_and_failures_by_seed(tmp_path, monkeypatch):
    cache = LossCache(tmp_path / "losses.sqlite")
    configuration = some(SVM, 1)[0]
    loss = TuningObjective(SVM, 0, cache)(configuration)
    calls = []

    def evaluate(self, configuration):
        calls.append(self.seed)
        return float("nan")

    monkeypatch.setattr(TuningObjective, "_evaluate", evaluate)
    again = LossCache(tmp_path / "losses.sqlite")
    assert TuningObjective(SVM, 0, again)(dict(reversed(configuration.items()))) == loss
    assert calls == []
    assert np.isnan(TuningObjective(SVM, 5, again)(configuration))
    assert np.isnan(TuningObjective(SVM, 5, again)(configuration))
    assert calls == [5]


def test_a_fit_that_fails_is_a_failure_and_other_errors_are_not():
    objective = TuningObjective(SVM, 0)
    good = {"C": 1.0, "kernel": "linear", "scaling": "none", "class_weight": None}
    assert np.isnan(objective({**good, "C": -1.0}))
    with pytest.raises(KeyError):
        objective({**good, "scaling": "nonsense"})


@pytest.mark.parametrize("name", TASKS)
def test_activity_is_that_of_the_space(name):
    space = TASKS[name].space
    for configuration in some(TASKS[name], 30):
        assert {p for p in space.names if is_active(space, p, configuration)} == set(configuration)


def evaluated(name, budget=12, n_initial=10):
    """Run a tuner on a loss that takes no time."""
    tried = Evaluated(lambda c: abs(np.log(c["C"])) + len(c))
    tuner, variant = tuner_of(name)
    tuner(tried, SVM.space, 3, budget, n_initial, variant.options)
    return tried


@pytest.mark.parametrize(
    "name", ["boring", "random", "tpe", "tpe[group=True,multivariate=True]", "boring-sampler"]
)
def test_tuners_begin_alike_and_stay_in_the_space(name):
    if "tpe" in name or "sampler" in name:
        pytest.importorskip("optuna")
    tried = evaluated(name)
    points = SVM.space.encode(tried.configurations)
    design = SVM.space.encode(first_design(SVM.space, 3, 10))
    np.testing.assert_allclose(points[:10], design, atol=1e-9)
    assert len(points) == 12
    assert len(np.unique(points[10:], axis=0)) == 2


def test_scikit_learns_search_tries_what_a_study_tries():
    records = [
        run_tuner(TuningRun("svm-digits", name, 0, 14, 10))
        for name in ("boring", "boring-search-cv")
    ]
    assert [r.error for r in records] == [None, None]
    np.testing.assert_allclose(records[0].y, records[1].y, atol=1e-12)
    np.testing.assert_allclose(records[0].X, records[1].X, atol=1e-9)


def test_runs_are_kept_and_not_repeated(tmp_path):
    path, cache = tmp_path / "runs.jsonl", tmp_path / "losses.sqlite"
    arguments = dict(budget=6, n_initial=5, cache=cache)
    made = list(run_tuning(path, ["svm-digits"], ["boring", "random"], range(1), **arguments))
    assert [r.key for r in made] == [("svm-digits", m, 0) for m in ("boring", "random")]
    assert made[0].y[:5] == made[1].y[:5]
    assert len(made[0].options["phases"]) == 6
    assert made[0].y_best == min(made[0].y)
    assert read_records(path) == tuple(made)
    more = list(run_tuning(path, ["svm-digits"], ["boring", "random"], range(2), **arguments))
    assert [r.seed for r in more] == [1, 1]
    with pytest.raises(RecordError, match="budget 6"):
        list(run_tuning(path, ["svm-digits"], ["boring"], range(1), budget=7, n_initial=5))


def test_a_run_that_raises_is_recorded_with_what_it_had(monkeypatch):
    def tune(tried, space, seed, budget, n_initial, options):
        tried(first_design(space, seed, 1)[0])
        raise RuntimeError("the tuner broke")

    monkeypatch.setitem(METHODS, "random", tune)
    record = run_tuner(TuningRun("svm-digits", "random", 0))
    assert record.status == "failed"
    assert "the tuner broke" in record.error
    assert len(record.y) == 1


def test_wrong_names_and_designs_are_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="svm-digits"):
        get_task("svm-digit")
    with pytest.raises(UnknownNameError, match="random"):
        tuner_of("randon")
    with pytest.raises(InvalidInputError, match="first design"):
        list(run_tuning(tmp_path / "x", ["svm-digits"], ["random"], range(1), n_initial=99))


def record(method, seed, y, task="t"):
    return RunRecord(
        experiment=task,
        problem=task,
        method=method,
        seed=seed,
        budget=len(y),
        n_initial=2,
        direction="minimize",
        status="ok",
        optimum=None,
        X=None,
        y=tuple(y),
        value=tuple(y),
        simple_regret=None,
        x_best=None,
        y_best=min(y),
        seconds_per_ask=(),
        optimizer_seconds=0.0,
        objective_seconds=0.0,
    )


def test_gaps_are_shares_of_the_way_from_the_design_to_the_best():
    group = [
        record("boring", 0, [5.0, 3.0, 1.0]),
        record("tpe", 0, [5.0, 3.0, 2.0]),
        record("random", 0, [5.0, 3.0, 4.0]),
        record("boring", 1, [2.0, 2.0, 2.0]),
    ]
    gaps = gaps_of(group)
    assert gaps == {("boring", 0): 0.0, ("tpe", 0): 0.5, ("random", 0): 1.0, ("boring", 1): 0.0}


def test_the_report_counts_and_tests_on_the_same_seeds():
    group = []
    for seed in range(8):
        group.append(record("boring", seed, [5.0, 3.0, 1.0 + 0.001 * seed]))
        group.append(record("random", seed, [5.0, 3.0, 2.0]))
        group.append(record("tpe", seed, [5.0, 3.0, 1.0 if seed % 2 else 1.02]))
    group.append(record("random", 99, [5.0, 3.0, 9.0]))  # a seed that the reference has not
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in tuning_report(group).split("## All")[0].splitlines()
        if line.startswith("| ")
    }
    assert rows["random"][:2] == ["8", "2 (2, 2)"]
    assert rows["random"][3:6] == ["8/0/0", "0.016", "better"]
    assert rows["tpe"][3] == "4/4/0"
    assert rows["boring"][3] == ""
    reversed_roles = tuning_report(group, "random")
    assert "0/0/8" in reversed_roles
    assert "worse" in reversed_roles


def test_the_command_reports_on_what_is_there(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    append_record(path, record("boring", 0, [3.0, 2.0, 1.0], "svm-digits"))
    assert main(["tuning", "--report-only", "--out", str(path)]) == 0
    assert "## svm-digits" in capsys.readouterr().out
    assert (tmp_path / "runs.md").read_text().startswith("## svm-digits")
    assert json.loads(path.read_text())["method"] == "boring"


def test_the_command_knows_all_tasks_and_tuners():
    assert command.TASK_NAMES == tuple(TASKS)
    assert all(tuner_of(name) for name in command.METHOD_NAMES)
