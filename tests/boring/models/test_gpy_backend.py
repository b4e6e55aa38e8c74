from __future__ import annotations

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.kernels import (
    MATERN32,
    MATERN52,
    SQUARED_EXPONENTIAL,
    AdditiveKernel,
    Ard,
    Free,
    Isotropic,
    KernelTerm,
    Projected,
    ProjectedArd,
    RadialProfile,
    get_profile,
)
from boring.kernels.additive import boring_kernel
from boring.models import gpy_backend
from boring.models.gp import GaussianProcessModel
from boring.models.gpy_backend import GPyAdditiveGP, gpy_log_likelihood, to_gpy
from boring.models.priors import Gaussian

PROFILES = [MATERN32, MATERN52, SQUARED_EXPONENTIAL]


def data(n=30, dim=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, dim))
    y = np.sin(3 * X[:, 0] + X[:, 1]) + 0.3 * X[:, 2] ** 2 + 0.05 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def frame(dim=5, d=2, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, d)))[0]


def kernel(name, profile=MATERN32):
    basis = frame(5, 5)
    maps = {
        "isotropic": [Isotropic()],
        "ard": [Ard(5)],
        "projected": [Projected(basis[:, :2])],
        "projected ard": [ProjectedArd(basis[:, :2])],
        "free": [Free(5, 2)],
        "sum": [ProjectedArd(basis[:, :2]), Isotropic(), Free(5, 3)],
    }
    if name == "boring":
        return boring_kernel(basis[:, :2], basis[:, 2:4], profile)
    terms = [KernelTerm(profile, m, f"t{i}") for i, m in enumerate(maps[name])]
    return AdditiveKernel(terms, 1.5 if name == "sum" else 0.0)


KERNELS = ["isotropic", "ard", "projected", "projected ard", "free", "sum", "boring"]


def theta_for(model, noise=1e-2, seed=2):
    theta = 0.4 * np.random.default_rng(seed).standard_normal(model.n_parameters)
    theta[-1] = np.log(noise)
    return theta


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
@pytest.mark.parametrize("name", KERNELS)
def test_native_and_gpy_likelihood_and_gradient_agree(name, profile):
    X, y = data()
    model = GaussianProcessModel(kernel(name, profile))
    for noise in (1e-2, 1e-5):
        theta = theta_for(model, noise)
        value, gradient = model.negative_log_likelihood(theta, X, y)
        gpy_value, gpy_gradient = gpy_log_likelihood(model, theta, X, y)
        assert -value == pytest.approx(gpy_value, rel=1e-8, abs=1e-6)
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(-gradient, gpy_gradient, rtol=1e-6, atol=1e-7 * scale)
    # The comparison can fail: one part in a thousand of one parameter is seen.
    theta[0] += 1e-3
    assert abs(gpy_log_likelihood(model, theta, X, y)[0] - gpy_value) > 1e-5


@pytest.mark.parametrize("name", KERNELS)
def test_native_and_gpy_predictions_agree(name):
    X, y = data()
    native, other = GaussianProcessModel(kernel(name)), GPyAdditiveGP(kernel(name))
    theta = theta_for(native)
    left, right = native.condition(theta, X, y), other.condition(theta, X, y)
    new = np.random.default_rng(8).uniform(-1, 1, (40, 5))
    for method in ("predict", "predict_with_gradient", "components"):
        for a, b in zip(getattr(left, method)(new), getattr(right, method)(new), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    assert left.log_marginal_likelihood == pytest.approx(right.log_marginal_likelihood, rel=1e-8)
    held_out = np.sin(new[:, 0])
    np.testing.assert_allclose(
        left.log_predictive_density(new, held_out),
        right.log_predictive_density(new, held_out),
        rtol=1e-6,
    )
    extended = (p.append(new[0], 0.3).predict(new) for p in (left, right))
    for a, b in zip(*extended, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


def test_component_gradients_by_central_differences():
    X, y = data()
    posterior = GPyAdditiveGP(kernel("boring"))
    posterior = posterior.condition(theta_for(posterior), X, y)
    x, h = np.array([[0.2, -0.4, 0.1, 0.5, -0.3]]), 1e-5
    means, variances, mean_slopes, variance_slopes = posterior.components_with_gradient(x)
    np.testing.assert_allclose(means.sum(axis=1), posterior.predict(x)[0], rtol=1e-10)
    for k in range(5):
        step = h * np.eye(5)[k]
        ahead, behind = posterior.components(x + step), posterior.components(x - step)
        for slopes, a, b in zip((mean_slopes, variance_slopes), ahead, behind, strict=True):
            np.testing.assert_allclose(slopes[:, :, k], (a - b) / (2 * h), rtol=1e-5, atol=1e-8)
    assert variances.shape == (1, 3)


def test_backends_find_the_same_posterior_mode():
    X, y = data()
    prior = Gaussian(0.0, 1.0)
    fits = [
        kind(
            boring_kernel(
                frame(),
                np.empty((5, 0)),
                MATERN32,
                variance_prior=prior,
                lengthscale_prior=prior,
            ),
            noise_prior=Gaussian(-5.0, 2.0),
        ).fit(X, y, np.zeros(4), max_iterations=60)
        for kind in (GaussianProcessModel, GPyAdditiveGP)
    ]
    assert fits[0].value == pytest.approx(fits[1].value, abs=1e-4)
    np.testing.assert_allclose(fits[0].theta, fits[1].theta, atol=1e-2)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
@pytest.mark.parametrize("name", KERNELS)
def test_to_gpy_predicts_as_the_native_posterior(name, profile):
    X, y = data()
    model = GaussianProcessModel(kernel(name, profile))
    native = model.condition(theta_for(model, 1e-4), X, y)
    converted = to_gpy(native)
    new = np.random.default_rng(8).uniform(-1, 1, (40, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean, variance = converted.predict_noiseless(new)
    expected_mean, expected_variance = native.predict(new)
    np.testing.assert_allclose(mean[:, 0], expected_mean, atol=1e-6)
    np.testing.assert_allclose(variance[:, 0], expected_variance, atol=1e-6)
    assert converted.log_likelihood() == pytest.approx(native.log_marginal_likelihood, abs=1e-6)


def gpy_kernel(**options):
    return gpy_backend.ProjectedKernel(5, frame(), 1.3, **options)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
@pytest.mark.parametrize("ard", [True, False])
def test_projected_kernel_passes_gpys_own_gradient_check(profile, ard):
    import GPy

    X, y = data()
    projected = gpy_kernel(lengthscale=[0.7, 1.4] if ard else 0.9, ARD=ard, profile=profile.name)
    other = GPy.kern.Linear(2, active_dims=[3, 4])
    model = GPy.models.GPRegression(X, y[:, None], kernel=projected + other, noise_var=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.checkgrad()
        projected = model.kern.parts[0]
        honest = projected.update_gradients_full

        def perturbed(dL_dK, X, X2=None):
            honest(dL_dK, X, X2)
            projected.W.gradient = projected.W.gradient * 1.05

        projected.update_gradients_full = perturbed
        model.parameters_changed()
        # GPy looks along one random direction at a time, and may miss an error there.
        assert not all(model.checkgrad() for _ in range(8))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_projected_kernel_equals_a_gpy_kernel_on_projected_inputs(profile):
    import GPy

    X, _ = data()
    X2 = X[:7] * 0.5
    own = {"matern32": GPy.kern.Matern32, "matern52": GPy.kern.Matern52}
    plain = own.get(profile.name, GPy.kern.RBF)(2, 1.3, [0.7, 1.4], ARD=True)
    projected = gpy_kernel(lengthscale=[0.7, 1.4], profile=profile.name)
    W = frame()
    np.testing.assert_allclose(projected.K(X), plain.K(X @ W), atol=1e-12)
    np.testing.assert_allclose(projected.K(X, X2), plain.K(X @ W, X2 @ W), atol=1e-12)
    np.testing.assert_array_equal(projected.Kdiag(X), plain.Kdiag(X @ W))
    weights = np.random.default_rng(0).standard_normal((30, 30))
    np.testing.assert_allclose(
        projected.gradients_X(weights, X), plain.gradients_X(weights, X @ W) @ W.T, atol=1e-9
    )
    np.testing.assert_allclose(
        projected.gradients_X(weights[:, :7], X, X2),
        plain.gradients_X(weights[:, :7], X @ W, X2 @ W) @ W.T,
        atol=1e-9,
    )
    for kernel_ in (projected, plain):
        kernel_.update_gradients_full(weights, *((X,) if kernel_ is projected else (X @ W,)))
    np.testing.assert_allclose(
        projected.lengthscale.gradient, plain.lengthscale.gradient, atol=1e-9
    )
    projected.update_gradients_diag(np.ones(30), X)
    assert projected.variance.gradient[0] == 30
    assert not np.any(projected.W.gradient)
    assert not np.any(projected.gradients_X_diag(np.ones(30), X))


def test_projected_kernel_lives_in_a_gpy_model_that_optimises_and_copies():
    import GPy

    X, y = data(40)
    kernel_ = gpy_kernel(lengthscale=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GPy.models.GPRegression(X, y[:, None], kernel=kernel_)
        before = model.log_likelihood()
        model.kern.W.fix()
        held = model.kern.W.values.copy()
        model.optimize(max_iters=30)
        np.testing.assert_array_equal(model.kern.W.values, held)
        middle = model.log_likelihood()
        model.kern.W.unfix()
        model.optimize(max_iters=30)
        assert before < middle < model.log_likelihood()
        twin = copy.deepcopy(model)
    np.testing.assert_allclose(twin.kern.K(X), model.kern.K(X))
    assert isinstance(kernel_, GPy.kern.Kern)


def test_fence_leaves_warning_filters_and_global_random_state():
    X, y = data()
    model = GPyAdditiveGP(kernel("boring"))
    theta = theta_for(model)
    filters = list(warnings.filters)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the state under test
    model.negative_log_likelihood(theta, X, y)
    model.condition(theta, X, y).predict_with_gradient(X)
    to_gpy(GaussianProcessModel(kernel("free")).condition(np.zeros(12), X, y))
    assert warnings.filters == filters
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_importing_the_backend_does_not_import_gpy():
    code = (
        "import sys; import boring.models.gpy_backend as b; assert 'GPy' not in sys.modules;"
        "b.ProjectedKernel; assert 'GPy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_bad_arguments_are_named():
    X, y = data()
    with pytest.raises(InvalidInputError, match="basis must be"):
        gpy_backend.ProjectedKernel(4, frame())
    with pytest.raises(InvalidInputError, match="lengthscale"):
        gpy_kernel(lengthscale=[1.0, 2.0, 3.0])
    with pytest.raises(AttributeError, match="no attribute 'Projected_Kernel'"):
        gpy_backend.Projected_Kernel  # noqa: B018
    odd = RadialProfile("odd", get_profile("matern32").value_and_slope)
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(odd, Isotropic())]))
    with pytest.raises(InvalidInputError, match="odd"):
        gpy_log_likelihood(model, np.zeros(3), X, y)
