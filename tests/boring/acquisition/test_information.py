"""Information about the optimum against quadrature, Monte Carlo and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import norm

from boring.acquisition import (
    LogEntropySearch,
    LogMaxValueEntropy,
    LogProbabilityOfImprovement,
    draw_jointly,
    gaussian_mutual_information,
)
from boring.acquisition.information import log_max_value_gain
from boring.exceptions import InvalidInputError


class Constant:
    """One mean and one variance everywhere."""

    def __init__(self, mean, variance):
        self.mean, self.variance = mean, variance

    def predict(self, X):
        return np.full(len(X), self.mean), np.full(len(X), self.variance)


@pytest.mark.parametrize("rho", [0.0, -0.5, 0.9])
def test_mutual_information_of_two_normal_variables_by_quadrature(rho):
    def integrand(y, x):
        r2 = 1 - rho**2
        log_joint = -0.5 * (x * x - 2 * rho * x * y + y * y) / r2 - np.log(2 * np.pi * np.sqrt(r2))
        log_apart = -0.5 * (x * x + y * y) - np.log(2 * np.pi)
        return np.exp(log_joint) * (log_joint - log_apart)

    expected = dblquad(integrand, -8, 8, -8, 8, epsabs=1e-7)[0]
    assert gaussian_mutual_information(rho) == pytest.approx(expected, abs=1e-6)


def test_mutual_information_at_its_ends_and_beyond():
    assert gaussian_mutual_information(np.array([1.0, -1.0])).tolist() == [np.inf, np.inf]
    with pytest.raises(InvalidInputError, match="correlation"):
        gaussian_mutual_information(1.1)


def test_probability_of_improvement_is_the_share_of_draws_that_improve():
    mean, sd, incumbent, margin = 0.3, 0.7, 0.8, 0.1
    draws = np.random.default_rng(0).normal(mean, sd, 200000)
    share = (draws >= incumbent + margin).mean()
    value = LogProbabilityOfImprovement(Constant(mean, sd**2), incumbent, margin).value(
        np.zeros((1, 2))
    )
    error = np.sqrt(share * (1 - share) / len(draws))
    assert np.exp(value[0]) == pytest.approx(share, abs=4 * error)


@pytest.mark.parametrize("gamma", [-350.0, -250.0, -30.0, -5.0, -0.3, 0.0, 1.0, 4.0])
def test_gain_is_the_entropy_that_truncation_takes(gamma):
    """H of N(0, 1) less H of N(0, 1) cut off above gamma, the latter by quadrature."""

    def surprise(t):
        log_density = norm.logpdf(t) - norm.logcdf(gamma)
        return -np.exp(log_density) * log_density

    depth = 40.0 / max(1.0, -gamma)
    after = quad(surprise, gamma - depth, gamma, epsabs=1e-11, limit=200)[0]
    value = log_max_value_gain(np.array([gamma]))[0][0]
    assert np.exp(value) == pytest.approx(norm.entropy() - after, rel=1e-6)


def test_gain_by_quadrature_in_the_tail():
    gamma = 7.0
    # -E[log q] of the truncated density q = phi / Phi, written so that nothing cancels.
    log_share = np.log1p(-norm.sf(gamma))
    tail = quad(lambda t: norm.pdf(t) * -norm.logpdf(t), gamma, 40, epsabs=0, epsrel=1e-10)[0]
    below = norm.entropy() - tail
    taken = norm.entropy() - (below / norm.cdf(gamma) + log_share)
    assert np.exp(log_max_value_gain(np.array([gamma]))[0][0]) == pytest.approx(taken, rel=1e-3)


@pytest.mark.parametrize("gamma", [-1e60, -301, -299, 5.9999, 6.0001, 30.0, 1e60])
def test_gain_is_smooth_where_its_forms_meet_and_finite_far_out(gamma):
    value, slope = log_max_value_gain(np.array([gamma]))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    if abs(gamma) < 1000:
        h = 1e-4
        near = log_max_value_gain(np.array([gamma - h, gamma + h]))[0]
        assert slope[0] == pytest.approx((near[1] - near[0]) / (2 * h), rel=2e-5)


@pytest.mark.parametrize("gamma", [1e4, 1e6, 1e8, 1e60])
def test_slope_far_out_in_the_upper_tail_is_that_of_the_series(gamma):
    # 1 - Phi = phi (1 / gamma - ...): g = phi (gamma / 2 + 1 / gamma - ...).
    assert log_max_value_gain(np.array([gamma]))[1][0] == pytest.approx(-gamma + 1 / gamma)
    sd = 0.5 / gamma

    class Slope:
        def predict(self, X):
            return X[:, 0], np.full(len(X), sd**2)

        def predict_with_gradient(self, X):
            return *self.predict(X), np.ones((len(X), 1)), np.zeros((len(X), 1))

    # Two equal draws of the largest value are one.
    _, gradient = LogMaxValueEntropy(Slope(), np.full(2, 0.5)).value_and_gradient(np.zeros((1, 1)))
    assert gradient[0, 0] == pytest.approx(gamma / sd)


def test_max_value_entropy_is_the_information_on_a_grid(posterior):
    """I(f; f*) of a single draw of the largest value: entropies of densities by quadrature."""
    mean, sd = 0.2, 0.6
    maxima = np.array([0.5, 1.4])
    grid = np.linspace(mean - 8 * sd, mean + 8 * sd, 400001)
    before = norm.pdf(grid, mean, sd)
    gains = []
    for top in maxima:
        after = np.where(grid < top, before, 0.0) / norm.cdf(top, mean, sd)
        logs = np.log(np.where(after > 0, after, 1.0))
        gains.append(norm.entropy(mean, sd) + np.trapezoid(after * logs, grid))
    value = LogMaxValueEntropy(Constant(mean, sd**2), maxima).value(np.zeros((1, 1)))
    assert np.exp(value[0]) == pytest.approx(np.mean(gains), abs=1e-4)


def test_joint_covariance_is_direct_conditioning_and_pulls_back(posterior):
    rng = np.random.default_rng(1)
    X, others = rng.uniform(-1, 1, (3, 5)), rng.uniform(-1, 1, (4, 5))
    kernel, theta = posterior.model.kernel, posterior.theta
    K = kernel.matrix(theta, posterior.X) + posterior.noise_variance * np.eye(25)
    cross, far = (kernel.matrix(theta, points, posterior.X) for points in (X, others))
    expected = kernel.matrix(theta, X, others) - cross @ np.linalg.solve(K, far.T)
    assert posterior.covariance(X, others) == pytest.approx(expected, abs=1e-8)
    diagonal = posterior.covariance(X, X).diagonal()
    assert diagonal == pytest.approx(posterior.predict(X)[1], abs=1e-8)
    value, pullback = posterior.covariance_with_pullback(X, others)
    assert value == pytest.approx(expected, abs=1e-8)
    w = rng.standard_normal((3, 4))
    gradient, h = pullback(w), 1e-5
    for d in range(5):
        step = h * np.eye(5)[d]
        moved = posterior.covariance(X + step, others) - posterior.covariance(X - step, others)
        assert gradient[:, d] == pytest.approx((w * moved).sum(axis=1) / (2 * h), abs=1e-7)


def test_draws_have_the_joint_moments(posterior):
    points = np.random.default_rng(2).uniform(-1, 1, (3, 5))
    draws = draw_jointly(posterior, points, 40000, np.random.default_rng(3))
    sd = np.sqrt(posterior.predict(points)[1])
    assert draws.values.mean(axis=0) == pytest.approx(posterior.predict(points)[0], abs=5e-3)
    covariance = np.cov(draws.values.T)
    assert np.abs(covariance - posterior.covariance(points, points)).max() < 0.05 * sd.max() ** 2


def binary_entropy(p):
    return -sum(q * np.log(q) for q in (p, 1 - p) if q > 0)


def test_entropy_search_between_two_representers_by_quadrature(posterior):
    """With two representers p(first is best) is one normal probability, before and after y."""
    rng = np.random.default_rng(4)
    pair, noise = rng.uniform(-1, 1, (2, 5)), 0.02
    draws = draw_jointly(posterior, pair, 4000, rng)
    acquisition = LogEntropySearch(posterior, draws, rng.standard_normal(4000), noise)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights /= weights.sum()
    for x in [pair[0], 0.5 * pair.sum(axis=0), rng.uniform(-1, 1, 5)]:
        mean = posterior.predict(pair)[0]
        C = posterior.covariance(pair, pair)
        variance = posterior.predict(x[None, :])[1][0] + noise
        v = posterior.covariance(x[None, :], pair)[0] / np.sqrt(variance)
        spread = C[0, 0] + C[1, 1] - 2 * C[0, 1]
        before = binary_entropy(norm.cdf((mean[0] - mean[1]) / np.sqrt(spread)))
        left = np.sqrt(spread - (v[0] - v[1]) ** 2)
        p = norm.cdf((mean[0] - mean[1] + nodes * (v[0] - v[1])) / left)
        after = sum(w * binary_entropy(q) for w, q in zip(weights, p, strict=True))
        gain = np.exp(acquisition.value(x[None, :])[0])
        assert gain == pytest.approx(before - after, rel=0.1, abs=0.003)


def test_entropy_search_against_brute_force_of_the_next_observation(posterior):
    """Many representers: condition the process on each next value, draw anew, count the best."""
    rng = np.random.default_rng(5)
    points, x = rng.uniform(-1, 1, (6, 5)), rng.uniform(-1, 1, 5)
    noise = posterior.noise_variance
    draws = draw_jointly(posterior, points, 3000, rng)
    acquisition = LogEntropySearch(posterior, draws, rng.standard_normal(3000), noise)
    mean, variance = posterior.predict(x[None, :])
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    weights /= weights.sum()
    shares = []
    for node in nodes:
        value = float(mean[0] + np.sqrt(variance[0] + noise) * node)
        after = draw_jointly(posterior.append(x, value), points, 20000, rng).values
        shares.append(np.bincount(after.argmax(axis=1), minlength=6) / 20000)
    before = weights @ np.array(shares)

    def entropy(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    expected = entropy(before) - sum(w * entropy(p) for w, p in zip(weights, shares, strict=True))
    assert np.exp(acquisition.value(x[None, :])[0]) == pytest.approx(expected, rel=0.15)


def acquisitions(posterior, noise):
    rng = np.random.default_rng(6)
    draws = draw_jointly(posterior, rng.uniform(-1, 1, (20, 5)), 50, rng)
    floor = posterior.y.max() + 5 * np.sqrt(posterior.noise_variance)
    yield LogMaxValueEntropy(posterior, np.maximum(draws.values.max(axis=1), floor))
    yield LogEntropySearch(posterior, draws, rng.standard_normal(50), noise)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_gradient_error_falls_with_the_square_of_the_step(noise, posterior, check_gradient):
    points = np.random.default_rng(7).uniform(-0.8, 0.8, (3, 5))
    for acquisition in acquisitions(posterior, noise):
        value, _ = acquisition.value_and_gradient(points)
        assert value == pytest.approx(acquisition.value(points), abs=1e-9)
        for x in points:
            assert check_gradient(acquisition.value_and_gradient, x) > 1.8
            assert check_gradient(acquisition.value_and_gradient, x, perturb=0.3) < 1.4


def test_little_is_learned_where_the_function_is_known(posterior):
    for acquisition in acquisitions(posterior, posterior.noise_variance):
        known = acquisition.value_and_gradient(posterior.X[:5])
        unknown = acquisition.value(np.random.default_rng(8).uniform(-1, 1, (40, 5)))
        assert np.isfinite(known[0]).all()
        assert np.isfinite(known[1]).all()
        assert np.median(unknown) > known[0].max()


def test_bad_arguments_are_named(posterior):
    draws = draw_jointly(posterior, np.zeros((2, 5)), 3, np.random.default_rng(9))
    with pytest.raises(InvalidInputError, match="maxima"):
        LogMaxValueEntropy(posterior, np.array([np.nan]))
    with pytest.raises(InvalidInputError, match="extra"):
        LogEntropySearch(posterior, draws, np.zeros(2), 0.1)
    with pytest.raises(InvalidInputError, match="noise_variance"):
        LogEntropySearch(posterior, draws, np.zeros(3), -0.1)
    with pytest.raises(InvalidInputError, match="points"):
        draw_jointly(posterior, np.zeros((0, 5)), 3, np.random.default_rng(9))
