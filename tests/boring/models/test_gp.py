"""The native engine against scikit-learn, closed forms, and itself by another route."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from boring.exceptions import FitError, InvalidInputError
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
)
from boring.kernels.additive import boring_kernel
from boring.models.gp import GaussianProcessModel
from boring.models.linalg import append_row, cholesky
from boring.models.posterior import best_in_noise, best_value, with_fantasies
from boring.models.priors import Gaussian
from boring.subspace.passive import qr_complement
from boring.subspace.stiefel import random_frame

SKLEARN = {
    "matern32": lambda scale: Matern(scale, nu=1.5),
    "matern52": lambda scale: Matern(scale, nu=2.5),
    "squared-exponential": RBF,
}


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (40, 4))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(40)


@pytest.mark.parametrize("profile", [MATERN32, MATERN52, SQUARED_EXPONENTIAL])
def test_equals_scikit_learn(profile, data) -> None:
    X, y = data
    lengthscales = np.array([0.5, 0.9, 1.7, 3.0])
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(profile, Ard(4))]))
    theta = np.concatenate([[np.log(1.3)], np.log(lengthscales), [np.log(0.05)]])
    kernel = ConstantKernel(1.3) * SKLEARN[profile.name](lengthscales)
    oracle = GaussianProcessRegressor(kernel, alpha=0.05, optimizer=None).fit(X, y)
    X_new = np.random.default_rng(0).uniform(-1, 1, (15, 4))
    mean, sd = oracle.predict(X_new, return_std=True)

    posterior = model.condition(theta, X, y)
    ours, variance = posterior.predict(X_new)
    np.testing.assert_allclose(ours, mean, atol=1e-9)
    np.testing.assert_allclose(variance, sd**2, atol=1e-9)
    assert posterior.log_marginal_likelihood == pytest.approx(oracle.log_marginal_likelihood_value_)
    nll, _ = model.negative_log_likelihood(theta, X, y)
    assert -nll == pytest.approx(oracle.log_marginal_likelihood_value_, abs=1e-9)


def test_a_value_left_out_has_the_density_that_the_others_give_it(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Ard(4))]))
    theta = np.concatenate([[np.log(1.3)], np.log([0.5, 0.9, 1.7, 3.0]), [np.log(0.05)]])
    whole = model.condition(theta, X, y)
    found, (means, variances) = whole.log_density_left_out(), whole.predict_left_out()
    for i in (0, 7, 39):
        others = np.arange(len(y)) != i
        posterior = model.condition(theta, X[others], y[others])
        expected = posterior.log_predictive_density(X[[i]], y[[i]])
        np.testing.assert_allclose(found[[i]], expected, rtol=1e-9)
        mean, variance = posterior.predict(X[[i]])
        np.testing.assert_allclose(means[[i]], mean, rtol=1e-9)
        np.testing.assert_allclose(variances[[i]], variance + posterior.noise_variance, rtol=1e-9)


def test_one_observation_by_hand() -> None:
    # k(r) = 2 (1 + sqrt 5 r + 5 r^2 / 3) exp(-sqrt 5 r), noise .5, lengthscale .4, y = 3.
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    theta = np.log([2.0, 0.4, 0.5])
    posterior = model.condition(theta, np.array([[0.1]]), np.array([3.0]))
    r = 0.3 / 0.4
    k = 2.0 * (1.0 + np.sqrt(5.0) * r + 5.0 * r**2 / 3.0) * np.exp(-np.sqrt(5.0) * r)
    mean, variance = posterior.predict(np.array([[0.4]]))
    assert mean[0] == pytest.approx(k * 3.0 / 2.5, rel=1e-12)
    assert variance[0] == pytest.approx(2.0 - k**2 / 2.5, rel=1e-12)
    expected = -0.5 * (9.0 / 2.5 + np.log(2.0 * np.pi * 2.5))
    assert posterior.log_marginal_likelihood == pytest.approx(expected, rel=1e-12)


def test_factor_and_frame_are_one_model(data) -> None:
    X, y = data
    W = random_frame(4, 2, np.random.default_rng(5))
    lengthscales = np.array([0.4, 1.1])
    framed = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN32, ProjectedArd(W))]))
    free = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN32, Free(4, 2))]))
    left, _ = framed.negative_log_likelihood(np.r_[0.2, np.log(lengthscales), -2.0], X, y)
    right, _ = free.negative_log_likelihood(np.r_[0.2, (W / lengthscales).ravel(), -2.0], X, y)
    assert left == pytest.approx(right, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 25))
def test_appending_equals_conditioning(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, (n, 3)), rng.standard_normal(n)
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())], 0.5))
    theta = np.array([0.1, 0.2, -3.0])
    grown = model.condition(theta, X[:1], y[:1])
    for x, value in zip(X[1:], y[1:], strict=True):
        grown = grown.append(x, float(value))
    whole = model.condition(theta, X, y)
    X_new = rng.uniform(-1, 1, (6, 3))
    np.testing.assert_allclose(grown.predict(X_new), whole.predict(X_new), atol=1e-9)


def test_appending_a_copy_without_noise_is_refused() -> None:
    L, _ = cholesky(np.eye(2))
    with pytest.raises(FitError, match="singular"):
        append_row(L, np.array([1.0, 0.0]), 1.0)


def test_component_means_sum_to_the_mean_and_sds_bound_it(data) -> None:
    X, y = data
    rng = np.random.default_rng(8)
    W = random_frame(4, 2, rng)
    V = qr_complement(W)
    model = GaussianProcessModel(boring_kernel(W, V, MATERN32))
    theta = rng.normal(0, 0.3, model.n_parameters)
    posterior = model.condition(theta, X, y)
    X_new = rng.uniform(-1, 1, (30, 4))
    means, variances = posterior.components(X_new)
    mean, variance = posterior.predict(X_new)
    assert model.kernel.component_names == ("active", "passive 1", "passive 2")
    np.testing.assert_allclose(means.sum(axis=1), mean, atol=1e-12)
    bound = np.sqrt(variances).sum(axis=1)
    assert np.all(bound >= np.sqrt(variance) - 1e-12)
    assert np.max(bound - np.sqrt(variance)) > 1e-3, "the bound is not an equality here"


def test_components_equal_their_definition(data) -> None:
    # [thesis eq. 4.4, 4.5] by plain matrix algebra.
    X, y = data
    model = GaussianProcessModel(
        AdditiveKernel([KernelTerm(MATERN52, Projected(np.eye(4)[:, [j]])) for j in range(4)], 0.7)
    )
    theta = np.random.default_rng(1).normal(0, 0.4, model.n_parameters)
    posterior = model.condition(theta, X, y)
    X_new = np.random.default_rng(2).uniform(-1, 1, (5, 4))
    means, variances = posterior.components(X_new)
    delta = np.linalg.inv(model.kernel.matrix(theta, X) + np.exp(theta[-1]) * np.eye(len(X)))
    for j, part in enumerate(model.kernel.slices):
        alone = AdditiveKernel([model.kernel.terms[j]])
        cross = alone.matrix(theta[part], X_new, X)
        np.testing.assert_allclose(means[:, j], cross @ delta @ y, atol=1e-9)
        explained = np.einsum("ij,jk,ik->i", cross, delta, cross)
        np.testing.assert_allclose(
            variances[:, j], np.exp(theta[part.start]) - explained, atol=1e-9
        )
    np.testing.assert_allclose(means[:, 4], 0.7 * (delta @ y).sum(), atol=1e-9)


def test_interpolates_as_the_noise_goes(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN32, Isotropic())]))
    errors = [
        np.abs(model.condition(np.array([0.0, 0.0, np.log(n2)]), X, y).predict(X)[0] - y).max()
        for n2 in (1e-1, 1e-4, 1e-7)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_fit_is_never_worse_than_its_start_and_respects_bounds(data) -> None:
    X, y = data
    term = KernelTerm(MATERN52, Ard(4), "f", Gaussian(0, 1.5), Gaussian(0, 1))
    model = GaussianProcessModel(AdditiveKernel([term]), Gaussian(-7, 2))
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -2.0])
    fit = model.fit(X, y, start)
    assert fit.value < model.negative_log_posterior(start, X, y)[0] - 1
    low, high = np.array(model.bounds, dtype=float).T
    assert np.all(fit.theta >= low)
    assert np.all(fit.theta <= high)
    assert fit.value == pytest.approx(model.negative_log_posterior(fit.theta, X, y)[0])


def test_best_of_twenty_starts_is_none_of_them_worse_and_better_than_some(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Ard(4))]))
    starts = list(np.random.default_rng(0).uniform(-3, 2, (20, model.n_parameters)))
    each = [model.fit(X, y, start).value for start in starts]
    best = model.fit_best(X, y, starts)
    assert best.value == min(each)
    assert max(each) > min(each) + 1.0  # a nat: some starts end elsewhere
    assert model.negative_log_posterior(best.theta, X, y)[0] == pytest.approx(best.value, abs=1e-9)


def test_fit_with_non_finite_values_says_so(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    with pytest.raises(FitError, match="not finite"):
        model.fit(np.full_like(X, np.nan), y, np.zeros(3))


def test_jitter_ladder_reports_what_it_added() -> None:
    singular = np.ones((6, 6))
    L, jitter = cholesky(singular)
    assert 0 < jitter <= 1e-4
    np.testing.assert_allclose(L @ L.T, singular + jitter * np.eye(6), atol=1e-12)
    _, none = cholesky(np.eye(3))
    assert none == 0.0
    with pytest.raises(FitError, match="positive definite"):
        cholesky(np.diag([1.0, -1.0]))


def test_points_without_a_value_count_at_their_mean_or_at_the_median_where_they_fail(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    posterior = model.condition(np.array([0.0, 0.0, -6.0]), X, y)
    best, worst = X[[np.argmax(y)]], X[[np.argmin(y)]]
    nothing = np.empty((0, X.shape[1]))
    assert with_fantasies(posterior, nothing, nothing) is posterior
    hopeful = with_fantasies(posterior, best, nothing)
    assert hopeful.y[-1] == posterior.predict(best)[0][0]
    assert with_fantasies(posterior, nothing, best).y[-1] == np.median(y)
    assert with_fantasies(posterior, nothing, worst).y[-1] == posterior.predict(worst)[0][0]
    twice = with_fantasies(posterior, nothing, np.vstack([best, best]))
    assert twice.predict(best)[0][0] < posterior.predict(best)[0][0]


def test_the_incumbent_is_a_value_or_in_noise_a_mean_of_those_that_may_be_it() -> None:
    X = np.linspace(-1.0, 1.0, 12)[:, None]
    y = 3.0 * X[:, 0]
    y[2] = 0.5  # above its neighbours by chance
    eligible = X[:, 0] < 0.0
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    quiet, noisy = (model.condition(np.array([1.0, 0.0, n]), X, y) for n in (-12.0, 0.0))
    assert best_in_noise(quiet) == y.max()
    assert best_in_noise(quiet, eligible) == 0.5
    means = noisy.predict(X)[0]
    assert best_in_noise(noisy) == pytest.approx(means.max())
    assert best_in_noise(noisy, eligible) == pytest.approx(means[eligible].max())
    assert means[eligible].max() < 0.5 < means.max() < y.max()
    for best in (best_in_noise, best_value):
        assert best(noisy, np.zeros(12, dtype=bool)) == y.min()
    assert (best_value(noisy), best_value(noisy, eligible)) == (y.max(), 0.5)


def test_parameters_of_another_length_are_refused(data) -> None:
    X, y = data
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())]))
    for evaluate in (model.negative_log_likelihood, model.negative_log_posterior):
        with pytest.raises(InvalidInputError, match=r"shape \(3,\).*received shape \(2,\)"):
            evaluate(np.array([0.1, 0.2]), X, y)
