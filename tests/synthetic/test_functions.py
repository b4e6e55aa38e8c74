"""Every function on its own box: published values, gradients, optima."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

import synthetic
from boring.exceptions import InvalidInputError
from synthetic import get_problem
from synthetic.any_dimension import Ackley

# name, published optimum, published digits, published optimiser (None: only the value is)
PUBLISHED = [
    ("camelback-2", -1.0316, 4, [0.0898, -0.7126]),
    ("branin-2", 0.397887, 6, [np.pi, 2.275]),
    ("hartmann6-6", -3.32237, 5, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]),
    ("styblinski-tang-1", -39.16617, 5, [-2.903534]),
    ("styblinski-tang-4", 4 * -39.166166, 4, [-2.903534] * 4),
    ("michalewicz-2", -1.8013, 4, [2.20, 1.57]),
    ("michalewicz-5", -4.687658, 6, None),
    ("michalewicz-10", -9.66015, 5, None),
    ("rosenbrock-4", 0.0, 12, [1.0] * 4),
    ("levy-4", 0.0, 12, [1.0] * 4),
    ("ackley-4", 0.0, 12, [0.0] * 4),
    ("ackley-off-center-4", 0.0, 12, [0.0] * 4),
    ("schwefel12-4", 0.0, 12, [0.0] * 4),
    ("gaussian-4", 1.0, 12, [0.0] * 4),
    ("griewank-4", 0.0, 12, [0.0] * 4),
    ("rastrigin-4", 0.0, 12, [0.0] * 4),
    ("noncontinuous-rastrigin-4", 0.0, 12, [0.0] * 4),
    ("terraces-4", 0.0, 12, [0.0] * 4),
    ("shekel-4", -10.5364098166920, 12, [4.0, 4.0, 4.0, 4.0]),
    ("easom-2", -1.0, 12, [np.pi, np.pi]),
]

NAMES = [
    "parabola-1",
    "camelback-2",
    "sinexp-2",
    "branin-2",
    "hartmann6-6",
    "rosenbrock-5",
    "levy-3",
    "levy-1",
    "ackley-3",
    "ackley-off-center-3",
    "styblinski-tang-3",
    "michalewicz-3",
    "schwefel12-4",
    "gaussian-3",
    "gaussian-mixture-2",
    "gaussian-mixture-20",
    "griewank-1",
    "griewank-3",
    "rastrigin-2",
    "shekel-4",
    "easom-2",
]


def sobol(problem, log2_n, seed=0):
    points = qmc.Sobol(problem.dim, seed=seed).random_base2(log2_n)
    return problem.space.unscale(2.0 * points - 1.0)


def best_found(problem, log2_n=12, n_starts=6):
    """Return the best value of a Sobol sample and of local searches from its best points."""
    X = sobol(problem, log2_n)
    signed = -problem.sign * problem(X)
    bounds = np.column_stack((problem.space.lower, problem.space.upper))
    found = [signed.min()]
    for start in X[np.argsort(signed)[:n_starts]]:
        searched = minimize(
            lambda x: -problem.sign * problem(problem.space.clip(x)),
            start,
            jac=lambda x: -problem.sign * problem.gradient(problem.space.clip(x)),
            method="L-BFGS-B",
            bounds=bounds,
        )
        found.append(searched.fun)
    return -problem.sign * min(found)


def gradient_errors(problem, X, steps):
    """Return the worst error of the first-order Taylor expansion at each step."""
    rng = np.random.default_rng(1)
    V = rng.standard_normal(X.shape)
    V *= problem.space.width / np.linalg.norm(V, axis=1, keepdims=True)
    slopes = (problem.gradient(X) * V).sum(axis=1)
    return [np.linalg.norm(problem(X + step * V) - problem(X) - step * slopes) for step in steps]


def error_slope(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(("name", "optimum", "digits", "optimizer"), PUBLISHED)
def test_published_constants(name, optimum, digits, optimizer):
    problem = get_problem(name)
    assert problem.optimum == pytest.approx(optimum, abs=0.6 * 10.0**-digits)
    if optimizer is not None:
        distances = np.abs(problem.optimizers - np.array(optimizer)).max(axis=1)
        assert distances.min() < 6e-3


@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_attained_stationary_and_unbeaten(name):
    problem = get_problem(name)
    values = problem(problem.optimizers)
    scale = 1.0 + abs(problem.optimum)
    np.testing.assert_allclose(values, problem.optimum, rtol=0.0, atol=1e-13 * scale)
    slopes = problem.gradient(problem.optimizers) * problem.space.width
    np.testing.assert_allclose(slopes, 0.0, atol=1e-10 * scale)
    assert problem.regret(best_found(problem)) >= -1e-12 * scale


@pytest.mark.parametrize(
    "name", [n for n in NAMES if not n.startswith(("ackley", "gaussian-mixture-20"))]
)
def test_local_search_reaches_the_optimum_in_few_dimensions(name):
    # The bound of the test above would also hold for an optimum declared too good.
    problem = get_problem(name)
    found = best_found(problem, n_starts=40)  # the best points of a sample are often in one well
    assert problem.regret(found) < 1e-6 * (1.0 + abs(problem.optimum))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_error_falls_with_the_square_of_the_step(name):
    problem = get_problem(name)
    rng = np.random.default_rng(2)
    X = problem.space.unscale(rng.uniform(-0.9, 0.9, size=(20, problem.dim)))
    steps = np.geomspace(1e-4, 1e-5, 5)
    errors = gradient_errors(problem, X, steps)
    assert error_slope(errors, steps) == pytest.approx(2.0, abs=0.1)


def test_gradient_check_rejects_a_wrong_gradient():
    problem = get_problem("levy-3")

    class Crooked:
        value = staticmethod(problem.formula.value)

        @staticmethod
        def gradient(X):
            return problem.formula.gradient(X) * 1.01

    crooked = synthetic.TestProblem("crooked", problem.space, Crooked())
    X = sobol(problem, 4) * 0.9
    steps = np.geomspace(1e-4, 1e-5, 5)
    assert error_slope(gradient_errors(crooked, X, steps), steps) < 1.2


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("michalewicz")])
def test_optimum_holds_outside_the_box(name):
    problem = get_problem(name)
    assert problem.holds_outside
    rng = np.random.default_rng(3)
    X = problem.space.unscale(3.0 * rng.standard_normal((20_000, problem.dim)))
    near = problem.optimizers[0] + 0.05 * problem.space.width * rng.standard_normal(
        (5_000, problem.dim)
    )
    values = problem.formula.value(np.vstack((X, near)))
    assert problem.regret(values).min() >= -1e-13 * (1.0 + abs(problem.optimum))


def test_michalewicz_is_lower_outside_its_box():
    problem = get_problem("michalewicz-2")
    assert not problem.holds_outside
    X = np.linspace(-10.0, 10.0, 4001)
    grid = np.column_stack((X, np.full_like(X, problem.optimizers[0, 1])))
    assert problem.formula.value(grid).min() < problem.optimum - 0.1


def test_ackley_has_a_cusp_at_its_optimum():
    rng = np.random.default_rng(4)
    directions = rng.standard_normal((50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    slopes = Ackley().value(1e-7 * directions) / 1e-7
    np.testing.assert_allclose(slopes, 4.0 / np.sqrt(3.0), rtol=1e-4)


def test_gaussian_mixture_keeps_two_separate_optima_in_many_dimensions():
    problem = get_problem("gaussian-mixture-20")
    low, high, between = (problem(np.full(20, t)) for t in (2.0, 3.0, 2.5))
    assert problem.direction == "maximize"
    assert low > high > 0.49
    assert between < 0.5 * high


def test_camelback_by_hand():
    problem = get_problem("camelback-2")
    assert problem([0.0, 0.0]) == 0.0
    assert problem([1.0, 0.0]) == pytest.approx(4.0 - 2.1 + 1.0 / 3.0)
    assert problem([0.0, 1.0]) == 0.0
    assert problem([1.0, 1.0]) == pytest.approx(4.0 - 2.1 + 1.0 / 3.0 + 1.0)


@pytest.mark.parametrize(
    "name", ["rosenbrock-1", "camelback-3", "branin-2-in-1", "shekel-3", "easom-4"]
)
def test_impossible_dimensions_are_refused(name):
    with pytest.raises(InvalidInputError):
        get_problem(name, seed=0)
