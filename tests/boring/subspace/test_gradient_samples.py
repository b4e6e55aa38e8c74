"""Gradients by differences, and the active subspace of gradients."""

from __future__ import annotations

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.subspace.gradient_samples import (
    active_subspace,
    difference_offsets,
    gradients_by_differences,
)
from boring.subspace.stiefel import largest_angle, random_frame


def quadratic(x):
    return float(x[0] ** 2 + 3.0 * x[0] * x[1] - x[2])


def slope(X):
    return np.stack([2 * X[:, 0] + 3 * X[:, 1], 3 * X[:, 0], -np.ones(len(X))], axis=1)


@pytest.mark.parametrize(
    ("scheme", "cost", "tolerance"), [("forward", 4, 2e-3), ("central", 6, 1e-9)]
)
def test_differences_match_the_gradient_at_their_stated_cost(scheme, cost, tolerance):
    X = np.vstack([np.random.default_rng(0).uniform(-0.9, 0.9, (5, 3))])
    calls = []
    sample = gradients_by_differences(
        lambda x: calls.append(x) or quadratic(x), X, step=1e-3, scheme=scheme
    )
    np.testing.assert_allclose(sample.gradients, slope(X), atol=tolerance)
    assert sample.n_evaluations == len(calls) == cost * len(X)


@pytest.mark.parametrize("scheme", ["forward", "central"])
def test_differences_stay_in_the_cube(scheme):
    corners = np.array([[1.0, -1.0, 1.0], [0.9995, 0.0, -0.9999]])
    for point in corners:
        assert np.abs(point + difference_offsets(point, 1e-3, scheme)).max() <= 1.0
    sample = gradients_by_differences(quadratic, corners, step=1e-3, scheme=scheme)
    np.testing.assert_allclose(sample.gradients, slope(corners), atol=2e-3)


def test_order_of_the_error_is_one_and_two():
    x = np.array([[0.2, -0.3]])
    exact = np.cos(x[0].sum()) * np.ones(2)
    for scheme, order in (("forward", 1), ("central", 2)):
        errors = [
            np.abs(
                gradients_by_differences(
                    lambda x: float(np.sin(x.sum())), x, step=step, scheme=scheme
                ).gradients
                - exact
            ).max()
            for step in (1e-2, 1e-3)
        ]
        assert np.log10(errors[0] / errors[1]) == pytest.approx(order, abs=0.05)


def test_eigenvalues_are_those_of_the_uncentred_second_moment():
    G = np.random.default_rng(1).standard_normal((40, 5)) + 1.0
    found = active_subspace(G, 2, rng=np.random.default_rng(0))
    values, vectors = np.linalg.eigh(G.T @ G / 40)
    np.testing.assert_allclose(found.eigenvalues, values[::-1], rtol=1e-12)
    assert largest_angle(found.active_basis, vectors[:, -2:]) < 1e-7
    assert np.all(found.eigenvalue_band[:, 0] <= found.eigenvalue_band[:, 1])


def test_the_gap_gives_d_and_the_bootstrap_knows_it():
    rng = np.random.default_rng(2)
    W = random_frame(8, 2, rng)
    noisy = rng.standard_normal((60, 2)) @ W.T + 0.01 * rng.standard_normal((60, 8))
    found = active_subspace(noisy, rng=rng)
    assert found.effective_dim == 2
    assert largest_angle(found.active_basis, W) < 0.02
    # Two directions stand out; which of the rest comes third is chance.
    assert found.subspace_errors[1] < 0.05 < 0.3 < found.subspace_errors[2]


def test_bands_cover_the_true_eigenvalues():
    # Entries N(0, lambda_i): C = diag(lambda). Ninety per cent bands, 40 data sets.
    truth = np.array([4.0, 1.0, 0.1])
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(40):
        G = rng.standard_normal((100, 3)) * np.sqrt(truth)
        band = active_subspace(G, 1, rng=rng, n_bootstrap=100).eigenvalue_band
        covered.append((band[:, 0] <= truth) & (truth <= band[:, 1]))
    assert 0.75 < np.mean(covered) < 0.98


def test_units_do_not_matter():
    G = np.random.default_rng(4).standard_normal((10, 4))
    one, other = (active_subspace(u * G, rng=np.random.default_rng(0)) for u in (1.0, 1e120))
    np.testing.assert_allclose(one.eigenvectors, other.eigenvectors, atol=1e-12)
    np.testing.assert_allclose(one.eigenvalues * 1e240, other.eigenvalues, rtol=1e-12)


@pytest.mark.parametrize("fewer", [1, 3])
def test_fewer_gradients_than_dimensions(fewer):
    G = np.random.default_rng(5).standard_normal((fewer, 6))
    found = active_subspace(G, rng=np.random.default_rng(0))
    assert found.eigenvectors.shape == (6, fewer)
    assert found.effective_dim <= fewer


def test_bad_input_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="all be zero"):
        active_subspace(np.zeros((3, 2)), rng=rng)
    with pytest.raises(InvalidInputError, match=r"shape \(m, D\)"):
        active_subspace(np.ones(3), rng=rng)
    with pytest.raises(InvalidInputError, match="at most"):
        active_subspace(np.ones((3, 2)), 3, rng=rng)
    with pytest.raises(InvalidInputError, match="step"):
        gradients_by_differences(quadratic, np.zeros((1, 3)), step=0.0)
    with pytest.raises(InvalidInputError, match="scheme"):
        gradients_by_differences(quadratic, np.zeros((1, 3)), scheme="backward")
    with pytest.raises(InvalidInputError, match=r"\[-1, 1\]"):
        gradients_by_differences(quadratic, np.full((1, 3), 2.0))
