import os
import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from boring.exceptions import InvalidInputError, JournalWarning, UnknownNameError
from boring.optimizer import Optimizer, Proposal
from boring.registry import optimizer_names, register_optimizer
from experiments.config import (
    EXPERIMENTS,
    GIVEN_DIMENSION,
    GROUPS,
    HELD_ASIDE,
    NOISE_PERCENT,
    NOISY,
    OPTIMISATION_TABLE,
    Experiment,
    get_experiment,
)
from experiments.peers import PEERS, absence_of
from experiments.peers.base import RebuiltPeer, Requirement
from experiments.processes import BLAS_VARIABLES
from experiments.records import RecordError, read_records
from experiments.runner import Task, run_experiment, run_task
from synthetic import Noisy, get_problem

TIMINGS = {
    "seconds_per_ask": (),
    "optimizer_seconds": 0.0,
    "objective_seconds": 0.0,
    "peak_memory_mib": None,
}
PIP = "pip install -e '.[peers]'"
METHODS = ("sobol", "random")


class ThirdTimeFails(Optimizer):
    """Proposes the centre twice, then breaks."""

    name = "test-third-time-fails"
    is_model_based = False

    def _propose(self, context):
        if len(context.data) >= 4:
            raise RuntimeError("the third proposal broke")
        return Proposal(np.zeros(context.data.dim), {}, {})


def noisy_problem(seed):
    return Noisy(get_problem("camelback-2-in-3", seed), 0.5)


@pytest.fixture(scope="module")
def experiment():
    return replace(get_experiment("camelback-2-in-3"), budget=6, n_initial=2, methods=METHODS)


@pytest.fixture(scope="module")
def together(experiment, tmp_path_factory):
    """Return the records of runs in processes of their own; the environment is left alone."""
    before = {name: os.environ.get(name) for name in BLAS_VARIABLES}
    path = tmp_path_factory.mktemp("together") / "b.jsonl"
    records = run_experiment(experiment, path, seeds=[0], jobs=2)
    assert {name: os.environ.get(name) for name in BLAS_VARIABLES} == before
    return records


@pytest.fixture
def broken():
    if ThirdTimeFails.name not in optimizer_names():
        register_optimizer(ThirdTimeFails.name, ThirdTimeFails)
    return ThirdTimeFails.name


def without_times(record):
    return replace(record, **TIMINGS)


def test_a_record_holds_the_run(experiment):
    record = run_task(Task(experiment, "sobol", 3))
    problem = experiment.problem(3)
    assert (record.experiment, record.method, record.seed) == ("camelback-2-in-3", "sobol", 3)
    assert (record.status, record.error, record.budget) == ("ok", None, 6)
    assert len(record.y) == len(record.seconds_per_ask) == len(record.X) == 6
    # one point and many take different paths through the BLAS on some processors
    np.testing.assert_allclose(problem(np.array(record.X)), record.value, rtol=1e-12)
    assert record.y == record.value
    assert record.y_best == min(record.value)
    assert problem(record.x_best) == pytest.approx(record.y_best, rel=1e-12)
    expected = np.minimum.accumulate(record.value) - problem.optimum
    np.testing.assert_allclose(record.simple_regret, expected)
    assert record.optimizer_seconds >= sum(record.seconds_per_ask)
    assert record.basis is None
    assert record.largest_angle_degrees is None
    np.testing.assert_array_equal(record.true_basis, problem.true_basis)
    assert {"python", "numpy", "scipy"} <= set(record.versions)


def test_runs_are_deterministic_and_differ_between_seeds(experiment):
    first, again, other = (run_task(Task(experiment, "random", seed)) for seed in (1, 1, 2))
    assert without_times(first) == without_times(again)
    assert first.X != other.X
    assert first.true_basis != other.true_basis


def test_methods_are_paired_by_seed(experiment):
    sobol, random = (run_task(Task(experiment, method, 5)) for method in METHODS)
    assert sobol.true_basis == random.true_basis
    assert sobol.X[:2] == random.X[:2]
    assert sobol.value[:2] == random.value[:2]
    assert sobol.X[2:] != random.X[2:]


def test_noise_is_paired_and_regret_is_noiseless():
    experiment = Experiment("noisy", noisy_problem, budget=4, n_initial=2, methods=METHODS)
    sobol, random = (run_task(Task(experiment, method, 5)) for method in METHODS)
    errors = np.subtract(sobol.y, sobol.value)
    assert np.all(errors != 0.0)
    np.testing.assert_allclose(np.subtract(random.y, random.value), errors)
    assert sobol.simple_regret[-1] == pytest.approx(min(sobol.value) - sobol.optimum)


def test_resuming_skips_what_is_on_file(experiment, tmp_path):
    path = tmp_path / "x.jsonl"
    calls = []

    def progress(record, finished, total):
        calls.append((None if record is None else record.key[1:], finished, total))

    run_experiment(experiment, path, seeds=[0], progress=progress)
    assert calls == [(None, 0, 2), (("sobol", 0), 1, 2), (("random", 0), 2, 2)]
    before = path.read_bytes()
    calls.clear()
    records = run_experiment(experiment, path, seeds=[0, 1], progress=progress)
    assert [call[0] for call in calls] == [None, ("sobol", 1), ("random", 1)]
    assert path.read_bytes().startswith(before)
    assert [record.key[1:] for record in records] == [
        ("sobol", 0),
        ("random", 0),
        ("sobol", 1),
        ("random", 1),
    ]


def test_resuming_repeats_a_torn_run_and_gets_the_same(experiment, tmp_path):
    path = tmp_path / "x.jsonl"
    whole = run_experiment(experiment, path, seeds=[0])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(JournalWarning, match="torn"):
        again = run_experiment(experiment, path, seeds=[0])
    assert [without_times(r) for r in again] == [without_times(r) for r in whole]
    assert len(read_records(path)) == 2


def test_other_settings_do_not_mix_into_a_file(experiment, tmp_path):
    path = tmp_path / "x.jsonl"
    run_experiment(experiment, path, seeds=[0])
    with pytest.raises(RecordError, match="another --out"):
        run_experiment(experiment.with_budget(7), path, seeds=[0])
    with_options = replace(experiment, options={"sobol": {"n_initial": 1}})
    with pytest.raises(RecordError, match="n_initial"):
        run_experiment(with_options, path, seeds=[0])
    assert len(read_records(path)) == 2


def test_a_failed_run_is_recorded_with_what_it_had(experiment, tmp_path, broken):
    path = tmp_path / "x.jsonl"
    records = run_experiment(experiment, path, seeds=[0], methods=["sobol", broken])
    failed = records[1]
    assert failed.status == "failed"
    assert "the third proposal broke" in failed.error
    assert len(failed.value) == len(failed.simple_regret) == 4
    assert failed.y_best == min(failed.value)
    assert read_records(path)[1] == failed
    run_experiment(experiment, path, seeds=[0], methods=[broken])
    assert len(read_records(path)) == 2
    run_experiment(experiment, path, seeds=[0], methods=[broken], retry_failed=True)
    assert len(read_records(path)) == 3


def test_a_problem_that_cannot_be_made_is_a_failed_run():
    experiment = Experiment("bad", partial(get_problem, "nothing"), budget=3, n_initial=1)
    record = run_task(Task(experiment, "sobol", 0))
    assert record.status == "failed"
    assert "UnknownNameError" in record.error
    assert record.y == ()


def test_warnings_are_counted_and_do_not_escape(experiment):
    class Warns(ThirdTimeFails):
        name = "test-warns"

        def _propose(self, context):
            import warnings

            warnings.warn("careful", RuntimeWarning, stacklevel=1)
            return Proposal(np.full(context.data.dim, len(context.data) / 10), {}, {})

    if Warns.name not in optimizer_names():
        register_optimizer(Warns.name, Warns)
    record = run_task(Task(experiment, Warns.name, 0))
    assert record.status == "ok"
    assert record.warnings["RuntimeWarning"] == 4


def test_processes_give_what_one_process_gives(experiment, together, tmp_path):
    alone = run_experiment(experiment, tmp_path / "a.jsonl", seeds=[0])
    assert [without_times(r) for r in alone] == [without_times(r) for r in together]


@pytest.mark.parametrize("seeds", [[], [0, 0], [-1]])
def test_wrong_seeds(experiment, tmp_path, seeds):
    with pytest.raises(InvalidInputError, match="seeds"):
        run_experiment(experiment, tmp_path / "x.jsonl", seeds=seeds)


def test_wrong_methods_and_jobs(experiment, tmp_path):
    with pytest.raises(UnknownNameError, match="'sobol'"):
        run_experiment(experiment, tmp_path / "x.jsonl", seeds=[0], methods=["sobl"])
    with pytest.raises(InvalidInputError, match="distinct"):
        run_experiment(experiment, tmp_path / "x.jsonl", seeds=[0], methods=["gp", "gp"])
    with pytest.raises(InvalidInputError, match="jobs"):
        run_experiment(experiment, tmp_path / "x.jsonl", seeds=[0], jobs=0)
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_named_experiment_tells_what_is_known_of_its_problem(name):
    experiment = get_experiment(name)
    problem = experiment.problem(0)
    assert problem.name == name
    assert experiment.options_of("boring-thesis")["n_initial"] is None
    assert (problem.noise_std > 0.0) == ("-noise" in name or name.startswith("accelerator-"))
    if problem.effective_dim in (None, problem.dim):  # nothing to tell a method of
        assert not set(GIVEN_DIMENSION) & set(experiment.methods)
        assert all("effective_dim" not in experiment.options_of(m) for m in GIVEN_DIMENSION)
    else:
        for method in GIVEN_DIMENSION:
            assert experiment.options_of(method)["effective_dim"] == problem.effective_dim
    if problem.optimum is None:
        quiet = name.partition("-noise")[0]
        assert quiet in (*GROUPS["tasks"], *GROUPS["appendix"])
        assert not name.startswith(("matern-", "gabor-"))
        return
    values = problem(problem.optimizers)
    np.testing.assert_allclose(values, problem.optimum, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("branin-2-in-100-axis", 50),
        ("hartmann6-6-in-100-axis", 200),
        ("hartmann6-6-in-1000-axis", 200),
        ("hartmann6-6-in-1000", 200),
    ],
)
def test_budgets_of_published_studies(name, budget):
    assert get_experiment(name).budget == budget


def test_experiments_held_aside_are_part_of_no_comparison():
    assert set(HELD_ASIDE) <= set(EXPERIMENTS)
    assert not set(HELD_ASIDE) & {*NOISY, *OPTIMISATION_TABLE}


def test_a_third_of_the_problems_is_there_with_noise_too():
    noisy = ("-noise", "accelerator-")
    quiet = [name for name in EXPERIMENTS if not any(part in name for part in noisy)]
    assert 3 * len(NOISY) >= len(quiet)
    for name in NOISY:
        for percent in NOISE_PERCENT:
            noisy = get_experiment(f"{name}-noise{percent:02d}")
            assert noisy.budget == get_experiment(name).budget
            assert noisy.n_initial == get_experiment(name).n_initial


def test_unknown_experiment_suggests_the_near_one():
    with pytest.raises(UnknownNameError, match="Did you mean 'rosenbrock-5-in-10'"):
        get_experiment("rosenbrok-5-in-10")


def test_an_initial_design_longer_than_the_budget_is_refused():
    with pytest.raises(InvalidInputError, match="n_initial"):
        get_experiment("camelback-2-in-5").with_budget(7)


@dataclass(frozen=True)
class BudgetOptions:
    budget: int = 1


class Centre(RebuiltPeer):
    """Proposes the centre; its package can be made to vanish."""

    name = "test-centre"
    options_type = BudgetOptions
    requirement = Requirement("numpy", ("numpy",))

    def _load(self):
        pass

    def _suggest(self, points, costs, seed):
        return np.zeros(points.shape[1])


@pytest.fixture
def centre(monkeypatch):
    if Centre.name not in optimizer_names():
        register_optimizer(Centre.name, Centre)
    monkeypatch.setattr(Centre, "requirement", Requirement("nowhere", ("no_such_engine",)))
    return Centre.name


def test_a_method_that_is_not_installed_is_recorded_as_missing_and_tried_again(
    experiment, tmp_path, centre, monkeypatch
):
    path = tmp_path / "x.jsonl"
    sobol, missing = run_experiment(experiment, path, seeds=[0], methods=["sobol", centre])
    assert sobol.status == "ok"
    assert (missing.status, missing.y) == ("missing", ())
    assert missing.error.endswith("nowhere is not installed; to install it: " + PIP)
    size = len(read_records(path))
    run_experiment(experiment, path, seeds=[0], methods=[centre])
    assert len(read_records(path)) == size
    monkeypatch.setattr(Centre, "requirement", Requirement("numpy", ("numpy",)))
    (made,) = run_experiment(experiment, path, seeds=[0], methods=[centre])
    assert made.status == "ok"
    assert made.X[:2] == sobol.X[:2]
    assert len(read_records(path)) == size + 1


def test_a_method_with_a_budget_is_told_that_of_the_experiment(experiment, centre, monkeypatch):
    monkeypatch.setattr(Centre, "requirement", Requirement("numpy", ("numpy",)))
    assert run_task(Task(experiment, centre, 0)).options["resolved"]["budget"] == 6
    own = replace(experiment, options={centre: {"budget": 9}})
    assert run_task(Task(own, centre, 0)).options["resolved"]["budget"] == 9


def test_every_peer_gives_a_record_installed_or_not(experiment):
    for name in PEERS:
        record = run_task(Task(replace(experiment, budget=3, n_initial=3), name, 0))
        assert record.status == ("ok" if absence_of(name) is None else "missing"), record.error


def test_a_run_in_its_own_process_has_its_own_peak(together):
    if sys.platform == "linux":
        assert all(10 < record.peak_memory_mib < 1000 for record in together)
