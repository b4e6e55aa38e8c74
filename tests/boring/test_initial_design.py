import numpy as np
import pytest

import baselines  # noqa: F401
from boring.exceptions import InvalidInputError
from boring.initial_design import (
    MAX_SOBOL_DIM,
    latin_hypercube,
    nested_latin_hypercube,
    sobol_design,
    uniform_design,
)
from boring.registry import get_optimizer
from boring.rng import keyed_generator
from boring.space import Box

DESIGNS = [sobol_design, latin_hypercube, nested_latin_hypercube, uniform_design]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("n", "dim"), [(0, 2), (1, 1), (5, 3), (16, 40)])
def test_shape_and_range(design, n, dim):
    X = design(n, dim, rng())
    assert X.shape == (n, dim)
    assert np.all(np.abs(X) <= 1.0)
    np.testing.assert_array_equal(X, design(n, dim, rng()))
    if n:
        assert not np.array_equal(X, design(n, dim, rng(1)))


@pytest.mark.parametrize("design", [sobol_design, nested_latin_hypercube])
def test_a_short_design_begins_a_long_one(design):
    long = design(37, 4, rng())
    for n in (1, 2, 3, 16, 36):
        np.testing.assert_array_equal(design(n, 4, rng()), long[:n])


@pytest.mark.parametrize("design", [sobol_design, nested_latin_hypercube])
def test_powers_of_two_balance_every_coordinate(design):
    X = design(32, 6, rng())
    counts = np.stack([np.histogram(column, bins=32, range=(-1, 1))[0] for column in X.T])
    np.testing.assert_array_equal(counts, np.ones((6, 32)))


def test_latin_hypercube_fills_every_slice():
    X = latin_hypercube(20, 3, rng())
    slices = np.sort(np.floor((X + 1) / 2 * 20), axis=0)
    np.testing.assert_array_equal(slices, np.tile(np.arange(20.0)[:, None], (1, 3)))


def test_sobol_dimension_limit():
    with pytest.raises(InvalidInputError, match="at most 21201 dimensions; received 30000"):
        sobol_design(2, 30000, rng())


def test_coordinates_of_a_nested_hypercube_are_independent():
    X = nested_latin_hypercube(64, 300, rng())
    correlations = np.corrcoef(X.T)[np.triu_indices(300, 1)]
    assert abs(correlations.std() * np.sqrt(63) - 1.0) < 0.1  # as of independent columns
    assert np.abs(correlations).max() < 0.7


@pytest.mark.parametrize("dim", [7, MAX_SOBOL_DIM + 1])
@pytest.mark.parametrize("method", ["boring", "sobol"])
def test_runs_of_any_dimension_begin_in_the_box(method, dim):
    lower, upper = np.full(dim, 2.0), np.full(dim, 3.0)
    optimizer = get_optimizer(method)(Box(lower, upper), direction="minimize", seed=0)
    X = optimizer.ask(2)
    assert X.shape == (2, dim)
    assert np.all((lower <= X) & (X <= upper))
    assert np.all(X[0] != X[1])
    design = nested_latin_hypercube if dim > MAX_SOBOL_DIM else sobol_design
    expected = design(2, dim, keyed_generator(0, "initial design"))
    np.testing.assert_allclose(X, 2.5 + 0.5 * expected, atol=1e-12)


@pytest.mark.parametrize("design", DESIGNS)
def test_sizes_are_checked(design):
    with pytest.raises(InvalidInputError, match="n must be an integer"):
        design(-1, 2, rng())
    with pytest.raises(InvalidInputError, match="dim must be an integer"):
        design(2, 0, rng())
