from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from experiments.account import account_of, interval_coverage, true_importance
from experiments.config import get_experiment
from experiments.records import RunRecord
from experiments.runner import Task, run_task
from synthetic import Embedded, get_problem
from synthetic.any_dimension import styblinski_tang


def test_true_importance_of_a_symmetric_function_on_axes_is_shared_by_those():
    problem = Embedded(styblinski_tang(2), 5, axes=[1, 3])
    np.testing.assert_allclose(true_importance(problem), [0, 0.5, 0, 0.5, 0], atol=2e-3)


def test_derivatives_are_by_scaled_inputs():
    """The camelback is stretched: by raw inputs the shares would be others."""
    problem = get_problem("camelback-2")
    space = problem.space
    gradient = problem.gradient(space.sample(4000, np.random.default_rng(0))) * 0.5 * space.width
    expected = (gradient**2).mean(axis=0)
    np.testing.assert_allclose(true_importance(problem), expected / expected.sum(), atol=0.03)
    assert not np.allclose(space.width[0], space.width[1])


def test_no_gradient_no_truth():
    assert true_importance(get_problem("terraces-3-in-15", 0)) is None


def test_coverage_by_hand():
    interval = np.array([[0.0, 0.1], [0.5, 0.9], [0.2, 0.3], [0.00005, 0.1]])
    assert interval_coverage(interval, np.array([0.05, 0.9, 0.1, 0.0])) == 0.75


def test_no_estimate_no_account():
    account = account_of(None, None)
    assert (account.trusted, account.learned_dim, account.importance_interval) == (None,) * 3


def test_an_unchecked_estimate_has_no_interval():
    estimate = SimpleNamespace(
        trusted=False,
        effective_dim=1,
        trust={},
        importance=np.array([0.25, 0.75]),
        importance_interval=np.full((2, 2), np.nan),
    )
    account = account_of(estimate, get_problem("camelback-2"))
    assert account.importance == (0.25, 0.75)
    assert account.importance_interval is None
    assert account.importance_coverage is None
    known = replace_interval(estimate, [[0.0, 1.0], [0.0, 1.0]])
    assert account_of(known, get_problem("camelback-2")).importance_coverage == 1.0
    assert account_of(known, None).importance_coverage is None


def replace_interval(estimate, interval):
    return SimpleNamespace(**{**vars(estimate), "importance_interval": np.array(interval)})


@pytest.fixture(scope="module")
def run():
    experiment = replace(get_experiment("parabola-1-in-2"), budget=18)
    return run_task(Task(experiment, "boring", 0, keep_points=False))


def test_a_run_keeps_its_account_without_its_points(run):
    assert (run.status, run.X, run.true_basis) == ("ok", None, None)
    assert run.learned_dim == len(run.basis[0])
    assert run.largest_angle_degrees is not None
    assert len(run.importance_interval) == 2
    for share, (low, high) in zip(run.importance, run.importance_interval, strict=True):
        assert 0.0 <= low <= share <= high <= 1.0
    assert 0.0 <= run.importance_coverage <= 1.0
    assert set(run.trust)
    assert RunRecord.from_line(run.to_line()) == run


def test_a_line_leaves_out_what_follows_from_the_rest(run):
    line = run.to_line()
    assert '"value"' not in line
    assert '"simple_regret"' not in line
    noisy = replace(run, y=tuple(value + 0.5 for value in run.y))
    assert '"value"' in noisy.to_line()
    assert RunRecord.from_line(noisy.to_line()) == noisy
    odd = replace(run, simple_regret=tuple(2.0 * gap for gap in run.simple_regret))
    assert RunRecord.from_line(odd.to_line()) == odd
