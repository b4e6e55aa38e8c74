"""One-stage goal seeking: its likelihood is a conditional one, with the right gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from baselines.goal_seeking.goal_ladder import (
    NUGGET,
    GoalSeekingOptimizer,
    conditional_log_likelihood,
    screen,
)
from boring.exceptions import InvalidInputError
from boring.kernels import get_profile
from boring.registry import get_optimizer
from boring.testing import check_gradient

PROFILE = get_profile("matern52")


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (9, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1], rng.uniform(-1, 1, 2), np.log([0.6, 0.9]), rng


def correlations(A, B, scales):
    gaps = (A[:, None, :] - B) / np.exp(scales)
    return PROFILE.value(np.sum(gaps**2, axis=2))


def test_it_is_the_joint_likelihood_less_that_of_the_goal(setting):
    """Mean and variance found numerically in place of their closed forms."""
    X, y, x, scales, _ = setting
    goal, n = 2.0, len(y)
    points = np.vstack([X, x])
    K = correlations(points, points, scales) + NUGGET * np.diag([1.0] * n + [0.0])

    def conditional(parameters):
        mean, log_variance = parameters
        variance = np.exp(log_variance)
        joint = multivariate_normal(np.full(n + 1, mean), variance * K)
        alone = multivariate_normal(mean, variance)
        return joint.logpdf(np.append(y, goal)) - alone.logpdf(goal)

    found = minimize(
        lambda p: -conditional(p),
        [0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000},
    )
    ours, _, _ = conditional_log_likelihood(x, scales, X, y, goal, PROFILE)
    constants = -0.5 * n * (np.log(2 * np.pi) + 1)
    assert ours + constants == pytest.approx(-found.fun, abs=1e-8)


def test_gradients_by_the_order_of_their_error(setting):
    X, y, x, scales, rng = setting

    def function(flat):
        value, by_x, by_scales = conditional_log_likelihood(*np.split(flat, 2), X, y, 1.7, PROFILE)
        return value, np.concatenate([by_x, by_scales])

    flat = np.concatenate([x, scales])
    check_gradient(function, flat, rng, scale=0.1)
    with pytest.raises(AssertionError):
        check_gradient(lambda f: (function(f)[0], 1.01 * function(f)[1]), flat, rng, scale=0.1)


def test_values_at_the_point_itself_are_the_goal_and_noise():
    # Every correlation with x is 1: y ~ N(goal, s^2 NUGGET I) whatever the mean, s^2 its best.
    X, y, goal = np.tile([[0.3, 0.2]], (4, 1)), np.array([0.1, -1.0, 0.4, 0.0]), 0.8
    value, *slopes = conditional_log_likelihood(X[0], np.zeros(2), X, y, goal, PROFILE)
    spread = np.sqrt(np.mean((y - goal) ** 2))
    expected = norm(goal, spread).logpdf(y).sum() + 2.0 * (np.log(2 * np.pi) + 1)
    assert value == pytest.approx(expected, rel=1e-8)
    assert np.isfinite(slopes).all()


def test_the_screen_gives_the_same_values(setting):
    X, y, _, scales, rng = setting
    candidates = rng.uniform(-1, 1, (12, 2))
    ours = screen(candidates, scales, X, y, 1.7, PROFILE)
    alone = [conditional_log_likelihood(x, scales, X, y, 1.7, PROFILE)[0] for x in candidates]
    assert ours == pytest.approx(alone, rel=1e-8)


def test_a_higher_goal_is_sought_further_away():
    """On one input with values that rise to the right, near the edge of what was seen."""
    X = np.linspace(-1, 0.2, 7)[:, None]
    y = np.sin(2 * X[:, 0])
    grid = np.linspace(0.22, 1, 200)[:, None]
    scales = np.log([0.5])
    best = [
        grid[np.argmax(screen(grid, scales, X, y, y.max() + step, PROFILE)), 0]
        for step in (0.05, 0.3)
    ]
    assert best[0] < best[1]


def test_goals_are_taken_in_turn():
    optimizer = GoalSeekingOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, n_initial=6, goals=(0.1, 1.0)
    )
    records = optimizer.run(lambda x: float(((x - 0.3) ** 2).sum()), 16, progress=False).records
    goals = [record.info["goal"] for record in records[6:]]
    assert all(high > low for low, high in zip(goals[::2], goals[1::2], strict=True))
    assert optimizer.result().y_best < 0.02


@pytest.mark.filterwarnings("ignore::boring.exceptions.DuplicatePointWarning")
@pytest.mark.parametrize(
    ("name", "options"), [("goal-seeking", {}), ("conditional-map", {"infill": "one-stage"})]
)
def test_repetitions_of_one_point_are_enough_to_go_on(name, options):
    space = [(-1, 1)] * 2
    optimizer = get_optimizer(name)(space, direction="minimize", seed=0, n_initial=1, **options)
    optimizer.tell(np.tile([[0.3, 0.2]], (6, 1)), np.arange(6.0))
    assert not np.allclose(optimizer.ask(), [0.3, 0.2])


@pytest.mark.parametrize("goals", [(), (0.0,), (0.1, -1.0)])
def test_goals_must_lie_above_the_best_value(goals):
    with pytest.raises(InvalidInputError, match="goals"):
        GoalSeekingOptimizer([(-1, 1)] * 2, direction="minimize", goals=goals)
