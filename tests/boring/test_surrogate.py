"""The objective's model: caller's units, caller's sign, components that add up."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels import Ard, Isotropic
from boring.loop.algorithm import BoringOptimizer
from boring.models.base import ObjectiveSurrogate, Surrogate
from boring.sample import spread_out
from boring.space import Box
from boring.surrogate import ObjectiveProcess, fit_objective_model, model_of_points
from synthetic import get_problem


@pytest.fixture(scope="module", params=["minimize", "maximize"])
def optimizer(request) -> BoringOptimizer:
    rng = np.random.default_rng(0)
    X = rng.uniform([0, -5, 10], [2, 5, 20], (30, 3))
    optimizer = BoringOptimizer(
        [[0, 2], [-5, 5], [10, 20]],
        direction=request.param,
        seed=1,
        subspace_every=2,
        effective_dim=2,
    )
    optimizer.tell(X, 100 + 20 * np.sin(2 * X[:, 0]) + X[:, 2])
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


def _sine():
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    return X, 1.0 + np.sin(X[:, 0])


@functools.cache
def _model_of_sine() -> ObjectiveSurrogate | None:
    told = BoringOptimizer([[-1, 1]] * 2, direction="maximize", seed=0, effective_dim=1)
    return told.tell(*_sine()).surrogate


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_values_of_any_size(exponent) -> None:
    X, y = _sine()
    told = BoringOptimizer([[-1, 1]] * 2, direction="maximize", seed=0, effective_dim=1)
    models = [_model_of_sine(), told.tell(X, np.ldexp(y, exponent)).surrogate]
    (mean, _), (huge, variance) = (model.predict(X) for model in models)
    np.testing.assert_array_equal(np.ldexp(huge, -exponent), mean)
    np.testing.assert_array_equal(variance, np.inf if exponent > 0 else 0.0)
    (mean, sd), (large, large_sd) = (model.predict_with_sd(X) for model in models)
    np.testing.assert_array_equal(np.ldexp(large, -exponent), mean)
    np.testing.assert_array_equal(np.ldexp(large_sd, -exponent), sd)
    np.testing.assert_allclose(sd**2, models[0].predict(X)[1], rtol=1e-12)
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


def test_is_a_surrogate_and_is_cached_until_the_history_changes(optimizer, monkeypatch) -> None:
    assert isinstance(optimizer.surrogate, Surrogate)
    assert isinstance(optimizer.surrogate, ObjectiveSurrogate)
    assert optimizer.surrogate is optimizer.surrogate
    before = optimizer.surrogate
    monkeypatch.setattr(BoringOptimizer, "_estimate", lambda self: None)
    optimizer.tell([1.0, 0.0, 15.0], 100 + 20 * np.sin(2.0) + 15)
    assert optimizer.surrogate is not before


def test_refuses_points_of_another_space(optimizer) -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        optimizer.surrogate.predict(np.zeros((3, 2)))


def test_a_run_that_was_told_and_never_asked_is_modelled_on_its_trusted_subspace() -> None:
    rng = np.random.default_rng(0)
    problem = get_problem("camelback-2-in-5", 0)
    X, new = problem.space.sample(60, rng), problem.space.sample(200, rng)
    optimizer = BoringOptimizer(problem.space, direction="minimize", seed=0, effective_dim=2)
    optimizer.tell(X, problem(X))
    assert optimizer.subspace.trusted
    mean, variance = optimizer.surrogate.predict(new)
    isotropic, wide = fit_objective_model(problem.space, -1.0, optimizer.data).predict(new)
    error = np.abs(mean - problem(new)).mean()
    assert error < 0.5 * np.abs(isotropic - problem(new)).mean()
    assert np.median(variance) < 0.5 * np.median(wide)


def test_an_ask_does_not_unlearn_a_told_subspace(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(trusted=True, factor=np.array([[1.0], [1.0], [0.0]]))
    monkeypatch.setattr(BoringOptimizer, "_estimate", lambda self: found)
    X, middle = np.random.default_rng(1).uniform(-1, 1, (30, 3)), np.full((1, 3), 0.3)
    optimizer = BoringOptimizer([[-1, 1]] * 3, direction="minimize", seed=0, effective_dim=1)
    optimizer.tell(X, np.sin(3.0 * (X[:, 0] + X[:, 1])))
    before = optimizer.surrogate.predict(middle)
    optimizer.ask()
    again = BoringOptimizer.from_state(optimizer.state())
    np.testing.assert_array_equal(again.surrogate.predict(middle), before)
    np.testing.assert_allclose(before, [[np.sin(1.8)], [0.0]], atol=1e-2)


def test_models_depend_on_the_state_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoringOptimizer, "_estimate", _made_of)
    X, middle = np.random.default_rng(1).uniform(-1, 1, (20, 3)), np.full((1, 3), 0.3)
    y = np.sin(3.0 * (X[:, 0] + X[:, 1]))
    optimizer = BoringOptimizer([[-1, 1]] * 3, direction="minimize", seed=0, effective_dim=1)
    optimizer.tell(X[:16], y[:16]).ask()
    optimizer.tell(X[16:], y[16:])
    for n_asked in (0, 1, 2):
        if n_asked:
            optimizer.ask(n_asked)
        again = BoringOptimizer.from_state(optimizer.state())
        assert optimizer.subspace == again.subspace
        shown, anew = (one.surrogate.predict(middle) for one in (optimizer, again))
        np.testing.assert_array_equal(shown, anew)


def _made_of(optimizer: BoringOptimizer) -> SimpleNamespace:
    """Return an estimate that shows what it is made of."""
    return SimpleNamespace(trusted=False, n=optimizer.n_told, memory=dict(optimizer.memory))


def test_inputs_have_lengthscales_of_their_own_where_the_values_plainly_say_so():
    rng = np.random.default_rng(0)
    box = Box.from_bounds([(-1, 1)] * 20)
    X, new = rng.uniform(-1.0, 1.0, (80, 20)), rng.uniform(-1.0, 1.0, (500, 20))

    def error(f, turn):
        model = model_of_points(box, X, f(X @ turn))
        mean, variance = model.predict(new)
        errors = f(new @ turn) - mean
        assert 0.5 < np.sqrt(np.mean(errors**2 / variance)) < 2.0, "says what it does not know"
        return np.sqrt(np.mean(errors**2)), type(model.posterior.model.kernel.terms[0].feature_map)

    few = error(lambda X: (X[:, 0] - X[:, 1] + 0.3) ** 2 + (X[:, 2] - 0.1) ** 2, np.eye(20))
    assert few[0] < 0.25
    assert few[1] is Ard
    turn = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    assert error(lambda X: (X**2).sum(axis=1), turn)[1] is Isotropic


def _walled(X):
    return np.sin(4.0 * X).sum(axis=1) * np.exp((X**2).sum(axis=1))


def _near_and_far(rng):
    """Return points of which most crowd around one, as those of an optimisation do."""
    return np.vstack([rng.uniform(-1, 1, (10, 4)), 0.05 * rng.standard_normal((40, 4))])


def test_intervals_are_as_wide_as_points_far_apart_say() -> None:
    X = _near_and_far(np.random.default_rng(0))
    y, box = _walled(X), Box.from_bounds([(-1, 1)] * 4)
    model = model_of_points(box, X, y, sign=-1.0)
    posterior, values = model.posterior, model.posterior.y
    squares = []
    for row in spread_out(X, int(np.argmin(y)), 50 // 3):
        others = np.arange(50) != row
        without = posterior.model.condition(posterior.theta, X[others], values[others])
        mean, variance = without.predict(X[[row]])
        squares.append((values[row] - mean[0]) ** 2 / (variance[0] + without.noise_variance))
    assert model.inflation == pytest.approx(np.mean(squares), rel=1e-6)
    narrow = ObjectiveProcess(box, posterior, model.units)
    for name in ("predict", "components"):
        (mean, wide), (same, thin) = (getattr(of, name)(X[:20] + 0.1) for of in (model, narrow))
        np.testing.assert_array_equal(mean, same)
        np.testing.assert_allclose(wide, model.inflation * thin)


def test_intervals_after_an_optimisation_hold_what_they_say() -> None:
    held = {"as it is": [], "inflated": []}
    box = Box.from_bounds([(-1, 1)] * 4)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, new = _near_and_far(rng), rng.uniform(-1, 1, (500, 4))
        model = model_of_points(box, X, _walled(X), sign=-1.0)
        mean, variance = model.predict(new)
        errors = np.abs(_walled(new) - mean)
        held["inflated"].append(np.mean(errors <= 1.645 * np.sqrt(variance)))
        held["as it is"].append(np.mean(errors <= 1.645 * np.sqrt(variance / model.inflation)))
    assert np.mean(held["as it is"]) < 0.6
    assert np.mean(held["inflated"]) > 0.7


def test_intervals_are_left_alone_where_the_model_is_right() -> None:
    rng = np.random.default_rng(0)
    box, X = Box.from_bounds([(-1, 1)] * 3), rng.uniform(-1, 1, (60, 3))
    assert model_of_points(box, X, np.sin(X.sum(axis=1))).inflation < 2.0
