"""Where chains begin: exact draws for a linear model, and on the data for a network."""

import numpy as np

from baselines.neural.anchored import anchored_positions
from baselines.neural.network import Network
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.surrogate import posterior_at


def test_maxima_of_a_linear_model_are_draws_of_its_posterior():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (9, 2))
    y = X @ [1.0, -0.5] + 0.3 + 0.4 * rng.standard_normal(9)
    scale, noise = 1.5, 0.4
    model = NetworkModel(Network(2, ()), WeightPrior("gaussian", scale), Noise("fixed", noise))
    n = 3000
    found = scale * anchored_positions(model, model.draw(rng, n), 600, padded(X, y), rng)
    inputs = np.column_stack([X, np.ones(9)])
    covariance = np.linalg.inv(inputs.T @ inputs / noise**2 + np.eye(3) / scale**2)
    mean = covariance @ inputs.T @ y / noise**2
    errors = np.sqrt(np.diag(covariance) / n)
    assert np.all(np.abs(found.mean(axis=0) - mean) < 4 * errors)
    sds = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(
        np.cov(found.T) / np.outer(sds, sds), covariance / np.outer(sds, sds), atol=0.12
    )


def test_networks_follow_the_data_and_differ_between_them():
    X = np.linspace(-0.9, -0.1, 8)[:, None]
    y = np.sin(4 * X[:, 0])
    model = NetworkModel(Network(1, (20,)), WeightPrior("fan-in", 2.0), Noise("fixed", 0.05))
    rng = np.random.default_rng(1)
    anchors = model.draw(rng, 12)
    start = posterior_at(model, anchors)
    found = posterior_at(model, anchored_positions(model, anchors, 300, padded(X, y), rng))
    assert np.abs(found.members(X) - y[:, None]).mean() < 0.1
    assert np.abs(start.members(X) - y[:, None]).mean() > 0.5
    assert found.members(np.array([[0.9]])).std() > 0.5
