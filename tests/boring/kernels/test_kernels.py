"""Profiles, maps and their sum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.kernels import (
    MATERN32,
    MATERN52,
    SQUARED_EXPONENTIAL,
    AdditiveKernel,
    Free,
    Isotropic,
    KernelTerm,
    RadialProfile,
    get_profile,
)
from boring.kernels.additive import cross_squared_distances, squared_distances
from boring.subspace.stiefel import random_frame

PROFILES = [MATERN32, MATERN52, SQUARED_EXPONENTIAL]


@pytest.mark.parametrize("profile", PROFILES)
def test_slope_is_minus_derivative_over_distance(profile) -> None:
    r, h = np.linspace(0.05, 4, 50), 1e-6
    difference = (profile.value((r + h) ** 2) - profile.value((r - h) ** 2)) / (2 * h)
    value, slope = profile.value_and_slope(r**2)
    np.testing.assert_allclose(-difference / r, slope, rtol=1e-6, atol=1e-9)
    assert profile.value_and_slope(np.zeros(1))[0][0] == 1.0
    assert np.isfinite(profile.value_and_slope(np.zeros(1))[1][0])
    assert np.all(np.diff(value) < 0)


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_leave_their_input_alone(profile) -> None:
    squared = np.linspace(0, 3, 7)
    before = squared.copy()
    profile.value_and_slope(squared)
    np.testing.assert_array_equal(squared, before)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_matrix_is_symmetric_positive_semidefinite(profile, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (30, 3))
    X[5] = X[4]
    kernel = AdditiveKernel(
        [KernelTerm(profile, Free(3, 2)), KernelTerm(profile, Isotropic())], 0.3
    )
    theta = rng.normal(0, 1, kernel.n_parameters)
    K = kernel.matrix(theta, X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * len(K) * K.max()
    np.testing.assert_allclose(np.diag(K), kernel.total_variance(theta))
    np.testing.assert_allclose(kernel.matrix(theta, X, X), K, atol=1e-7)


def test_the_printed_matern_of_the_thesis_is_not_positive_definite() -> None:
    # Squared distance where the distance belongs: why the library deviates from eq. 2.13.
    x = np.linspace(-3, 3, 120)
    squared = np.sqrt(3.0) * (x[:, None] - x) ** 2
    printed = (1 + squared) * np.exp(-squared)
    assert np.linalg.eigvalsh(printed).min() == pytest.approx(-1.90, abs=0.02)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_rotating_the_features_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (12, 5))
    M, R = rng.normal(size=(5, 2)), random_frame(2, 2, rng)
    kernel = AdditiveKernel([KernelTerm(MATERN52, Free(5, 2))])
    K = kernel.matrix(np.r_[0.0, M.ravel()], X)
    np.testing.assert_allclose(kernel.matrix(np.r_[0.0, (M @ R).ravel()], X), K, atol=1e-9)


def test_distances_agree_and_never_go_negative() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 3))
    Z[1] = Z[0] + 1e-9
    direct = np.sum((Z[:, None] - Z) ** 2, axis=-1)
    np.testing.assert_allclose(squared_distances(Z), direct, atol=1e-12)
    np.testing.assert_allclose(cross_squared_distances(Z, Z), direct, atol=1e-12)
    assert squared_distances(Z).min() >= 0


def test_unknown_profile_suggests_the_near_one() -> None:
    with pytest.raises(UnknownNameError, match="matern32"):
        get_profile("matern23")
    assert get_profile(MATERN52) is MATERN52
    assert get_profile("squared-exponential") is SQUARED_EXPONENTIAL


@pytest.mark.parametrize(
    "function",
    [
        3,
        lambda r2: 1.0 / (1.0 + r2),
        lambda r2: (2.0 / (1.0 + r2), 1.0 / (1.0 + r2)),
        lambda r2: (1.0, 1.0),
        lambda r2: (np.exp(-r2), np.full(r2.shape, np.nan)),
    ],
)
def test_a_profile_that_cannot_be_one_is_refused_when_it_is_made(function):
    with pytest.raises(InvalidInputError, match=r"must map squared distances|must be callable"):
        RadialProfile("odd", function)
