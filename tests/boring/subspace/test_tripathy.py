"""Tripathy's alternation: recovery, monotone losses, certificate, bad input."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels.profiles import MATERN32
from boring.subspace.alternation import AlternatingRestart, BasisMethod
from boring.subspace.likelihood import Hyperparameters, StiefelLikelihood
from boring.subspace.stiefel import is_orthonormal, largest_angle, random_frame
from boring.subspace.tripathy import TripathyOptions, TripathySubspace, tripathy_subspace

FAST = TripathyOptions(basis_method="cayley")
TEN_DEGREES = np.radians(10.0)


def camelback(Z: np.ndarray) -> np.ndarray:
    a, b = 1.2 * Z[:, 0], 0.8 * Z[:, 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def parabola(Z: np.ndarray) -> np.ndarray:
    return 0.99 * Z[:, 0] ** 2 + 0.43 * Z[:, 0] + 0.06


def sample(
    function, effective_dim: int, n: int, seed: int, noise: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    basis = random_frame(5, effective_dim, rng)
    X = rng.uniform(-1, 1, (n, 5))
    y = function(X @ basis)
    return X, y + noise * np.std(y) * rng.standard_normal(n), basis


@functools.cache
def camelback_fit(method: BasisMethod) -> tuple[TripathySubspace, np.ndarray, np.ndarray]:
    X, y, _ = sample(camelback, 2, 40, 0)
    result = tripathy_subspace(
        X,
        y,
        2,
        rng=np.random.default_rng(0),
        n_restarts=2,
        options=TripathyOptions(basis_method=method),
    )
    return result, X, y


@pytest.mark.statistical
def test_recovers_the_parabola_one_in_five() -> None:
    hits = 0
    for seed in range(5):
        X, y, basis = sample(parabola, 1, 40, seed, noise=0.05)
        result = tripathy_subspace(
            X, y, 1, rng=np.random.default_rng(seed), n_restarts=4, options=FAST
        )
        hits += largest_angle(result.active_basis, basis) < TEN_DEGREES
    assert hits == 5


@pytest.mark.statistical
def test_recovers_the_camelback_two_in_five() -> None:
    hits = 0
    for seed in range(3):
        X, y, basis = sample(camelback, 2, 80, seed)
        result = tripathy_subspace(
            X, y, 2, rng=np.random.default_rng(seed), n_restarts=4, options=FAST
        )
        hits += largest_angle(result.active_basis, basis) < TEN_DEGREES
    assert hits == 3


@pytest.mark.statistical
def test_recovers_the_camelback_by_pymanopt() -> None:
    X, y, basis = sample(camelback, 2, 100, 0)
    result = tripathy_subspace(X, y, 2, rng=np.random.default_rng(0), n_restarts=3)
    assert largest_angle(result.active_basis, basis) < TEN_DEGREES
    assert result.gradient_norm < 1e-2


@pytest.mark.parametrize("method", get_args(BasisMethod))
def test_result_describes_the_point_it_returns(method: BasisMethod) -> None:
    result, X, y = camelback_fit(method)
    likelihood = StiefelLikelihood(X, (y - y.mean()) / y.std())
    parameters = Hyperparameters(
        np.log(result.lengthscales), np.log(result.signal_variance), np.log(result.noise_variance)
    )
    evaluation = likelihood.evaluate(result.active_basis, parameters)
    assert result.log_likelihood == pytest.approx(evaluation.value, abs=1e-8)
    assert is_orthonormal(result.active_basis)
    assert np.all(np.diff(result.lengthscales) >= 0)
    assert result.noise_variance >= FAST.noise_floor * (1 - 1e-12)
    assert len(result.history) == 2
    # certification can only improve on the winner's last loss
    assert -result.log_likelihood <= result.history[result.best_restart].losses[-1] + 1e-9
    assert result.history[result.best_restart].losses[-1] == min(
        history.losses[-1] for history in result.history
    )
    assert result.gradient_norm < 0.1
    assert result.seconds > 0


@pytest.mark.parametrize("method", get_args(BasisMethod))
def test_losses_never_rise_and_frames_stay_orthonormal(method: BasisMethod) -> None:
    X, y, _ = sample(camelback, 2, 30, 1)
    likelihood = StiefelLikelihood(X, (y - y.mean()) / y.std())
    options = TripathyOptions(basis_method=method, max_rounds=6)
    restart = AlternatingRestart(likelihood, random_frame(5, 2, np.random.default_rng(0)), options)
    bound = restart.rounds_left
    rounds = 0
    while not restart.finished:
        before, left = restart.loss, restart.rounds_left
        restart.advance()
        rounds += 1
        assert restart.loss <= before
        assert restart.rounds_left < left
        assert is_orthonormal(restart.W, 1e-10)
        assert restart.loss == pytest.approx(-likelihood.value(restart.W, restart.parameters))
    assert rounds <= bound
    assert restart.rounds_left == 0
    assert restart.loss < -likelihood.value(
        random_frame(5, 2, np.random.default_rng(0)), restart.parameters
    )


def test_relative_gain_is_sound_where_the_likelihood_crosses_zero() -> None:
    """A long climb through L = 0 does not stop there: (L1 - L0)/L0 would blow up or flip."""
    X, y, _ = sample(camelback, 2, 100, 0)
    result = tripathy_subspace(X, y, 2, rng=np.random.default_rng(0), n_restarts=3, options=FAST)
    losses = np.array(result.history[result.best_restart].losses)
    assert losses[0] > 50
    assert losses[-1] < -20
    assert np.all(np.diff(losses) <= 0)


def test_same_generator_same_answer_and_global_state_untouched() -> None:
    X, y, _ = sample(parabola, 1, 25, 0)
    state = np.random.get_state()  # noqa: NPY002
    copies = X.copy(), y.copy()
    first, second = (
        tripathy_subspace(X, y, 1, rng=np.random.default_rng(3), n_restarts=2) for _ in range(2)
    )
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(first.active_basis, second.active_basis)
    np.testing.assert_array_equal(state[1], after[1])
    assert state[2:] == after[2:]
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


def test_subspace_does_not_depend_on_the_unit_of_y() -> None:
    X, y, _ = sample(parabola, 1, 25, 0)
    first, second = (
        tripathy_subspace(X, values, 1, rng=np.random.default_rng(3), n_restarts=2, options=FAST)
        for values in (y, 1e6 * y - 3e5)
    )
    assert largest_angle(first.active_basis, second.active_basis) < 1e-4
    assert first.log_likelihood == pytest.approx(second.log_likelihood, abs=1e-4)


def test_initial_basis_is_the_first_restart() -> None:
    X, y, basis = sample(camelback, 2, 60, 0)
    result = tripathy_subspace(
        X, y, 2, rng=np.random.default_rng(0), n_restarts=1, initial_basis=3 * basis, options=FAST
    )
    assert len(result.history) == 1
    assert largest_angle(result.active_basis, basis) < TEN_DEGREES


def test_dropping_saves_rounds_and_keeps_the_winner() -> None:
    X, y, _ = sample(camelback, 2, 50, 2)
    kept, dropped = (
        tripathy_subspace(
            X, y, 2, rng=np.random.default_rng(1), n_restarts=5, options=FAST, drop_hopeless=drop
        )
        for drop in (False, True)
    )
    assert not any(history.dropped for history in kept.history)
    assert any(history.dropped for history in dropped.history)
    assert sum(len(h.losses) for h in dropped.history) < sum(len(h.losses) for h in kept.history)
    assert dropped.log_likelihood == pytest.approx(kept.log_likelihood, abs=0.1)


def test_a_cpu_budget_ends_the_search() -> None:
    X, y, _ = sample(camelback, 2, 60, 0)
    result = tripathy_subspace(
        X, y, 2, rng=np.random.default_rng(0), n_restarts=500, cpu_budget=0.2, options=FAST
    )
    assert len(result.history) < 100
    assert np.isfinite(result.log_likelihood)


def test_published_settings_run() -> None:
    X, y, _ = sample(parabola, 1, 25, 0)
    result = tripathy_subspace(
        X,
        y,
        1,
        rng=np.random.default_rng(0),
        n_restarts=2,
        profile="matern32",
        options=replace(TripathyOptions.published(), max_rounds=20),
    )
    assert is_orthonormal(result.active_basis)
    assert result.noise_variance < TripathyOptions().noise_floor


@pytest.mark.parametrize("shape", [(1, 1), (2, 2)])
def test_square_frames(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (15, shape[0]))
    result = tripathy_subspace(X, np.sin(2 * X[:, 0]), shape[1], rng=rng, n_restarts=2)
    assert result.active_basis.shape == shape
    assert is_orthonormal(result.active_basis)


def test_bad_input() -> None:
    X, y, _ = sample(parabola, 1, 20, 0)
    rng = np.random.default_rng(0)
    for arguments, message in (
        ((X, y[:-1], 1), "one value for each"),
        ((X[:, 0], y, 1), "shape"),
        ((X, np.full(20, 2.5), 1), "constant"),
        ((X, np.where(y == y[3], np.nan, y), 1), "finite"),
        ((np.where(X == X[0, 0], np.inf, X), y, 1), "finite"),
        ((X, y * 1j, 1), "real"),
        ((X, y, 6), "at most D = 5"),
        ((X, y, 0), "effective_dim"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            tripathy_subspace(*arguments, rng=rng)
    with pytest.raises(InvalidInputError, match="initial_basis"):
        tripathy_subspace(X, y, 2, rng=rng, initial_basis=np.eye(5)[:, :1])
    with pytest.raises(InvalidInputError, match="n_restarts"):
        tripathy_subspace(X, y, 2, rng=rng, n_restarts=0)
    with pytest.raises(InvalidInputError, match="matern32"):
        tripathy_subspace(X, y, 1, rng=rng, profile="matern23")


@pytest.mark.parametrize(
    "options",
    [
        {"noise_floor": 3.0},
        {"noise_floor": -1.0},
        {"tolerance": float("nan")},
        {"basis_steps": 0},
        {"basis_method": "newton"},
    ],
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        TripathyOptions(**options)  # type: ignore[arg-type]


def test_default_profile_is_the_thesis_kernel() -> None:
    X, y, _ = sample(parabola, 1, 20, 0)
    first, second = (
        tripathy_subspace(X, y, 1, rng=np.random.default_rng(0), n_restarts=1, options=FAST, **more)
        for more in ({}, {"profile": MATERN32})
    )
    assert first.log_likelihood == second.log_likelihood
