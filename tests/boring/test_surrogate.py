"""The objective's model: caller's units, caller's sign, components that add up."""

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.models.base import ObjectiveSurrogate, Surrogate
from boring.surrogate import fit_objective_model
from synthetic import get_problem


@pytest.fixture(scope="module", params=["minimize", "maximize"])
def optimizer(request) -> BoringOptimizer:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, -5, 10], [2, 5, 20], (60, 3))
    optimizer = BoringOptimizer(
        [[0, 2], [-5, 5], [10, 20]], direction=request.param, seed=1, subspace_every=2
    )
    optimizer.tell(X[:50], 100 + 20 * np.sin(2 * X[:50, 0]) + X[:50, 2])
    for _ in range(3):
        x = optimizer.ask()[0]
        optimizer.tell(x, 100 + 20 * np.sin(2 * x[0]) + x[2])
    return optimizer


def test_predicts_in_the_callers_units(optimizer) -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform([0, -5, 10], [2, 5, 20], (40, 3))
    truth = 100 + 20 * np.sin(2 * X[:, 0]) + X[:, 2]
    mean, variance = optimizer.surrogate.predict(X)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.15 * truth.std()
    assert np.all(variance >= 0)
    assert np.mean(np.abs(mean - truth) <= 3 * np.sqrt(variance) + 0.3) > 0.9
    assert optimizer.surrogate.noise_std < 1.0


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_values_of_any_size(exponent) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    y = 1.0 + np.sin(X[:, 0])
    models = []
    for power in (0, exponent):
        told = BoringOptimizer([[-1, 1]] * 2, direction="maximize", seed=0)
        models.append(told.tell(X, np.ldexp(y, power)).surrogate)
    (mean, _), (huge, variance) = (model.predict(X) for model in models)
    np.testing.assert_array_equal(np.ldexp(huge, -exponent), mean)
    np.testing.assert_array_equal(variance, np.inf if exponent > 0 else 0.0)
    assert np.ldexp(models[1].noise_std, -exponent) == models[0].noise_std


def test_components_add_up(optimizer) -> None:
    model = optimizer.surrogate
    X = np.random.default_rng(1).uniform([0, -5, 10], [2, 5, 20], (7, 3))
    means, variances = model.components(X)
    assert means.shape == variances.shape == (7, len(model.component_names))
    mean, _ = model.predict(X)
    offset = mean - means.sum(axis=1)
    np.testing.assert_allclose(offset, offset[0], rtol=1e-9)
    assert 100 < offset[0] < 140, "what is left is the average of the data"


def test_is_a_surrogate_and_is_cached_until_the_next_tell(optimizer) -> None:
    assert isinstance(optimizer.surrogate, Surrogate)
    assert isinstance(optimizer.surrogate, ObjectiveSurrogate)
    assert optimizer.surrogate is optimizer.surrogate
    before = optimizer.surrogate
    optimizer.tell([1.0, 0.0, 15.0], 100 + 20 * np.sin(2.0) + 15)
    assert optimizer.surrogate is not before


def test_refuses_points_of_another_space(optimizer) -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        optimizer.surrogate.predict(np.zeros((3, 2)))


def test_a_run_that_was_told_and_never_asked_is_modelled_on_its_trusted_subspace() -> None:
    rng = np.random.default_rng(0)
    problem = get_problem("camelback-2-in-5", 0)
    X, new = problem.space.sample(80, rng), problem.space.sample(200, rng)
    optimizer = BoringOptimizer(problem.space, direction="minimize", seed=0)
    optimizer.tell(X, problem(X))
    assert optimizer.subspace.trusted
    mean, variance = optimizer.surrogate.predict(new)
    isotropic, wide = fit_objective_model(problem.space, -1.0, optimizer.data).predict(new)
    error = np.abs(mean - problem(new)).mean()
    assert error < 0.5 * np.abs(isotropic - problem(new)).mean()
    assert np.median(variance) < 0.5 * np.median(wide)
