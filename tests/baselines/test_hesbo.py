import numpy as np
import pytest

from baselines.embeddings.hesbo import HashingFeatures, HesboOptimizer, containment_probability
from boring.exceptions import InvalidInputError


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("dim", "d", "active"), [(25, 2, 2), (100, 4, 2), (100, 12, 6)])
def test_active_inputs_share_no_coordinate_as_often_as_counted(dim, d, active):
    n, random = 4000, rng(1)
    hits = 0
    for _ in range(n):
        bins = HashingFeatures.draw(dim, d, random).bins[:active]
        hits += len(set(bins.tolist())) == active
    expected = containment_probability(d, active)
    assert abs(hits / n - expected) < 3 * np.sqrt(expected * (1 - expected) / n)


def test_containment_by_hand():
    assert containment_probability(2, 2) == 0.5
    assert containment_probability(4, 2) == 0.75
    assert containment_probability(1, 2) == 0.0


def test_the_box_maps_into_the_cube_without_clipping_and_back():
    features = HashingFeatures.draw(30, 5, rng())
    U = rng(1).uniform(-1, 1, (50, 5))
    X = features.up(U)
    assert np.all(np.abs(X) <= 1)
    for row, u in zip(X, U, strict=True):
        assert set(np.abs(row)) <= set(np.abs(u))
    Z, error = features.down(X)
    np.testing.assert_allclose(Z, U, atol=1e-14)
    assert error.max() < 1e-14


def test_foreign_points_count_at_the_least_squares_preimage():
    features = HashingFeatures.draw(12, 3, rng())
    X = rng(1).uniform(-1, 1, (20, 12))
    Z, error = features.down(X)
    S = features.up(np.eye(3)).T
    np.testing.assert_allclose(Z, np.linalg.lstsq(S, X.T, rcond=None)[0].T, atol=1e-12)
    assert error.min() > 0.05


def test_signs_are_even_and_a_coordinate_without_inputs_does_no_harm():
    features = HashingFeatures.draw(4000, 3, rng())
    assert abs(features.signs.mean()) < 5 / np.sqrt(4000)
    lonely = HashingFeatures(np.zeros(4, dtype=np.intp), np.ones(4), 3)
    Z, error = lonely.down(lonely.up(np.array([[0.5, 0.1, 0.2]])))
    np.testing.assert_allclose(Z, [[0.5, 0.0, 0.0]])
    assert error == [0.0]


@pytest.mark.statistical
def test_reaches_a_small_regret_where_the_inputs_are_apart():
    reached = apart = 0
    for seed in range(5):
        optimizer = HesboOptimizer([(-1, 1)] * 20, direction="minimize", seed=seed)
        bins = optimizer.features[0].bins
        if bins[0] == bins[1]:
            continue
        apart += 1
        result = optimizer.run(
            lambda x: float((x[0] - 0.25) ** 2 + (x[1] + 0.5) ** 2), 20, progress=False
        )
        reached += result.y_best < 3e-2
    assert apart >= 3
    assert reached >= apart - 1


def test_proposals_lie_on_the_embedding():
    optimizer = HesboOptimizer([(-1, 1)] * 9, direction="minimize", seed=1, n_embeddings=2)
    result = optimizer.run(lambda x: float(np.sum(x**2)), 12, progress=False)
    for i, x in enumerate(result.X):
        assert optimizer.features[i % 2].down(x[None])[1][0] < 1e-12


@pytest.mark.parametrize(
    "options", [{"effective_dim": 5}, {"n_embeddings": 0}, {"acquisition": "ei"}, {"initial": "x"}]
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        HesboOptimizer([(-1, 1)] * 4, direction="minimize", **options)
