"""The local turn: it finds a quadratic's minimum, and sees noise where there is some."""

import json

import numpy as np
import pytest

from boring.data import Observations
from boring.feasibility import Feasibility
from boring.loop.local_turn import fit_local, local_step
from boring.loop.trust_region import goes_on, shrunk


def _bowl(X: np.ndarray, center: np.ndarray, stretch: np.ndarray) -> np.ndarray:
    return -((X - center) ** 2 * stretch).sum(axis=1)


def _polished(stretch: np.ndarray, n_steps: int, n: int = 25, seed: int = 0) -> float:
    """Return the shortfall after so many local steps on a bowl in len(stretch) dimensions."""
    rng = np.random.default_rng(seed)
    dim = len(stretch)
    center = rng.uniform(-0.5, 0.5, dim)
    X = rng.uniform(-1, 1, (n, dim))
    y = _bowl(X, center, stretch)
    memory: dict = {}
    for _ in range(n_steps):
        step = local_step(X, y, memory, rng)
        memory = json.loads(json.dumps(step.memory))
        if step.x is None:
            break
        X = np.vstack([X, step.x])
        y = np.append(y, _bowl(step.x[None], center, stretch))
    return -float(y.max())


@pytest.mark.parametrize("stretch", [np.ones(3), np.array([1.0, 30.0, 0.5])])
def test_a_bowl_is_polished_to_many_digits_in_a_dozen_steps(stretch: np.ndarray) -> None:
    assert _polished(stretch, 12) < 1e-7 * stretch.max()


def test_the_metric_rounds_a_stretched_bowl() -> None:
    rng = np.random.default_rng(3)
    U = rng.standard_normal((40, 4))
    v = _bowl(U, np.zeros(4), np.array([1.0, 1.0, 100.0, 1.0]))
    v = (v - v.mean()) / v.std()
    posterior = fit_local(U, v)
    new = rng.standard_normal((50, 4))
    truth = _bowl(new, np.zeros(4), np.array([1.0, 1.0, 100.0, 1.0]))
    truth_spread = truth.std()
    predicted, _ = posterior.predict(new)
    old = _bowl(U, np.zeros(4), np.array([1.0, 1.0, 100.0, 1.0]))
    error = predicted * old.std() + old.mean() - truth
    assert np.sqrt(np.mean(error**2)) < 0.05 * truth_spread


def test_where_noise_is_seen_the_model_finds_it() -> None:
    rng = np.random.default_rng(8)
    found = []
    for _ in range(8):
        U = rng.standard_normal((60, 3))
        v = -(U**2).sum(axis=1)
        v = (v - v.mean()) / v.std() + 0.1 * rng.standard_normal(60)
        found.append(float(np.sqrt(fit_local(U, v, sees_noise=True).noise_variance)))
    assert sum(0.06 < noise < 0.14 for noise in found) >= 6, found


def test_steps_and_streaks_are_counted() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (25, 3))
    y = -((X - 0.9) ** 2).sum(axis=1)
    memory: dict = {}
    for count in range(1, 3):
        step = local_step(X, y, memory, rng)
        memory = step.memory
        assert memory["steps"] == count
        assert memory["streak"] == count - 1
        X, y = np.vstack([X, step.x]), np.append(y, -float(((step.x - 0.9) ** 2).sum()))
        assert goes_on(X, y, memory)
    X, y = np.vstack([X, rng.uniform(-1, 1, 3)]), np.append(y, -9.0)
    assert not goes_on(X, y, memory), "another value came after it"


def test_a_plateau_has_nothing_to_gain() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (40, 2))
    X[:30] *= 0.01
    y = np.where(np.abs(X).max(axis=1) < 0.02, 1.0, 0.0)
    step = local_step(X, y, {}, rng)
    assert step.x is None
    assert step.gain == 0
    assert local_step(X, y, step.memory, rng).radius < step.memory["radius"] / 0.99


def test_proposals_stay_in_the_box_and_in_the_region() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (30, 4))
    y = X @ np.array([1.0, 2.0, -1.0, 0.5])
    step = local_step(X, y, {}, rng)
    best = X[int(np.argmax(y))]
    assert np.all(np.abs(step.x) <= 1)
    assert np.max(np.abs(step.x - best)) <= step.radius * (1 + 1e-9)


def test_a_small_region_is_searched_by_the_mean_unless_there_is_noise() -> None:
    rng = np.random.default_rng(3)
    X = 0.02 * rng.standard_normal((40, 3))
    y = -((X - 0.01) ** 2).sum(axis=1)
    small = {
        "proposed": [9.0] * 3,
        "center": X[int(np.argmax(y))].tolist(),
        "best": float(y.max()),
        "n": 40,
        "gain": 1.0,
        "radius": 0.01,
        "streak": 0,
    }
    quiet = local_step(X, y, small, np.random.default_rng(0))
    assert quiet.memory["promised"] > 0
    assert -((quiet.x - 0.01) ** 2).sum() > y.max()
    noisy = local_step(X, y, small, np.random.default_rng(0), sees_noise=True)
    assert "promised" not in noisy.memory
    wide = local_step(X, y, small | {"radius": 0.5}, np.random.default_rng(0))
    assert "promised" not in wide.memory


def test_noise_here_is_remembered() -> None:
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-0.1, 0.1, (100, 10))
        y = X[:, 0] + 0.1 * X[:, 0].std() * rng.standard_normal(100)
        found += local_step(X, y, {}, rng, sees_noise=True).memory["noisy"]
        assert not local_step(X, y, {}, rng).memory["noisy"], "nobody looked for it"
    assert found >= 6


def test_noise_is_in_the_units_of_the_values() -> None:
    X = np.random.default_rng(6).uniform(-1, 1, (30, 3))
    y = -(X**2).sum(axis=1) + 0.1 * np.random.default_rng(7).standard_normal(30)

    def step(unit: float, known: float | None):
        noise_variance = None if known is None else (known * unit) ** 2
        rng = np.random.default_rng(0)
        return local_step(X, unit * y, {}, rng, noise_variance=noise_variance, sees_noise=True)

    assert step(1000.0, 0.1).memory["noise_std"] == pytest.approx(100.0)
    for known in (0.1, None):
        small, large = step(1.0, known), step(1024.0, known)
        np.testing.assert_array_equal(large.x, small.x)
        assert large.memory["noise_std"] == pytest.approx(1024.0 * small.memory["noise_std"])
        assert large.gain == pytest.approx(1024.0 * small.gain)


def test_infeasible_neighbours_are_not_to_be_beaten() -> None:
    X = np.random.default_rng(1).uniform(-1, 1, (30, 3))
    y, eligible = X @ [1.0, 2.0, -1.0], X[:, 1] < 0.2
    judged = np.where(eligible, y, y.min() - 1.0)
    best = int(np.argmax(judged))
    step = local_step(X, y, {}, np.random.default_rng(0), eligible=eligible, judged=judged)
    assert y.max() > y[best] + step.gain, "an infeasible value out of reach"
    assert step.gain == pytest.approx(float((step.x - X[best]) @ [1.0, 2.0, -1.0]), rel=1e-3)


def test_a_failed_step_shrinks_the_region() -> None:
    X = np.random.default_rng(2).uniform(-1, 1, (20, 3))
    y = -(X**2).sum(axis=1)
    first = local_step(X, y, {}, np.random.default_rng(0))
    elsewhere = np.full(3, 0.9)
    for failed, radius in ((first.x, shrunk(first.radius, 3)), (elsewhere, first.radius)):
        data = Observations(X, y).append(failed, np.nan)
        rng = np.random.default_rng(0)
        step = local_step(X, y, first.memory, rng, feasibility=Feasibility(data))
        assert step.radius == pytest.approx(radius)
