"""The portfolio: scores, choice of who steers, memory that carries over."""

import json

import numpy as np
import pytest

from boring.loop import portfolio
from boring.loop.portfolio import (
    MEMBER_NAMES,
    MIN_WEIGHT,
    SCORE_DECAY,
    SCORE_FLOOR,
    Member,
    Portfolio,
    decayed,
    fit_iso,
    fit_portfolio,
    fitted_noise,
    gradient_metric,
    iso_model,
    one_step_ahead,
)
from boring.models.gp import prior_mode
from boring.models.posterior import LOG_TWO_PI
from boring.models.priors import dimension_scaled, shared_lengthscale
from boring.subspace.stiefel import largest_angle, random_frame


def _ridge(n: int, dim: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 1, rng)
    X = rng.uniform(-1, 1, (n, dim))
    y = np.sin(3 * X @ W[:, 0])
    return X, (y - y.mean()) / y.std(), W


def test_scores_are_log_densities_of_what_came_next() -> None:
    X, y, _ = _ridge(12, 3)
    model = iso_model(3)
    theta = prior_mode(model)
    scores = one_step_ahead(model, theta, X, y, 9)
    for k, score in enumerate(scores, start=9):
        mean, variance = model.condition(theta, X[:k], y[:k]).predict(X[[k]])
        total = variance[0] + np.exp(theta[-1])
        exact = -0.5 * ((y[k] - mean[0]) ** 2 / total + np.log(total) + LOG_TWO_PI)
        assert score == pytest.approx(max(exact, SCORE_FLOOR), abs=1e-9)


def test_a_shock_is_clipped() -> None:
    X, y, _ = _ridge(12, 3)
    y[-1] = 1e6
    model = iso_model(3)
    assert one_step_ahead(model, prior_mode(model), X, y, 11)[0] == SCORE_FLOOR


def test_decay_folds_oldest_first() -> None:
    expected = ((1.0 * SCORE_DECAY + 2.0) * SCORE_DECAY) + 3.0
    assert decayed(1.0, np.array([2.0, 3.0])) == pytest.approx(expected)


def test_a_member_keeps_what_it_has_earned() -> None:
    X, y, _ = _ridge(14, 3)
    memory = fit_portfolio(X[:12], y[:12], 1, {}, 7).memory
    richer = memory | {"scores": dict.fromkeys(MEMBER_NAMES, 10.0)}
    poor, rich = (fit_portfolio(X, y, 1, m, 7).memory["scores"] for m in (memory, richer))
    for name in MEMBER_NAMES:
        assert rich[name] - poor[name] == pytest.approx(10.0 * SCORE_DECAY**2), "two values came"
    new = one_step_ahead(iso_model(3), np.array(memory["theta"]["iso"]), X, y, 12)
    assert poor["iso"] == pytest.approx(SCORE_DECAY * new[0] + new[1])


def _with_scores(*scores: float) -> Portfolio:
    X, y, _ = _ridge(6, 2)
    posterior = fit_iso(X, y)
    members = tuple(Member(n, posterior, s) for n, s in zip(MEMBER_NAMES, scores, strict=True))
    return Portfolio(members, np.eye(2), {})


def test_who_steers() -> None:
    assert [m.name for m in _with_scores(0, 0, 0, 0).speakers()] == ["iso", "ard"]
    assert [m.name for m in _with_scores(0, 50, 0, 0).speakers()] == ["ard"]
    assert [m.name for m in _with_scores(0, 5, -9, 5.5).speakers()] == ["mixed", "ard"]
    weights = _with_scores(0, 5, 0, 5.5).weights
    assert weights.sum() == pytest.approx(1)
    assert weights[1] > MIN_WEIGHT


def test_memory_is_json_and_the_same_step_twice_is_the_same() -> None:
    X, y, _ = _ridge(20, 4)
    first = fit_portfolio(X[:15], y[:15], 1, {}, 7)
    memory = json.loads(json.dumps(first.memory))
    one = fit_portfolio(X, y, 1, memory, 7)
    two = fit_portfolio(X, y, 1, json.loads(json.dumps(first.memory)), 7)
    assert one.memory == two.memory
    assert one.memory["n"] == 20
    assert all(np.isfinite(member.score) for member in one.members)
    assert any(member.score != 0 for member in one.members)


def test_axis_aligned_data_favour_ard() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (45, 6))
    y = np.sin(4 * X[:, 2]) + X[:, 4] ** 2
    y = (y - y.mean()) / y.std()
    memory: dict = {}
    for n in range(20, 46, 5):
        portfolio = fit_portfolio(X[:n], y[:n], 2, memory, 3)
        memory = portfolio.memory
    scores = {member.name: member.score for member in portfolio.members}
    assert scores["ard"] == max(scores.values())


def test_gradient_metric_sees_the_ridge() -> None:
    X, y, W = _ridge(60, 5)
    _, directions = gradient_metric(fit_iso(X, y), 0)
    assert np.rad2deg(largest_angle(directions[:, :1], W)) < 10


def test_gradient_metric_stretches_along_what_varies_at_the_best_points() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (80, 3))
    y = 3.0 * X[:, 2] + (1.0 + X[:, 2]) * X[:, 0] + (1.0 - X[:, 2]) * X[:, 1]
    stretched, _ = gradient_metric(fit_iso(X, (y - y.mean()) / y.std()), 0)
    at_the_top, at_the_bottom, _ = np.linalg.norm(stretched.inputs(np.eye(3)), axis=1)
    assert at_the_top > 1.2 * at_the_bottom


def test_a_fresh_fit_of_ard_comes_once_there_are_enough_new_points_however_turns_fall() -> None:
    X, y, _ = _ridge(40, 3)
    memory: dict = {}
    cold_at = []
    for n in (11, 14, 19, 22, 27, 31, 33):
        memory = fit_portfolio(X[:n], y[:n], 1, memory, 0).memory
        cold_at.append(memory["ard_cold_at"])
    assert cold_at == [11, 11, 11, 22, 22, 22, 33]


def test_the_portfolio_tells_noise_from_none() -> None:
    X, _, W = _ridge(100, 3)
    y = X @ W[:, 0]
    noisy = y + 0.5 * np.random.default_rng(1).standard_normal(100)
    assert fitted_noise(None) == fitted_noise({}) == 0.0
    assert fitted_noise(fit_portfolio(X, y, 1, {}, 0).memory) < 1e-3
    assert fitted_noise(fit_portfolio(X, noisy, 1, {}, 0).memory) > 0.05


def test_a_ripple_is_not_followed_by_a_lengthscale_far_below_the_distances(monkeypatch) -> None:
    dim = 20
    floor = np.log(0.1 * np.sqrt(dim))

    def log_lengthscales() -> np.ndarray:
        fitted = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, (15, dim))
            X = np.vstack([X, X[0] + rng.normal(0, 0.05, (15, dim))])
            y = np.cos(60.0 * X).mean(axis=1)
            fitted.append(fit_iso(X, (y - y.mean()) / y.std()).theta[1])
        return np.array(fitted)

    assert log_lengthscales().min() > floor - 0.2
    monkeypatch.setattr(portfolio, "SURE_UNTIL", 29)
    assert (log_lengthscales() < floor - 0.5).sum() >= 3


def test_prior_of_a_shared_lengthscale_is_as_free_in_one_input_as_the_usual_one() -> None:
    log_lengthscale = np.log([0.1, 0.7, 3.0])
    for value in log_lengthscale:
        at = np.array([value])
        ours, usual = shared_lengthscale(1).penalty(at), dimension_scaled(1).penalty(at)
        assert ours[0] == pytest.approx(usual[0], abs=1e-12)
    short = np.array([np.log(0.2)])
    assert shared_lengthscale(25).penalty(short)[0] > dimension_scaled(25).penalty(short)[0] + 20
