"""The trust region of TuRBO: pure functions, without torch."""

import numpy as np
import pytest

from experiments.peers._ladder import (
    LENGTH_INIT,
    LENGTH_MAX,
    LENGTH_MIN,
    Ladder,
    failure_tolerance_of,
    local_run,
    perturbed_candidates,
    region,
)


def climbed(costs, tolerance=4, ladder=None):
    ladder = ladder or Ladder(best=10.0)
    for cost in costs:
        ladder = ladder.step(cost, tolerance)
    return ladder


def test_three_improvements_in_a_row_double_the_side_and_it_has_an_end():
    assert climbed([9, 8]).length == LENGTH_INIT
    assert climbed([9, 8, 7]) == Ladder(best=7, length=LENGTH_MAX)
    assert climbed([9, 8, 7, 6, 5, 4]).length == LENGTH_MAX
    assert climbed([9, 8, 8, 7]) == Ladder(best=7, length=LENGTH_INIT, successes=1)


def test_failures_in_a_row_halve_the_side():
    assert climbed([11, 10, 12]) == Ladder(best=10, failures=3)
    assert climbed([11, 10, 12, np.inf]) == Ladder(best=10, length=LENGTH_INIT / 2)
    assert climbed([11, 10, 12, 9, 11, 11, 11]).length == LENGTH_INIT
    assert [failure_tolerance_of(dim) for dim in (1, 4, 30)] == [4, 4, 30]


def test_an_improvement_is_relative_to_the_best_and_a_failure_is_none():
    assert not Ladder(best=-10.0).improved_by(-10.0099)
    assert Ladder(best=-10.0).improved_by(-10.0101)
    assert Ladder().improved_by(5.0)
    assert not Ladder().improved_by(np.inf)


def test_a_collapsed_region_is_restarted_without_what_it_knew():
    n_to_collapse = 4 * int(np.ceil(np.log2(LENGTH_INIT / LENGTH_MIN)))
    costs = [1.0] * 5 + [2.0] * n_to_collapse
    before = local_run(costs[:-1], 5, 3, 4)
    assert (before.first, before.n_restarts) == (0, 0)
    assert LENGTH_MIN <= before.ladder.length < 2 * LENGTH_MIN
    after = local_run(costs, 5, 3, 4)
    assert (after.first, after.n_restarts, after.ladder) == (len(costs), 1, Ladder())
    later = local_run([*costs, 7.0, 6.0, 8.0, 5.0, 5.5], 5, 3, 4)
    assert later.first == len(costs)
    assert later.ladder == Ladder(best=5.0, failures=1)


def test_the_state_is_that_of_a_shorter_history_carried_on():
    rng = np.random.default_rng(0)
    costs = rng.standard_normal(400)
    whole = local_run(costs, 6, 5, 4)
    assert whole.n_restarts >= 1
    assert whole.ladder == local_run(costs[whole.first :], 5, 5, 4).ladder


def test_sides_are_proportional_to_lengthscales_and_keep_their_volume():
    lower, upper = region(np.full(3, 0.5), np.array([0.5, 1.0, 2.0]), 0.2)
    np.testing.assert_allclose(upper - lower, [0.1, 0.2, 0.4])
    lower, upper = region(np.array([0.0, 1.0, 0.5]), np.ones(3), LENGTH_MAX)
    np.testing.assert_allclose((lower, upper), ([0, 0.2, 0], [0.8, 1, 1]))
    assert np.all(np.isfinite(region(np.full(300, 0.5), np.full(300, 0.005), 0.8)))


@pytest.mark.parametrize("dim", [1, 5, 20, 200])
def test_candidates_lie_in_the_region_and_differ_in_some_coordinates(dim):
    rng = np.random.default_rng(1)
    centre = rng.uniform(0.3, 0.6, dim)
    lower, upper = centre - 0.1, centre + 0.2
    found = perturbed_candidates(centre, lower, upper, 500, rng)
    assert np.all((lower <= found) & (found <= upper))
    moved = (found != centre).sum(axis=1)
    assert moved.min() >= 1
    assert moved.mean() == pytest.approx(min(dim, 20), rel=0.1)
    assert not np.array_equal(perturbed_candidates(centre, lower, upper, 500, rng), found)


def test_candidates_are_the_same_for_the_same_generator():
    found = [
        perturbed_candidates(np.zeros(4), np.zeros(4), np.ones(4), 8, np.random.default_rng(2))
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*found)
