"""The passive draw: what it keeps, what it changes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from boring.loop.passive_draw import KEPT, passive_draw, unexplained_changes
from boring.subspace.stiefel import random_frame


@pytest.mark.parametrize(("dim", "rank"), [(3, 1), (5, 2), (10, 2), (25, 6), (50, 5)])
@pytest.mark.parametrize("reach", [0.5, 1.5, 20.0])
def test_the_active_coordinates_are_the_centers_and_the_point_is_in_the_box(
    dim: int, rank: int, reach: float
) -> None:
    rng = np.random.default_rng(dim)
    W = random_frame(dim, rank, rng)
    center = np.clip(rng.uniform(-reach, reach, dim), -1, 1)
    x = passive_draw(center, W, rng)
    assert np.abs(x).max() <= 1
    np.testing.assert_allclose(W.T @ x, W.T @ center, atol=1e-6)


def test_it_is_the_nearest_such_point_to_a_random_one() -> None:
    rng = np.random.default_rng(0)
    W = random_frame(6, 2, rng)
    center = np.clip(rng.uniform(-1.5, 1.5, 6), -1, 1)
    x = passive_draw(center, W, np.random.default_rng(5))
    drawn = np.random.default_rng(5).uniform(-1, 1, 6)
    reference = minimize(
        lambda z: 0.5 * np.sum((z - drawn) ** 2),
        center,
        jac=lambda z: z - drawn,
        bounds=[(-1, 1)] * 6,
        constraints={"type": "eq", "fun": lambda z: W.T @ (z - center), "jac": lambda z: W.T},
        method="SLSQP",
        options={"ftol": 1e-14},
    ).x
    np.testing.assert_allclose(x, reference, atol=1e-5)


def test_in_a_corner_that_decides_all_nothing_is_left_to_draw() -> None:
    corner = np.ones(4)
    x = passive_draw(corner, np.full((4, 1), 0.5), np.random.default_rng(1))
    np.testing.assert_allclose(x, corner, atol=1e-6)


def test_the_passive_coordinates_cover_their_range() -> None:
    rng = np.random.default_rng(2)
    W = np.eye(5)[:, :2]
    draws = np.array([passive_draw(np.full(5, 0.3), W, rng) for _ in range(200)])
    np.testing.assert_allclose(draws[:, :2], 0.3, atol=1e-9)
    assert np.all(draws[:, 2:].min(axis=0) < -0.9)
    assert np.all(draws[:, 2:].max(axis=0) > 0.9)


def _changes(changes, along, W):
    """Return the shares found for draws that moved 2 across W, and by so much along its first."""
    first = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    best = np.array([0.2, 0.0, -1.0])
    draws = np.array([[0.2 + move, 0.02 * k, 1.0] for k, move in enumerate(along)])
    y = np.array([-1.0, -3.0, -1.0, -5.0, 0.0, *(-2.0 * np.array(changes))])  # spread 2
    return unexplained_changes(np.vstack([first, best, draws]), y, draws, W, 4)


def test_changes_are_shares_of_the_spread_beyond_what_moves_along_W_explain() -> None:
    W = np.eye(3)[:, :1]  # the first points are 1, .5, 1, .5, 2, 1.5 apart: 1 in the median
    np.testing.assert_allclose(
        _changes([0.3, 0.02, 0.3], [0.0, 0.05, -0.05], W), [0.3, 0.0, 0.25], atol=1e-9
    )
    assert _changes([0.3, 0.3], [0.0, 2.1 * KEPT], W).shape == (1,), "moved too far along W"
    assert _changes([0.3], [0.0], np.eye(3)[:, 2:]).shape == (0,), "made for another W"


def test_first_points_that_W_does_not_part_explain_nothing() -> None:
    W = np.eye(3)[:, 1:2]
    np.testing.assert_allclose(_changes([0.1, 0.2], [0.0, 0.0], W), [0.1, 0.2])


def test_a_draw_is_held_against_the_incumbent_of_its_time() -> None:
    W = np.eye(3)[:, :1]
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0.2, 0, -1], [0.2, 0, 1], [-1, 0, 0]])
    y = np.array([-1.0, -3.0, -1.0, 0.0, -0.6, 5.0])
    for told, spread in ((5, 1.0), (6, 6.0)):  # the median shortfall of the first three
        changes = unexplained_changes(X[:told], y[:told], X[[4]], W, 3)
        np.testing.assert_allclose(changes, [0.6 / spread])


@pytest.mark.parametrize("unit", [2.0**1022, 2.0**-1000])
def test_changes_do_not_depend_on_the_unit_of_the_values(unit) -> None:
    rng = np.random.default_rng(0)
    X, W = rng.uniform(-1, 1, (8, 3)), np.eye(3)[:, :1]
    X[5:, 0] = X[4, 0]
    y = np.array([-1.9, -1.8, -1.9, -1.7, 1.0, 0.5, 0.9, 0.8])
    changes = unexplained_changes(X, y, X[5:], W, 4)
    np.testing.assert_array_equal(unexplained_changes(X, unit * y, X[5:], W, 4), changes)
    assert changes.size == 3
