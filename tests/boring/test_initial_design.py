import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.initial_design import (
    interleaved_embeddings,
    latin_hypercube,
    sobol_design,
    uniform_design,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("design", [sobol_design, latin_hypercube, uniform_design])
@pytest.mark.parametrize(("n", "dim"), [(0, 2), (1, 1), (5, 3), (16, 40)])
def test_shape_and_range(design, n, dim):
    X = design(n, dim, rng())
    assert X.shape == (n, dim)
    assert np.all(np.abs(X) <= 1.0)
    np.testing.assert_array_equal(X, design(n, dim, rng()))
    if n:
        assert not np.array_equal(X, design(n, dim, rng(1)))


def test_a_short_sobol_design_begins_a_long_one():
    long = sobol_design(37, 4, rng())
    for n in (1, 2, 3, 16, 36):
        np.testing.assert_array_equal(sobol_design(n, 4, rng()), long[:n])


def test_sobol_balances_every_coordinate():
    X = sobol_design(32, 6, rng())
    counts = np.stack([np.histogram(column, bins=32, range=(-1, 1))[0] for column in X.T])
    np.testing.assert_array_equal(counts, np.ones((6, 32)))


def test_latin_hypercube_fills_every_slice():
    X = latin_hypercube(20, 3, rng())
    slices = np.sort(np.floor((X + 1) / 2 * 20), axis=0)
    np.testing.assert_array_equal(slices, np.tile(np.arange(20.0)[:, None], (1, 3)))


def test_sobol_dimension_limit():
    with pytest.raises(InvalidInputError, match="at most 21201 dimensions; received 30000"):
        sobol_design(2, 30000, rng())


@pytest.mark.parametrize("design", [sobol_design, latin_hypercube, uniform_design])
def test_sizes_are_checked(design):
    with pytest.raises(InvalidInputError, match="n must be an integer"):
        design(-1, 2, rng())
    with pytest.raises(InvalidInputError, match="dim must be an integer"):
        design(2, 0, rng())


def _rank(X):
    interior = X[np.all(np.abs(X) < 1.0, axis=1)]
    return np.linalg.matrix_rank(interior, tol=1e-10)


def test_interleaved_embeddings_span_more_than_one():
    one = interleaved_embeddings(200, 6, 2, rng(), n_embeddings=1)
    two = interleaved_embeddings(200, 6, 2, rng(), n_embeddings=2)
    assert one.shape == two.shape == (200, 6)
    assert np.all(np.abs(one) <= 1.0)
    assert (_rank(one), _rank(two), _rank(two[::2])) == (2, 4, 2)
    assert _rank(interleaved_embeddings(200, 6, 2, rng())) == 6


def test_interleaved_embeddings_of_no_points():
    assert interleaved_embeddings(0, 4, 2, rng()).shape == (0, 4)
    with pytest.raises(InvalidInputError, match="must not exceed dim"):
        interleaved_embeddings(3, 2, 3, rng())
