"""Moments under an uncertain input, against quadrature that knows nothing of the formulas."""

from __future__ import annotations

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import Ard, ProjectedArd
from boring.kernels.profiles import MATERN32, SQUARED_EXPONENTIAL
from boring.models.gp import GaussianProcessModel
from boring.models.propagation import NormalInput, UniformInput, propagate
from boring.subspace.stiefel import random_frame


def posterior(profile, dim=2, constant=0.5, seed=0, feature_map=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (12, dim))
    y = np.sin(2 * X[:, 0]) + X[:, -1] ** 2
    feature_map = feature_map or Ard(dim)
    kernel = AdditiveKernel([KernelTerm(profile, feature_map)], constant)
    theta = np.array([0.3, *([-0.4] * feature_map.n_parameters), -4.0])
    return GaussianProcessModel(kernel).condition(theta, X, y)


def by_quadrature(gp, nodes, weights):
    """Moments of f at weighted nodes from the joint posterior covariance."""
    cross = gp.model.kernel.matrix(gp.theta, nodes, gp.X)
    A = gp.model.kernel.matrix(gp.theta, gp.X) + gp.noise_variance * np.eye(len(gp.X))
    mean = cross @ np.linalg.solve(A, gp.y)
    covariance = gp.model.kernel.matrix(gp.theta, nodes) - cross @ np.linalg.solve(A, cross.T)
    first, spread = weights @ mean, weights @ covariance @ weights
    return first, np.sqrt(spread), weights @ (mean**2 + np.diag(covariance)) - first**2 - spread


def tensor(rule, n):
    x, w = rule(n)
    nodes = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.outer(w, w).ravel()
    return nodes, weights / weights.sum()


def test_closed_form_equals_gauss_hermite_quadrature():
    gp = posterior(SQUARED_EXPONENTIAL)
    mean, root = np.array([0.2, -0.1]), np.array([[0.5, 0.0], [0.2, 0.3]])
    nodes, weights = tensor(np.polynomial.hermite_e.hermegauss, 30)
    expected = by_quadrature(gp, mean + nodes @ root.T, weights)
    found = propagate(gp, NormalInput(mean, root @ root.T), rng=np.random.default_rng(0))
    assert found.closed_form
    np.testing.assert_allclose((found.mean, found.mean_std, found.variance), expected, rtol=1e-8)


def test_closed_form_holds_in_a_subspace_of_many_inputs():
    # z = W'x is normal in two dimensions, where quadrature is possible again.
    dim = 6
    W = random_frame(dim, 2, np.random.default_rng(1))
    gp = posterior(SQUARED_EXPONENTIAL, dim, feature_map=ProjectedArd(W))
    sd = np.linspace(0.2, 0.6, dim)
    root = np.linalg.cholesky(W.T @ np.diag(sd**2) @ W)
    nodes, weights = tensor(np.polynomial.hermite_e.hermegauss, 30)
    expected = by_quadrature(gp, nodes @ root.T @ W.T, weights)
    found = propagate(gp, NormalInput(np.zeros(dim), sd**2), rng=np.random.default_rng(0))
    np.testing.assert_allclose((found.mean, found.mean_std, found.variance), expected, rtol=1e-8)


def test_quasi_random_points_come_near_gauss_legendre_quadrature():
    gp = posterior(MATERN32)
    nodes, weights = tensor(np.polynomial.legendre.leggauss, 24)
    expected = by_quadrature(gp, nodes, weights)
    found = propagate(gp, UniformInput(2), rng=np.random.default_rng(0))
    assert not found.closed_form
    np.testing.assert_allclose((found.mean, found.mean_std, found.variance), expected, rtol=5e-3)


def test_both_ways_agree_for_a_normal_input():
    law = NormalInput(np.array([0.1, 0.0]), np.array([0.2, 0.1]))
    gp = posterior(SQUARED_EXPONENTIAL, constant=0.0)
    exact = propagate(gp, law, rng=np.random.default_rng(0))

    class Same:
        dim = 2
        points = staticmethod(law.points)

    sampled = propagate(gp, Same(), rng=np.random.default_rng(1))
    assert exact.closed_form
    assert not sampled.closed_form
    np.testing.assert_allclose(
        (exact.mean, exact.mean_std, exact.variance),
        (sampled.mean, sampled.mean_std, sampled.variance),
        rtol=5e-3,
    )
    assert exact.values.mean() == pytest.approx(exact.mean, abs=1e-3)


def test_units_of_values_carry_through():
    gp = posterior(SQUARED_EXPONENTIAL)
    law = NormalInput(np.zeros(2), np.full(2, 0.1))
    one = propagate(gp, law, rng=np.random.default_rng(0))
    other = propagate(gp, law, rng=np.random.default_rng(0), center=3.0, spread=10.0)
    assert other.mean == pytest.approx(3.0 + 10.0 * one.mean)
    assert other.mean_std == pytest.approx(10.0 * one.mean_std)
    assert other.variance == pytest.approx(100.0 * one.variance)
    np.testing.assert_allclose(other.values, 3.0 + 10.0 * one.values)


def test_normal_points_have_the_stated_moments():
    covariance = np.array([[0.5, 0.2], [0.2, 0.3]])
    points = NormalInput(np.array([1.0, -1.0]), covariance).points(4096, np.random.default_rng(0))
    np.testing.assert_allclose(points.mean(axis=0), [1.0, -1.0], atol=5e-3)
    np.testing.assert_allclose(np.cov(points.T), covariance, atol=5e-3)


def test_bad_laws_are_refused():
    gp = posterior(MATERN32)
    with pytest.raises(InvalidInputError, match="dimensions"):
        propagate(gp, UniformInput(3), rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="semi-definite"):
        NormalInput(np.zeros(2), np.array([1.0, -1.0]))
    with pytest.raises(InvalidInputError, match="symmetric"):
        NormalInput(np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(InvalidInputError, match="shape"):
        NormalInput(np.zeros(2), np.ones(3))
