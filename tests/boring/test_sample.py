"""The points to learn from, of very many."""

import numpy as np

from boring.sample import sample


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
