import tracemalloc

import numpy as np
import pytest

from baselines.embeddings.lazy import LazyEmbedding, interleaved_search
from boring.embedding import RandomEmbedding
from boring.exceptions import InvalidInputError

BILLION = 10**9


def loss(x):
    return (x[123_456_789] - 0.3) ** 2 + (x[987_654_321] + 0.1) ** 2


def test_rows_depend_on_the_seed_and_the_index_alone():
    first, other = LazyEmbedding(BILLION, 3, 7), LazyEmbedding(BILLION, 3, 7)
    some = [5, 999_999_999, 0]
    rows = first.rows(some)
    np.testing.assert_array_equal(other.rows(some[::-1])[::-1], rows)
    np.testing.assert_array_equal(first.rows(some), rows)
    assert len(np.unique(rows)) == 9
    assert not np.array_equal(LazyEmbedding(BILLION, 3, 8).rows(some), rows)
    assert first.n_rows_read == 3


def test_entries_are_independent_standard_normals():
    A = LazyEmbedding(BILLION, 4, 0).rows(np.arange(3000) * 333_333)
    assert abs(A.mean()) < 4 / np.sqrt(A.size)
    assert abs(A.var() - 1) < 4 * np.sqrt(2 / A.size)
    assert np.abs(np.corrcoef(A.T) - np.eye(4)).max() < 4 / np.sqrt(3000)
    neighbours = np.mean(A[1:] * A[:-1])
    assert abs(neighbours) < 4 / np.sqrt(A.size)


def test_points_are_those_of_the_dense_embedding():
    lazy = LazyEmbedding(40, 2, 1)
    dense = RandomEmbedding(lazy.rows(range(40)))
    z = np.array([0.9, -1.2])
    x, expected = lazy.point(z), dense.up(z)[0]
    assert lazy.half_width == dense.half_width
    np.testing.assert_array_equal(np.asarray(x), expected)
    np.testing.assert_array_equal(list(x), expected)
    np.testing.assert_array_equal(x[[3, -1, 7]], expected[[3, -1, 7]])
    np.testing.assert_array_equal(x[5:30:4], expected[5:30:4])
    assert x[6] == expected[6]
    assert isinstance(x[6], float)
    assert len(x) == 40


def test_a_billion_inputs_take_the_memory_of_those_that_are_read():
    tracemalloc.start()
    embedding = LazyEmbedding(BILLION, 4, 0)
    x = embedding.point(np.full(4, 0.4))
    loss(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000  # bytes; x alone would take 8e9
    assert embedding.n_rows_read == 2


@pytest.mark.parametrize("index", [BILLION, -BILLION - 1, [0, BILLION]])
def test_indices_out_of_range(index):
    with pytest.raises(IndexError, match="out of range"):
        LazyEmbedding(BILLION, 2, 0).point([0.1, 0.2])[index]


@pytest.mark.parametrize("index", [0.5, "a", [[1, 2]], [True, False]])
def test_indices_of_another_kind(index):
    with pytest.raises(InvalidInputError, match="Index the inputs that you read"):
        LazyEmbedding(BILLION, 2, 0).point([0.1, 0.2])[index]


@pytest.mark.parametrize("demand", [np.asarray, list, lambda x: x[:], lambda x: np.sin(x)])
def test_writing_out_a_billion_inputs_is_refused(demand):
    with pytest.raises(InvalidInputError, match="Read only the inputs"):
        demand(LazyEmbedding(BILLION, 2, 0).point([0.1, 0.2]))


@pytest.mark.parametrize(("dim", "d"), [(2, 3), (0, 1), (2**63, 2), (5, 0)])
def test_bad_sizes(dim, d):
    with pytest.raises(InvalidInputError):
        LazyEmbedding(dim, d, 0)


@pytest.mark.statistical
def test_interleaved_searches_find_the_optimum_among_a_billion_inputs():
    reached = 0
    for seed in range(3):
        embeddings = [LazyEmbedding(BILLION, 2, 100 * seed + run) for run in range(3)]
        result = interleaved_search(
            loss, embeddings, 45, direction="minimize", seed=seed, n_initial=4
        )
        reached += result.y_best < 1e-2
        assert result.y.shape == (45,)
        assert result.y_best == result.y.min() == loss(result.x_best)
        assert [len(run.y) for run in result.runs] == [15] * 3
    assert reached >= 2


def test_search_is_repeatable_and_needs_an_embedding_and_a_finite_value():
    def search(fun=loss, direction="maximize"):
        embeddings = [LazyEmbedding(BILLION, 2, run) for run in range(2)]
        return interleaved_search(fun, embeddings, 8, direction=direction, method="sobol", seed=3)

    first = search()
    np.testing.assert_array_equal(first.y, search().y)
    assert first.y_best == first.y.max()
    with pytest.raises(InvalidInputError, match="at least one"):
        interleaved_search(loss, [], 5, direction="minimize")
    with (
        pytest.warns(UserWarning, match="should be finite"),
        pytest.raises(InvalidInputError, match="None of 8 values is finite"),
    ):
        search(lambda x: float("nan"))
