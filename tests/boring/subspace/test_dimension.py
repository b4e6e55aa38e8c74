"""The choice of d by BIC."""

import math

import numpy as np
import pytest

from boring.subspace.dimension import (
    axes_row,
    default_max_effective_dim,
    lowest_bic,
    n_free_parameters,
    rotated_row,
    score_dimensions,
)
from boring.subspace.factor_fit import FactorFit
from boring.subspace.full_rank import learn_factor
from boring.subspace.stiefel import random_frame


def data(dim, n, d, seed):
    rng = np.random.default_rng(seed)
    Z = (X := rng.uniform(-1, 1, (n, dim))) @ random_frame(dim, d, rng)
    y = np.sin(3 * Z[:, 0]) + (2 * np.exp(-1.5 * (Z[:, -1] - 0.3) ** 2) if d > 1 else 0)
    return X, (y - y.mean()) / y.std()


def test_counts_of_identifiable_parameters():
    assert n_free_parameters(10, 1) == 10
    assert n_free_parameters(10, 2) == 19
    # a full-rank factor up to rotations is a symmetric metric
    assert n_free_parameters(4, 4) == 4 * 5 // 2


def test_rows_by_hand():
    fit = FactorFit(np.zeros((10, 2)), 1.0, 0.01, np.nan, 5.0)
    rotated, axes = rotated_row(10, 100, fit.rank, fit.nll), axes_row(10, 100, fit)
    assert rotated.n_parameters == 21
    assert rotated.bic == pytest.approx(5.0 + 0.5 * 21 * math.log(100))
    assert axes.n_parameters == 4
    assert axes.bic == pytest.approx(5.0 + 2.0 * math.log(100) + math.log(math.comb(10, 2)))
    assert lowest_bic([rotated, axes]) is axes


def test_the_count_is_of_the_inputs_and_not_of_their_row_span():
    fit = FactorFit(np.zeros((5, 2)), 1.0, 0.01, np.nan, 5.0)
    assert rotated_row(50, 5, fit.rank, fit.nll).n_parameters == n_free_parameters(50, 2) + 2


@pytest.mark.statistical
def test_bic_names_d_in_all_of_four_data_sets():
    right = 0
    for d in (1, 2):
        for seed in range(2):
            X, y = data(8, 70, d, seed)
            right += lowest_bic(score_dimensions(X, y, 4)).effective_dim == d
    assert right >= 4


def test_without_d_the_learner_takes_the_row_of_lowest_bic():
    X, y = data(6, 60, 2, 5)
    learned = learn_factor(X, y, None, rng=np.random.default_rng(0), max_effective_dim=3)
    best = min(learned.dimension_table, key=lambda row: row.bic)
    assert best.effective_dim == learned.fit.rank == 2
    assert {row.effective_dim for row in learned.dimension_table} == {1, 2, 3}
    assert any(row.axis_aligned for row in learned.dimension_table)


def test_default_range():
    assert default_max_effective_dim(100, 50) == 6
    assert default_max_effective_dim(3, 50) == 3
    assert default_max_effective_dim(10, 4) == 2
    assert default_max_effective_dim(10, 3) == 1
