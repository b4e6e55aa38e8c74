"""The growing embeddings of BAxUS: pure functions, without torch."""

import numpy as np
import pytest

from boring.rng import keyed_generator
from experiments.peers._ladder import LENGTH_INIT, Ladder
from experiments.peers._nested import NestedEmbedding, SplitPlan, nested_run


def drawn(dim, target_dim, seed=0):
    return NestedEmbedding.draw(dim, target_dim, np.random.default_rng(seed))


def sizes(embedding):
    return np.bincount(embedding.bins, minlength=embedding.target_dim)


@pytest.mark.parametrize(("dim", "target_dim"), [(1, 1), (10, 3), (100, 7), (12, 12)])
def test_an_embedding_is_balanced_and_recovers_target_points(dim, target_dim):
    embedding = drawn(dim, target_dim)
    assert embedding.target_dim == target_dim
    assert np.ptp(sizes(embedding)) <= 1
    assert set(np.unique(embedding.signs)) <= {-1.0, 1.0}
    Z = np.random.default_rng(1).uniform(-1, 1, (6, target_dim))
    np.testing.assert_allclose(embedding.down(embedding.up(Z)), Z, atol=1e-14)
    assert np.all(embedding.holds(embedding.up(Z)))


def test_signs_and_bins_depend_on_the_generator():
    one, other = drawn(50, 5, 0), drawn(50, 5, 1)
    assert not np.array_equal(one.bins, other.bins)
    assert len(np.unique(one.signs)) == 2


def test_an_embedding_does_not_hold_other_points():
    embedding = drawn(10, 3)
    X = embedding.up(np.array([[0.1, 0.2, 0.3]]))
    X[0, 4] += 1e-3
    np.testing.assert_array_equal(embedding.holds(X), [False])
    assert np.all(drawn(10, 10).holds(np.random.default_rng(0).uniform(-1, 1, (5, 10))))


def test_a_split_multiplies_the_target_dimension_and_carries_points_over():
    coarse = drawn(100, 2)
    fine = coarse.split(3, np.random.default_rng(3))
    assert fine.target_dim == 8
    assert np.ptp(sizes(fine)) <= 1
    Z = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    X = coarse.up(Z)
    assert np.all(fine.holds(X))
    parents = np.array([coarse.bins[fine.bins == k][0] for k in range(8)])
    np.testing.assert_allclose(fine.down(X), Z[:, parents], atol=1e-14)
    assert not np.any(coarse.holds(fine.up(np.random.default_rng(2).uniform(-1, 1, (5, 8)))))


def test_splits_end_at_one_input_for_each_coordinate():
    embedding, dims = drawn(10, 2), []
    for number in range(4):
        embedding = embedding.split(3, np.random.default_rng(number))
        dims.append(embedding.target_dim)
    assert dims == [8, 10, 10, 10]
    np.testing.assert_array_equal(np.sort(embedding.bins), np.arange(10))


def test_the_plan_begins_where_its_last_split_comes_nearest_to_all_inputs():
    # 4^4 = 256, and 2 * 256 = 512 is nearer to 500 than 1 * 256 or 3 * 256
    assert (SplitPlan(500, 90, 3).n_splits, SplitPlan(500, 90, 3).first_dim) == (4, 2)
    assert (SplitPlan(100, 190, 3).n_splits, SplitPlan(100, 190, 3).first_dim) == (3, 2)
    assert [SplitPlan(dim, 50, 3).first_dim for dim in (1, 2, 3, 4, 7)] == [1, 2, 1, 1, 2]


def test_failure_tolerances_grow_with_the_dimension_and_with_the_budget():
    plan = SplitPlan(500, 490, 3)
    assert plan.failure_tolerance(500) == 500
    tolerances = [plan.failure_tolerance(dim) for dim in (2, 8, 32, 128)]
    # shares of the budget 3 * 490 * d / (2 * 1023) = 1, 6, 23, 92; six halvings each
    assert tolerances == [1, 1, 3, 15]
    assert SplitPlan(500, 10**6, 3).failure_tolerance(8) == 8


def run_of(costs, plan=None, X=None, n_design=3, n_told=3):
    embedding = drawn(10, 2)
    if X is None:
        X = embedding.up(np.random.default_rng(4).uniform(-1, 1, (len(costs), 2)))
    return nested_run(
        X,
        np.asarray(costs, dtype=float),
        embedding,
        plan or SplitPlan(10, 20, 3),
        lambda number: keyed_generator(0, "split", number),
        n_told=n_told,
        n_design=n_design,
    )


def test_a_collapsed_region_splits_the_coordinates_and_begins_wide_with_all_it_knew():
    # SplitPlan(10, 20, 3): tolerance 1 in 2 coordinates; seven halvings take 0.8 below 2^-7
    before = run_of([3, 2, 1] + [5] * 6)
    assert (before.embedding.target_dim, before.n_splits) == (2, 0)
    assert before.ladder.length == LENGTH_INIT / 2**6
    after = run_of([3, 2, 1] + [5] * 7)
    assert (after.embedding.target_dim, after.n_splits) == (8, 1)
    assert after.ladder == Ladder(best=1)


def test_the_design_and_foreign_points_do_not_move_the_ladder():
    assert run_of([3, 2, 1, 4, 5, 6], n_told=6).ladder == Ladder(best=1)
    assert run_of([3, 2, 1, 4, 5, 6], n_design=6, n_told=2).ladder == Ladder(best=1)
    foreign = np.random.default_rng(5).uniform(-1, 1, (6, 10))
    assert run_of([3, 2, 1, -4, 5, 6], X=foreign).ladder == Ladder()


def test_in_all_inputs_the_region_begins_anew():
    plan = SplitPlan(10, 20, 3)
    rng = np.random.default_rng(6)
    costs = [3, 2, 1] + [5] * 200
    run = run_of(costs, plan, drawn(10, 2).up(rng.uniform(-1, 1, (len(costs), 2))))
    assert run.embedding.target_dim == 10
    assert run.n_splits >= 3
    np.testing.assert_array_equal(
        run.embedding.bins, run.embedding.split(3, np.random.default_rng(0)).bins
    )
