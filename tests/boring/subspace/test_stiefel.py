"""Frames: orthonormality, angles, tangent space and the Cayley curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import (
    cayley_step,
    is_orthonormal,
    largest_angle,
    orthonormalize,
    principal_angles,
    random_frame,
    sign_fix,
    tangent_projection,
)

SHAPES = st.integers(1, 8).flatmap(lambda dim: st.tuples(st.just(dim), st.integers(1, dim)))
SEEDS = st.integers(0, 2**31)


def _rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    return random_frame(size, size, rng)


@given(SHAPES, SEEDS)
def test_random_frame_is_orthonormal_and_repeatable(shape: tuple[int, int], seed: int) -> None:
    W = random_frame(*shape, np.random.default_rng(seed))
    assert W.shape == shape
    assert is_orthonormal(W, 1e-13)
    np.testing.assert_array_equal(W, random_frame(*shape, np.random.default_rng(seed)))


def test_random_frame_is_uniform() -> None:
    """For the Haar distribution E[w w'] = I/D and signs are balanced."""
    rng = np.random.default_rng(0)
    frames = np.stack([random_frame(3, 2, rng) for _ in range(4000)])
    second_moment = np.einsum("nij,nkj->ik", frames, frames) / (2 * len(frames))
    np.testing.assert_allclose(second_moment, np.eye(3) / 3, atol=0.02)
    np.testing.assert_allclose(frames.mean(axis=0), np.zeros((3, 2)), atol=0.05)


@pytest.mark.parametrize("effective_dim", [0, 4])
def test_random_frame_rejects_impossible_dimensions(effective_dim: int) -> None:
    with pytest.raises(InvalidInputError, match="effective_dim"):
        random_frame(3, effective_dim, np.random.default_rng(0))


@given(SHAPES, SEEDS)
def test_orthonormalize_keeps_span_and_fixes_frames(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = random_frame(*shape, rng)
    np.testing.assert_allclose(orthonormalize(W), W, atol=1e-13)
    mixed = W @ (_rotation(shape[1], rng) * rng.uniform(0.5, 2.0, shape[1]))
    result = orthonormalize(mixed)
    assert is_orthonormal(result, 1e-12)
    assert largest_angle(result, W) < 1e-10


def test_orthonormalize_rejects_bad_matrices() -> None:
    with pytest.raises(InvalidInputError, match="independent"):
        orthonormalize(np.ones((4, 2)))
    with pytest.raises(InvalidInputError, match="shape"):
        orthonormalize(np.ones((2, 4)))
    with pytest.raises(InvalidInputError, match="finite"):
        orthonormalize([[np.nan], [1.0]])


def test_is_orthonormal_rejects() -> None:
    assert not is_orthonormal(np.ones(3))
    assert not is_orthonormal(np.eye(3)[:, :2] * (1 + 1e-6))
    assert not is_orthonormal(np.full((3, 2), np.nan))


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.3, np.pi / 4, 1.4, np.pi / 2])
def test_principal_angles_are_exact_at_all_sizes(angle: float) -> None:
    basis = random_frame(6, 4, np.random.default_rng(1))
    first = basis[:, :2]
    second = np.stack(
        [basis[:, 0], np.cos(angle) * basis[:, 1] + np.sin(angle) * basis[:, 2]], axis=1
    )
    np.testing.assert_allclose(principal_angles(first, second), [0.0, angle], atol=2e-15, rtol=1e-7)
    assert largest_angle(first, second) == pytest.approx(angle, abs=2e-15, rel=1e-7)


@given(SHAPES, SEEDS)
def test_principal_angles_ignore_the_basis(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = random_frame(*shape, rng), random_frame(*shape, rng)
    angles = principal_angles(A, B)
    assert np.all(np.diff(angles) >= 0)
    assert np.all((angles >= 0) & (angles <= np.pi / 2 + 1e-12))
    np.testing.assert_allclose(principal_angles(B @ _rotation(shape[1], rng), A), angles, atol=1e-7)
    projector_gap = np.linalg.norm(A @ A.T - B @ B.T, 2)
    assert np.sin(largest_angle(A, B)) == pytest.approx(projector_gap, abs=1e-7)


def test_principal_angles_between_spans_of_different_dimension() -> None:
    basis = np.eye(4)
    np.testing.assert_allclose(principal_angles(basis[:, :1], basis[:, :3]), [0.0], atol=1e-15)
    np.testing.assert_allclose(principal_angles(basis[:, :3], basis[:, 3:]), [np.pi / 2])


def test_principal_angles_need_equal_rows() -> None:
    with pytest.raises(InvalidInputError, match="same number of rows"):
        principal_angles(np.eye(4)[:, :2], np.eye(3)[:, :2])


@given(SHAPES, SEEDS)
def test_sign_fix(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = random_frame(*shape, rng)
    fixed = sign_fix(W)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(W))
    np.testing.assert_array_equal(sign_fix(-W), fixed)
    assert np.all(fixed.max(axis=0) == np.abs(W).max(axis=0))


@given(SHAPES, SEEDS)
def test_tangent_projection(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, G = random_frame(*shape, rng), rng.standard_normal(shape)
    tangent = tangent_projection(W, G)
    np.testing.assert_allclose(W.T @ tangent + tangent.T @ W, 0.0, atol=1e-12)
    np.testing.assert_allclose(tangent_projection(W, tangent), tangent, atol=1e-12)
    # the residual is normal: orthogonal to every tangent vector
    other = tangent_projection(W, rng.standard_normal(shape))
    assert np.sum((G - tangent) * other) == pytest.approx(0.0, abs=1e-11)


@given(SHAPES, SEEDS)
def test_cayley_step_stays_on_the_manifold_and_equals_the_dense_form(
    shape: tuple[int, int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    W, G = random_frame(*shape, rng), rng.standard_normal(shape)
    S = G @ W.T - W @ G.T
    eye = np.eye(shape[0])
    dense = np.linalg.solve(eye + 0.15 * S, (eye - 0.15 * S) @ W)
    moved = cayley_step(W, G, 0.3)
    np.testing.assert_allclose(moved, dense, atol=1e-11)
    assert is_orthonormal(moved, 1e-13)


def test_cayley_step_leaves_against_the_canonical_gradient() -> None:
    """The curve's velocity at 0 is -S W; the error of that is second order in the step."""
    rng = np.random.default_rng(3)
    W, G = random_frame(6, 2, rng), rng.standard_normal((6, 2))
    velocity = -(G @ W.T - W @ G.T) @ W
    steps = np.array([1e-2, 1e-3, 1e-4])
    errors = [np.linalg.norm(cayley_step(W, G, t) - W - t * velocity) for t in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    np.testing.assert_allclose(slopes, 2.0, atol=0.05)
    assert np.sum(velocity * G) < 0.0


def test_orthonormality_after_1000_cayley_steps() -> None:
    rng = np.random.default_rng(4)
    W = random_frame(12, 3, rng)
    for _ in range(1000):
        W = cayley_step(W, 50.0 * rng.standard_normal((12, 3)), rng.uniform(0.0, 1.0))
    assert is_orthonormal(W, 1e-10)
