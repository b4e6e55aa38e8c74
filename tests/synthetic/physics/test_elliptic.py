"""The elliptic equation against closed forms, an independent discretisation and its own physics."""

import numpy as np
import pytest

from boring.exceptions import UnknownNameError
from synthetic.physics.elliptic import EllipticEquation, elliptic, exponential_modes


def series_mean():
    """Return the mean over the right side for a = 1, by separation of variables."""
    m = np.pi * np.arange(1, 400, 2)
    return np.sum(8.0 / m**4 * (1.0 - 1.0 / np.cosh(np.minimum(m, 700.0))))


def constant(n):
    """Return the equation with one parameter, the logarithm of a constant coefficient."""
    return EllipticEquation(np.ones((n * n, 1)), n)


def test_constant_coefficient_converges_to_the_series_with_order_two():
    errors = [abs(constant(n).value(np.zeros((1, 1)))[0] - series_mean()) for n in (10, 20, 40)]
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios, 4.0, rtol=0.02)
    assert errors[-1] < 6e-4 * series_mean()


def test_constant_coefficient_divides_the_solution_and_has_its_gradient():
    formula = constant(12)
    logs = np.array([[0.0], [1.3], [-2.0]])
    values = formula.value(logs)
    np.testing.assert_allclose(values, values[0] * np.exp(-logs[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(formula.gradient(logs)[:, 0], -values, rtol=1e-12)


def test_constant_coefficient_solution_is_that_of_the_series_inside():
    n = 40
    u = constant(n).solution(np.zeros(1))
    m = np.pi * np.arange(1, 400, 2)
    for i, j in ((20, 40), (10, 20), (30, 5)):
        x, y = j / n, i / n
        arch = np.exp(m * (abs(x - 1.0) - 1.0)) * (1 + np.exp(-2 * m * abs(x - 1.0)))
        arch /= 1.0 + np.exp(-2.0 * m)
        expected = np.sum(4.0 / m**3 * np.sin(m * y) * (1.0 - arch))
        assert u[i, j] == pytest.approx(expected, rel=2e-3)
    for side in (u[0], u[-1], u[:, 0]):
        np.testing.assert_array_equal(side, 0.0)


def test_variable_coefficient_agrees_with_finite_volumes():
    n = 40
    rng = np.random.default_rng(0)
    axis = (np.arange(n) + 0.5) / n
    smooth = sum(
        rng.normal() * np.outer(np.cos(np.pi * p * axis), np.cos(np.pi * q * axis))
        for p in range(3)
        for q in range(3)
    )
    value = EllipticEquation(smooth.reshape(-1, 1), n).value(np.array([[0.7]]))[0]
    assert value == pytest.approx(finite_volumes(np.exp(0.7 * smooth)), rel=5e-3)


def finite_volumes(a):
    """Return the mean over the right side with unknowns in the middle of the cells."""
    n = len(a)
    A, b = np.zeros((n * n, n * n)), np.full(n * n, 1.0 / n**2)
    for i in range(n):
        for j in range(n):
            here = i * n + j
            for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                k, m = i + di, j + dj
                if 0 <= k < n and 0 <= m < n:
                    between = 2.0 * a[i, j] * a[k, m] / (a[i, j] + a[k, m])
                    A[here, here] += between
                    A[here, k * n + m] -= between
                elif m < n:  # a held side, half a cell away; nothing through the right one
                    A[here, here] += 2.0 * a[i, j]
    u = np.linalg.solve(A, b).reshape(n, n)
    # Half a cell from the side, where the slope is zero: a_x u_x + a u_xx + (a u_y)_y = -1.
    return np.mean(u[:, -1] + (u[:, -1] - u[:, -2]) / 8.0)


@pytest.mark.parametrize("length", [1.0, 0.1, 0.01])
def test_modes_are_those_of_the_covariance(length):
    n = 2000
    points = (np.arange(n) + 0.5) / n
    variances, functions = exponential_modes(length, 12, points)
    np.testing.assert_allclose(functions.T @ functions / n, np.eye(12), atol=1e-4)
    covariance = np.exp(-np.abs(points[:, np.newaxis] - points) / length)
    np.testing.assert_allclose(
        covariance @ functions / n, functions * variances, atol=5e-3 * variances[0]
    )
    assert np.all(np.diff(variances) < 0.0)


def test_terms_of_the_square_are_the_largest_and_add_up_to_the_variance():
    modes = elliptic("long").formula.modes
    weights = (modes**2).mean(axis=0)
    line = exponential_modes(1.0, 30, np.zeros(1))[0]
    largest = np.sort(np.outer(line, line).ravel())[::-1][:100]
    np.testing.assert_allclose(weights, largest, rtol=0.15)
    pointwise = (modes**2).sum(axis=1)
    assert np.all((pointwise > 0.95) & (pointwise < 1.0))


def test_a_better_conductor_never_raises_the_value():
    problem = elliptic("long")
    x = np.random.default_rng(1).uniform(-1.0, 1.0, 100)
    formula = EllipticEquation(np.hstack((problem.formula.modes, np.eye(1600)[:, :5])), 40)
    base = formula.value(np.append(x, np.zeros(5))[np.newaxis])[0]
    for k in range(5):
        more = np.append(x, 0.5 * np.eye(5)[k])
        assert formula.value(more[np.newaxis])[0] < base


def test_unknown_correlation():
    with pytest.raises(UnknownNameError, match="short"):
        elliptic("middling")
