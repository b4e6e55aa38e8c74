"""Expectation propagation against quadrature, and the gradient of Laplace's evidence."""

import numpy as np
import pytest
from scipy.special import ndtr

from boring.kernels import MATERN52, AdditiveKernel, Isotropic, KernelTerm
from boring.models.classification import ProbitClassifier
from boring.testing import check_gradient

GRID = np.linspace(-120.0, 120.0, 2401)


def classifier(X, labels):
    return ProbitClassifier(
        AdditiveKernel([KernelTerm(MATERN52, Isotropic())]), np.asarray(X), np.asarray(labels)
    )


def moments(weights, values):
    mean = np.sum(weights * values) / weights.sum()
    return mean, np.sum(weights * (values - mean) ** 2) / weights.sum()


@pytest.mark.parametrize("log_variance", [0.0, 5.0])
def test_one_label_has_its_mean_and_variance(log_variance):
    weights = np.exp(-0.5 * GRID**2 / np.exp(log_variance)) * ndtr(-GRID)
    model, theta = classifier([[0.0]], [-1.0]), np.array([log_variance, 0.0])
    mean, variance = model.condition(theta).predict(np.zeros((1, 1)))
    np.testing.assert_allclose([mean[0], variance[0]], moments(weights, GRID), rtol=1e-3)


@pytest.mark.parametrize("labels", [[-1.0, -1.0], [-1.0, 1.0]])
def test_two_points_are_near_quadrature(labels):
    model, theta = classifier([[0.0], [0.8]], labels), np.array([2.0, 0.0])
    K = model.model.kernel.matrix(np.append(theta, 0.0), model.X)
    f, g = np.meshgrid(np.linspace(-15, 15, 301), np.linspace(-15, 15, 301), indexing="ij")
    pairs = np.stack([f.ravel(), g.ravel()])
    density = np.exp(-0.5 * np.sum(pairs * np.linalg.solve(K, pairs), axis=0))
    weights = density * ndtr(labels[0] * pairs[0]) * ndtr(labels[1] * pairs[1])
    mean, variance = model.condition(theta).predict(model.X)
    for i in range(2):
        exact_mean, exact_variance = moments(weights, pairs[i])
        assert mean[i] == pytest.approx(exact_mean, rel=0.05)
        assert variance[i] == pytest.approx(exact_variance, rel=0.15)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_repeated_failures_at_one_point_are_believed(n):
    weights = np.exp(-0.5 * GRID**2 / np.exp(5.0)) * ndtr(-GRID) ** n
    exact = np.sum(weights * ndtr(GRID)) / weights.sum()
    posterior = classifier(np.zeros((n, 1)), -np.ones(n)).condition(np.array([5.0, 0.0]))
    mean, variance = posterior.predict(np.zeros((1, 1)))
    probability = ndtr(mean[0] / np.sqrt(1.0 + variance[0]))
    assert 0.2 * exact < probability < 5.0 * exact


@pytest.mark.parametrize("theta", [[5.0, 0.0], [0.0, -1.0]])
def test_the_gradient_of_the_evidence(theta):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 2))
    labels = np.where(X[:, 0] < 0.2, -1.0, 1.0)
    labels[3] *= -1.0
    check_gradient(classifier(X, labels).objective, np.array(theta), rng)
