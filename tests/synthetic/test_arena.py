"""Published benchmark definitions, written out again, and noise as a share of the range."""

import numpy as np
import pytest

from boring.exceptions import UnknownNameError
from synthetic import (
    TestProblem,
    ackley,
    ackley_off_center,
    branin,
    camelback,
    get_problem,
    hartmann6,
    michalewicz,
    rastrigin,
    rosenbrock,
    shekel,
    terraces,
    value_range,
)

HARTMANN_AXES = [19, 14, 43, 37, 66, 3]


def test_published_axes_are_a_seeded_shuffle():
    # Letham et al. (2020): the first six of 0..99, shuffled with seed 10; ten times these at 1000.
    order = np.arange(100)
    np.random.RandomState(10).shuffle(order)
    assert order[:6].tolist() == HARTMANN_AXES
    for name, factor in (("hartmann6-6-in-100-axis", 1), ("hartmann6-6-in-1000-axis", 10)):
        for seed in (0, 1):
            basis = get_problem(name, seed).true_basis
            np.testing.assert_array_equal(
                np.argmax(basis, axis=0), factor * np.array(HARTMANN_AXES)
            )
            assert np.count_nonzero(basis) == 6


def test_axis_aligned_hartmann_is_that_of_the_study():
    # Its box is [0, 1]^D; only the scaled coordinates differ here.
    rng = np.random.default_rng(0)
    for name, axes in (
        ("hartmann6-6-in-100-axis", [19, 14, 43, 37, 66, 3]),
        ("hartmann6-6-in-1000-axis", [190, 140, 430, 370, 660, 30]),
    ):
        problem = get_problem(name)
        unit = rng.uniform(size=(50, problem.dim))
        np.testing.assert_allclose(
            problem(2.0 * unit - 1.0), hartmann6()(unit[:, axes]), rtol=0, atol=1e-13
        )
        assert problem.optimum == pytest.approx(-3.32237, abs=5e-6)


def test_axis_aligned_branin_is_that_of_the_study():
    # Its box is [-5, 10]^50 x [0, 15]^50, and Branin takes coordinates 19 and 64.
    problem = get_problem("branin-2-in-100-axis", seed=3)
    lower = np.repeat([-5.0, 0.0], 50)
    raw = lower + 15.0 * np.random.default_rng(0).uniform(size=(50, 100))
    scaled = 2.0 * (raw - lower) / 15.0 - 1.0
    np.testing.assert_allclose(problem(scaled), branin()(raw[:, [19, 64]]), rtol=1e-11)
    assert problem.optimum == pytest.approx(0.397887, abs=5e-7)


@pytest.mark.parametrize("dim", [100, 1000])
def test_rotated_hartmann_is_that_of_the_study(dim):
    # Six orthonormal directions of [-1, 1]^D, the function at (z + 1) / 2.
    problem = get_problem(f"hartmann6-6-in-{dim}", seed=2)
    W = problem.true_basis
    np.testing.assert_allclose(W.T @ W, np.eye(6), atol=1e-12)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(50, dim))
    expected = hartmann6().formula.value((X @ W + 1.0) / 2.0)
    np.testing.assert_allclose(problem(X), expected, rtol=0, atol=1e-12)
    assert problem(problem.optimizers[0]) == pytest.approx(-3.32237, abs=5e-6)


def test_functions_of_twenty_variables_without_a_subspace():
    rng = np.random.default_rng(0)
    for name, low, high, optimum in (
        ("ackley-20", -32.768, 32.768, 0.0),
        ("ackley-off-center-20", -5.0, 10.0, 0.0),
        ("styblinski-tang-20", -5.0, 5.0, -783.3233),
        ("rosenbrock-20", -5.0, 10.0, 0.0),
    ):
        problem = get_problem(name, seed=4)
        np.testing.assert_array_equal(problem.space.lower, low)
        np.testing.assert_array_equal(problem.space.upper, high)
        assert problem.optimum == pytest.approx(optimum, abs=1e-4)
        assert problem.effective_dim == 20
        gradients = problem.gradient(problem.space.sample(40, rng))
        assert np.linalg.matrix_rank(gradients) == 20


def test_ackley_off_center_is_the_same_function_elsewhere():
    X = np.random.default_rng(0).uniform(-5.0, 10.0, size=(20, 4))
    np.testing.assert_array_equal(ackley_off_center(4)(X), ackley(4)(X))
    assert ackley_off_center(4).name == "ackley-off-center-4"
    middle = ackley_off_center(4).space.unscale(np.zeros(4))
    assert ackley_off_center(4)(middle) > 1.0


class TestRange:
    def test_is_a_lower_bound_that_comes_near(self):
        # Branin is largest, 308.129, in a corner; Hartmann's values lie between -3.322 and 0.
        assert 0.9 * 307.73 < value_range(branin()) <= 307.7313
        assert 0.99 * 3.32237 < value_range(hartmann6()) <= 3.32237

    def test_knows_the_optimum_although_no_sample_finds_it(self):
        problem = rosenbrock(3)
        few = value_range(problem, 2)
        X = problem.space.sample(5000, np.random.default_rng(0))
        assert few <= value_range(problem) <= problem(X).max() * 1.2
        unknown = TestProblem("unknown", problem.space, problem.formula)
        assert value_range(unknown) < value_range(problem)

    def test_is_the_same_every_time_and_leaves_global_random_numbers_alone(self):
        before = np.random.get_state()  # noqa: NPY002
        first = value_range(michalewicz(5), 100)
        assert value_range(michalewicz(5), 100) == first
        after = np.random.get_state()  # noqa: NPY002
        np.testing.assert_array_equal(after[1], before[1])
        assert after[2:] == before[2:]

    def test_scales_with_the_function_and_ignores_a_constant(self):
        class Stretched:
            def value(self, X):
                return 7.0 - 3.0 * camelback().formula.value(X)

            def gradient(self, X):
                return -3.0 * camelback().formula.gradient(X)

        plain = TestProblem("plain", camelback().space, camelback().formula)
        stretched = TestProblem("stretched", camelback().space, Stretched())
        assert value_range(stretched) == pytest.approx(3.0 * value_range(plain), rel=1e-12)


class TestNoiseNames:
    @pytest.mark.parametrize(
        ("name", "share", "function"),
        [
            ("camelback-2-noise01", 0.01, camelback()),
            ("camelback-2-in-10-noise10", 0.10, camelback()),
            ("ripple-2-in-5-noise05", 0.05, camelback()),
            ("rosenbrock-5-in-10-noise10", 0.10, rosenbrock(5, sides=(-2.0, 2.0))),
            ("rosenbrock-5-noise10", 0.10, rosenbrock(5)),
            ("branin-2-in-100-axis-noise99", 0.99, branin()),
            ("michalewicz-2-in-10-noise10", 0.10, michalewicz(2)),
            ("rastrigin-3-in-20-noise10", 0.10, rastrigin(3, sides=(-2.56, 2.56))),
            ("terraces-3-in-15-noise01", 0.01, terraces(3)),
            ("shekel-4-in-20-noise01", 0.01, shekel()),
        ],
    )
    def test_noise_is_a_share_of_the_range_of_the_function_on_its_own_box(
        self, name, share, function
    ):
        problem = get_problem(name, seed=1)
        assert problem.name == name
        assert problem.noise_std == pytest.approx(share * value_range(function), rel=1e-12)

    def test_only_the_observations_are_noisy(self):
        quiet, noisy = (get_problem(f"camelback-2-in-5{end}", 3) for end in ("", "-noise10"))
        np.testing.assert_array_equal(quiet.true_basis, noisy.true_basis)
        assert noisy.optimum == quiet.optimum
        assert noisy.effective_dim == 2
        X = quiet.space.sample(4000, np.random.default_rng(0))
        np.testing.assert_array_equal(noisy(X), quiet(X))
        residuals = noisy.observe(X, np.random.default_rng(1)) - quiet(X)
        # Four standard errors of a standard deviation.
        assert residuals.std() == pytest.approx(noisy.noise_std, rel=4.0 / np.sqrt(8000.0))

    def test_noise_does_not_depend_on_the_seed(self):
        deviations = {get_problem("hartmann6-6-in-25-noise01", s).noise_std for s in range(3)}
        assert len(deviations) == 1

    @pytest.mark.parametrize(
        "name",
        ["camelback-2-noise", "camelback-2-noise1", "camelback-2-noise00", "camelback-noise10"],
    )
    def test_other_suffixes_are_unknown(self, name):
        with pytest.raises(UnknownNameError):
            get_problem(name, seed=0)
