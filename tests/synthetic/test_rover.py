"""The rover's path: its spline, its cost by hand, and what bounds its reward."""

import pickle

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from synthetic import get_problem, rover
from synthetic.rover import GOAL, OBSTACLE_SIDE, OBSTACLES, START, Rover

N = 30


def straight(start=START, goal=GOAL):
    return np.linspace(start, goal, N).ravel()


def around():
    """Return a path along two sides of the square, which are free."""
    corner = (0.02, 0.98)
    legs = [np.linspace(START, corner, 16)[:-1], np.linspace(corner, GOAL, 15)]
    return np.vstack(legs).ravel()


def blocked(points):
    inside = [
        ((points >= corner) & (points <= np.array(corner) + OBSTACLE_SIDE)).all(axis=-1)
        for corner in OBSTACLES
    ]
    return np.any(inside, axis=0)


def test_shape_direction_and_what_is_known():
    problem = get_problem("rover-60", seed=5)
    assert (problem.dim, problem.direction, problem.name) == (60, "maximize", "rover-60")
    np.testing.assert_array_equal(problem.space.lower, 0.0)
    np.testing.assert_array_equal(problem.space.upper, 1.0)
    assert problem.optimum is None
    assert problem.true_basis is None
    X = problem.space.sample(300, np.random.default_rng(0))  # more than one batch
    y = problem(X)
    assert y.shape == (300,)
    np.testing.assert_array_equal(y, [problem(x) for x in X])
    assert problem(np.empty((0, 60))).shape == (0,)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem))(X[:3]), y[:3])


def test_free_path_costs_its_length_only():
    path = Rover.path(around()[np.newaxis])[0]
    assert not blocked(path).any()
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert rover()(around()) == pytest.approx(5.0 - 0.05 * length, abs=1e-12)


def test_collision_costs_twenty_a_unit_of_length():
    diagonal = np.linspace(START, GOAL, 200_001)
    share = blocked(diagonal).mean()
    length = np.sqrt(2.0) * 0.9
    expected = 5.0 - length * (0.05 + 20.0 * share)
    # The ends of each piece of path inside an obstacle are seen to within half a segment.
    assert rover()(straight()) == pytest.approx(expected, abs=10 * 20.0 * length / 2000)
    assert rover()(straight()) < rover()(around()) - 5.0


def test_missing_start_and_goal_costs_ten_a_unit():
    x = around()
    x[0] += 0.01
    x[-1] -= 0.02
    # The path itself hardly changes.
    assert rover()(around()) - rover()(x) == pytest.approx(0.3, abs=0.01)


def test_path_is_a_clamped_spline_that_reproduces_lines_and_stays_in_the_hull():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20, 60))
    paths = Rover.path(X)
    assert paths.shape == (20, 1001, 2)
    np.testing.assert_allclose(paths[:, 0], X[:, :2], atol=1e-14)
    np.testing.assert_allclose(paths[:, -1], X[:, -2:], atol=1e-14)
    assert paths.min() >= 0.0
    assert paths.max() <= 1.0
    # Linear in the points, and blind to where the origin is.
    np.testing.assert_allclose(
        Rover.path(0.3 * X[:1] + 0.7 * X[1:2]), 0.3 * paths[:1] + 0.7 * paths[1:2], atol=1e-13
    )
    np.testing.assert_allclose(Rover.path(X + 0.25), paths + 0.25, atol=1e-13)
    line = Rover.path(straight()[np.newaxis])[0]
    np.testing.assert_allclose(line[:, 0], line[:, 1], atol=1e-13)


def test_no_path_beats_the_straight_line_without_obstacles():
    bound = 5.0 - 0.05 * np.sqrt(2.0) * 0.9
    rng = np.random.default_rng(1)
    near = np.clip(around() + 0.03 * rng.standard_normal((200, 60)), 0.0, 1.0)
    X = np.vstack((rng.uniform(size=(200, 60)), near))
    assert rover()(X).max() < bound
    assert rover()(around()) < bound


def test_obstacles_leave_start_and_goal_free_and_block_the_way():
    assert len(OBSTACLES) == 15
    assert not blocked(np.array([START, GOAL])).any()
    assert blocked(np.linspace(START, GOAL, 1000)).mean() > 0.3


def test_a_step_function_has_no_gradient():
    with pytest.raises(InvalidInputError, match="no gradient"):
        rover().gradient(around())
