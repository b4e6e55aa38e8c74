"""Against direct Gaussian conditioning, scipy's densities and the derivative of the evidence."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from baselines.random_features.bayesian_linear import (
    condition_weights,
    evidence_precision,
    fixed_precision,
)
from baselines.random_features.ensemble_rvfl import anchored_weights


def problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, p))
    return features, rng.standard_normal(n), rng.standard_normal((7, p))


@pytest.mark.parametrize(("n", "p"), [(5, 12), (12, 5), (1, 4), (8, 8)])
def test_primal_and_dual_equal_direct_conditioning_of_the_joint_gaussian(n, p):
    features, y, new = problem(n, p)
    alpha, beta = 3.0, 50.0
    prior = features @ features.T / alpha + np.eye(n) / beta
    cross = new @ features.T / alpha
    mean = cross @ np.linalg.solve(prior, y)
    covariance = new @ new.T / alpha - cross @ np.linalg.solve(prior, cross.T)
    for form in ("primal", "dual"):
        posterior = condition_weights(features, y, alpha, beta, form)
        np.testing.assert_allclose(new @ posterior.mean, mean, rtol=1e-8, atol=1e-10)
        spread = posterior.covariance_times(new) @ new.T
        np.testing.assert_allclose(spread, covariance, rtol=1e-8, atol=1e-10)
        evidence = multivariate_normal(np.zeros(n), prior).logpdf(y)
        assert posterior.log_evidence == pytest.approx(evidence, rel=1e-8)


@pytest.mark.parametrize(("n", "p"), [(40, 300), (300, 40)])
def test_forms_agree_at_the_size_and_the_precision_of_use(n, p):
    features, y, new = problem(n, p, 1)
    one, two = (condition_weights(features, y, 2.8, 1000.0, f) for f in ("primal", "dual"))
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-8, atol=1e-9)
    for a, b in ((one, two), (two, one)):
        np.testing.assert_allclose(
            a.covariance_times(new), b.covariance_times(new), rtol=1e-8, atol=1e-9
        )
    assert one.effective_parameters == pytest.approx(two.effective_parameters, rel=1e-8)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_evidence_is_stationary_in_alpha_where_the_iteration_ends(form):
    rng = np.random.default_rng(3)
    features = rng.standard_normal((60, 20))
    y = features @ rng.standard_normal(20) * 0.5 + 0.03 * rng.standard_normal(60)
    learned = evidence_precision(condition_weights(features, y, 1.0, 1000.0, form))

    def evidence(log_alpha):
        return condition_weights(features, y, float(np.exp(log_alpha)), 1000.0, form).log_evidence

    here, step = np.log(learned.alpha), 1e-4
    slope = (evidence(here + step) - evidence(here - step)) / (2 * step)
    assert abs(slope) < 1e-4
    assert evidence(here) > max(evidence(here - 0.5), evidence(here + 0.5))


def test_alpha_is_recovered_from_data_of_the_model():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(20):
        features = rng.standard_normal((200, 100))
        weights = rng.standard_normal(100) / np.sqrt(5.0)
        y = features @ weights + rng.standard_normal(200) / np.sqrt(1000.0)
        found.append(evidence_precision(condition_weights(features, y, 1.0, 1000.0)).alpha)
    assert np.median(found) == pytest.approx(5.0, rel=0.2)


def test_alpha_of_pure_noise_stays_in_its_range():
    rng = np.random.default_rng(5)
    features = rng.standard_normal((30, 4))
    y = 1e-3 * rng.standard_normal(30)
    assert np.isfinite(evidence_precision(condition_weights(features, y, 1.0, 1000.0)).alpha)
    assert evidence_precision(condition_weights(features, 0 * y, 1.0, 1000.0)).alpha == 1e8


def test_fixed_precision_gives_the_printed_prior_deviation():
    assert fixed_precision("relu", 302) ** -0.5 == pytest.approx(0.02 / np.sqrt(302))
    assert fixed_precision("tanh", 300) ** -0.5 == pytest.approx(0.001 / np.sqrt(300))


@pytest.mark.parametrize(("n", "p"), [(4, 6), (9, 6)])
def test_anchored_weights_are_draws_of_the_posterior(n, p):
    features, y, _ = problem(n, p, 6)
    alpha, beta, count = 3.0, 50.0, 20000
    weights = anchored_weights(
        np.broadcast_to(features, (count, n, p)), y, alpha, beta, np.random.default_rng(7)
    )
    posterior = condition_weights(features, y, alpha, beta)
    covariance = posterior.covariance_times(np.eye(p))
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_array_less(np.abs(weights.mean(axis=0) - posterior.mean) / sd, 0.04)
    errors = (np.cov(weights.T) - covariance) / np.outer(sd, sd)
    assert np.abs(errors).max() < 0.05
