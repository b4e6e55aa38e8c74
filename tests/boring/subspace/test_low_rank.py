"""Low-rank recovery: closed forms, optimality by duality, rank from few measurements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from boring.exceptions import InvalidInputError
from boring.subspace.low_rank import (
    dantzig_selector,
    nuclear_norm,
    nuclear_norm_least_squares,
    shrink_singular_values,
)
from boring.subspace.stiefel import largest_angle, random_frame


def problem(dim=12, m=4, rank=2, rows=70, seed=0):
    rng = np.random.default_rng(seed)
    W = random_frame(dim, rank, rng)
    X = W @ rng.standard_normal((rank, m))
    A = rng.choice([-1.0, 1.0], (rows, dim * m)) / np.sqrt(rows)
    return A, A @ X.ravel(), X, W


def norm_of(A, y, shape):
    return float(np.linalg.norm((A.T @ y).reshape(shape), 2))


def test_shrinking_is_the_proximal_point():
    rng = np.random.default_rng(0)
    X, threshold = rng.standard_normal((5, 3)), 0.7
    found = shrink_singular_values(X, threshold)
    best = 0.5 * np.sum((found - X) ** 2) + threshold * nuclear_norm(found)
    for _ in range(200):
        other = found + 0.1 * rng.standard_normal(X.shape)
        assert 0.5 * np.sum((other - X) ** 2) + threshold * nuclear_norm(other) > best


def test_with_all_entries_measured_both_have_a_closed_form():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((5, 3))
    A, y = np.eye(15), Y.ravel()
    expected = shrink_singular_values(Y, 0.4)
    for solver in (nuclear_norm_least_squares, dantzig_selector):
        found = solver(A, y, (5, 3), 0.4, tolerance=1e-8)
        assert found.converged
        np.testing.assert_allclose(found.X, expected, atol=1e-5)


def test_one_column_makes_the_dantzig_selector_a_convex_program_of_norms():
    # m = 1: |X|_* is the 2-norm, and the constraint a ball; compare with a projected search.
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 3)) / np.sqrt(6)
    y = rng.standard_normal(6)
    radius = 0.3 * norm_of(A, y, (3, 1))
    found = dantzig_selector(A, y, (3, 1), radius, tolerance=1e-8)
    # KKT by one multiplier t: x = (I + t B'B)^-1 t B'b with |b - B x| = radius.
    B, b = A.T @ A, A.T @ y
    low, high = 0.0, 1e8
    for _ in range(200):
        t = 0.5 * (low + high)
        x = np.linalg.solve(np.eye(3) + t * B.T @ B, t * B.T @ b)
        low, high = (t, high) if np.linalg.norm(b - B @ x) > radius else (low, t)
    np.testing.assert_allclose(found.X[:, 0], x, atol=1e-5)


def test_one_row_of_diagonal_matrices_agrees_with_a_linear_program():
    # The value for a diagonal problem is that of the l1 Dantzig selector, a linear program.
    rng = np.random.default_rng(3)
    k, rows = 4, 6
    D = rng.standard_normal((rows, k)) / np.sqrt(rows)
    y = D @ np.array([1.0, 0.0, -2.0, 0.0])
    A = np.zeros((rows, k * k))
    A[:, :: k + 1] = D
    radius = 0.2 * float(np.abs(D.T @ y).max())
    found = dantzig_selector(A, y, (k, k), radius, tolerance=1e-7)
    B, b = D.T @ D, D.T @ y
    program = linprog(
        np.ones(2 * k),
        A_ub=np.block([[B, -B], [-B, B]]),
        b_ub=np.concatenate([b + radius, radius - b]),
        bounds=(0, None),
    )
    assert found.value == pytest.approx(program.fun, rel=1e-4)


@pytest.mark.parametrize("solver", [nuclear_norm_least_squares, dantzig_selector])
def test_recovers_a_direction_from_fewer_measurements_than_entries(solver):
    hits = 0
    for seed in range(5):
        A, y, X, W = problem(dim=30, m=6, rank=1, rows=90, seed=seed)  # 180 entries, 35 unknowns
        found = solver(A, y, X.shape, 5e-3 * norm_of(A, y, X.shape))
        assert found.converged
        assert abs(found.gap) <= 1e-3 * max(found.value, 1.0)
        hits += largest_angle(np.linalg.svd(found.X)[0][:, :1], W) < np.radians(3)
    assert hits == 5


def test_below_the_number_of_unknowns_nothing_is_recovered():
    A, y, X, W = problem(dim=20, rows=30, seed=0)
    found = dantzig_selector(A, y, X.shape, 5e-3 * norm_of(A, y, X.shape))
    assert largest_angle(np.linalg.svd(found.X)[0][:, :2], W) > np.radians(10)


@pytest.mark.parametrize("solver", [nuclear_norm_least_squares, dantzig_selector])
def test_a_large_weight_gives_zero_and_bad_input_an_error(solver):
    A, y, X, _ = problem()
    found = solver(A, y, X.shape, 1.01 * norm_of(A, y, X.shape))
    np.testing.assert_allclose(found.X, 0.0, atol=1e-12)
    with pytest.raises(InvalidInputError, match="positive"):
        solver(A, y, X.shape, 0.0)
    with pytest.raises(InvalidInputError, match="finite"):
        solver(A, np.where(np.arange(len(y)) == 1, np.nan, y), X.shape, 1.0)
    with pytest.raises(InvalidInputError, match="shape"):
        solver(A, y, (3, 3), 1.0)
