"""Activity scores and their jackknife."""

import numpy as np
import pytest
from scipy.stats import t

from boring.kernels.profiles import MATERN52
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.factor_fit import FactorFit, factor_posterior
from boring.subspace.importance import activity_scores, jackknife_interval
from boring.subspace.stiefel import random_frame


def test_scores_of_a_linear_function_are_squared_slopes():
    rng = np.random.default_rng(0)
    slopes = np.array([2.0, 1.0, 0.0])
    X = rng.uniform(-1, 1, (60, 3))
    y = X @ slopes
    unit = slopes / np.linalg.norm(slopes)
    fit = FactorFit(0.2 * unit[:, None], 50.0, 1e-4, 0.0, 0.0)
    posterior = factor_posterior(X, y / y.std(), fit, MATERN52, 1e-4)
    scores = activity_scores(posterior, rng.uniform(-1, 1, (500, 3)))
    np.testing.assert_allclose(scores, [0.8, 0.2, 0.0], atol=1e-12)


def test_a_flat_mean_gives_equal_shares():
    X = np.random.default_rng(1).uniform(-1, 1, (10, 4))
    posterior = factor_posterior(
        X, np.zeros(10), FactorFit(np.eye(4), 1.0, 0.1, 0, 0), MATERN52, 0.1
    )
    np.testing.assert_array_equal(activity_scores(posterior, X), np.full(4, 0.25))


def test_jackknife_of_a_mean_is_the_textbook_error():
    rng = np.random.default_rng(2)
    values = rng.uniform(0.2, 0.4, (12, 2))
    score = values.mean(axis=0)
    replicates = np.array([np.delete(values, k, axis=0).mean(axis=0) for k in range(12)])
    result = jackknife_interval(score, replicates)
    np.testing.assert_allclose(result.std, values.std(axis=0, ddof=1) / np.sqrt(12))
    half = t.ppf(0.95, 11) * result.std
    np.testing.assert_allclose(result.interval[:, 0], score - half, rtol=0.02)
    np.testing.assert_allclose(result.interval[:, 1], score + half, rtol=0.02)


def test_jackknife_adds_the_bias():
    replicates = np.full((5, 1), 0.30)
    result = jackknife_interval(np.array([0.32]), replicates)
    assert result.std[0] == pytest.approx(4 * 0.02)
    assert result.interval[0, 0] < 0.30 < 0.32 < result.interval[0, 1]


def test_intervals_stay_in_the_unit_interval():
    rng = np.random.default_rng(3)
    replicates = rng.dirichlet(np.full(4, 0.3), 5)
    result = jackknife_interval(replicates.mean(axis=0), replicates)
    assert np.all(result.interval >= 0.0)
    assert np.all(result.interval <= 1.0)
    assert np.all(np.diff(result.interval, axis=1) >= 0.0)


def test_what_is_left_out_may_hold_what_refits_do_not_find_again():
    scores, replicates = np.array([0.7, 0.3, 0.0]), np.tile([0.7, 0.3, 0.0], (5, 1))
    replicates[0] = [0.6, 0.39, 0.01]
    certain = jackknife_interval(scores, replicates)
    result = jackknife_interval(scores, replicates, missed=0.4)
    np.testing.assert_array_equal(result.interval[:2], certain.interval[:2])
    np.testing.assert_array_equal(result.interval[2], [0.0, 0.4])
    assert result.std[2] == pytest.approx(0.4 / t.ppf(0.95, 4))
    much = jackknife_interval(scores, replicates, missed=0.0)
    np.testing.assert_array_equal(much.interval, certain.interval)


@pytest.mark.filterwarnings("ignore::boring.exceptions.SubspaceWarning")
def test_intervals_of_axes_that_refits_do_not_agree_on_hold_the_truth():
    amplitudes, covered, without = np.array([1.0, 0.8, 0.6, 0.5, 0.4]), [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, new = rng.uniform(-1, 1, (30, 10)), rng.uniform(-1, 1, (4000, 5))
        y = np.sin(4.0 * X[:, :5]) @ amplitudes
        estimate = estimate_active_subspace(X, y, 3, rng=rng)
        truth = np.zeros(10)
        truth[:5] = ((amplitudes * np.cos(4.0 * new)) ** 2).mean(axis=0)
        truth /= truth.sum()
        left_out = estimate.importance == 0.0
        assert left_out.sum() == 7
        low, high = estimate.importance_interval.T
        assert np.all(high[left_out] >= 1.0 - estimate.trust["overlap"])
        covered.append((low <= truth) & (truth <= high))
        without.append(covered[-1] & ~(left_out & (truth > 0)))
    assert np.mean(without) < 0.9 < np.mean(covered)


@pytest.mark.statistical
def test_intervals_cover_the_true_scores():
    covered = []
    for seed in range(4):
        rng = np.random.default_rng(40 + seed)
        w = random_frame(6, 1, rng)[:, 0]
        X = rng.uniform(-1, 1, (50, 6))
        z = X @ w
        y = np.sin(2 * z) + z**2 + 0.1 * rng.standard_normal(50)
        estimate = estimate_active_subspace(X, y, 1, rng=rng)
        low, high = estimate.importance_interval.T
        covered.append((low <= w**2) & (w**2 <= high))
    assert np.mean(covered) >= 0.8
