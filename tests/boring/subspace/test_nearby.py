"""The learner on the points around an incumbent."""

import numpy as np
import pytest

from boring.subspace.dimension import lowest_bic, n_free_parameters
from boring.subspace.factor_fit import basis_of
from boring.subspace.nearby import NearbyFactors, learn_nearby_factors, nearest
from boring.subspace.stiefel import largest_angle, random_frame

DIM, D_ACTIVE, N = 8, 2, 60


def _valley(Z: np.ndarray) -> np.ndarray:
    """Return minus a bent valley over two directions: no quadratic, and smooth."""
    return -(np.sum((Z - 0.1) ** 2, axis=1) + 3.0 * (Z[:, 1] - Z[:, 0] ** 2) ** 2)


def _run_like(seed: int, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points of which half crowd around the optimum, values, and the true W."""
    rng = np.random.default_rng(seed)
    W = random_frame(DIM, D_ACTIVE, rng)
    center = W @ np.array([0.1, 0.1])
    X = rng.uniform(-1.0, 1.0, (n, DIM))
    X[n // 2 :] = np.clip(center + 0.3 * rng.standard_normal((n - n // 2, DIM)), -1.0, 1.0)
    return X, _valley(X @ W), W


@pytest.mark.statistical
def test_finds_the_directions_and_their_number_where_points_crowd() -> None:
    right = 0
    for seed in range(3):
        X, y, W = _run_like(seed)
        found = learn_nearby_factors(X, y, range(1, 4), rng=np.random.default_rng(seed))
        assert found is not None
        right += (
            found.effective_dim == D_ACTIVE
            and np.degrees(largest_angle(basis_of(found.factor), W)) < 1.0
        )
    assert right == 3


def test_the_nearest_points_alone_are_looked_at() -> None:
    X = np.linspace(-1.0, 1.0, 100)[:, None] * np.ones((1, 3))
    near = nearest(X, 99)
    assert sorted(near) == list(range(25, 100))
    assert len(nearest(X[:60], 0)) == 50
    assert len(nearest(X[:20], 0)) == 20
    np.testing.assert_array_equal(nearest(X, 99, 80), near[:60])


def test_what_far_points_are_worth_changes_nothing() -> None:
    X, y, _ = _run_like(0, 80)
    near = nearest(X, int(np.argmax(y)))
    far = np.setdiff1d(np.arange(len(y)), near)
    changed = y.copy()
    changed[far] -= 100.0
    one, other = (
        learn_nearby_factors(X, v, (2,), rng=np.random.default_rng(3)) for v in (y, changed)
    )
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.factor, other.factor)


def test_a_number_of_directions_that_the_points_cannot_tell_does_not_compete() -> None:
    X, y, _ = _run_like(1, 20)
    found = learn_nearby_factors(X, y, range(1, 6), rng=np.random.default_rng(0), n_hops=0)
    assert found is not None
    assert lowest_bic(found.table).effective_dim == found.effective_dim
    assert [row.effective_dim for row in found.table] == list(found.factors)
    assert set(found.factors) == {d for d in range(1, 6) if n_free_parameters(DIM, d) <= 20}
    assert learn_nearby_factors(X[:5], y[:5], (1,), rng=np.random.default_rng(0)) is None


def test_a_former_factor_is_a_start() -> None:
    X, y, W = _run_like(0, 40)
    rng = np.random.default_rng(0)
    blind = learn_nearby_factors(X, y, (2,), rng=rng, n_hops=0)
    last = NearbyFactors(2, {2: 2.0 * W})
    told = learn_nearby_factors(X, y, (2,), rng=rng, n_hops=0, last=last)
    assert blind is not None
    assert told is not None
    assert np.degrees(largest_angle(basis_of(told.factor), W)) < 3.0
    assert np.degrees(largest_angle(basis_of(blind.factor), W)) > 20.0


def test_settled_directions_are_refitted_and_searched_anew_only_if_they_change(monkeypatch) -> None:
    X, y, W = _run_like(0)
    searches = []

    def full(self, start):
        searches.append(len(self.values))
        return start

    first = learn_nearby_factors(X[:-4], y[:-4], (1, 2, 3), rng=np.random.default_rng(0))
    assert first is not None
    assert not first.is_settled
    again = learn_nearby_factors(
        X[:-2], y[:-2], (1, 2, 3), rng=np.random.default_rng(1), last=first
    )
    assert again is not None
    assert again.is_settled
    monkeypatch.setattr("boring.subspace.nearby._Search.full", full)
    rng = np.random.default_rng(2)
    refitted = learn_nearby_factors(X, y, (1, 2, 3), rng=rng, last=again)
    assert refitted is not None
    assert not searches
    assert refitted.is_settled
    assert [row.effective_dim for row in refitted.table] == [1, 2, 3]
    assert np.degrees(largest_angle(basis_of(refitted.factor), W)) < 1.0
    # Another function along other directions: the refit leaves those of the last call.
    other = _valley(X @ np.linalg.svd(W)[0][:, 2:4])
    changed = learn_nearby_factors(X, other, (1, 2, 3), rng=rng, last=again)
    assert changed is not None
    assert searches
    assert not changed.is_settled


def test_equal_values_or_points_tell_nothing() -> None:
    X, y, _ = _run_like(3)
    rng = np.random.default_rng(0)
    assert learn_nearby_factors(X, np.zeros_like(y), (1,), rng=rng) is None
    assert learn_nearby_factors(np.zeros_like(X), y, (1,), rng=rng) is None
    assert learn_nearby_factors(X[:1, :1], y[:1], (1,), rng=rng) is None


def test_units_of_the_values_do_not_matter() -> None:
    X, y, _ = _run_like(4)
    one, other = (
        learn_nearby_factors(X, v, (2,), rng=np.random.default_rng(1)) for v in (y, 1e6 * y - 3e6)
    )
    assert one is not None
    assert other is not None
    assert np.degrees(largest_angle(basis_of(one.factor), basis_of(other.factor))) < 0.1
