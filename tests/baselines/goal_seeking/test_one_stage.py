import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from baselines.goal_seeking.conditional_map import ConditionalMapOptimizer
from baselines.goal_seeking.one_stage import (
    NUGGET,
    OneStageLikelihood,
    seek_goal_by_process,
)
from boring.testing import check_gradient


def data(n=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = -((X[:, 0] - 0.3) ** 2) - X[:, 1] ** 2
    return X, (y - y.mean()) / y.std()


def joint_minus_marginal(X, y, goal, vector, mu, variance):
    """Return log p(y, y*) - log p(y*), from the process over data and point together."""
    points = np.vstack([X, vector[2:]]) / np.exp(vector[:2])
    K = np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(axis=2))
    K[:-1, :-1] += NUGGET * np.eye(len(y))
    joint = multivariate_normal(np.full(len(y) + 1, mu), variance * K)
    return joint.logpdf(np.append(y, goal)) - norm(mu, np.sqrt(variance)).logpdf(goal)


def test_likelihood_is_that_of_data_and_goal_less_that_of_the_goal():
    X, y = data()
    loss, vector = OneStageLikelihood(X, y, 2.0), np.array([-0.3, 0.2, 0.4, -0.1])
    mu, variance = loss.estimates(vector)
    expected = joint_minus_marginal(X, y, 2.0, vector, mu, variance)
    assert -loss(vector)[0] == pytest.approx(expected, rel=1e-8)


def test_mean_and_variance_are_the_best_ones():
    X, y = data()
    loss, vector = OneStageLikelihood(X, y, 2.0), np.array([-0.3, 0.2, 0.4, -0.1])
    mu, variance = loss.estimates(vector)
    best = minimize(
        lambda p: -joint_minus_marginal(X, y, 2.0, vector, p[0], np.exp(p[1])),
        [0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000},
    )
    np.testing.assert_allclose([mu, np.log(variance)], best.x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("W", [None, np.array([[0.6], [0.8]])])
def test_gradient_in_lengthscales_and_point(W):
    X, y = data(4)  # few, and far apart: well conditioned
    loss = OneStageLikelihood(X, y, 2.0, W)
    scales = np.full(loss.n_scales, -1.5)
    check_gradient(loss, np.append(scales, [0.4, -0.1]), np.random.default_rng(0), scale=0.05)


def test_goal_is_most_credible_near_the_optimum_of_a_smooth_function():
    X, y = data(12)
    starts = np.random.default_rng(2).uniform(-1, 1, (4, 2))
    raw = -((X[:, 0] - 0.3) ** 2) - X[:, 1] ** 2
    goal = (0.0 - raw.mean()) / raw.std()
    found = seek_goal_by_process(X, y, goal, starts)
    assert found.loss < found.first_loss
    np.testing.assert_allclose(found.x, [0.3, 0.0], atol=0.1)


def test_loop_offers_it():
    optimizer = ConditionalMapOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, infill="one-stage"
    )
    result = optimizer.run(lambda x: float(((x - 0.3) ** 2).sum()), 12, progress=False)
    assert "moved" in result.records[-1].info
    assert result.y_best < 1e-2
