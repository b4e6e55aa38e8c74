"""The Laplace approximation and the marginal GP: Hessian, derivatives, invariances."""

from __future__ import annotations

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import Ard, Free
from boring.kernels.profiles import MATERN52, SQUARED_EXPONENTIAL
from boring.models.gp import GaussianProcessModel
from boring.models.marginal import MarginalGP, log_posterior_hessian
from boring.models.priors import FLAT, Gaussian
from boring.testing import check_gradient

DIM, RANK, N = 4, 2, 15
PRIOR = Gaussian(0.0, 1.0)


def model(profile=SQUARED_EXPONENTIAL, feature_map=None, prior=PRIOR):
    term = KernelTerm(profile, feature_map or Free(DIM, RANK), "f", PRIOR, prior)
    return GaussianProcessModel(AdditiveKernel([term], 1.0), Gaussian(-4.0, 2.0))


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N, DIM))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], rng


def anywhere():
    X, y, rng = data()
    theta = np.concatenate([[0.2], rng.standard_normal(DIM * RANK), [-3.0]])
    return model(), theta, X, y, rng


def at_the_map():
    prior, theta, X, y, _ = anywhere()
    return MarginalGP(prior.condition(prior.fit(X, y, theta, max_iterations=500).theta, X, y))


def test_hessian_is_the_derivative_of_the_gradient():
    prior, theta, X, y, rng = anywhere()
    H = log_posterior_hessian(prior.condition(theta, X, y))
    for i in (0, 1, 4, len(theta) - 1):

        def entry(point, i=i):
            gradient = prior.negative_log_posterior(point, X, y)[1]
            return gradient[i], log_posterior_hessian(prior.condition(point, X, y))[i]

        check_gradient(entry, theta, rng, scale=0.3)
    np.testing.assert_allclose(H, H.T, atol=1e-10)


def test_the_check_of_the_hessian_can_fail():
    prior, theta, X, y, rng = anywhere()

    def wrong(point):
        gradient = prior.negative_log_posterior(point, X, y)[1]
        return gradient[1], log_posterior_hessian(prior.condition(point, X, y))[1] + 0.01

    with pytest.raises(AssertionError):
        check_gradient(wrong, theta, rng, scale=0.3)


def test_derivatives_of_mean_and_variance_in_the_parameters():
    prior, theta, X, y, rng = anywhere()
    x = rng.uniform(-1, 1, (1, DIM))
    for moment in (0, 1):

        def value(point, moment=moment):
            posterior = prior.condition(point, X, y)
            slopes = MarginalGP(posterior)._moments(x)[2 + moment]
            return float(posterior.predict(x)[moment][0]), slopes[0]

        check_gradient(value, theta, rng, scale=0.3)


def test_gradient_of_the_marginal_variance_in_x():
    marginal = at_the_map()
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, DIM)

    def variance(x):
        _, value, _, slope = marginal.predict_with_gradient(x[None, :])
        return float(value[0]), slope[0]

    check_gradient(variance, x, rng, scale=0.3)
    X = rng.uniform(-1, 1, (4, DIM))
    for one, other in zip(marginal.predict(X), marginal.predict_with_gradient(X), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_marginal_variance_is_the_formula_and_larger_than_at_the_map():
    marginal = at_the_map()
    X = np.random.default_rng(2).uniform(-1, 1, (50, DIM))
    mean, V = marginal.posterior.predict(X)
    m, _, g, h = marginal._moments(X)
    quadratic = [
        sum(u[i] @ marginal.covariance @ u[i] / c for u, c in ((g, 1.0), (h, 3 * V[i])))
        for i in range(50)
    ]
    found_mean, found = marginal.predict(X)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-10)
    np.testing.assert_allclose(m, mean, rtol=1e-10)
    np.testing.assert_allclose(found, 4 / 3 * V + quadratic, rtol=1e-9)
    assert np.all(found > V)
    assert np.all(marginal.information(X) > 0)


def test_rotations_of_the_features_change_nothing():
    marginal = at_the_map()
    posterior = marginal.posterior
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((RANK, RANK)))[0]
    theta = posterior.theta.copy()
    theta[1:-1] = (marginal.factor @ Q).ravel()
    turned = MarginalGP(posterior.model.condition(theta, posterior.X, posterior.y))
    X = np.random.default_rng(4).uniform(-1, 1, (20, DIM))
    np.testing.assert_allclose(turned.predict(X)[1], marginal.predict(X)[1], rtol=1e-6)
    # Predictions do not move along the rotation itself.
    M = marginal.factor
    tangent = (M @ np.array([[0.0, 1.0], [-1.0, 0.0]])).ravel()
    _, _, g, h = marginal._moments(X)
    np.testing.assert_allclose(g[:, 1:-1] @ tangent, 0.0, atol=1e-10)
    np.testing.assert_allclose(h[:, 1:-1] @ tangent, 0.0, atol=1e-10)


def test_no_direction_is_wider_than_the_prior_and_fixed_ones_have_no_width():
    marginal = at_the_map()
    sd = np.array([1.0, *([1.0] * DIM * RANK), 2.0])
    whitened = marginal.covariance / np.outer(sd, sd)
    assert np.linalg.eigvalsh(whitened)[-1] <= 1.0 + 1e-9
    posterior = marginal.posterior
    theta = posterior.theta.copy()
    theta[-1] = posterior.model.bounds[-1][0]
    floor = MarginalGP(posterior.model.condition(theta, posterior.X, posterior.y))
    np.testing.assert_array_equal(floor.covariance[-1], 0.0)


def test_other_kernels_and_priors_are_refused():
    X, y, _ = data()
    for other, message in (
        (model(MATERN52), "squared-exponential"),
        (model(feature_map=Ard(DIM)), "free factor"),
        (model(prior=FLAT), "normal prior"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            MarginalGP(other.condition(np.zeros(other.n_parameters), X, y))
