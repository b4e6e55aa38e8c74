"""Functions on which an optimiser gets stuck: values, wells, flats, cliffs, and their optima."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

from boring.exceptions import InvalidInputError
from synthetic import (
    easom,
    get_problem,
    griewank,
    michalewicz,
    noncontinuous_rastrigin,
    rastrigin,
    shekel,
    terraces,
)
from synthetic.any_dimension import Michalewicz
from synthetic.multimodal import (
    RASTRIGIN_BOX,
    SHEKEL_CENTERS,
    SHEKEL_DEPTHS,
    SHEKEL_WIDTHS,
    Easom,
    Shekel,
)
from synthetic.placement import REACH

JUMPING = [terraces(1), terraces(3), noncontinuous_rastrigin(1), noncontinuous_rastrigin(3)]

EMBEDDED = [
    "michalewicz-2-in-15",
    "michalewicz-5-in-20",
    "levy-4-in-30",
    "levy-2-in-100",
    "griewank-3-in-40",
    "rastrigin-3-in-20",
    "noncontinuous-rastrigin-3-in-15",
    "terraces-3-in-15",
    "shekel-4-in-20",
    "easom-2-in-10",
    "ackley-5-in-25",
]


def sample(problem, log2_n, stretch=1.0):
    """Return Sobol points of the box, stretched about its middle."""
    points = qmc.Sobol(problem.dim, seed=0).random_base2(log2_n)
    return problem.space.unscale(stretch * (2.0 * points - 1.0))


def griewank_by_hand(x):
    bowl = sum(t * t for t in x) / 4000.0
    return 1.0 + bowl - math.prod(math.cos(t / math.sqrt(i)) for i, t in enumerate(x, start=1))


def rastrigin_by_hand(x):
    return 10.0 * len(x) + sum(t * t - 10.0 * math.cos(2.0 * math.pi * t) for t in x)


def noncontinuous_rastrigin_by_hand(x):
    return rastrigin_by_hand([t if abs(t) < 0.5 else round(2.0 * t) / 2.0 for t in x])


def terraces_by_hand(x):
    return sum(math.floor(t + 0.5) ** 2 for t in x)


def shekel_by_hand(x):
    # Written as a table of coordinates, the other way round from the rows of SHEKEL_CENTERS.
    first = third = [4, 1, 8, 6, 3, 2, 5, 8, 6, 7]
    second = fourth = [4, 1, 8, 6, 7, 9, 5, 1, 2, 3.6]
    third = [*third[:6], 3, *third[7:]]
    fourth = [*fourth[:6], 3, *fourth[7:]]
    widths = [1, 2, 2, 4, 4, 6, 3, 7, 5, 5]
    return -sum(
        1.0 / (w / 10.0 + sum((t - a) ** 2 for t, a in zip(x, center, strict=True)))
        for center, w in zip(zip(first, second, third, fourth, strict=True), widths, strict=True)
    )


def easom_by_hand(x):
    a, b = x
    needle = math.exp(-((a - math.pi) ** 2 + (b - math.pi) ** 2))
    return -math.cos(a) * math.cos(b) * needle


@pytest.mark.parametrize(
    ("problem", "by_hand"),
    [
        (griewank(1), griewank_by_hand),
        (griewank(4), griewank_by_hand),
        (rastrigin(3), rastrigin_by_hand),
        (noncontinuous_rastrigin(3), noncontinuous_rastrigin_by_hand),
        (terraces(3), terraces_by_hand),
        (shekel(), shekel_by_hand),
        (easom(), easom_by_hand),
    ],
)
def test_values_by_hand(problem, by_hand):
    X = sample(problem, 8)
    expected = np.array([by_hand(x.tolist()) for x in X])
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(problem(X), expected, rtol=1e-12, atol=1e-12)


class TestJumping:
    @pytest.mark.parametrize("problem", JUMPING, ids=lambda problem: problem.name)
    def test_optimum_is_attained_and_unbeaten_in_the_box_and_beyond(self, problem):
        assert problem(problem.optimizers[0]) == problem.optimum == 0.0
        assert problem.holds_outside
        for stretch in (0.05, 1.0, 4.0):
            X = sample(problem, 13, stretch)
            assert problem.formula.value(X).min() >= 0.0
        X = sample(problem, 11)
        for start in X[np.argsort(problem(X))[:4]]:
            found = minimize(lambda x: float(problem.formula.value(x[np.newaxis])[0]), start,
                             method="Powell", options={"maxfev": 2000})  # fmt: skip
            assert found.fun >= 0.0

    @pytest.mark.parametrize("problem", JUMPING, ids=lambda problem: problem.name)
    def test_gradient_is_refused(self, problem):
        with pytest.raises(InvalidInputError, match="no gradient"):
            problem.gradient(problem.optimizers[0])

    def test_optimal_terrace_is_flat_and_its_edge_is_a_step(self):
        problem = terraces(3)
        rng = np.random.default_rng(0)
        np.testing.assert_array_equal(problem(rng.uniform(-0.5, 0.5, size=(2000, 3))), 0.0)
        for i in range(3):
            for side in (-1.0, 1.0):
                beyond = np.zeros(3)
                beyond[i] = 0.501 * side
                assert problem(beyond) == 1.0
        assert problem([0.0, 1.6, -3.2]) == 4.0 + 9.0

    def test_terraces_follow_a_bowl(self):
        problem = terraces(2)
        X = sample(problem, 10)
        # floor(x + 1/2) is within a half of x.
        assert np.all(np.abs(np.sqrt(problem(X)) - np.linalg.norm(X, axis=1)) <= np.sqrt(0.5))
        assert len(np.unique(problem(X))) < 25

    @pytest.mark.parametrize("side", [-1.0, 1.0])
    def test_noncontinuous_rastrigin_is_smooth_in_the_middle_and_cliffs_elsewhere(self, side):
        formula = noncontinuous_rastrigin(1).formula
        smooth = rastrigin(1).formula

        def value(x):
            return float(formula.value(np.array([[side * x]]))[0])

        inside = side * np.linspace(0.0, 0.499, 50)[:, np.newaxis]
        np.testing.assert_array_equal(formula.value(inside), smooth.value(inside))
        assert value(0.5 - 1e-9) == pytest.approx(value(0.5 + 1e-9), abs=1e-6)
        # Half numbers are hills of 20 + x^2, whole numbers valleys of x^2.
        for x, height in ((0.6, 20.25), (0.74, 20.25), (0.76, 1.0), (1.2, 1.0), (1.26, 22.25)):
            assert value(x) == pytest.approx(height, abs=1e-12)

    def test_noncontinuous_rastrigin_takes_values_of_the_smooth_one_nearby(self):
        X = sample(noncontinuous_rastrigin(1), 10)
        values = noncontinuous_rastrigin(1)(X)
        near = rastrigin(1).formula.value((X + np.linspace(-0.25, 0.25, 2001)).reshape(-1, 1))
        near = near.reshape(len(X), -1)
        assert np.all(values >= near.min(axis=1) - 1e-3)
        assert np.all(values <= near.max(axis=1) + 1e-3)

    def test_search_that_ignores_cliffs_reaches_the_declared_optimum(self):
        # The bound of the first test would also hold for an optimum declared too good.
        assert terraces(3)(sample(terraces(3), 13)).min() == 0.0
        problem = noncontinuous_rastrigin(2)
        X = sample(problem, 12)
        found = [
            minimize(lambda x: problem(problem.space.clip(x)), start, method="Powell").fun
            for start in X[np.argsort(problem(X))[:20]]
        ]
        assert 0.0 <= min(found) < 1e-6


class TestShekel:
    def test_tables_are_published_and_read_only(self):
        assert SHEKEL_CENTERS.shape == (10, 4)
        assert shekel().space.contains(SHEKEL_CENTERS).all()
        with pytest.raises(ValueError, match="read-only"):
            SHEKEL_CENTERS[0, 0] = 5.0

    def test_every_well_keeps_a_minimum_of_its_own_of_the_depth_it_says(self):
        problem = shekel()
        minima = []
        for center in SHEKEL_CENTERS:
            found = minimize(problem, center, jac=problem.gradient, options={"gtol": 1e-8})
            assert np.abs(found.x - center).max() < 0.014
            minima.append(found.fun)
        np.testing.assert_allclose(minima, np.negative(SHEKEL_DEPTHS), rtol=0, atol=6e-5)
        assert min(minima) == pytest.approx(problem.optimum, abs=1e-12)
        assert np.all(np.array(SHEKEL_DEPTHS) > 1.0 / SHEKEL_WIDTHS)  # the others add to each

    def test_gradient_vanishes_at_the_optimizer_to_the_last_digits(self):
        # Curvature 200: this pins the point to 1e-14.
        gradient = shekel().gradient(shekel().optimizers[0])
        np.testing.assert_allclose(gradient, 0.0, atol=2e-12)

    def test_clipping_to_the_box_never_worsens_a_point(self):
        X = sample(shekel(), 12, stretch=4.0)
        inside = shekel().space.clip(X)
        assert np.any(inside != X, axis=1).mean() > 0.9
        assert np.all(Shekel().value(inside) <= Shekel().value(X))


class TestGriewank:
    def test_ripples_hide_the_bowl_in_the_box_and_are_hidden_in_the_published_one(self):
        own, published = griewank(3), griewank(3, sides=(-600.0, 600.0))
        for problem, low, high in ((own, 0.9, 1.0), (published, 0.0, 0.1)):
            X = sample(problem, 11)
            values, bowl = problem(X), (X * X).sum(axis=1) / 4000.0
            assert low <= np.var(values - bowl) / (np.var(values - bowl) + np.var(bowl)) <= high

    def test_second_best_well_is_the_published_one(self):
        # Two variables: 0.0074 at (+-3.1400, +-4.4384).
        problem = griewank(2)
        found = minimize(problem, [3.0, 4.5], jac=problem.gradient)
        np.testing.assert_allclose(found.x, [3.1400, 4.4384], atol=1e-3)
        assert found.fun == pytest.approx(0.0074, abs=5e-5)

    def test_gradient_where_a_cosine_is_zero(self):
        x = np.array([0.5 * np.pi, 0.3, -0.4])
        problem = griewank(3)
        differences = [(problem(x + step) - problem(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(problem.gradient(x), differences, atol=1e-9)


class TestEasom:
    def test_needle_takes_up_one_per_cent_of_the_box_and_the_rest_is_flat(self):
        values = easom()(sample(easom(), 13))
        assert np.mean(values < -0.1) == pytest.approx(0.0104, abs=0.001)  # pi 1.15^2 / 20^2
        assert np.mean(np.abs(values) < 1e-3) > 0.9

    def test_needle_is_the_only_place_of_its_depth(self):
        X = sample(easom(), 14, stretch=5.0)
        deep = Easom().value(X) < -0.2
        assert 0 < deep.sum() < 100
        assert np.linalg.norm(X[deep] - np.pi, axis=1).max() < 1.3


class TestClippedMichalewicz:
    def test_is_the_formula_inside_and_adds_nothing_outside(self):
        X = sample(michalewicz(4), 8)
        np.testing.assert_array_equal(Michalewicz(clipped=True).value(X), michalewicz(4)(X))
        beyond = X.copy()
        beyond[:, 1], beyond[:, 2] = -0.7, 8.0  # the second and the third term are switched off
        rest = X.copy()
        rest[:, 1:3] = 0.0
        np.testing.assert_allclose(
            Michalewicz(clipped=True).value(beyond), michalewicz(4)(rest), atol=1e-15
        )

    def test_goes_to_zero_without_a_kink(self):
        formula = Michalewicz(clipped=True)
        for edge in (0.0, np.pi):
            for step in (1e-3, 1e-4):
                X = np.full((1, 3), edge)
                near = X + step * np.array([[-1.0] * 3, [1.0] * 3])
                np.testing.assert_allclose(formula.gradient(near), 0.0, atol=1e-12)
                np.testing.assert_allclose(formula.value(near), 0.0, atol=1e-12)

    def test_gradient_inside_and_outside(self):
        formula = Michalewicz(clipped=True)
        X = np.random.default_rng(0).uniform(-3.0, 6.0, size=(300, 3))
        gradients = formula.gradient(X)
        for i, step in enumerate(1e-6 * np.eye(3)):
            differences = (formula.value(X + step) - formula.value(X - step)) / 2e-6
            np.testing.assert_allclose(gradients[:, i], differences, atol=1e-7)
        assert np.abs(gradients).max() > 1.0

    def test_formula_itself_is_not_lower_within_one_more_half_period_either_side(self):
        problem = michalewicz(3)
        X = sample(problem, 15, stretch=3.0)
        assert X.min() < -3.0
        assert X.max() > 6.2
        assert problem.formula.value(X).min() > problem.optimum

    def test_optimum_is_that_of_the_whole_space(self):
        problem = michalewicz(5, clipped=True)
        assert problem.holds_outside
        assert problem.optimum == michalewicz(5).optimum == problem(problem.optimizers[0])
        # A sum: coordinates can be searched one at a time, far beyond the box.
        t = np.linspace(-12.0, 15.0, 200_001)
        for i in range(5):
            X = np.tile(problem.optimizers[0], (len(t), 1))
            X[:, i] = t
            lowest = problem.formula.value(X).min()
            assert 0.0 <= lowest - problem.optimum < 1e-4


class TestEmbedded:
    @pytest.mark.parametrize("name", EMBEDDED)
    def test_optimum_is_known_within_reach_and_unbeaten_far_out(self, name):
        for seed in range(5):
            problem = get_problem(name, seed)
            assert problem.optimum is not None
            assert np.abs(problem.optimizers).max() <= REACH
            np.testing.assert_allclose(
                problem(problem.optimizers), problem.optimum, rtol=0, atol=1e-12
            )
            # Signs of the columns of W and of their sums are where z is largest.
            rng = np.random.default_rng(seed)
            mixed = rng.standard_normal((400, problem.effective_dim)) @ problem.true_basis.T
            corners = np.sign(mixed) * rng.uniform(0.2, 1.0, size=(400, 1))
            assert np.abs(problem.reduce(corners)).max() > 1.3
            assert problem.regret(problem(corners)).min() >= -1e-12

    def test_rastrigin_has_half_of_its_box_when_embedded(self):
        for name, function in (
            ("rastrigin-2-in-5", rastrigin(2)),
            ("noncontinuous-rastrigin-2-in-5", noncontinuous_rastrigin(2)),
        ):
            problem = get_problem(name, seed=0)
            z = np.array([0.35, -0.1])
            u = 0.5 * RASTRIGIN_BOX[1] * (z - 0.25)
            assert problem(problem.true_basis @ z) == pytest.approx(function(u), rel=1e-12)
