"""The check of trust and the predictor that it calibrates."""

import numpy as np
import pytest

from boring.exceptions import SubspaceWarning
from boring.kernels.profiles import MATERN32, SQUARED_EXPONENTIAL
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.factor_fit import FactorFit, FactorSettings
from boring.subspace.full_rank import learn_factor
from boring.subspace.stiefel import random_frame
from boring.subspace.trust import (
    CAUTIOUS_NOISE,
    ISOTROPIC_CANDIDATES,
    CalibratedPredictor,
    balanced_folds,
    cautious_noise,
    check_trust,
    factor_posterior,
    fold_refit,
    isotropic_posterior,
    points_for_axes,
)


def camelback(Z):
    x, y = 1.2 * Z[:, 0], 0.8 * Z[:, 1]
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (-4 + 4 * y**2) * y**2


def case(dim, n, seed):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 2, rng)
    X, X_test = rng.uniform(-1, 1, (n, dim)), rng.uniform(-1, 1, (200, dim))
    y, y_test = camelback(X @ W), camelback(X_test @ W)
    return X, (y - y.mean()) / y.std(), X_test, (y_test - y.mean()) / y.std()


def checked(X, y, seed=0):
    rng = np.random.default_rng(seed)
    learned = learn_factor(X, y, 2, rng=rng)
    refit = fold_refit(2, learned.axis_aligned, FactorSettings(), learned.settings)
    report = check_trust(
        X,
        y,
        refit,
        rng=rng,
        factor=learned.fit.factor,
        axis_aligned=learned.axis_aligned,
        finish=learned.settings,
    )
    return learned, report


@pytest.mark.statistical
def test_found_subspaces_are_trusted():
    for seed in range(2):
        X, y, _, _ = case(6, 50, seed)
        _, report = checked(X, y)
        assert report.trusted
        assert report.error < report.isotropic_error
        assert report.overlap > 0.9
        assert report.inflation >= 1.0


@pytest.mark.statistical
def test_scarce_data_are_rejected_or_cost_no_density():
    held = 0
    for seed in range(2):
        X, y, X_test, y_test = case(25, 50, 20 + seed)
        learned, report = checked(X, y)
        isotropic = CalibratedPredictor(
            isotropic_posterior(X, y, ISOTROPIC_CANDIDATES), 0.0, 1.0, report.isotropic_inflation
        )
        plain = isotropic.posterior.log_predictive_density(X_test, y_test).mean()
        used = isotropic
        if report.trusted:
            noise = cautious_noise(50, learned.fit, learned.axis_aligned, learned.settings)
            posterior = factor_posterior(X, y, learned.fit, learned.settings.profile, noise)
            used = CalibratedPredictor(posterior, 0.0, 1.0, report.inflation)
        held += used.log_density(X_test, y_test).mean() >= plain - 0.2
    assert held == 2


def test_a_refit_that_cheats_is_found_out():
    X, y, _, _ = case(10, 60, 1)
    wrong = FactorFit(np.eye(10)[:, :2], 1.0, 0.01, 0.0, 0.0)
    report = check_trust(
        X, y, lambda X, y: wrong, rng=np.random.default_rng(0), factor=wrong.factor
    )
    assert not report.trusted


def test_folds_that_disagree_are_not_trusted():
    X, y, _, _ = case(6, 60, 2)
    learned, report = checked(X, y)
    assert report.trusted
    elsewhere = np.linalg.svd(learned.fit.factor)[0][:, 2:4]
    refit = fold_refit(2, False, FactorSettings(), learned.settings)
    report = check_trust(X, y, refit, rng=np.random.default_rng(0), factor=elsewhere)
    assert report.overlap < 0.1
    assert not report.trusted


def test_folds_are_a_balanced_partition():
    folds = balanced_folds(23, 5, np.random.default_rng(0))
    assert sorted(np.concatenate(folds)) == list(range(23))
    assert {len(fold) for fold in folds} == {4, 5}
    assert len(balanced_folds(3, 5, np.random.default_rng(0))) == 3


def test_inflation_scales_the_variance_and_units_return():
    X, y, X_test, _ = case(5, 30, 3)
    posterior = isotropic_posterior(X, y, [FactorSettings()])
    mean, variance = posterior.predict(X_test)
    shifted = CalibratedPredictor(posterior, 4.0, 3.0, 2.0)
    got_mean, got_variance = shifted.predict(X_test)
    np.testing.assert_allclose(got_mean, 4.0 + 3.0 * mean)
    np.testing.assert_allclose(got_variance, 18.0 * (variance + posterior.noise_variance))
    target = got_mean + np.sqrt(got_variance)
    expected = -0.5 * (1.0 + np.log(2 * np.pi * got_variance))
    np.testing.assert_allclose(shifted.log_density(X_test, target), expected)


def test_caution_depends_on_points_and_on_the_floor():
    fit = FactorFit(np.ones((10, 2)), 1.0, 0.01, 0.0, 0.0)
    settings = FactorSettings(MATERN32)
    assert cautious_noise(30, fit, False, settings) == CAUTIOUS_NOISE
    assert cautious_noise(100, fit, False, settings) == 0.01
    assert cautious_noise(30, fit, True, settings) == 0.01
    assert cautious_noise(30, fit, False, FactorSettings(noise_floor=1e-4)) == 0.01


def test_axes_of_too_few_points_are_not_told_from_chance():
    assert points_for_axes(300, 4) == pytest.approx(8.0 * np.log(296.0))
    assert points_for_axes(5, 5) == 0.0
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 300))
    y = -((X[:, 0] - 0.3) ** 2)
    with pytest.warns(SubspaceWarning, match="takes 46 points to tell these axes from chance"):
        few = estimate_active_subspace(X[:20], y[:20], 4, rng=np.random.default_rng(0))
    assert few.axis_aligned
    assert not few.trusted
    assert few.trust["points_needed"] == points_for_axes(300, 4)
    assert "fewer points than the 46 that tell so many axes from chance" in few.summary()
    enough = estimate_active_subspace(X, y, 1, rng=np.random.default_rng(0))
    assert enough.axis_aligned
    assert enough.trusted
    assert "points_needed" not in enough.trust
    assert "from chance" not in enough.summary()


def test_a_gp_without_subspace_is_as_smooth_as_the_data_say():
    rng = np.random.default_rng(0)
    X, X_test = rng.uniform(-1, 1, (60, 3)), rng.uniform(-1, 1, (200, 3))
    y, y_test = np.sin(X.sum(axis=1)), np.sin(X_test.sum(axis=1))
    rough, smooth = FactorSettings(), FactorSettings(SQUARED_EXPONENTIAL, 1e-8)
    densities = [
        isotropic_posterior(X, y, candidates).log_predictive_density(X_test, y_test).mean()
        for candidates in ([rough], [smooth], [rough, smooth])
    ]
    assert densities[1] > densities[0] + 1.0
    assert densities[2] > densities[0] + 1.0
    assert isotropic_posterior(X, y, [rough, smooth]).noise_variance < 1e-3
