"""Tripathy's model as a surrogate: what it learns, its units, d by BIC."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from boring.exceptions import BoringError, InvalidInputError
from boring.models.base import Surrogate
from boring.models.propagation import UniformInput, propagate
from boring.subspace.active_subspace_gp import ActiveSubspaceGP
from boring.subspace.stiefel import largest_angle, random_frame


def sample(seed=0, n=40, dim=5):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 1, rng)
    X = rng.uniform(-1, 1, (n, dim))
    Z = (X @ W)[:, 0]
    return X, 100.0 + 10.0 * (0.99 * Z**2 + 0.43 * Z), W, rng


@functools.cache
def fitted():
    X, y, W, rng = sample()
    return ActiveSubspaceGP(n_restarts=3).fit(X, y, rng=rng), W


def test_is_a_surrogate():
    model, _ = fitted()
    assert isinstance(model, Surrogate)


def test_finds_d_and_the_direction():
    model, W = fitted()
    assert model.active_basis.shape == (5, 1)
    assert largest_angle(model.active_basis, W) < np.radians(5)
    rows = model.dimension_table
    assert [row.effective_dim for row in rows] == [1, 2]
    assert rows[0].bic < rows[1].bic


def test_predicts_in_the_units_of_y():
    model, W = fitted()
    X = np.random.default_rng(9).uniform(-1, 1, (200, 5))
    Z = (X @ W)[:, 0]
    truth = 100.0 + 10.0 * (0.99 * Z**2 + 0.43 * Z)
    mean, variance = model.predict(X)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.1 * truth.std()
    assert np.all(variance < 0.2 * truth.var())
    assert 0.0 < model.noise_variance < 0.05 * truth.var()


def test_gradients_are_in_the_units_of_y():
    model, _ = fitted()
    X = np.random.default_rng(1).uniform(-0.9, 0.9, (6, 5))
    mean, variance, mean_slope, variance_slope = model.predict_with_gradient(X)
    np.testing.assert_allclose(mean, model.predict(X)[0], rtol=1e-9)
    np.testing.assert_allclose(variance, model.predict(X)[1], rtol=1e-6)
    for i, step in enumerate(1e-4 * np.eye(5)):
        ahead, behind = model.predict(X + step), model.predict(X - step)
        for index, slope in enumerate((mean_slope, variance_slope)):
            numeric = (ahead[index] - behind[index]) / 2e-4
            scale = np.abs(slope).max()
            np.testing.assert_allclose(slope[:, i], numeric, atol=1e-4 * scale)


def test_uncertainty_of_a_uniform_input_propagates():
    # z^2 and z of a unit direction: mean 100 + 10 * .99/3; variance by a large sample.
    model, W = fitted()
    found = propagate(
        model.posterior,
        UniformInput(5),
        rng=np.random.default_rng(2),
        center=model.center,
        spread=model.spread,
    )
    Z = (np.random.default_rng(3).uniform(-1, 1, (200_000, 5)) @ W)[:, 0]
    truth = 10.0 * (0.99 * Z**2 + 0.43 * Z)
    assert found.mean == pytest.approx(100.0 + 3.3, abs=0.15)
    assert found.variance == pytest.approx(truth.var(), rel=0.1)
    assert 0.0 < found.mean_std < 0.5


def test_values_whose_squares_are_no_floats_are_foretold_all_the_same():
    X, y, _, rng = sample(n=20)
    model = ActiveSubspaceGP(1, n_restarts=1).fit(X, np.ldexp(y, 700), rng=rng)
    mean, variance, mean_slope, _ = model.predict_with_gradient(X[:5])
    np.testing.assert_allclose(np.ldexp(mean, -700), y[:5], atol=0.5 * y.std())
    np.testing.assert_array_equal([*variance, model.noise_variance], [np.inf] * 6)
    assert np.isfinite(mean_slope).all()
    units = {"center": model.center, "spread": model.spread}
    assert propagate(model.posterior, UniformInput(5), rng=rng, **units).variance == np.inf


def test_a_given_d_skips_the_choice():
    X, y, _, rng = sample(n=20)
    model = ActiveSubspaceGP(2, n_restarts=1, kernel="squared-exponential").fit(X, y, rng=rng)
    assert model.active_basis.shape == (5, 2)
    assert model.dimension_table == ()


def test_bad_use_is_refused():
    X, y, _, rng = sample(n=10)
    with pytest.raises(BoringError, match="fit"):
        ActiveSubspaceGP().predict(X)
    with pytest.raises(InvalidInputError, match="at most D"):
        ActiveSubspaceGP(6).fit(X, y, rng=rng)
    with pytest.raises(InvalidInputError, match="n_restarts"):
        ActiveSubspaceGP(n_restarts=0)
