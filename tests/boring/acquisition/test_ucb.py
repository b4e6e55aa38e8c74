from __future__ import annotations

import numpy as np
import pytest

from boring.acquisition.ucb import (
    AdditiveUpperConfidenceBound,
    ConstantBeta,
    FiniteGpUcbBeta,
    GpUcbBeta,
    GroupBeta,
    LowerConfidenceBound,
    UpperConfidenceBound,
)
from boring.exceptions import InvalidInputError


class AnalyticComponents:
    """Two summands with means and variances given by formulas, gradients by hand."""

    def components(self, X):
        a, b = X[:, 0], X[:, 1]
        return np.stack([np.sin(a), b**2], 1), np.stack([np.exp(a), 1 + b**2], 1)

    def components_with_gradient(self, X):
        means, variances = self.components(X)
        mean_slopes, variance_slopes = np.zeros((2, len(X), 2, 2))
        mean_slopes[:, 0, 0], mean_slopes[:, 1, 1] = np.cos(X[:, 0]), 2 * X[:, 1]
        variance_slopes[:, 0, 0], variance_slopes[:, 1, 1] = np.exp(X[:, 0]), 2 * X[:, 1]
        return means, variances, mean_slopes, variance_slopes


class OnlyValues:
    def __init__(self, posterior):
        self.components = posterior.components


def test_bound_is_mean_plus_beta_standard_deviations(posterior):
    X = np.random.default_rng(0).uniform(-1, 1, (20, 5))
    mean, variance = posterior.predict(X)
    np.testing.assert_allclose(
        UpperConfidenceBound(posterior, 1.5).value(X), mean + 1.5 * np.sqrt(variance)
    )


def test_lower_bound_is_mean_minus_beta_standard_deviations(posterior):
    X = np.random.default_rng(0).uniform(-1, 1, (20, 5))
    mean, variance = posterior.predict(X)
    np.testing.assert_allclose(
        LowerConfidenceBound(posterior, 1.5).value(X), mean - 1.5 * np.sqrt(variance)
    )
    with pytest.raises(InvalidInputError, match="beta"):
        LowerConfidenceBound(posterior, -1.5)


@pytest.mark.parametrize(
    "kind", [UpperConfidenceBound, LowerConfidenceBound, AdditiveUpperConfidenceBound]
)
def test_gradient_error_falls_with_the_square_of_the_step(kind, posterior, check_gradient):
    function = kind(posterior, 2.0).value_and_gradient
    x = np.random.default_rng(5).uniform(-0.8, 0.8, 5)
    assert check_gradient(function, x) == pytest.approx(2.0, abs=0.1)
    assert check_gradient(function, x, perturb=0.05) < 1.5


def test_analytic_component_gradients_are_used_and_right(check_gradient):
    acquisition = AdditiveUpperConfidenceBound(AnalyticComponents(), 0.7)
    x = np.array([0.3, -0.6])
    assert check_gradient(acquisition.value_and_gradient, x) == pytest.approx(2.0, abs=0.1)
    by_differences = AdditiveUpperConfidenceBound(OnlyValues(AnalyticComponents()), 0.7)
    for a, b in zip(
        acquisition.value_and_gradient(x[None]),
        by_differences.value_and_gradient(x[None]),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-8)


def test_additive_bound_is_above_the_exact_one(posterior):
    X = np.random.default_rng(1).uniform(-1, 1, (200, 5))
    exact = UpperConfidenceBound(posterior, 2.0).value(X)
    additive = AdditiveUpperConfidenceBound(posterior, 2.0).value(X)
    assert np.all(additive > exact)


def test_both_bounds_agree_at_beta_zero(posterior):
    X = np.random.default_rng(1).uniform(-1, 1, (20, 5))
    np.testing.assert_allclose(
        AdditiveUpperConfidenceBound(posterior, 0.0).value(X),
        UpperConfidenceBound(posterior, 0.0).value(X),
    )


def test_schedules_have_their_papers_values():
    assert ConstantBeta(1.3)(40) == 1.3
    assert FiniteGpUcbBeta(1000, 0.1)(5) ** 2 == pytest.approx(
        2 * np.log(1000 * 5**2 * np.pi**2 / 0.6)
    )
    assert GpUcbBeta(2, 0.1)(7) ** 2 == pytest.approx(2 * np.log(7**3 * np.pi**2 / 0.3))
    assert GroupBeta(3)(8) ** 2 == pytest.approx(3 * np.log(16) / 5)


@pytest.mark.parametrize("schedule", [FiniteGpUcbBeta(50), GpUcbBeta(4), GroupBeta(2)])
def test_schedules_grow_slowly(schedule):
    beta = [schedule(t) for t in (1, 2, 10, 100, 1000)]
    assert np.all(np.diff(beta) > 0)
    assert beta[-1] < 10 * beta[1]


@pytest.mark.parametrize(
    "build",
    [
        lambda: UpperConfidenceBound(None, -1.0),
        lambda: AdditiveUpperConfidenceBound(None, float("nan")),
        lambda: ConstantBeta(-2.0),
        lambda: GpUcbBeta(0),
        lambda: GpUcbBeta(2, 1.5),
        lambda: FiniteGpUcbBeta(0),
        lambda: GroupBeta(2)(0),
    ],
)
def test_bad_arguments_are_rejected(build):
    with pytest.raises(InvalidInputError):
        build()
