from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from boring.acquisition.base import sd_gradient, standard_deviation
from boring.acquisition.improvement import (
    LogExpectedImprovement,
    LogImprovementMixture,
    LogProbabilityOfImprovement,
    log_improvement,
    log_probability,
)
from boring.exceptions import InvalidInputError

MAGNITUDES = np.logspace(-100, 100, 801)
ALL_Z = np.concatenate([-MAGNITUDES[::-1], [0.0], MAGNITUDES])


def test_closed_form_where_nothing_underflows():
    z = np.linspace(-5, 8, 301)
    h = norm.pdf(z) + z * norm.cdf(z)
    log_value, slope, share = log_improvement(z)
    np.testing.assert_allclose(log_value, np.log(h), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(slope, norm.cdf(z) / h, rtol=1e-8)
    np.testing.assert_allclose(share, norm.pdf(z) / h, rtol=1e-8)
    probability, probability_slope = log_probability(z)
    np.testing.assert_allclose(probability, norm.logcdf(z), rtol=1e-12)
    np.testing.assert_allclose(probability_slope, norm.pdf(z) / norm.cdf(z), rtol=1e-12)


@pytest.mark.parametrize("z", [-3.0, -29.9, -30.1, -200.0])
def test_tail_against_numerical_integration_in_extended_precision(z):
    # h(z) = phi(z) * int_0^inf t exp(-t^2/2 + z t) dt; u = -z t makes the integrand O(1).
    # The rule is the midpoint sum, whose error is far below the tolerance.
    count = 400_000
    u = (np.arange(count) + 0.5) * (60.0 / count)
    integral = np.sum(u * np.exp(-u - 0.5 * (u / z) ** 2)) * (60.0 / count)
    expected = norm.logpdf(z) - 2 * np.log(-z) + np.log(integral)
    assert log_improvement(np.array([z]))[0][0] == pytest.approx(expected, rel=1e-12, abs=1e-8)


def test_branches_meet():
    for border in (-30.0, -1.0):
        z = np.nextafter(border, [-np.inf, np.inf])
        for part in log_improvement(z):
            assert part[0] == pytest.approx(part[1], rel=1e-10)


def test_values_and_slopes_are_finite_and_monotone_over_two_hundred_decades():
    log_value, slope, share = log_improvement(ALL_Z)
    assert np.all(np.isfinite(log_value))
    assert np.all(np.isfinite(slope))
    assert np.all(np.isfinite(share))
    far_apart = ALL_Z[np.abs(ALL_Z) > 1e-12]
    assert np.all(np.diff(log_improvement(far_apart)[0]) > 0)
    assert np.all(np.diff(slope) <= 1e-12 * slope[:-1])
    assert np.all(slope > 0)
    probability, probability_slope = log_probability(ALL_Z)
    assert np.all(np.isfinite(probability))
    assert np.all(np.diff(probability) >= 0)
    assert np.all(np.isfinite(probability_slope))
    assert np.all(np.diff(probability_slope) <= 1e-12 * probability_slope[:-1])


@pytest.mark.parametrize("scale", [1e-100, 1e-10, 1.0, 1e10, 1e100])
@pytest.mark.parametrize("kind", [LogExpectedImprovement, LogProbabilityOfImprovement])
def test_acquisitions_stay_finite_at_extreme_scales(kind, scale, linear_posterior):
    X = np.array([[-1.0], [0.0], [1.0]])
    for gap in (-scale, scale):
        # The standard deviation is 1: the gap to the incumbent alone runs over the scales.
        acquisition = kind(linear_posterior([0.5 * scale], [0.0], offset=gap), 0.0)
        value, gradient = acquisition.value_and_gradient(X)
        assert np.all(np.isfinite(value))
        assert np.all(np.isfinite(gradient))
        assert np.all(np.diff(value) >= 0)
        np.testing.assert_array_equal(value, acquisition.value(X))


def test_plain_expected_improvement_underflows_where_the_logarithm_does_not(linear_posterior):
    z = -40.0
    assert norm.pdf(z) + z * norm.cdf(z) == 0.0
    acquisition = LogExpectedImprovement(linear_posterior([1.0], [0.0], offset=z), 0.0)
    _, gradient = acquisition.value_and_gradient(np.zeros((1, 1)))
    assert gradient[0, 0] > 1.0


@pytest.mark.parametrize("sd", [0.05, 0.7, 4.0])
@pytest.mark.parametrize("gap", [-1.0, 0.0, 0.6])
def test_against_monte_carlo(sd, gap, linear_posterior):
    posterior = linear_posterior([0.0], [0.0], offset=gap, scale=sd)
    samples = gap + sd * np.random.default_rng(0).standard_normal(200_000)
    for sampled, kind in (
        (np.maximum(samples, 0.0), LogExpectedImprovement),
        ((samples > 0.0).astype(float), LogProbabilityOfImprovement),
    ):
        error = 4 * sampled.std() / np.sqrt(len(samples)) + 1e-9
        value = np.exp(kind(posterior, 0.0).value(np.zeros((1, 1)))[0])
        assert abs(value - sampled.mean()) < error


def test_margin_shifts_the_incumbent(posterior):
    X = np.random.default_rng(1).uniform(-1, 1, (6, 5))
    shifted = LogProbabilityOfImprovement(posterior, 0.4, margin=0.2).value(X)
    np.testing.assert_allclose(
        LogProbabilityOfImprovement(posterior, 0.4 + 0.2).value(X), shifted, rtol=1e-12
    )


def acquisitions(posterior):
    return {
        "ei": LogExpectedImprovement(posterior, 1.2),
        "ei far": LogExpectedImprovement(posterior, 60.0),
        "pi": LogProbabilityOfImprovement(posterior, 1.2, margin=0.1),
        "mixture": LogImprovementMixture(
            [LogExpectedImprovement(posterior, 1.2), LogExpectedImprovement(posterior, 0.5)],
            [0.3, 2.0],
        ),
    }


@pytest.mark.parametrize("name", ["ei", "ei far", "pi", "mixture"])
def test_gradient_error_falls_with_the_square_of_the_step(name, posterior, check_gradient):
    function = acquisitions(posterior)[name].value_and_gradient
    x = np.random.default_rng(5).uniform(-0.8, 0.8, 5)
    assert check_gradient(function, x) == pytest.approx(2.0, abs=0.1)
    scale = np.linalg.norm(function(x[None, :])[1])
    assert check_gradient(function, x, perturb=0.05 * scale) < 1.5


def test_value_equals_value_of_value_and_gradient(posterior):
    X = np.random.default_rng(1).uniform(-1, 1, (40, 5))
    for acquisition in acquisitions(posterior).values():
        value, gradient = acquisition.value_and_gradient(X)
        assert gradient.shape == (40, 5)
        np.testing.assert_allclose(acquisition.value(X), value, rtol=1e-7)


def test_mixture_is_the_log_of_the_weighted_sum(posterior):
    X = np.random.default_rng(2).uniform(-1, 1, (30, 5))
    members = [LogExpectedImprovement(posterior, f) for f in (0.2, 1.0, 1.4)]
    weights = [0.5, 1.0, 0.0]
    mixture = LogImprovementMixture(members, weights)
    plain = sum(w * np.exp(m.value(X)) for w, m in zip(weights, members, strict=True))
    np.testing.assert_allclose(np.exp(mixture.value(X)), plain, rtol=1e-10)
    assert len(mixture.members) == 2
    alone = LogImprovementMixture(members[:1])
    np.testing.assert_allclose(alone.value(X), members[0].value(X), rtol=1e-12)


def test_mixture_survives_a_member_that_sees_no_improvement(linear_posterior):
    class Hopeless:
        def value(self, X):
            return np.full(len(X), -np.inf)

        def value_and_gradient(self, X):
            return self.value(X), np.full(X.shape, np.nan)

    member = LogExpectedImprovement(linear_posterior([1.0, 2.0], [0.1, 0.0]), 0.0)
    X = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    value, gradient = LogImprovementMixture([Hopeless(), member]).value_and_gradient(X)
    expected_value, expected_gradient = member.value_and_gradient(X)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-12)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -0.1], [0.0, 0.0], [np.nan, 1.0]])
def test_mixture_rejects_bad_weights(weights, posterior):
    members = [LogExpectedImprovement(posterior, 0.0)] * 2
    with pytest.raises(InvalidInputError, match="weights"):
        LogImprovementMixture(members, weights)


def test_bad_arguments_are_named(posterior):
    with pytest.raises(InvalidInputError, match="incumbent"):
        LogExpectedImprovement(posterior, float("nan"))
    with pytest.raises(InvalidInputError, match="margin"):
        LogProbabilityOfImprovement(posterior, 0.0, margin=float("inf"))
    with pytest.raises(InvalidInputError, match="at least one member"):
        LogImprovementMixture([])


def test_zero_variance_gives_a_tiny_standard_deviation_and_no_gradient():
    variance = np.array([0.0, -1e-18, 4.0, np.nan])
    sd = standard_deviation(variance)
    assert np.all(sd[:3] > 0)
    assert sd[2] == 2.0
    assert np.isnan(sd[3])
    gradient = sd_gradient(variance[:3], np.ones((3, 2)))
    np.testing.assert_array_equal(gradient, [[0, 0], [0, 0], [0.25, 0.25]])
