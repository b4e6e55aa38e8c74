import numpy as np
import pytest

from boring.embedding import RandomEmbedding
from boring.exceptions import InvalidInputError


def rng(seed=0):
    return np.random.default_rng(seed)


def test_up_is_the_clipped_linear_map():
    embedding = RandomEmbedding.gaussian(8, 3, rng())
    Z = embedding.sample(50, rng(1))
    linear = Z @ embedding.A.T
    np.testing.assert_array_equal(embedding.unclipped(Z), linear)
    np.testing.assert_array_equal(embedding.up(Z), np.clip(linear, -1, 1))
    assert np.any(np.abs(linear) > 1), "nothing was clipped, so the test shows nothing"


def test_down_inverts_up_where_nothing_is_clipped():
    embedding = RandomEmbedding.gaussian(8, 3, rng())
    Z = 1e-2 * embedding.sample(20, rng(1))
    np.testing.assert_allclose(embedding.down(embedding.up(Z)), Z, atol=1e-12)


def test_orthonormal_columns():
    embedding = RandomEmbedding.orthonormal(20, 4, rng())
    np.testing.assert_allclose(embedding.A.T @ embedding.A, np.eye(4), atol=1e-13)


def test_gaussian_entries_have_unit_variance():
    A = RandomEmbedding.gaussian(300, 100, rng()).A
    assert abs(A.mean()) < 5 / np.sqrt(A.size)
    assert abs(A.var() - 1) < 5 * np.sqrt(2 / A.size)


def test_box_has_half_width_root_d():
    embedding = RandomEmbedding.gaussian(10, 4, rng())
    assert embedding.half_width == 2.0
    Z = embedding.sample(2000, rng(1))
    assert Z.shape == (2000, 4)
    assert 1.9 < np.abs(Z).max() <= 2.0
    assert (embedding.dim, embedding.effective_dim) == (10, 4)


@pytest.mark.parametrize("make", [RandomEmbedding.gaussian, RandomEmbedding.orthonormal])
def test_effective_dim_must_not_exceed_dim(make):
    with pytest.raises(InvalidInputError, match="must not exceed dim; received effective_dim = 3"):
        make(2, 3, rng())


def test_wrong_matrices():
    with pytest.raises(InvalidInputError, match=r"shape \(D, d\) with 1 <= d <= D"):
        RandomEmbedding(np.zeros((2, 3)))
    with pytest.raises(InvalidInputError, match="finite coordinates"):
        RandomEmbedding(np.full((3, 1), np.nan))


def test_matrix_is_read_only():
    with pytest.raises(ValueError, match="read-only"):
        RandomEmbedding.gaussian(3, 1, rng()).A[0, 0] = 1.0
