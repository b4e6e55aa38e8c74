"""Networks, masks and priors against NumPy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from baselines.neural.implicit.layers import random_seed, single_precision
from baselines.neural.implicit.regression import RegressionTarget, TanhNetworks, padded
from baselines.neural.implicit.training import Training, sample, train
from boring.testing import check_gradient

pytest.importorskip("jax")


def draws(target, data, n=3, seed=0):
    with single_precision():
        return np.asarray(target.reference(random_seed(np.random.default_rng(seed)), n, data))


def plain(theta, X, d, H):
    W, b = theta[: d * H].reshape(d, H), theta[d * H : (d + 1) * H]
    return np.tanh(X @ W + b) @ theta[(d + 1) * H : -1] + theta[-1]


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    return rng.standard_normal((5, 2)), rng.standard_normal(5)


def test_padding_changes_neither_outputs_nor_likelihood_nor_prior(problem):
    X, y = problem
    H, data = padded(X, y)
    target = RegressionTarget(2, H)
    theta = draws(target, data)
    exists = np.flatnonzero(data[3])
    for one in theta:
        small = one[exists].astype(float)  # a network of exactly 2 n units
        with single_precision():
            f = np.asarray(target.predict(one[None], data[0]))[0, :5]
            cost = float(target.cost(one[None], data, 0.0)[0])
            prior = float(target.log_prior(one[None], data)[0])
        expected = plain(small, X, 2, 10)
        np.testing.assert_allclose(f, expected, rtol=1e-3, atol=1e-3)
        assert cost == pytest.approx(0.5 * ((y - expected) ** 2).sum(), rel=1e-3)
        density = 0.2 * norm.pdf(small) + 0.8 * norm.pdf(small, scale=5)
        constant = np.log(np.sqrt(2 * np.pi)) * len(small)
        assert prior == pytest.approx(np.log(density).sum() + constant, rel=1e-4)


def test_noise_is_annealed_from_one_to_its_last_value(problem):
    target = RegressionTarget(2, 4)
    assert [target.noise(0.0), target.noise(1.0)] == pytest.approx([1.0, 0.002])
    assert target.noise(0.5) == pytest.approx(np.sqrt(0.002))
    assert target.weight(0.5) == pytest.approx(0.002)


def test_members_are_the_trained_networks_in_units_of_the_caller(problem):
    X, y = problem
    H, data = padded(X, y)
    target = RegressionTarget(2, H)
    theta = draws(target, data)
    centre, scale = np.array([0.3, -0.2]), np.array([2.0, 0.5])
    networks = TanhNetworks(theta, 2, centre, scale, 1.5, 3.0)
    raw = X * scale + centre
    with single_precision():
        f = np.asarray(target.predict(theta, data[0]))[:, :5]
    np.testing.assert_allclose(networks.members(raw), 1.5 + 3.0 * f.T, rtol=1e-3, atol=1e-3)
    outputs, _ = networks.members_with_gradient(raw)
    np.testing.assert_allclose(outputs, networks.members(raw), atol=1e-10)
    weights = np.random.default_rng(2).standard_normal((5, 3))

    def weighted(x):
        outputs, slopes = networks.members_with_gradient(x)
        return float((weights * outputs).sum()), (weights[..., None] * slopes).sum(axis=1)

    check_gradient(weighted, 0.1 * raw, np.random.default_rng(3), scale=0.02, tolerance=1e-5)


def test_linear_network_finds_the_conjugate_posterior():
    rng = np.random.default_rng(4)
    n, noise = 12, 0.5
    X = rng.standard_normal((n, 1)).astype(np.float32)
    y = (0.7 * X[:, 0] - 0.4 + noise * rng.standard_normal(n)).astype(np.float32)
    target = RegressionTarget(1, 0, ((1.0, 1.0),), noise, noise, generator_width=32)
    data = (X, y, np.ones(n, np.float32), np.ones(2, np.float32))
    settings = Training(800, 3, 256, rate=2e-3, critic_rate=2e-3, kappa=0.0)
    with single_precision():
        found = train(target, settings, random_seed(rng), data)
        theta = sample(target, found.generator, random_seed(rng), 4000, data)
    theta = np.asarray(theta, dtype=float)
    design = np.column_stack([X[:, 0], np.ones(n)]).astype(float)
    covariance = np.linalg.inv(np.eye(2) + design.T @ design / noise**2)
    mean = covariance @ design.T @ y / noise**2
    sd = np.sqrt(covariance.diagonal())
    assert (np.abs(theta.mean(axis=0) - mean) / sd).max() < 0.25
    np.testing.assert_allclose(theta.std(axis=0) / sd, 1.0, atol=0.15)
