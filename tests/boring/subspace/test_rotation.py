"""Varimax against closed form and scikit-learn; errors of loadings against a known spread."""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis

from boring.exceptions import InvalidInputError
from boring.subspace.importance import students_factor
from boring.subspace.rotation import loading_errors, readable_basis, varimax
from boring.subspace.stiefel import largest_angle, random_frame


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 7))
def test_a_rotated_pair_of_axes_is_turned_back(angle) -> None:
    axes = np.eye(6)[:, [1, 4]]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    readable, _ = readable_basis(axes @ turn)
    np.testing.assert_allclose(np.sort(np.abs(readable), axis=0), np.sort(axes, axis=0), atol=1e-9)


def test_disjoint_groups_of_parameters_are_told_apart() -> None:
    truth = np.zeros((10, 3))
    truth[[0, 3, 7], 0] = 1.0, 1.0, 1.0
    truth[[2, 5], 1] = 2.0, -1.0
    truth[8, 2] = 1.0
    truth /= np.linalg.norm(truth, axis=0)
    mixed = truth @ random_frame(3, 3, np.random.default_rng(0))
    readable, rotation = readable_basis(mixed)
    overlap = np.abs(readable.T @ truth)
    np.testing.assert_allclose(np.sort(overlap, axis=0)[-1], 1.0, atol=1e-9)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-12)
    assert np.all(readable[np.argmax(np.abs(readable), axis=0), range(3)] > 0)


def criterion(A):
    return (A**2).var(axis=0).sum()


def test_the_best_angle_of_a_plane_is_found_by_brute_force_too() -> None:
    A = random_frame(7, 2, np.random.default_rng(3))
    found = criterion(A @ varimax(A))
    grid = [
        criterion(A @ np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]))
        for t in np.linspace(0, np.pi, 2001)
    ]
    assert max(grid) <= found < max(grid) + 1e-5


def test_as_good_as_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 8)) + rng.standard_normal((300, 8))
    plain = FactorAnalysis(3, svd_method="lapack").fit(X).components_.T
    theirs = FactorAnalysis(3, svd_method="lapack", rotation="varimax").fit(X).components_.T
    ours = plain @ varimax(plain)
    assert criterion(ours) == pytest.approx(criterion(theirs), rel=1e-6)
    order = np.argmax(np.abs(ours.T @ theirs), axis=0)
    np.testing.assert_allclose(np.abs(ours[:, order]), np.abs(theirs), atol=2e-3)


@pytest.mark.parametrize("dim", [1, 100])
def test_one_column_is_left_alone(dim) -> None:
    w = random_frame(dim, 1, np.random.default_rng(0))
    readable, _ = readable_basis(w, [2.0])
    np.testing.assert_allclose(np.abs(readable), np.abs(w))


def test_the_column_along_which_the_model_is_steepest_comes_first() -> None:
    readable, _ = readable_basis(np.eye(4)[:, :2], [5.0, 0.1])
    np.testing.assert_allclose(readable, np.eye(4)[:, [1, 0]], atol=1e-12)


def test_errors_do_not_depend_on_how_the_replicates_are_turned() -> None:
    rng = np.random.default_rng(2)
    W = random_frame(5, 2, rng)
    replicates = [np.linalg.qr(W + 0.05 * rng.standard_normal(W.shape))[0] for _ in range(5)]
    turned = [basis @ random_frame(2, 2, rng) for basis in replicates]
    errors = loading_errors(W, replicates)
    np.testing.assert_allclose(loading_errors(W, turned), errors, rtol=1e-9)
    assert errors.min() > 0
    same = [W @ random_frame(2, 2, rng) for _ in range(5)]
    np.testing.assert_allclose(loading_errors(W, same), 0.0, atol=1e-12)


def test_the_errors_of_one_column_are_the_jackknifes() -> None:
    angles = np.array([-0.02, 0.01, 0.03])
    replicates = [np.array([[np.cos(a)], [np.sin(a)]]) for a in angles]
    sines = np.sin(angles)
    variance = 2 / 3 * np.sum((sines - sines.mean()) ** 2) + (2 * sines.mean()) ** 2
    errors = loading_errors([[1.0], [0.0]], replicates)
    assert errors[1, 0] == pytest.approx(students_factor(3) * np.sqrt(variance))
    assert largest_angle(replicates[0], [[1.0], [0.0]]) == pytest.approx(0.02)


def test_bad_input_and_too_few_replicates() -> None:
    assert np.isnan(loading_errors(np.eye(3)[:, :1], [])).all()
    with pytest.raises(InvalidInputError, match="finite matrix"):
        varimax([1.0, 2.0])
    with pytest.raises(InvalidInputError, match="finite matrix"):
        varimax([[np.nan, 2.0]])
