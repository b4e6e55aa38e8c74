"""A part of a domain: fixed columns stay, the rest is as it was."""

import numpy as np
import pytest

from boring.domain import Domain, GridLattice
from boring.exceptions import InvalidInputError
from boring.fixing import FixedDomain
from boring.loop.algorithm import BoringOptimizer

WHOLE = Domain(3, GridLattice({0: [-1.0, 0.0, 1.0]}), [lambda U: U[:, 1] + U[:, 2]])


@pytest.mark.parametrize("columns", [{0: 1.0}, {1: 0.25}, {0: 0.0, 2: -0.5}])
def test_points_are_snapped_to_the_part(columns):
    part = FixedDomain(WHOLE, columns)
    U = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 3))
    snapped = part.snap(U)
    numbers = list(columns)
    np.testing.assert_array_equal(snapped[:, numbers], np.tile(list(columns.values()), (40, 1)))
    others = [column for column in range(3) if column not in columns]
    np.testing.assert_array_equal(snapped[:, others], WHOLE.snap(U)[:, others])
    np.testing.assert_array_equal(part.snap(snapped), snapped)
    np.testing.assert_array_equal(part.allowed(U), WHOLE.allowed(snapped))


def test_neighbours_and_free_columns_are_those_of_the_rest():
    part = FixedDomain(WHOLE, {0: 0.0, 1: 0.5})
    assert part.discrete.tolist() == [True, True, False]
    assert part.neighbours(part.snap([[0.9, 0.9, 0.1]])[0]).shape == (0, 3)
    assert part.free(np.array([0.0, 0.5, 0.1])).tolist() == [2]
    around = FixedDomain(WHOLE, {1: 0.5}).neighbours(np.array([0.0, 0.5, 0.1]))
    np.testing.assert_array_equal(around, [[-1.0, 0.5, 0.1], [1.0, 0.5, 0.1]])
    assert FixedDomain(Domain(2), {0: 0.5}).neighbours(np.array([0.5, 0.1])).shape == (0, 2)


def test_an_optimiser_asks_within_a_part_and_comes_back():
    optimizer = BoringOptimizer([(0.0, 10.0)] * 3, direction="minimize", seed=0)
    part = FixedDomain(optimizer.domain, {1: 0.5})
    for _ in range(10):
        x = optimizer.ask(within=part)[0]
        assert x[1] == 7.5
        optimizer.tell(x, float(((x - 3.0) ** 2).sum()))
    assert optimizer.domain.is_plain
    assert optimizer.ask()[0][1] != 7.5


def test_an_error_leaves_the_whole_domain():
    optimizer = BoringOptimizer([(0.0, 10.0)] * 3, direction="minimize", seed=0)
    broken = Domain(3, constraints=[lambda U: 1 / 0])
    with pytest.raises(InvalidInputError, match="raised ZeroDivisionError"):
        optimizer.ask(within=FixedDomain(broken, {1: 0.5}))
    with pytest.raises(InvalidInputError, match="must be a Domain of 3 inputs"):
        optimizer.ask(within=Domain(2))
    assert optimizer.domain.is_plain
    assert len(optimizer.pending) == 0
    assert optimizer.ask()[0][1] != 7.5
