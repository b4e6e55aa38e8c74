"""The trust region follows what its steps bring."""

import numpy as np
import pytest

from boring.loop.trust_region import (
    GROW,
    LEAST_RADIUS,
    PATIENCE_IN_NOISE,
    SHRINK,
    failures_in_a_row,
    neighbour_radius,
    next_radius,
    shrunk,
)


def test_radius_grows_with_good_steps_and_shrinks_with_bad_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 3))
    y = -(X**2).sum(axis=1)
    best = int(np.argmax(y))
    x = X[best] + 0.01
    memory = {
        "proposed": x.tolist(),
        "center": X[best].tolist(),
        "best": float(y[best]),
        "n": 20,
        "gain": 1.0,
        "radius": 0.2,
    }
    told = np.vstack([X, x])
    for gain, factor, winner in ((0.5, GROW, 20), (0.1, 1.0, 20), (-1.0, SHRINK, best)):
        values = np.append(y, y[best] + gain)
        assert next_radius(told, values, memory, winner) == pytest.approx(0.2 * factor)
    in_noise = next_radius(told, values, memory, best, sees_noise=True)
    assert in_noise == pytest.approx(0.2 * SHRINK**PATIENCE_IN_NOISE)


def test_failures_shrink_the_region_less_in_many_dimensions() -> None:
    assert shrunk(0.5, 3) == shrunk(0.5, 10) == pytest.approx(0.5 * SHRINK)
    assert shrunk(0.5, 10) < shrunk(0.5, 25) < shrunk(0.5, 1000) < 0.5
    assert shrunk(1e-12, 3) == LEAST_RADIUS


def test_where_noise_is_seen_the_region_is_patient() -> None:
    assert shrunk(0.5, 3) < shrunk(0.5, 3, sees_noise=True) < 0.5


def test_failures_in_a_row_are_counted_until_a_gain() -> None:
    X = np.array([[0.0], [0.5], [1.0]])
    memory = {"n": 2, "proposed": [1.0], "best": 0.0, "failures": 2}
    assert failures_in_a_row(X, np.array([0.0, -1.0, -1.0]), memory) == 3
    assert failures_in_a_row(X, np.array([0.0, -1.0, 1.0]), memory) == 0
    assert failures_in_a_row(X[:2], np.array([0.0, -1.0]), memory) == 2, "not told yet"
    assert failures_in_a_row(X, np.zeros(3), {}) == 0


def test_the_region_starts_anew_where_another_turn_has_led_away() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (20, 3))
    y = np.append(np.full(20, -1.0), 1.0)
    y[0] = 0.0
    memory = {
        "proposed": X[0].tolist(),
        "center": X[0].tolist(),
        "best": 0.0,
        "n": 20,
        "gain": 0.0,
        "radius": 0.01,
    }
    near, far = (np.vstack([X, X[0] + np.array([step, 0, 0])]) for step in (0.005, 0.3))
    assert next_radius(near, y, memory, 20) == 0.01
    assert next_radius(far, y, memory, 20) == neighbour_radius(far, 20)


def test_an_untried_region_reaches_less_far_along_many_inputs() -> None:
    for dim, radius in ((5, 0.2), (20, 0.4)):  # to the D-th neighbour, over sqrt(D / 5)
        X = np.zeros((31, dim))
        X[:, 0] = 0.04 * np.arange(31)
        assert neighbour_radius(X, 0) == pytest.approx(radius)
