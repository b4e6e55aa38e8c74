"""Labels, and the identities between improvement, ratios and class probability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from baselines.density_ratio.labels import quantile_labels, relative_ratio
from boring.exceptions import InvalidInputError


def test_a_third_of_thirty_values_is_ten():
    y = np.random.default_rng(0).standard_normal(30)
    good, threshold = quantile_labels(y, 1 / 3)
    assert good.sum() == 10
    assert threshold == np.sort(y)[20]
    assert y[good].min() > y[~good].max()


@pytest.mark.parametrize("n", [2, 3, 5, 40])
@pytest.mark.parametrize("share", [0.01, 1 / 3, 0.99])
def test_both_kinds_occur_whatever_the_share(n, share):
    good, _ = quantile_labels(np.arange(float(n)), share)
    assert 0 < good.sum() < n


def test_ties_share_their_label_and_never_swallow_everything():
    good, threshold = quantile_labels(np.array([0.0, 1.0, 1.0, 1.0]), 0.25)
    assert good.tolist() == [False, True, True, True]
    assert threshold == 1.0
    good, threshold = quantile_labels(np.array([1.0, 1.0, 1.0, 2.0]), 0.5)
    assert good.tolist() == [False, False, False, True]
    assert threshold == 2.0


@pytest.mark.parametrize("y", [[3.0], [3.0, 3.0, 3.0]])
def test_equal_values_are_none_of_them_good(y):
    good, threshold = quantile_labels(np.array(y), 1 / 3)
    assert not good.any()
    assert threshold == 3.0


def test_labels_see_only_the_order():
    y = np.random.default_rng(1).standard_normal(17)
    expected = quantile_labels(y, 0.3)[0]
    assert np.array_equal(quantile_labels(np.exp(5.0 * y), 0.3)[0], expected)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, float("nan")])
def test_a_share_is_strictly_between_nought_and_one(share):
    with pytest.raises(InvalidInputError, match="good_share"):
        quantile_labels(np.arange(4.0), share)


def test_relative_ratio_is_class_probability_over_share_and_bounded():
    x = np.linspace(-6.0, 6.0, 201)
    good, bad = norm(0.5, 0.7), norm(0.0, 2.0)
    for share in (0.1, 1 / 3, 0.8):
        ratio = relative_ratio(good.logpdf(x), bad.logpdf(x), share)
        joint = share * good.pdf(x)
        assert ratio == pytest.approx(joint / (joint + (1 - share) * bad.pdf(x)) / share, rel=1e-12)
        assert ratio.max() <= 1 / share


def test_relative_ratio_survives_a_bad_density_without_mass():
    ratio = relative_ratio(np.zeros(2), np.array([-np.inf, 2000.0]), 0.25)
    assert ratio.tolist() == [4.0, 0.0]


def test_improvement_is_proportional_to_the_ratio_where_the_assumption_holds():
    """y normal, x one of two densities according to y >= tau: EI(x) by quadrature."""
    share, good, bad = 0.2, norm(1.0, 0.5), norm(-0.5, 1.0)
    tau = norm.ppf(1 - share)
    mean_gain = quad(lambda y: (y - tau) * norm.pdf(y), tau, np.inf)[0]
    constants = []
    for x in np.linspace(-2.0, 2.5, 9):

        def weighted(y, x=x):
            return (y - tau) * norm.pdf(y) * good.pdf(x)

        def density(x):
            return share * good.pdf(x) + (1 - share) * bad.pdf(x)

        improvement = quad(weighted, tau, np.inf)[0] / density(x)
        ratio = relative_ratio(good.logpdf([x]), bad.logpdf([x]), share)[0]
        constants.append(improvement / ratio)
    assert constants == pytest.approx([mean_gain] * 9, rel=1e-6)


def test_without_the_assumption_the_ratio_is_the_probability_of_improvement():
    """Uniform x, y | x normal: the ratio of the two densities of x is PI(x) / share."""

    def mean(x):
        return np.sin(3.0 * x)

    tau, sd = 0.6, 0.3
    x = np.linspace(-1.0, 1.0, 4001)
    probability = norm.sf((tau - mean(x)) / sd)
    share = np.trapezoid(probability, x) / 2.0
    good = probability * 0.5 / share
    bad = (1 - probability) * 0.5 / (1 - share)
    ratio = relative_ratio(np.log(good), np.log(bad), share)
    assert share * ratio == pytest.approx(probability, rel=1e-10)
    # And this is not proportional to expected improvement.
    z = (mean(x) - tau) / sd
    improvement = sd * (norm.pdf(z) + z * norm.cdf(z))
    quotient = improvement / ratio
    assert quotient.max() / quotient.min() > 2.0
