"""Every gradient of the engine: central differences, error slope 2, and a check that can fail."""

import numpy as np
import pytest

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
    Stretched,
)
from boring.models.gp import GaussianProcessModel
from boring.models.priors import (
    Frobenius,
    Gaussian,
    GaussianAbove,
    LogSingularValues,
    dimension_scaled,
    hvarfner,
)
from boring.subspace.gradient_metric import (
    expected_gradient_outer_product,
    metric_map,
    metric_root,
)
from boring.subspace.stiefel import random_frame
from boring.testing import check_gradient

DIM = 4
PROFILES = [MATERN32, MATERN52, SQUARED_EXPONENTIAL]


def _data(n: int = 25):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (n, DIM))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]


def _model(profile) -> GaussianProcessModel:
    W = random_frame(DIM, 2, np.random.default_rng(0))
    terms = [
        KernelTerm(profile, Free(DIM, 2), "free", Gaussian(0, 1.5), LogSingularValues(2, 2.0, 1.0)),
        KernelTerm(profile, Isotropic(), "iso", Gaussian(-1, 1), dimension_scaled(DIM)),
        KernelTerm(profile, Ard(DIM), "ard", Gaussian(0, 1), hvarfner(DIM)),
        KernelTerm(profile, Projected(W[:, [0]]), "passive"),
        KernelTerm(profile, ProjectedArd(W), "active"),
        KernelTerm(profile, Free(DIM, DIM), "square", map_prior=Frobenius(0.5)),
    ]
    return GaussianProcessModel(AdditiveKernel(terms, 0.5), Gaussian(-4, 2))


def _theta(model: GaussianProcessModel, seed: int) -> np.ndarray:
    theta = np.random.default_rng(seed).normal(0, 0.4, model.n_parameters)
    theta[-1] = -3.0
    return theta


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_log_posterior(profile, seed: int) -> None:
    X, y = _data()
    model = _model(profile)

    def objective(theta):
        return model.negative_log_posterior(theta, X, y)

    check_gradient(objective, _theta(model, seed), np.random.default_rng(seed))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_a_wrong_log_posterior_gradient_is_rejected(profile) -> None:
    X, y = _data()
    model = _model(profile)
    wrong = np.random.default_rng(9).normal(0, 1e-3, model.n_parameters)

    def objective(theta):
        value, gradient = model.negative_log_posterior(theta, X, y)
        return value, gradient + wrong

    with pytest.raises(AssertionError):
        check_gradient(objective, _theta(model, 0), np.random.default_rng(0))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
@pytest.mark.parametrize("output", ["mean", "variance"])
def test_prediction(profile, output: str) -> None:
    X, y = _data()
    model = _model(profile)
    posterior = model.condition(_theta(model, 4), X, y)
    index = {"mean": 0, "variance": 1}[output]

    def objective(x):
        results = posterior.predict_with_gradient(x[None, :])
        return float(results[index][0]), results[index + 2][0]

    rng = np.random.default_rng(6)
    check_gradient(objective, rng.uniform(-0.8, 0.8, DIM), rng)

    def wrong(x):
        value, gradient = objective(x)
        return value, gradient * 1.001

    with pytest.raises(AssertionError):
        check_gradient(wrong, rng.uniform(-0.8, 0.8, DIM), rng)


def test_components() -> None:
    X, y = _data()
    model = _model(MATERN52)
    posterior = model.condition(_theta(model, 4), X, y)
    rng = np.random.default_rng(1)
    for j in range(len(model.kernel.component_names)):
        for index in (0, 1):

            def objective(x, j=j, index=index):
                results = posterior.components_with_gradient(x[None, :])
                return float(results[index][0, j]), results[index + 2][0, j]

            check_gradient(objective, rng.uniform(-0.8, 0.8, DIM), rng)
    _, _, mean_gradients, _ = posterior.components_with_gradient(X[:3])
    whole = posterior.predict_with_gradient(X[:3])[2]
    np.testing.assert_allclose(mean_gradients.sum(axis=1), whole, atol=1e-12)


def test_prediction_and_its_gradient_agree_for_many_points() -> None:
    X, y = _data()
    model = _model(MATERN32)
    posterior = model.condition(_theta(model, 3), X, y)
    X_new = np.random.default_rng(0).uniform(-1, 1, (9, DIM))
    mean, variance, _, _ = posterior.predict_with_gradient(X_new)
    np.testing.assert_allclose(posterior.predict(X_new), (mean, variance), atol=1e-12)


def test_gradient_metric_equals_joint_posterior_of_differences() -> None:
    X, y = _data()
    model = _model(MATERN52)
    theta = _theta(model, 5)
    posterior = model.condition(theta, X, y)
    point = np.random.default_rng(3).uniform(-0.8, 0.8, (1, DIM))
    h = 1e-3
    stencil = np.vstack([point + h * np.eye(DIM), point - h * np.eye(DIM)])
    difference = np.hstack([np.eye(DIM), -np.eye(DIM)]) / (2 * h)
    A = model.kernel.matrix(theta, X) + np.exp(theta[-1]) * np.eye(len(X))
    cross = model.kernel.matrix(theta, stencil, X)
    covariance = model.kernel.matrix(theta, stencil) - cross @ np.linalg.solve(A, cross.T)
    mean = difference @ cross @ np.linalg.solve(A, y)
    expected = difference @ covariance @ difference.T + np.outer(mean, mean)
    C = expected_gradient_outer_product(posterior, point)
    np.testing.assert_allclose(C, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    "prior",
    [
        Gaussian(0.3, 0.7),
        GaussianAbove(0.3, 0.7, floor=0.2),
        Frobenius(0.05),
        LogSingularValues(2, 2, 1),
    ],
)
def test_priors(prior) -> None:
    rng = np.random.default_rng(4)
    check_gradient(prior.penalty, rng.normal(size=8), rng)


def test_hvarfner_prior_is_the_density_of_the_lengthscale() -> None:
    # Log-normal density of l from scipy, as the paper maximises it; l in [-1, 1] units.
    from scipy.stats import lognorm

    dim, lengths = 7, np.array([0.5, 2.0, 9.0])
    density = lognorm(s=np.sqrt(3), scale=np.exp(np.sqrt(2) + 0.5 * np.log(dim)))
    ours = np.array([hvarfner(dim).penalty(np.log([v]))[0] for v in lengths])
    np.testing.assert_allclose(np.diff(ours), -np.diff(density.logpdf(lengths / 2)), atol=1e-10)


def test_one_lengthscale_from_distances_equals_one_an_input() -> None:
    # The two ways of the likelihood: distances once and for all, and features at every call.
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-1, 1, (150, 3)), rng.standard_normal(150)  # more than one block of rows
    one = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())], 1.0))
    many = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Ard(3))], 1.0))
    theta = np.array([0.2, -0.4, -3.0])
    value, slope = one.negative_log_likelihood(theta, X, y)
    other, slopes = many.negative_log_likelihood(theta[[0, 1, 1, 1, 2]], X, y)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(slope, [slopes[0], slopes[1:4].sum(), slopes[4]], rtol=1e-10)


def test_metric_of_a_wide_box_is_that_of_the_whole_matrix() -> None:
    rng = np.random.default_rng(7)
    dim = 40
    X, points = rng.uniform(-1, 1, (12, dim)), rng.uniform(-1, 1, (5, dim))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    model = GaussianProcessModel(AdditiveKernel([KernelTerm(MATERN52, Isotropic())], 1.0))
    posterior = model.condition(np.array([0.3, 0.9, -6.0]), X, y)
    feature_map, directions = metric_map(posterior, points, 1e-3)
    assert isinstance(feature_map, Stretched)
    root, vectors = metric_root(expected_gradient_outer_product(posterior, points), 1e-3)
    whole = Projected(root)
    scale, new = np.array([0.4]), rng.uniform(-1, 1, (6, dim))
    np.testing.assert_allclose(feature_map.inputs(new), whole.inputs(new), atol=1e-9)
    np.testing.assert_allclose(
        feature_map.input_gradient(new, scale), whole.input_gradient(new, scale), atol=1e-9
    )
    assert directions.shape == (dim, len(X) + len(points))
    assert abs(float(directions[:, 0] @ vectors[:, 0])) == pytest.approx(1.0, abs=1e-8)


def test_appending_keeps_the_features_of_the_data() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.uniform(-1, 1, (9, DIM)), rng.standard_normal(10)
    model = _model(MATERN52)
    short = model.condition(_theta(model, 5), X, y[:9])
    x = rng.uniform(-1, 1, DIM)
    whole = model.condition(short.theta, np.vstack([X, x]), y)
    new = rng.uniform(-1, 1, (4, DIM))
    for ours, expected in zip(short.append(x, y[9]).predict(new), whole.predict(new), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-10)
