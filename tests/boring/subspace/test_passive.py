"""Passive bases: orthonormal, orthogonal to W, random where promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boring.exceptions import InvalidInputError
from boring.subspace.passive import gram_schmidt_complement, qr_complement
from boring.subspace.stiefel import is_orthonormal, random_frame

SHAPES = st.integers(1, 9).flatmap(
    lambda dim: st.integers(1, dim).flatmap(
        lambda d: st.tuples(st.just(dim), st.just(d), st.integers(0, dim - d))
    )
)
SEEDS = st.integers(0, 2**31)


@given(SHAPES, SEEDS)
def test_complements_are_orthonormal_and_orthogonal(shape: tuple[int, int, int], seed: int) -> None:
    dim, effective_dim, n_passive = shape
    rng = np.random.default_rng(seed)
    W = random_frame(dim, effective_dim, rng)
    for V in (
        gram_schmidt_complement(W, n_passive, rng),
        qr_complement(W, n_passive),
        qr_complement(W, n_passive, rng),
    ):
        assert V.shape == (dim, n_passive)
        assert is_orthonormal(np.hstack([W, V]), 1e-12)


def test_qr_complement_is_complete_by_default_and_deterministic() -> None:
    W = random_frame(7, 3, np.random.default_rng(0))
    V = qr_complement(W)
    assert V.shape == (7, 4)
    np.testing.assert_array_equal(V, qr_complement(W))
    np.testing.assert_allclose(W @ W.T + V @ V.T, np.eye(7), atol=1e-13)


@pytest.mark.parametrize("draw", [gram_schmidt_complement, qr_complement])
def test_random_complements_are_uniform(draw) -> None:
    """E[v v'] is the projector onto the complement divided by its dimension."""
    rng = np.random.default_rng(1)
    W = random_frame(4, 1, rng)
    frames = np.stack([draw(W, 1, rng)[:, 0] for _ in range(4000)])
    expected = (np.eye(4) - W @ W.T) / 3
    np.testing.assert_allclose(frames.T @ frames / len(frames), expected, atol=0.025)
    np.testing.assert_allclose(frames.mean(axis=0), 0.0, atol=0.05)


def test_gram_schmidt_survives_nearly_dependent_draws() -> None:
    """A draw inside the span is rejected before, not after, it is normalised."""

    class Stubborn:
        """Draws from the span of W first, then almost from it, then freely."""

        def __init__(self, W: np.ndarray) -> None:
            rng = np.random.default_rng(0)
            inside = W @ rng.standard_normal(W.shape[1])
            self.draws = [inside, inside + 1e-4 * rng.standard_normal(len(W))]

        def standard_normal(self, size: int) -> np.ndarray:
            assert size == 6
            return self.draws.pop(0)

    W = random_frame(6, 2, np.random.default_rng(2))
    source = Stubborn(W)
    V = gram_schmidt_complement(W, 1, source)  # type: ignore[arg-type]
    assert source.draws == []
    assert is_orthonormal(np.hstack([W, V]), 1e-14)


def test_gram_schmidt_gives_up_on_a_source_that_never_leaves_the_span() -> None:
    class Stuck:
        def standard_normal(self, size: int) -> np.ndarray:
            return np.eye(size)[0]

    with pytest.raises(InvalidInputError, match="no direction"):
        gram_schmidt_complement(np.eye(3)[:, :1], 1, Stuck())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("W", "n_passive", "message"),
    [
        (np.eye(3)[:, :2], 2, "n_passive"),
        (np.eye(3)[:, :2], -1, "n_passive"),
        (np.ones((3, 1)), 1, "orthonormal"),
        (np.ones((1, 2)), 0, "shape"),
        (np.ones(3), 0, "shape"),
    ],
)
def test_bad_arguments(W: np.ndarray, n_passive: int, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        gram_schmidt_complement(W, n_passive, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=message):
        qr_complement(W, n_passive)
