from __future__ import annotations

import numpy as np
import pytest

from boring.kernels import MATERN52, AdditiveKernel, Ard, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel


class LinearPosterior:
    """Mean x'w, variance exp(2 v'x): smooth, any magnitude, gradients by hand."""

    def __init__(self, w, v, offset=0.0, scale=1.0):
        self.w, self.v = np.asarray(w, float), np.asarray(v, float)
        self.offset, self.scale = offset, scale

    def predict(self, X):
        return X @ self.w + self.offset, self.scale**2 * np.exp(2.0 * X @ self.v)

    def predict_with_gradient(self, X):
        mean, variance = self.predict(X)
        return mean, variance, np.tile(self.w, (len(X), 1)), 2.0 * variance[:, None] * self.v


def error_slope(function, x, *, perturb=0.0):
    """Slope of log |f(x + h u) - f(x) - h u'g| in log h: 2 for a right gradient, else 1."""
    rng = np.random.default_rng(3)
    value, gradient = function(x[None, :])
    direction = rng.standard_normal(len(x))
    direction /= np.linalg.norm(direction)
    slope = float(gradient[0] @ direction) + perturb
    steps = np.logspace(-4.5, -2.0, 12)
    points = x + steps[:, None] * direction
    errors = np.abs(function(points)[0] - value[0] - steps * slope)
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.fixture
def linear_posterior():
    return LinearPosterior


@pytest.fixture
def check_gradient():
    return error_slope


@pytest.fixture(scope="module")
def posterior():
    """A two-term Gaussian process conditioned on 25 points in five dimensions."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (25, 5))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    y = (y - y.mean()) / y.std()
    kernel = AdditiveKernel(
        [KernelTerm(MATERN52, Isotropic(), "a"), KernelTerm(MATERN52, Ard(5), "b")], 1.0
    )
    theta = np.log([0.8, 1.1, 0.3, 0.5, 1.0, 2.0, 2.0, 2.0, 1e-4])
    return GaussianProcessModel(kernel).condition(theta, X, y)
