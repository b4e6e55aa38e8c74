from __future__ import annotations

import numpy as np
import pytest

from baselines.additive.additive_stiefel import (
    AdditiveStiefelGP,
    AdditiveStiefelOptimizer,
    AdditiveStiefelOptions,
)
from baselines.additive.stiefel_terms import _Stage, backfit, condition, fit_stagewise
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.models.base import Surrogate
from boring.subspace.factor_fit import thin_prior
from boring.subspace.stiefel import largest_angle, random_frame
from boring.testing import check_gradient
from boring.warping import standardize


def two_terms(n=120, dim=5, seed=0):
    """Return data of one smooth term of two variables and a ripple across it, rotated."""
    rng = np.random.default_rng(seed)
    frame = random_frame(dim, 3, rng)
    X = rng.uniform(-1, 1, (n, dim))
    Z = X @ frame
    y = 2.0 * np.cos(2 * Z[:, 0] + 1.0) * np.sin(2 * Z[:, 1]) + 0.5 * np.sin(5 * Z[:, 2])
    return X, standardize(y), frame


def stages(X, y, max_terms=3, rng=0):
    return fit_stagewise(
        X, y, max_terms=max_terms, max_effective_dim=2, rng=np.random.default_rng(rng)
    )


@pytest.fixture(scope="module")
def fitted():
    X, y, frame = two_terms()
    fit = stages(X, y, 2)
    return X, y, frame, fit


def test_bases_are_orthonormal_and_orthogonal_to_each_other(fitted):
    _, _, _, fit = fitted
    assert len(fit.terms) == 2
    W = np.hstack([term.basis for term in fit.terms])
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-9)


def test_earlier_terms_are_held_fixed_and_bic_falls(fitted):
    X, y, _, fit = fitted
    alone = stages(X, y, 1)
    np.testing.assert_array_equal(alone.terms[0].factor, fit.terms[0].factor)
    assert alone.terms[0].log_variance == fit.terms[0].log_variance
    assert alone.bic[0] == fit.bic[0] > fit.bic[1]


def test_planted_terms_are_found_one_after_the_other(fitted):
    _, _, frame, fit = fitted
    assert [term.factor.shape[1] for term in fit.terms] == [2, 1]
    assert largest_angle(fit.terms[0].basis, frame[:, :2]) < np.radians(10)
    assert largest_angle(fit.terms[1].basis, frame[:, 2:]) < np.radians(15)


def test_backfitting_raises_the_posterior_density_and_predicts_better(fitted):
    X, y, _, fit = fitted
    X_all, y_all, _ = two_terms(n=420)
    # Same function, other points: standardisation differs in the third digit only.
    test_X, test_y = X_all[120:], y_all[120:]
    joint = backfit(X, y, fit)
    before, after = condition(X, y, fit), condition(X, y, joint)
    assert after.log_marginal_likelihood > before.log_marginal_likelihood
    single = backfit(X, y, stages(X, y, 1))
    density = {
        name: posterior.log_predictive_density(test_X, test_y).mean()
        for name, posterior in (("sum", after), ("single", condition(X, y, single)))
    }
    assert density["sum"] > density["single"] + 0.2


def test_gradient_of_a_stage(fitted):
    X, y, _, fit = fitted
    stage = _Stage(X[:30], y[:30], fit, "matern52")
    model = stage._model(1, thin_prior(1))
    rng = np.random.default_rng(0)
    factor = rng.standard_normal(stage.basis.shape[1])
    theta = np.array([*[term.log_variance for term in fit.terms], -1.0, *factor, -2.0])
    check_gradient(lambda t: model.negative_log_posterior(t, X[:30], y[:30]), theta, rng)
    assert stage.basis.shape == (5, 2)


def test_a_stage_with_fewer_points_than_inputs_stays_in_the_row_span():
    X, y, _ = two_terms(n=15, dim=20)
    stage = _Stage(X, y, stages(X, y, 1), "matern52")
    assert stage.basis.shape[1] <= 15
    candidate, _ = stage.run(1)
    W = np.hstack([term.basis for term in candidate.terms])
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-8)


def test_a_function_of_one_projection_gets_one_term():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 4))
    w = random_frame(4, 1, rng)[:, 0]
    y = standardize(np.sin(3 * X @ w) + 0.1 * rng.standard_normal(60))
    assert len(stages(X, y).terms) == 1


def test_surrogate_predicts_in_the_units_of_the_values():
    X, y, _ = two_terms()
    options = AdditiveStiefelOptions(max_terms=2, max_effective_dim=2)
    model = AdditiveStiefelGP(options).fit(X, 100.0 + 7.0 * y, rng=np.random.default_rng(0))
    assert isinstance(model, Surrogate)
    mean, variance = model.predict(X)
    np.testing.assert_allclose(mean, 100.0 + 7.0 * y, atol=1.5)
    assert np.all(variance >= 0)
    assert len(model.terms_fit.terms) == 2


def test_optimiser_searches_on_schedule_and_remembers_its_terms():
    options = {"max_terms": 2, "max_effective_dim": 1, "refit_every": 6}
    best = []
    for seed in range(5):
        optimizer = AdditiveStiefelOptimizer(
            [(-1, 1)] * 3, direction="minimize", seed=seed, **options
        )
        result = optimizer.run(
            lambda x: float((x[0] + x[1] - 0.4) ** 2 + (x[2] - 0.2) ** 2), 24, progress=False
        )
        best.append(result.y_best)
    assert np.median(best) < 0.05
    assert optimizer.memory["sought_at"] % 6 == 6 % 6
    assert all(term.factor.shape == (3, 1) for term in optimizer.terms)
    assert optimizer.surrogate is not None


def test_bad_options_are_rejected():
    with pytest.raises(InvalidInputError):
        AdditiveStiefelOptimizer([(-1, 1)], direction="minimize", max_terms=0)
    with pytest.raises(UnknownNameError):
        AdditiveStiefelOptimizer([(-1, 1)], direction="minimize", kernel="matern")
