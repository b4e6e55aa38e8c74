"""Augmented EI, expected quantile improvement and EI over draws against Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from boring.acquisition import (
    LogAugmentedExpectedImprovement,
    LogExpectedImprovement,
    LogExpectedQuantileImprovement,
    NormalDraws,
    SampledExpectedImprovement,
)
from boring.exceptions import InvalidInputError


@pytest.fixture
def observed(posterior):
    return posterior.X


def gain(mean, sd, incumbent):
    z = (mean - incumbent) / sd
    return sd * (norm.pdf(z) + z * norm.cdf(z))


def test_without_noise_both_are_expected_improvement(posterior, observed):
    points = np.random.default_rng(0).uniform(-1, 1, (20, 5))
    augmented = LogAugmentedExpectedImprovement(posterior, observed, 0.0, caution=0.0)
    best = posterior.predict(observed)[0].max()
    plain = LogExpectedImprovement(posterior, best)
    assert augmented.incumbent == best
    assert np.array_equal(augmented.value(points), plain.value(points))
    quantile = LogExpectedQuantileImprovement(posterior, observed, 0.0, quantile=0.5)
    assert quantile.value(points) == pytest.approx(plain.value(points), abs=1e-9)


def test_effective_best_weighs_uncertainty(linear_posterior):
    model = linear_posterior([1.0], [1.0])  # sd exp(x): the larger mean is the less sure
    X = np.array([[0.0], [1.0]])
    assert LogAugmentedExpectedImprovement(model, X, 0.1, caution=0.0).incumbent == 1.0
    assert LogAugmentedExpectedImprovement(model, X, 0.1, caution=1.0).incumbent == 0.0


def test_augmented_improvement_by_its_formula(posterior, observed):
    points = np.random.default_rng(1).uniform(-1, 1, (20, 5))
    noise = 0.3
    acquisition = LogAugmentedExpectedImprovement(posterior, observed, noise)
    mean, variance = posterior.predict(points)
    factor = 1 - np.sqrt(noise / (variance + noise))
    expected = gain(mean, np.sqrt(variance), acquisition.incumbent) * factor
    assert np.exp(acquisition.value(points)) == pytest.approx(expected, rel=1e-9)


def test_quantile_improvement_against_monte_carlo_of_the_next_observation():
    """One point: draw its noisy value, update by hand, take the quantile."""

    class One:
        def predict(self, X):
            return np.zeros(len(X)) + [0.4, 0.0][: len(X)], np.full(len(X), 0.5)

    noise, beta, rng = 0.2, 0.8, np.random.default_rng(2)
    acquisition = LogExpectedQuantileImprovement(One(), np.zeros((2, 1)), noise, beta)
    assert acquisition.incumbent == pytest.approx(0.4 - ndtri(beta) * np.sqrt(0.5))
    y = rng.normal(0.4, np.sqrt(0.5 + noise), 200000)
    after = 0.4 + 0.5 / (0.5 + noise) * (y - 0.4)
    quantile = after - ndtri(beta) * np.sqrt(0.5 * noise / (0.5 + noise))
    gains = np.maximum(quantile - acquisition.incumbent, 0.0)
    error = gains.std() / np.sqrt(len(gains))
    assert np.exp(acquisition.value(np.zeros((1, 1))))[0] == pytest.approx(
        gains.mean(), abs=4 * error
    )


@pytest.mark.parametrize("noise", [0.0, 1e-4, 0.5])
@pytest.mark.parametrize("kind", [LogAugmentedExpectedImprovement, LogExpectedQuantileImprovement])
def test_gradient_error_falls_with_the_square_of_the_step(
    kind, noise, posterior, observed, check_gradient
):
    acquisition = kind(posterior, observed, noise)
    points = np.random.default_rng(4).uniform(-0.8, 0.8, (3, 5))
    value, _ = acquisition.value_and_gradient(points)
    assert value == pytest.approx(acquisition.value(points), abs=1e-12)
    for x in points:
        assert check_gradient(acquisition.value_and_gradient, x) > 1.8
        assert check_gradient(acquisition.value_and_gradient, x, perturb=0.3) < 1.4


@pytest.mark.parametrize("kind", [LogAugmentedExpectedImprovement, LogExpectedQuantileImprovement])
@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8])
def test_values_stay_finite_at_extreme_scales(kind, scale, linear_posterior):
    model = linear_posterior([1.0], [0.0], scale=scale)
    acquisition = kind(model, np.array([[0.5]]), 0.1)
    value, slope = acquisition.value_and_gradient(np.array([[0.0], [0.5], [1.0]]))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()


def test_noise_favours_the_unknown_over_the_known(posterior, observed):
    """Augmented EI discounts a point that was observed much more than one far away."""
    plain = LogAugmentedExpectedImprovement(posterior, observed, 0.0)
    noisy = LogAugmentedExpectedImprovement(posterior, observed, 0.2)
    discount = [
        plain.value(x[None, :])[0] - noisy.value(x[None, :])[0] for x in (observed[0], -np.ones(5))
    ]
    assert discount[0] > discount[1] + 1.0


def test_improvement_over_draws_tends_to_the_closed_form(posterior):
    points = np.random.default_rng(5).uniform(-1, 1, (10, 5))
    mean, variance = posterior.predict(points)
    incumbent = float(np.median(mean))
    levels = ndtri((np.arange(4000) + 0.5) / 4000)
    acquisition = SampledExpectedImprovement(NormalDraws(posterior, levels), incumbent)
    expected = gain(mean, np.sqrt(variance), incumbent)
    assert acquisition.value(points) == pytest.approx(expected, rel=2e-3, abs=1e-6)


def test_improvement_over_draws_has_a_right_gradient_and_vanishes_where_none_improves(
    posterior, check_gradient
):
    normals = np.random.default_rng(6).standard_normal(50)
    draws = NormalDraws(posterior, normals)
    acquisition = SampledExpectedImprovement(draws, -3.0)
    x = np.full(5, 0.2)
    assert draws.draws(x[None, :]) == pytest.approx(draws.draws_with_gradient(x[None, :])[0])
    assert check_gradient(acquisition.value_and_gradient, x) > 1.8
    hopeless = SampledExpectedImprovement(draws, 100.0)
    value, slope = hopeless.value_and_gradient(x[None, :])
    assert value.tolist() == [0.0]
    assert not slope.any()


def test_bad_arguments_are_named(posterior, observed):
    with pytest.raises(InvalidInputError, match="noise_variance"):
        LogAugmentedExpectedImprovement(posterior, observed, -1.0)
    with pytest.raises(InvalidInputError, match="caution"):
        LogAugmentedExpectedImprovement(posterior, observed, 1.0, caution=np.nan)
    with pytest.raises(InvalidInputError, match="quantile"):
        LogExpectedQuantileImprovement(posterior, observed, 1.0, quantile=0.4)
    with pytest.raises(InvalidInputError, match="observed points"):
        LogExpectedQuantileImprovement(posterior, observed[:0], 1.0)
    with pytest.raises(InvalidInputError, match="incumbent"):
        SampledExpectedImprovement(NormalDraws(posterior, np.zeros(1)), np.inf)
