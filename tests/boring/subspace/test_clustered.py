import numpy as np
import pytest

from boring.subspace import clustered
from boring.subspace.clustered import STRETCHES, choose_and_learn, most_evident_stretch
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.factor_fit import FactorSettings
from boring.subspace.full_rank import SearchSettings, learn_factor
from boring.subspace.nearby import NearbyFactors
from boring.subspace.stiefel import largest_angle, random_frame
from boring.warping import log_warp, stretched

TWO_DEGREES = np.deg2rad(2.0)


def crowded(seed, n=70, dim=6):
    """Points that crowd around the minimum of a smooth function of two directions."""
    rng = np.random.default_rng(seed)
    W = random_frame(dim, 2, rng)
    center = W @ np.array([0.2, -0.3])
    radius = 10.0 ** rng.uniform(-3.0, 0.0, n)
    X = np.clip(center + radius[:, None] * rng.uniform(-1.0, 1.0, (n, dim)), -1.0, 1.0)
    z = X @ W - np.array([0.2, -0.3])
    return W, X, -(z[:, 0] ** 2 + 3.0 * z[:, 1] ** 2 + 0.5 * z[:, 0] ** 3)


@pytest.mark.statistical
def test_values_that_crowd_tell_directions_apart_under_the_most_evident_stretch():
    angles, plain = [], []
    for seed in range(2):
        W, X, y = crowded(seed)
        found = most_evident_stretch(X, y, None, 3, rng=np.random.default_rng(seed))
        assert found.effective_dim == 2
        assert {row.effective_dim for row in found.table} == {1, 2, 3}
        angles.append(largest_angle(_basis(X, found.of(y), [found.factor]), W))
        plain.append(largest_angle(_basis(X, log_warp(y), []), W))
    assert max(angles) < TWO_DEGREES
    assert np.median(angles) <= np.median(plain)


def _basis(X, values, starts):
    starts = [start for start in starts if start.shape[1] == 2]
    estimate = estimate_active_subspace(
        X, values, 2, rng=np.random.default_rng(0), noise_floor=1e-6, starts=starts, check=False
    )
    return estimate.active_basis


def test_a_known_dimension_is_kept_and_the_values_are_one_of_the_stretches():
    _, X, y = crowded(5, n=40, dim=4)
    found = most_evident_stretch(X, y, 1, rng=np.random.default_rng(0))
    assert (found.effective_dim, found.table, found.factor.shape) == (1, (), (4, 1))
    assert any(np.array_equal(found.of(y), stretched(y, share)[0]) for share in STRETCHES)


def test_the_unit_of_the_values_does_not_matter():
    _, X, y = crowded(6, n=40, dim=4)
    one, other = (
        most_evident_stretch(X, scale * y, 2, rng=np.random.default_rng(0)).of(scale * y)
        for scale in (1.0, 2.0**-40)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_axes_stay_axes():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.0, 1.0, (60, 12))
    y = -((X[:, 3] - 0.3) ** 2) - 2.0 * (X[:, 7] + 0.1) ** 2
    found = most_evident_stretch(X, y, 2, rng=rng)
    assert set(np.flatnonzero(np.abs(found.factor).sum(axis=1))) == {3, 7}


def _nearby(factor):
    rank = factor.shape[1]
    return NearbyFactors(rank, {rank: factor}, ("its own",))


def test_a_factor_of_the_neighbourhood_wins_with_its_own_dimension(monkeypatch):
    W, X, y = crowded(3, n=40, dim=4)
    monkeypatch.setattr(clustered, "_dimension", lambda *_: (1, ("a table",)))
    found = most_evident_stretch(
        X, y, None, 3, rng=np.random.default_rng(0), nearby=_nearby(2.0 * W)
    )
    assert (found.effective_dim, found.table) == (2, ("its own",))
    np.testing.assert_array_equal(found.factor, 2.0 * W)


def test_a_factor_of_the_neighbourhood_loses_to_a_better_one_and_to_a_given_dimension():
    W, X, y = crowded(3, n=40, dim=4)
    rng = np.random.default_rng(0)
    wrong = np.linalg.svd(W)[0][:, [3]]
    found = most_evident_stretch(X, y, None, 2, rng=rng, nearby=_nearby(wrong))
    assert found.effective_dim == 2
    assert found.table
    assert most_evident_stretch(X, y, 1, rng=rng, nearby=_nearby(2.0 * W)).effective_dim == 1


def test_a_warm_start_is_finished_though_the_search_ends_elsewhere():
    W, X, y = crowded(1)
    values = stretched(y, 1.0)[0]
    settings = SearchSettings(FactorSettings(noise_floor=1e-6), n_hops=0)
    cold = learn_factor(X, values, 2, rng=np.random.default_rng(0), settings=settings)
    warm = learn_factor(X, values, 2, rng=np.random.default_rng(0), settings=settings, starts=[W])
    assert warm.fit.value <= cold.fit.value + 1e-6


def test_the_learner_of_the_loop_takes_its_values_as_they_are():
    W, X, y = crowded(0)
    factor = choose_and_learn(X, log_warp(y), 2, rng=np.random.default_rng(0))
    assert factor.shape == (6, 2)
    assert largest_angle(factor, W) < np.deg2rad(45.0)
