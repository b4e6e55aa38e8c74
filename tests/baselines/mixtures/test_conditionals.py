"""Conditional mixtures against quadrature, brute force and linear regression."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal, norm

from baselines.mixtures import gmr as gmr_module
from baselines.mixtures.blending import (
    BlendedMixture,
    Standardiser,
    best_blend,
    folds_of,
    is_due,
)
from baselines.mixtures.gmr import (
    GaussianMixtureRegression,
    GmrOptions,
    fit_mixture,
    select_mixture,
)
from baselines.mixtures.kde import KdeMixture, KdeOptimizer, leave_one_out, select_bandwidths
from baselines.mixtures.spn import SpnMixture, SpnOptions, SumProductNetworks, train
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.testing import check_gradient

GRID = np.linspace(-40.0, 40.0, 4001)  # steps of a fifteenth of the least deviation


def data(n=25, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, dim))
    y = np.sin(2 * Z[:, 0]) + Z[:, -1]
    return Z, (y - y.mean()) / y.std()


def kde(Z, y):
    return KdeMixture(Z, y, 0.4, 0.3)


def gmr(Z, y):
    return fit_mixture(Z, y, 3, 1e-3, 1, 0)


def spn(Z, y):
    points = np.column_stack([Z, y])
    networks = SumProductNetworks.draw(
        points, np.ones((1, len(points))), np.array([3.0]), 4, 2, np.random.default_rng(0)
    )
    train(networks, points, np.ones((1, len(y))), 50)
    return SpnMixture(networks)


MIXTURES = [kde, gmr, spn]


def blended(make, Z, y, log_delta=1.0, prior_variance=9.0):
    standardiser = Standardiser(np.array([0.1] * Z.shape[1]), np.array([0.5] * Z.shape[1]))
    return BlendedMixture(make(Z, y), standardiser, len(y), log_delta, prior_variance)


@pytest.mark.parametrize("make", MIXTURES)
def test_density_of_y_integrates_to_one_and_has_the_moments(make):
    Z, y = data()
    posterior = blended(make, Z, y)
    for x in ([0.1, 0.1], [0.9, -0.4], [30.0, 30.0]):
        X = np.array([x])
        density = np.exp(posterior.log_density(np.broadcast_to(X, (len(GRID), 2)), GRID))
        assert np.trapezoid(density, GRID) == pytest.approx(1.0, abs=1e-6)
        mean, variance = posterior.predict(X)
        expected = np.trapezoid(GRID * density, GRID)
        assert mean[0] == pytest.approx(expected, abs=1e-6)
        second = np.trapezoid((GRID - expected) ** 2 * density, GRID)
        assert variance[0] == pytest.approx(second, rel=1e-5)


@pytest.mark.parametrize("make", MIXTURES)
def test_conditional_is_the_slice_of_the_joint_over_its_integral(make):
    Z, y = data()
    mixture = make(Z, y)
    z = np.array([[0.3, -0.6]])
    here = np.broadcast_to(z, (len(GRID), 2))
    joint = np.exp(mixture.log_joint_density(here, GRID))
    assert np.log(np.trapezoid(joint, GRID)) == pytest.approx(mixture.log_density(z)[0], abs=1e-6)


@pytest.mark.parametrize("make", MIXTURES)
def test_gradients_of_moments_in_x(make):
    Z, y = data()
    posterior = blended(make, Z, y)
    for k in (0, 1):

        def moment(x, k=k):
            found = posterior.predict_with_gradient(x[None])
            return float(found[k][0]), found[k + 2][0]

        check_gradient(moment, np.array([0.2, 0.3]), np.random.default_rng(0), scale=0.2)


@pytest.mark.parametrize("make", MIXTURES)
def test_prior_takes_over_far_from_the_data_and_data_near_them(make):
    Z, y = data()
    mean, variance = blended(make, Z, y).predict(np.full((1, 2), 1e3))
    np.testing.assert_allclose([mean[0], variance[0]], [0.0, 9.0], atol=1e-6)
    near = blended(make, Z, y, log_delta=40.0).predict(np.full((1, 2), 0.1))
    far = blended(make, Z, y, log_delta=40.0, prior_variance=1e4).predict(np.full((1, 2), 0.1))
    np.testing.assert_allclose(near, far, rtol=1e-9)


def test_one_component_is_linear_regression():
    Z, y = data(40, 3)
    mixture = fit_mixture(Z, y, 1, 1e-12, 1, 0)
    design = np.column_stack([np.ones(40), Z])
    coefficients, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    np.testing.assert_allclose(mixture.joint(Z)[1][:, 0], design @ coefficients, atol=1e-8)
    assert mixture.variances[0] == pytest.approx(rest[0] / 40, rel=1e-6)


def test_expectation_maximisation_never_lowers_the_likelihood(monkeypatch):
    Z, y = data(60, 1)
    values = []
    for n_steps in range(1, 16):
        monkeypatch.setattr(gmr_module, "MAX_ITERATIONS", n_steps)
        values.append(fit_mixture(Z, y, 3, 1e-6, 1, 0).log_joint_density(Z, y).sum())
    assert np.diff(values).min() > -1e-8
    assert values[-1] > values[0] + 1.0


def test_a_step_gains_no_more_in_the_expected_likelihood_than_in_the_likelihood(monkeypatch):
    # Gain in likelihood = gain in Q + a divergence, and each step maximises Q but for the floor.
    Z, y = data(60, 1)
    points = np.column_stack([Z, y])
    logs = []
    for n_steps in range(1, 12):
        monkeypatch.setattr(gmr_module, "MAX_ITERATIONS", n_steps)
        logs.append(component_logs(fit_mixture(Z, y, 3, 1e-9, 1, 0), points))
    for old, new in pairwise(logs):
        shares = softmax(old, axis=1)
        gain = logsumexp(new, axis=1).sum() - logsumexp(old, axis=1).sum()
        expected = (shares * (new - old)).sum()
        divergence = (shares * (log_softmax(old, axis=1) - log_softmax(new, axis=1))).sum()
        assert -1e-6 < expected <= gain + 1e-9
        assert gain - expected == pytest.approx(divergence, abs=1e-8)


def component_logs(mixture, points):
    """Log of weight times density of each component, (n, K), by SciPy."""
    logs = []
    for k, weight in enumerate(mixture.weights):
        inputs = mixture.factors[k] @ mixture.factors[k].T
        cross = inputs @ mixture.slopes[k]
        corner = mixture.variances[k] + cross @ mixture.slopes[k]
        covariance = np.block([[inputs, cross[:, None]], [cross[None], np.array([[corner]])]])
        density = multivariate_normal(mixture.means[k], covariance)
        logs.append(np.log(weight) + density.logpdf(points))
    return np.column_stack(logs)


def test_expectation_maximisation_recovers_three_components():
    rng = np.random.default_rng(3)
    centers = np.array([[-3.0, 0.0], [0.0, 2.0], [3.0, -1.0]])
    component = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    points = centers[component] + rng.standard_normal((900, 2)) * [0.5, 0.3]
    found = fit_mixture(points[:, :1], points[:, 1], 3, 1e-6, 1, 2)
    order = np.argsort(found.means[:, 0])
    np.testing.assert_allclose(found.weights[order], [0.5, 0.3, 0.2], atol=0.05)
    np.testing.assert_allclose(found.means[order], centers, atol=0.1)
    np.testing.assert_allclose(found.variances, 0.09, rtol=0.2)


def test_standardised_inputs_come_back():
    X = np.random.default_rng(4).uniform(-1, 1, (20, 3)) * [1.0, 1e-3, 0.0] + [0.2, -0.5, 0.7]
    standardiser = Standardiser.of(X)
    Z = standardiser(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), [1.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(Z * standardiser.scale + standardiser.center, X, atol=1e-12)


def test_gaussian_components_are_scipys():
    rng = np.random.default_rng(1)
    means = rng.standard_normal((2, 3))
    roots = rng.standard_normal((2, 3, 3))
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(3)
    mixture = GaussianMixtureRegression(np.array([0.3, 0.7]), means, covariances)
    Z, y = rng.standard_normal((5, 2)), rng.standard_normal(5)
    points = np.column_stack([Z, y])
    expected = sum(
        w * multivariate_normal(m, S).pdf(points)
        for w, m, S in zip((0.3, 0.7), means, covariances, strict=True)
    )
    np.testing.assert_allclose(mixture.log_joint_density(Z, y), np.log(expected), rtol=1e-9)


def test_kernel_regression_is_the_weighted_mean_of_nadaraya_and_watson():
    Z, y = data()
    weights = np.exp(-0.5 * ((Z[:1] + 0.1 - Z) ** 2).sum(axis=1) / 0.4**2)
    logs, means = kde(Z, y).joint(Z[:1] + 0.1)
    gamma = np.exp(logs - logs.max())
    expected = weights @ y / weights.sum()
    assert (gamma * means).sum() / gamma.sum() == pytest.approx(expected)


def test_leaving_one_out_is_fitting_without_it():
    Z, y = data(8)
    densities, joints = leave_one_out(Z, y, np.array([0.4, 1.1]), np.array([0.3, 0.2]))
    for i in range(8):
        rest = np.arange(8) != i
        mixture = KdeMixture(Z[rest], y[rest], 1.1, 0.2)
        assert densities[1, i] == pytest.approx(mixture.log_density(Z[i : i + 1])[0])
        assert joints[1, i] == pytest.approx(
            mixture.log_joint_density(Z[i : i + 1], y[i : i + 1])[0]
        )


def test_folds_partition_the_data_evenly():
    fold = folds_of(23, 10, np.random.default_rng(0))
    assert sorted(np.bincount(fold)) == [2] * 7 + [3] * 3
    assert sorted(folds_of(4, 10, np.random.default_rng(0))) == [0, 1, 2, 3]


def test_folds_are_an_option_of_those_alone_that_have_some():
    for kind in (GmrOptions, SpnOptions):
        with pytest.raises(InvalidInputError, match="n_folds must be an integer of at least 2"):
            kind(n_folds=1)
    with pytest.raises(UnknownNameError, match="'kde' has no option 'n_folds'"):
        KdeOptimizer([(-1, 1)] * 2, direction="minimize", n_folds=3)


def test_best_blend_is_the_best_of_the_densities_it_stands_for():
    Z, y = data(20)
    densities, joints = leave_one_out(Z, y, np.array([0.4]), np.array([0.3]))
    log_delta, score = best_blend(densities, joints, y, np.full(20, 19.0), 100.0)

    def mean_density(log_delta):
        total = 0.0
        for i in range(20):
            rest = np.arange(20) != i
            mixture = KdeMixture(Z[rest], y[rest], 0.4, 0.3)
            model = BlendedMixture(
                mixture, Standardiser(np.zeros(2), np.ones(2)), 19, log_delta, 100.0
            )
            total += model.log_density(Z[i : i + 1], y[i : i + 1])[0] / 20
        return total

    assert mean_density(log_delta[0]) == pytest.approx(score[0], rel=1e-9)
    assert all(
        mean_density(log_delta[0] + step) < score[0] + 1e-9 for step in (-2.0, -0.5, 1.0, 4.0)
    )


def test_selection_prefers_what_made_the_data():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((40, 1))
    line = 0.8 * z[:, 0] + 0.1 * rng.standard_normal(40)
    found = select_mixture(z, line / line.std(), 3, 100.0, np.random.default_rng(0))
    assert found["n_components"] <= 2
    bend = np.abs(z[:, 0]) + 0.02 * rng.standard_normal(40)
    bent = select_mixture(z, bend / bend.std(), 3, 100.0, np.random.default_rng(0))
    assert bent["n_components"] >= 2


def test_chosen_bandwidths_are_no_worse_than_the_median_of_those_tried():
    Z, y = data(30)
    best = select_bandwidths(Z, y, 100.0, 64, np.random.default_rng(0))
    few = [select_bandwidths(Z, y, 100.0, 1, np.random.default_rng(k))["score"] for k in range(9)]
    assert best["score"] >= np.median(few)
    assert best["score"] > np.mean(norm.logpdf(y))  # better than the empirical mean and spread


def test_hyperparameters_are_due_by_growth_and_never_when_kept():
    assert is_due({}, 3, 1.3)
    assert not is_due({"selected_at": 10}, 12, 1.3)
    assert is_due({"selected_at": 10}, 13, 1.3)
    assert is_due({"selected_at": 10}, 11, 1.0)
    assert not is_due({"selected_at": 10}, 10, 1.0)
    assert not is_due({"selected_at": 10, "keep": True}, 99, 1.3)
