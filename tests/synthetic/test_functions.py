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
    ("smooth-t1-1", 64.828, 3, [-77.352]),
    ("anisotropic-t4-1", 100.763, 3, [99.497]),
    ("anisotropic-t4-inner-1", 137.076, 3, [74.356]),
    ("steps-t2-1", 68.0, 12, [-51.836]),
    ("steps-t2-1", 68.0, 12, [-58.119]),
    ("branches-t3-1", 40.0, 12, [34.56]),
    ("branches-t3-unique-1", 40.0, 12, [34.56]),
    ("two-waves-1", -1.9673, 4, [-0.1905]),
    ("forrester-1", -6.02074, 5, [0.7572]),
    ("wavy-parabola-1", -0.50036, 5, [-0.3594]),
    ("mccormick-2", -1.91322, 5, [-0.54719, -1.54719]),
    ("goldstein-price-2", 3.0, 12, [0.0, -1.0]),
    ("bohachevsky-2", 0.0, 12, [0.0, 0.0]),
    ("sine-product-2", 0.0429263**2, 8, None),
    ("hartmann3-3", -3.86278, 5, [0.114614, 0.555649, 0.852547]),
    ("camelback-wide-2", -1.0316, 4, [0.0898, -0.7126]),
    ("levy-wide-4", 0.0, 12, [1.0] * 4),
    ("rosenbrock-narrow-2", 0.0, 12, [1.0, 1.0]),
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
    "smooth-t1-1",
    "anisotropic-t4-1",
    "anisotropic-t4-inner-1",
    "two-waves-1",
    "forrester-1",
    "wavy-parabola-1",
    "mccormick-2",
    "goldstein-price-2",
    "bohachevsky-2",
    "sine-product-2",
    "hartmann3-3",
    "camelback-wide-2",
    "levy-wide-2",
    "rosenbrock-narrow-2",
]

BOUND_TO_THE_BOX = (
    "michalewicz",
    "smooth-t1",
    "anisotropic-t4",
    "two-waves",
    "forrester",
    "wavy-parabola",
    "mccormick",
    "sine-product",
)
"""Families whose formula is lower outside the box, or of which nothing is claimed there."""


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
    "name",
    [n for n in NAMES if not n.startswith(("ackley", "gaussian-mixture-20", "bohachevsky"))],
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


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(BOUND_TO_THE_BOX)])
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


def test_goldstein_price_is_the_published_polynomial():
    a, b = X = np.random.default_rng(5).uniform(-2.0, 2.0, (2, 50))
    first = 19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2
    second = 18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    expected = (1 + (a + b + 1) ** 2 * first) * (30 + (2 * a - 3 * b) ** 2 * second)
    np.testing.assert_allclose(get_problem("goldstein-price-2")(X.T), expected, rtol=1e-10)


def test_steps_are_where_the_paper_has_them():
    problem = get_problem("steps-t2-1")
    edges = [-100, -83.001, -83, -49.5, -49, 3, 99.9, 100]
    heights = [181, 181, 162, 69, 106, 125, 181, 200]
    np.testing.assert_allclose(problem(np.array(edges)[:, None]) - np.sin(edges), heights)


def test_branches_are_observed_half_of_the_time_each_and_cannot_be_wrapped():
    problem = get_problem("branches-t3-1")
    for x, lower, upper in ((-40.0, 100.0, 130.0), (40.0, 50.0, 200.0), (0.0, 90.0, 150.0)):
        wave = 10.0 * np.sin(x / 2.0)
        y = problem.observe(np.full((2000, 1), x), np.random.default_rng(0))
        np.testing.assert_allclose(np.unique(np.round(y - wave, 9)), [lower, upper])
        assert abs(np.mean(y - wave > lower + 1.0) - 0.5) < 0.05
        assert problem([x]) == pytest.approx(lower + wave)
    for name in ("branches-t3-1-noise10", "branches-t3-1-in-5"):
        with pytest.raises(InvalidInputError, match="noise that depends on x"):
            get_problem(name, seed=0)
    assert get_problem("branches-t3-unique-1")([22.0]) > 40.7


@pytest.mark.parametrize(
    "name", ["rosenbrock-1", "camelback-3", "branin-2-in-1", "shekel-3", "easom-4"]
)
def test_impossible_dimensions_are_refused(name):
    with pytest.raises(InvalidInputError):
        get_problem(name, seed=0)
