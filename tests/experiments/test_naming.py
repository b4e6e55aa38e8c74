"""Readable loadings name the parameters of planted groups, and wrong ones are not let through."""

import numpy as np
import pytest

from boring.subspace.rotation import readable_basis
from experiments.naming import DIM, SIZE, judge, plant, run, table


def test_planted_groups_are_disjoint_and_differ_by_seed() -> None:
    W = plant(0)
    assert W.shape == (DIM, 2)
    assert (np.count_nonzero(W, axis=0) == SIZE).all()
    assert np.count_nonzero(W, axis=1).max() == 1
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
    assert not np.array_equal(W != 0, plant(1) != 0)


def test_the_truth_passes_and_what_is_wrong_does_not() -> None:
    truth = plant(3)
    mixed = truth @ np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2.0)
    assert judge(readable_basis(mixed)[0], truth) == (True, True)
    assert judge(mixed, truth) == (False, False)
    assert judge(truth[:, :1], truth) == (False, False)
    assert judge(plant(4), truth) == (False, False)
    tail = truth.copy()
    idle = int(np.flatnonzero(~truth.any(axis=1))[0])
    tail[idle, 0] = 0.2
    tail /= np.linalg.norm(tail, axis=0)
    assert judge(tail, truth) == (True, False)  # named, with one that is idle


def test_the_table_counts() -> None:
    line = {"noise": 0.1, "top": True, "named": False, "d": 2, "degrees": 4.0, "seconds": 2.0}
    cells = table([line, {**line, "top": False}]).splitlines()[-1].split("|")
    assert [cell.strip() for cell in cells[1:5]] == ["10%", "1 of 2", "0 of 2", "2 of 2"]


@pytest.mark.slow
def test_nine_of_ten_planted_pairs_of_groups_are_named() -> None:
    lines = [run(seed, 0.1) for seed in range(10)]
    assert sum(line["top"] for line in lines) >= 9
    assert sum(line["named"] for line in lines) >= 9
