from __future__ import annotations

import numpy as np
import pytest

from baselines.additive.random_projections import (
    RandomProjectionsGP,
    RandomProjectionsOptimizer,
    RandomProjectionsOptions,
    ScaledProjection,
    projections_model,
)
from boring.exceptions import InvalidInputError
from boring.models.base import Surrogate
from boring.testing import check_gradient


@pytest.mark.parametrize("per_input", [False, True])
def test_gradient_of_the_likelihood(per_input):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (20, 4)), rng.standard_normal(20)
    model = projections_model(rng.standard_normal((4, 6)), per_input=per_input)
    u = 0.3 * rng.standard_normal(model.n_parameters)
    check_gradient(lambda u: model.negative_log_posterior(u, X, y), u, rng)


def test_gradient_of_the_prediction_through_scaled_projections():
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (20, 4)), rng.standard_normal(20)
    model = projections_model(rng.standard_normal((4, 6)), per_input=True)
    posterior = model.condition(0.3 * rng.standard_normal(model.n_parameters), X, y)
    for k in (0, 1):

        def part(x, k=k):
            values = posterior.predict_with_gradient(x[None, :])
            return float(values[k][0]), values[2 + k][0]

        check_gradient(part, rng.uniform(-1, 1, 4), rng)


def test_scaled_projections_with_equal_lengthscales_are_the_shared_ones():
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, (15, 3)), rng.standard_normal(15)
    A = rng.standard_normal((3, 5))
    shared = projections_model(A, per_input=False).negative_log_likelihood(
        np.array([0.2, 0.4, -3.0]), X, y
    )[0]
    apart = projections_model(A, per_input=True).negative_log_likelihood(
        np.array([0.2, 0.4, 0.4, 0.4, -3.0]), X, y
    )[0]
    assert shared == pytest.approx(apart, abs=1e-10)
    assert ScaledProjection(A).n_parameters == 3


def test_kernel_tends_to_the_inverse_multiquadric():
    # E exp(-(a't)^2 / 2) = (1 + |t|^2)^(-1/2) for a ~ N(0, I); error falls as J^(-1/2).
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (30, 5))
    scale, variance = 0.8, 1.7
    distance = np.linalg.norm(X[:, None] - X[None], axis=2) / scale
    limit = variance / np.sqrt(1 + distance**2)
    errors = []
    for n_projections in (25, 2500):
        model = projections_model(rng.standard_normal((5, n_projections)), per_input=False)
        theta = model.theta(np.array([np.log(variance), np.log(scale), 0.0]))
        difference = model.kernel.matrix(theta, X) - limit
        errors.append(np.sqrt(np.mean(difference**2)))
    assert errors[1] < 0.02
    assert 4 < errors[0] / errors[1] < 25


def test_surrogate_predicts_in_the_units_of_the_values():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (80, 4))
    y = 1e6 + 1e3 * np.sin(X.sum(axis=1))
    model = RandomProjectionsGP(RandomProjectionsOptions(n_projections=30)).fit(X, y, rng=rng)
    assert isinstance(model, Surrogate)
    T = rng.uniform(-1, 1, (50, 4))
    mean, variance = model.predict(T)
    error = mean - (1e6 + 1e3 * np.sin(T.sum(axis=1)))
    assert np.sqrt(np.mean(error**2)) < 0.2 * y.std()
    assert np.mean(np.abs(error) < 3 * np.sqrt(variance)) > 0.9


def test_projections_belong_to_the_run():
    first, same, other = (
        RandomProjectionsOptimizer([(-1, 1)] * 3, direction="minimize", seed=seed).directions
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert first.shape == (3, RandomProjectionsOptions().n_projections)
    assert not np.allclose(first, other)


def test_optimiser_reaches_a_small_regret():
    optimizer = RandomProjectionsOptimizer([(-1, 1)] * 4, direction="minimize", seed=0)
    result = optimizer.run(lambda x: float(np.sum((x - 0.25) ** 2)), 30, progress=False)
    assert result.y_best < 0.05
    assert optimizer.surrogate is not None


def test_bad_options_are_rejected():
    with pytest.raises(InvalidInputError):
        RandomProjectionsOptimizer([(-1, 1)], direction="minimize", n_projections=0)
