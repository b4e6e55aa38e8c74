"""What a TestProblem promises, whatever its formula."""

import dataclasses
import pickle

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.space import Box
from synthetic import Noisy, TestProblem, camelback, get_problem


def test_one_point_gives_a_float_and_rows_give_an_array():
    problem = camelback()
    X = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.0]])
    values = problem(X)
    assert values.shape == (3,)
    assert type(problem(X[0])) is float
    assert problem(X[0]) == values[0]
    assert problem(X[:1]).shape == (1,)
    assert problem(np.empty((0, 2))).shape == (0,)
    assert problem.gradient(X).shape == (3, 2)
    np.testing.assert_array_equal(problem.gradient(X[1]), problem.gradient(X)[1])


@pytest.mark.parametrize(
    "X",
    [
        [2.1, 0.0],
        [[0.0, 0.0], [0.0, -1.001]],
        [np.nan, 0.0],
        [np.inf, 0.0],
        [0.0, 0.0, 0.0],
        [[0.0], [0.0]],
        0.0,
        [[[0.0, 0.0]]],
    ],
)
def test_points_outside_or_of_wrong_shape_are_refused(X):
    problem = camelback()
    rng = np.random.default_rng(0)
    for call in (problem, problem.gradient, lambda X: problem.observe(X, rng)):
        with pytest.raises(InvalidInputError):
            call(X)


def test_rounding_at_the_boundary_is_forgiven():
    problem = camelback()
    assert np.isfinite(problem([2.0 + 1e-12, 1.0]))


def test_input_is_neither_changed_nor_kept():
    problem = get_problem("camelback-2-in-5", seed=0)
    X = np.full((2, 5), 0.3)
    problem(X)
    problem.gradient(X)
    np.testing.assert_array_equal(X, 0.3)


def test_problem_is_frozen_down_to_its_arrays():
    problem = get_problem("ripple-2-in-5", seed=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.optimum = 0.0
    for array in (problem.optimizers, problem.true_basis, problem.passive_basis):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


@pytest.mark.parametrize("name", ["camelback-2", "ripple-2-in-5", "hartmann6-6-in-100-axis"])
def test_problem_survives_pickling(name):
    problem = get_problem(name, seed=3)
    copy = pickle.loads(pickle.dumps(problem))
    X = problem.space.sample(5, np.random.default_rng(0))
    np.testing.assert_array_equal(copy(X), problem(X))
    assert copy.name == problem.name


def test_observe_is_noiseless_by_default_and_seeded():
    problem = camelback()
    X = problem.space.sample(10, np.random.default_rng(0))
    np.testing.assert_array_equal(problem.observe(X, np.random.default_rng(1)), problem(X))
    noisy = Noisy(problem, 0.5)
    first = noisy.observe(X, np.random.default_rng(1))
    np.testing.assert_array_equal(first, noisy.observe(X, np.random.default_rng(1)))
    assert not np.array_equal(first, noisy.observe(X, np.random.default_rng(2)))
    assert type(noisy.observe(X[0], np.random.default_rng(1))) is float


def test_noise_has_the_stated_deviation_and_leaves_the_truth_alone():
    problem = camelback()
    noisy = Noisy(problem, 0.5)
    X = np.zeros((20_000, 2))
    residuals = noisy.observe(X, np.random.default_rng(0)) - problem(X)
    # Four standard errors of the mean and of the standard deviation.
    assert abs(residuals.mean()) < 4 * 0.5 / np.sqrt(20_000)
    assert abs(residuals.std() - 0.5) < 4 * 0.5 / np.sqrt(40_000)
    np.testing.assert_array_equal(noisy(X), problem(X))
    assert noisy.optimum == problem.optimum


def test_regret_is_zero_at_the_optimum_and_positive_elsewhere():
    for name in ("camelback-2", "gaussian-3"):
        problem = get_problem(name)
        assert problem.regret(problem.optimum) == 0.0
        X = problem.space.sample(50, np.random.default_rng(0))
        assert problem.regret(problem(X)).min() > 0.0


def test_regret_needs_a_known_optimum():
    problem = TestProblem("unknown", Box.from_bounds([(-2, 2), (-1, 1)]), camelback().formula)
    with pytest.raises(InvalidInputError, match="not known"):
        problem.regret(0.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"optimum": 0.0},
        {"optimizers": np.zeros((1, 2))},
        {"optimum": 0.0, "optimizers": np.array([[5.0, 0.0]])},
        {"true_basis": np.eye(2)},
        {"true_basis": np.eye(3), "effective_dim": 3},
        {"effective_dim": 1},
        {"noise_std": -1.0},
        {"noise_std": np.nan},
    ],
)
def test_inconsistent_declarations_are_refused(changes):
    with pytest.raises(InvalidInputError):
        TestProblem("wrong", Box.from_bounds([(-2, 2), (-1, 1)]), camelback().formula, **changes)


def test_a_space_may_be_given_as_bounds():
    problem = TestProblem("mine", [(-2, 2), (-1, 1)], camelback().formula)
    assert problem.space == camelback().space


def test_a_problem_is_shown_in_a_line():
    assert repr(get_problem("camelback-2-in-5", 0)) == (
        "<Embedded 'camelback-2-in-5': minimize over 2 in 5 inputs, optimum -1.03163>"
    )
    unknown = dataclasses.replace(camelback(), optimum=None, optimizers=None)
    assert repr(unknown).endswith("minimize over 2 in 2 inputs, optimum unknown>")
