"""Linear embeddings: recovery, calibration against the MAP, choice of points."""

from __future__ import annotations

import numpy as np
import pytest

from boring.exceptions import BoringError, InvalidInputError
from boring.models.base import Surrogate
from boring.subspace.linear_embedding import LinearEmbedding, most_informative
from boring.subspace.stiefel import largest_angle, random_frame
from boring.warping import standardize

DIM, RANK = 10, 2


def function_of_the_model(rng):
    """Draw g from the prior by random features, and R."""
    M = 2.0 / np.sqrt(DIM) * rng.standard_normal((DIM, RANK))
    frequencies, phases = rng.standard_normal((RANK, 500)), rng.uniform(0, 2 * np.pi, 500)
    weights = rng.standard_normal(500) * np.sqrt(2 / 500)
    return lambda X: np.cos(X @ M @ frequencies + phases) @ weights


@pytest.mark.statistical
def test_held_out_density_is_better_than_at_the_map():
    gains = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        f = function_of_the_model(rng)
        X, T = rng.uniform(-1, 1, (40, DIM)), rng.uniform(-1, 1, (300, DIM))
        y, held = (f(P) + 0.05 * rng.standard_normal(len(P)) for P in (X, T))
        model = LinearEmbedding(RANK).fit(X, y, rng=rng)
        values = (held - model.center) / model.spread
        marginal, at_map = model.marginal, model.marginal.posterior
        gains.append(
            marginal.log_predictive_density(T, values).mean()
            - at_map.log_predictive_density(T, values).mean()
        )
    assert np.median(gains) > 0.1
    assert sum(gain > 0 for gain in gains) >= 9


@pytest.mark.statistical
def test_finds_a_ridge_in_most_seeds():
    hits = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        W = random_frame(DIM, 1, rng)
        X = rng.uniform(-1, 1, (40, DIM))
        model = LinearEmbedding(1).fit(X, 5.0 + np.sin(2.0 * (X @ W)[:, 0]), rng=rng)
        hits += largest_angle(model.active_basis, W) < np.radians(5)
    assert hits >= 4


def test_suggests_the_most_telling_point_of_its_pool():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (15, 4))
    model = LinearEmbedding(1).fit(X, X[:, 0] ** 2, rng=rng)
    assert isinstance(model, Surrogate)
    x, information = most_informative(model.marginal, np.random.default_rng(5))
    np.testing.assert_array_equal(model.suggest(rng=np.random.default_rng(5)), x)
    assert np.all(np.abs(x) <= 1.0)
    assert information == pytest.approx(model.information(x)[0])
    # What is known already tells less.
    assert information > np.median(model.information(X))


def test_units_and_a_second_fit():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (20, 3))
    y = np.sin(X[:, 0] - X[:, 1])
    one = LinearEmbedding(1).fit(X, y, rng=np.random.default_rng(0))
    other = LinearEmbedding(1).fit(X, 7.0 + 4.0 * y, rng=np.random.default_rng(0))
    mean, variance = one.predict(X)
    np.testing.assert_allclose(other.predict(X)[0], 7.0 + 4.0 * mean, rtol=1e-4)
    np.testing.assert_allclose(other.predict(X)[1], 16.0 * variance, rtol=1e-2, atol=1e-6)
    np.testing.assert_allclose((mean - y) / y.std(), 0.0, atol=0.1)
    first = one.marginal.posterior.log_marginal_likelihood
    again = one.fit(X, y, rng=np.random.default_rng(7)).marginal.posterior
    assert again.log_marginal_likelihood > first - 1.0
    np.testing.assert_allclose(again.y, standardize(y))


def test_values_whose_squares_are_no_floats_are_foretold_all_the_same():
    X = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    y = np.sin(X[:, 0] - X[:, 1])
    model = LinearEmbedding(1).fit(X, np.ldexp(y, 700), rng=np.random.default_rng(0))
    mean, variance = model.predict(X)
    np.testing.assert_allclose(np.ldexp(mean, -700), y, atol=0.1 * y.std())
    np.testing.assert_array_equal(variance, np.inf)


def test_bad_use_is_refused():
    X = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    with pytest.raises(BoringError, match="fit"):
        LinearEmbedding(1).predict(X)
    with pytest.raises(InvalidInputError, match="at most D"):
        LinearEmbedding(3).fit(X, X[:, 0], rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="effective_dim"):
        LinearEmbedding(0)
