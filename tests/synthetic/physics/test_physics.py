"""What holds of every problem of physics."""

import pickle

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from synthetic import get_problem

NAMES = (
    "elliptic-long-100",
    "elliptic-short-100",
    "granular-11",
    "supernovae-9",
    "alloy-13",
    "accelerator-5",
    "accelerator-20",
    "accelerator-40",
)
SMOOTH = [name for name in NAMES if not name.startswith("granular")]


@pytest.mark.parametrize("name", NAMES)
def test_shape_determinism_and_what_is_known(name):
    problem, again = get_problem(name, seed=0), get_problem(name, seed=0)
    assert problem.name == name
    assert problem.optimum is None
    assert problem.effective_dim is None
    X = problem.space.sample(4, np.random.default_rng(0))
    y = problem(X)
    assert y.shape == (4,)
    assert y.dtype == np.float64
    assert np.all(np.isfinite(y))
    assert len(set(y)) == 4
    assert problem(X[1]) == pytest.approx(y[1], rel=1e-12)
    np.testing.assert_array_equal(again(X), y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem))(X), y)
    assert problem(np.empty((0, problem.dim))).shape == (0,)
    corners = np.vstack((problem.space.lower, problem.space.upper))
    assert np.all(np.isfinite(problem(corners)))


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_agrees_to_second_order(name):
    problem = get_problem(name, seed=1)
    rng = np.random.default_rng(2)
    x = problem.space.unscale(0.5 * rng.uniform(-1.0, 1.0, problem.dim))
    gradient = problem.gradient(x)
    # Along the gradient in scaled units: not a direction in which nothing happens.
    v = problem.space.width * (gradient * problem.space.width)
    v /= np.linalg.norm(v / problem.space.width)
    steps = np.array([1e-2, 3e-3, 1e-3])

    def order(slope):
        errors = [abs(problem(x + h * v) - problem(x) - h * slope) for h in steps]
        return np.polyfit(np.log(steps), np.log(errors), 1)[0]

    slope = gradient @ v
    assert order(slope) == pytest.approx(2.0, abs=0.3)
    assert order(1.5 * slope) < 1.5  # the check can fail
    for j in range(0, problem.dim, 7):
        e = 1e-5 * problem.space.width[j] * np.eye(problem.dim)[j]
        numeric = (problem(x + e) - problem(x - e)) / (2e-5 * problem.space.width[j])
        scale = np.abs(gradient * problem.space.width).max() / problem.space.width[j]
        assert gradient[j] == pytest.approx(numeric, abs=1e-5 * scale)


def test_seed_draws_the_errors_of_the_accelerator_and_nothing_else():
    for name, depends in (("accelerator-20", True), ("alloy-13", False), ("supernovae-9", False)):
        first, second = get_problem(name, seed=0), get_problem(name, seed=1)
        x = first.space.unscale(np.full(first.dim, 0.1))
        assert (first(x) != second(x)) == depends


def test_granular_says_why_it_has_no_gradient():
    problem = get_problem("granular-11")
    with pytest.raises(InvalidInputError, match="adaptive solver"):
        problem.gradient(problem.space.lower)


@pytest.mark.parametrize(
    "name", ["granular-10", "granular-1", "accelerator-4", "accelerator-41", "alloy-12"]
)
def test_dimensions_that_make_no_sense_are_refused(name):
    with pytest.raises(InvalidInputError):
        get_problem(name)
