import numpy as np
import pytest
from scipy.stats import wilcoxon

from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import is_orthonormal, random_frame
from experiments.metrics import (
    best_so_far,
    compare_paired,
    holm,
    largest_angle_degrees,
    procrustes_align,
    quartiles,
    simple_regret,
)


def test_best_so_far_passes_over_non_finite_values():
    assert best_so_far([np.nan, 2.0, np.inf, 1.0], "minimize").tolist() == [np.inf, 2.0, 2.0, 1.0]
    assert best_so_far([np.nan, 2.0, 1.0, 3.0], "maximize").tolist() == [-np.inf, 2.0, 2.0, 3.0]


def test_simple_regret_has_the_sign_of_a_cost_in_both_directions():
    assert simple_regret([3.0, -1.0], -2.0, "minimize").tolist() == [5.0, 1.0]
    assert simple_regret([3.0, -1.0, 7.0], 8.0, "maximize").tolist() == [5.0, 5.0, 1.0]


def test_rounding_below_zero_becomes_zero_and_a_wrong_optimum_shows():
    assert simple_regret([1.0 - 1e-12], 1.0, "minimize").tolist() == [0.0]
    assert simple_regret([0.5], 1.0, "minimize").tolist() == [-0.5]


def test_quartiles_agree_with_numpy_and_order_infinities(rng):
    values = rng.normal(size=11)
    assert quartiles(values) == pytest.approx(tuple(np.quantile(values, [0.25, 0.5, 0.75])))
    assert quartiles([1.0, 2.0, np.inf, np.inf, np.inf])[1:] == (np.inf, np.inf)
    with pytest.raises(InvalidInputError, match="NaN"):
        quartiles([1.0, np.nan])


def test_angle_in_degrees_by_hand():
    assert largest_angle_degrees([[1.0], [0.0]], [[1.0], [1.0]]) == pytest.approx(45.0)


def test_procrustes_undoes_a_rotation(rng):
    W = random_frame(7, 3, rng)
    rotation = random_frame(3, 3, rng)
    aligned = procrustes_align(W @ rotation, W)
    np.testing.assert_allclose(aligned, W, atol=1e-12)


def test_procrustes_stays_in_the_learned_span(rng):
    W, T = random_frame(6, 2, rng), random_frame(6, 2, rng)
    aligned = procrustes_align(W, T)
    assert is_orthonormal(aligned)
    assert largest_angle_degrees(aligned, W) < 1e-6
    better = np.linalg.norm(aligned - T)
    for _ in range(20):
        assert better <= np.linalg.norm(W @ random_frame(2, 2, rng) - T) + 1e-12


def test_paired_comparison_by_hand():
    first = [1.0, 1.0, 1.0, 0.0]
    second = [2.0, 1.05, 0.5, 1e-12]
    outcome = compare_paired(first, second)
    assert (outcome.wins, outcome.ties, outcome.losses, outcome.n) == (1, 2, 1, 4)


def test_paired_p_value_is_wilcoxons_on_the_logarithms(rng):
    first, second = np.exp(rng.normal(size=20)), np.exp(rng.normal(0.8, size=20))
    expected = wilcoxon(np.log(first), np.log(second)).pvalue
    assert compare_paired(first, second).p_value == pytest.approx(expected)
    swapped = compare_paired(second, first)
    assert swapped.p_value == pytest.approx(expected)
    assert swapped.wins == compare_paired(first, second).losses


def test_paired_comparison_with_nothing_to_test():
    assert compare_paired([1.0, 2.0], [1.0, 2.0]).p_value is None
    tied = compare_paired([1.0] * 6, [1.0] + [2.0] * 5)
    dropped = compare_paired([1.0] * 6, [1.0, 2.0, 2.1, 2.2, 2.3, 2.4])
    assert dropped.p_value == 2.0**-4  # exact, as without the pair that is equal
    assert tied.p_value >= 2.0**-4  # five that differ, to one side; a normal says .025
    with pytest.raises(InvalidInputError, match="as many"):
        compare_paired([1.0], [1.0, 2.0])


def test_an_infinite_regret_loses():
    outcome = compare_paired([np.inf, 1.0], [1.0, np.inf])
    assert (outcome.wins, outcome.losses) == (1, 1)


def test_holm_by_hand():
    # 4 tests: .01 * 4, .02 * 3, .03 * 2 (not below the one before), .9 * 1.
    assert holm([0.9, 0.01, 0.03, 0.02]) == pytest.approx((0.9, 0.04, 0.06, 0.06))
    assert holm([None, 0.7, 0.6]) == (None, 1.0, 1.0)
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()
