"""The points to learn from, of very many, and those that are far apart."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from boring.sample import sample, spread_out


def test_all_points_are_learned_from_as_long_as_there_are_few() -> None:
    y = np.arange(500.0)
    assert sample(y) == slice(None)
    assert len(sample(np.arange(501.0))) == 500


def test_half_are_the_best_and_the_rest_is_random() -> None:
    y = np.random.default_rng(0).permutation(1000).astype(float)
    rows = sample(y, 200)
    assert np.all(np.diff(rows) > 0)
    values = np.sort(y[rows])[::-1]
    np.testing.assert_array_equal(values[:100], np.arange(999.0, 899.0, -1.0))
    assert values[100:].max() > 850
    assert values[100:].min() < 50


def test_one_more_point_changes_next_to_nothing() -> None:
    y = np.random.default_rng(0).standard_normal(1000)
    before = set(sample(y, 200))
    for value in (-9.0, 0.0, 9.0):
        assert len(before - set(sample(np.append(y, value), 200))) <= 2


def test_points_that_are_far_apart_come_first() -> None:
    X = np.array([[0.0], [0.1], [1.0], [0.45], [0.0]])
    np.testing.assert_array_equal(spread_out(X, 0, 3), [0, 2, 3])
    assert sorted(spread_out(X, 1, 9)) == [0, 1, 2, 3, 4], "each once, those that coincide too"


@pytest.mark.parametrize("first", [0, 17])
def test_each_next_point_is_farthest_from_those_before(first) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    rows = spread_out(X, first, 12)
    assert rows[0] == first
    for k in range(1, 12):
        away = cdist(X, X[rows[:k]]).min(axis=1)
        assert away[rows[k]] == pytest.approx(away.max())
