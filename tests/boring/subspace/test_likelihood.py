"""The likelihood on the Stiefel manifold: gradients, GPy, invariances."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels.profiles import MATERN32, MATERN52, SQUARED_EXPONENTIAL, RadialProfile
from boring.subspace.likelihood import Hyperparameters, StiefelLikelihood
from boring.subspace.stiefel import random_frame
from boring.testing import check_gradient

PROFILES = [MATERN32, MATERN52, SQUARED_EXPONENTIAL]
GPY_JITTER = 1e-8  # what GPy's exact inference adds to the noise variance
N, DIM, EFFECTIVE_DIM = 25, 5, 2


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, DIM))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(N)
    return X, y - y.mean()


W = random_frame(DIM, EFFECTIVE_DIM, np.random.default_rng(1))
PARAMETERS = Hyperparameters(np.log([0.7, 1.4]), np.log(1.3), np.log(0.05))


def joint(likelihood: StiefelLikelihood) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Return value and gradient as a function of (W, hyperparameters) in one vector."""

    def value_and_gradient(vector: np.ndarray) -> tuple[float, np.ndarray]:
        size = DIM * EFFECTIVE_DIM
        result = likelihood.evaluate(
            vector[:size].reshape(DIM, EFFECTIVE_DIM), Hyperparameters.from_vector(vector[size:])
        )
        return result.value, np.append(result.basis_gradient, result.hyperparameter_gradient)

    return value_and_gradient


POINT = np.append(W, PARAMETERS.as_vector())


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_every_gradient_entry_by_central_differences(
    data: tuple[np.ndarray, np.ndarray], profile: RadialProfile
) -> None:
    function = joint(StiefelLikelihood(*data, profile))
    gradient = function(POINT)[1]
    step = 1e-6
    numeric = [
        (function(POINT + step * e)[0] - function(POINT - step * e)[0]) / (2 * step)
        for e in np.eye(len(POINT))
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_taylor_error_has_slope_two(
    data: tuple[np.ndarray, np.ndarray], profile: RadialProfile
) -> None:
    function = joint(StiefelLikelihood(*data, profile))
    report = check_gradient(function, POINT, np.random.default_rng(2), scale=0.3)
    assert report.slope == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("entry", range(len(POINT)))
def test_a_gradient_wrong_in_one_entry_is_rejected(
    data: tuple[np.ndarray, np.ndarray], entry: int
) -> None:
    function = joint(StiefelLikelihood(*data))

    def perturbed(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = function(vector)
        gradient[entry] += 0.01 * np.linalg.norm(gradient)
        return value, gradient

    with pytest.raises(AssertionError, match="gradient"):
        check_gradient(perturbed, POINT, np.random.default_rng(2), scale=0.3)
    with pytest.raises(AssertionError, match="Taylor"):
        check_gradient(perturbed, POINT, np.random.default_rng(2), scale=0.3, tolerance=np.inf)


def test_basis_gradient_is_the_published_double_sum(data: tuple[np.ndarray, np.ndarray]) -> None:
    """dL/dW = sum_ij (dL/dK)_ij dk/dW, with Tripathy's Matern-3/2 dk/dW, written out."""
    X, y = data
    result = StiefelLikelihood(X, y).evaluate(W, PARAMETERS)
    lengthscales = np.exp(PARAMETERS.log_lengthscales)
    signal, noise = np.exp(PARAMETERS.log_signal), np.exp(PARAMETERS.log_noise)
    Z = X @ W
    r = np.sqrt((((Z[:, None] - Z[None]) / lengthscales) ** 2).sum(-1))
    K = signal * (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)
    A = np.linalg.inv(K + noise * np.eye(N))
    G = 0.5 * (np.outer(A @ y, A @ y) - A)
    expected = np.zeros_like(W)
    for i in range(N):
        for j in range(N):
            dk = (
                -3
                * signal
                * np.exp(-np.sqrt(3) * r[i, j])
                * np.outer(X[i] - X[j], (Z[i] - Z[j]) / lengthscales**2)
            )
            expected += G[i, j] * dk
    np.testing.assert_allclose(result.basis_gradient, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("profile", "name"),
    [(MATERN32, "Matern32"), (MATERN52, "Matern52"), (SQUARED_EXPONENTIAL, "RBF")],
)
def test_value_and_gradients_agree_with_gpy(
    data: tuple[np.ndarray, np.ndarray], profile: RadialProfile, name: str
) -> None:
    X, y = data
    state = np.random.get_state()  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GPy = pytest.importorskip("GPy")
        kernel = getattr(GPy.kern, name)(
            EFFECTIVE_DIM,
            variance=np.exp(PARAMETERS.log_signal),
            lengthscale=np.exp(PARAMETERS.log_lengthscales),
            ARD=True,
        )
        model = GPy.models.GPRegression(
            X @ W, y[:, None], kernel, noise_var=np.exp(PARAMETERS.log_noise) - GPY_JITTER
        )
        reference = float(model.log_likelihood())
        slopes = np.concatenate(
            [
                np.atleast_1d(kernel.lengthscale.gradient),
                np.atleast_1d(kernel.variance.gradient),
                np.atleast_1d(model.likelihood.variance.gradient),
            ]
        )
    np.random.set_state(state)  # noqa: NPY002
    result = StiefelLikelihood(X, y, profile).evaluate(W, PARAMETERS)
    assert result.value == pytest.approx(reference, abs=1e-6)
    # GPy differentiates in the parameters, this library in their logarithms
    np.testing.assert_allclose(
        result.hyperparameter_gradient, slopes * np.exp(PARAMETERS.as_vector()), atol=1e-5
    )


def test_isotropic_likelihood_is_invariant_to_rotations_of_the_frame(
    data: tuple[np.ndarray, np.ndarray],
) -> None:
    likelihood = StiefelLikelihood(*data)
    isotropic = Hyperparameters(np.log([0.9, 0.9]), 0.1, -3.0)
    rotation = random_frame(2, 2, np.random.default_rng(3))
    first, second = likelihood.evaluate(W, isotropic), likelihood.evaluate(W @ rotation, isotropic)
    assert first.value == pytest.approx(second.value, abs=1e-9)
    np.testing.assert_allclose(second.basis_gradient, first.basis_gradient @ rotation, atol=1e-8)
    # unequal lengthscales break the symmetry
    assert abs(likelihood.value(W, PARAMETERS) - likelihood.value(W @ rotation, PARAMETERS)) > 1e-3


def test_signed_permutation_of_columns_with_their_lengthscales_changes_nothing(
    data: tuple[np.ndarray, np.ndarray],
) -> None:
    likelihood = StiefelLikelihood(*data)
    swapped = Hyperparameters(
        PARAMETERS.log_lengthscales[::-1], PARAMETERS.log_signal, PARAMETERS.log_noise
    )
    assert likelihood.value(-W[:, ::-1], swapped) == pytest.approx(
        likelihood.value(W, PARAMETERS), abs=1e-10
    )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_equals_the_free_factor_of_the_native_engine(
    data: tuple[np.ndarray, np.ndarray], profile: RadialProfile
) -> None:
    """L(W, l) = L(M) for M = W diag(1/l)."""
    from boring.kernels.additive import AdditiveKernel, KernelTerm
    from boring.kernels.maps import Free
    from boring.models.gp import GaussianProcessModel

    model = GaussianProcessModel(
        AdditiveKernel((KernelTerm(profile, Free(DIM, EFFECTIVE_DIM), "active"),))
    )
    factor = W * np.exp(-PARAMETERS.log_lengthscales)
    theta = np.concatenate([[PARAMETERS.log_signal], factor.ravel(), [PARAMETERS.log_noise]])
    value, gradient = model.negative_log_likelihood(theta, *data)
    result = StiefelLikelihood(*data, profile).evaluate(W, PARAMETERS)
    assert -value == pytest.approx(result.value, abs=1e-8)
    np.testing.assert_allclose(
        result.basis_gradient * np.exp(PARAMETERS.log_lengthscales),
        -gradient[1:-1].reshape(DIM, EFFECTIVE_DIM),
        rtol=1e-9,
    )


def test_coincident_points_are_harmless(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = np.vstack([data[0], data[0]]), np.append(data[1], data[1] + 0.1)
    result = StiefelLikelihood(X, y).evaluate(W, PARAMETERS)
    assert np.isfinite(result.value)
    assert np.all(np.isfinite(result.basis_gradient))


def test_parameters_round_trip() -> None:
    again = Hyperparameters.from_vector(PARAMETERS.as_vector())
    np.testing.assert_array_equal(again.as_vector(), PARAMETERS.as_vector())


def test_bad_data(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    with pytest.raises(InvalidInputError, match="shape"):
        StiefelLikelihood(X, y[:-1])
    with pytest.raises(InvalidInputError, match="finite"):
        StiefelLikelihood(X, np.where(np.arange(N) == 3, np.nan, y))
