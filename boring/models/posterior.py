"""The posterior of a Gaussian process: predictions, their gradients, their components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from boring._brief import fields_in_brief
from boring.kernels.additive import KernelTerm, cross_squared_distances
from boring.kernels.maps import FeatureMap
from boring.models.evidence import LOG_TWO_PI
from boring.models.linalg import append_row, inverse, log_determinant, solve, solve_lower
from boring.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from boring.models.gp import GaussianProcessModel

# Noise variance (standardised values) from which the best value is no incumbent any more.
NOISY = 1e-3


def log_normal_density(residual: FloatArray, variance: FloatArray) -> FloatArray:
    """Return log N(residual; 0, variance), elementwise."""
    return np.asarray(-0.5 * (residual**2 / variance + np.log(variance) + LOG_TWO_PI))


@dataclass(frozen=True, eq=False, slots=True)
class _CrossTerm:
    """One term's kernel between new points (m) and data (n)."""

    feature_map: FeatureMap
    parameters: FloatArray
    left: FloatArray
    right: FloatArray
    variance: float
    cross: FloatArray
    slope: FloatArray

    def input_gradient(self, weights: FloatArray) -> FloatArray:
        """Return d/dX (m, D) of sum_j cross_ij w_ij; weights (n,) or (m, n), held fixed."""
        coefficient = self.slope * weights
        dZ = coefficient @ self.right
        dZ -= coefficient.sum(axis=1)[:, None] * self.left
        return self.feature_map.input_gradient(dZ, self.parameters)


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """A posterior: a model, its parameters and the data it is conditioned on.

    Attributes
    ----------
    model : GaussianProcessModel
    theta : ndarray
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    L : ndarray, shape (n, n)
        Lower Cholesky factor of K + n2 I.
    jitter : float
        What the jitter ladder added to the diagonal.
    """

    model: GaussianProcessModel
    theta: FloatArray
    X: FloatArray
    y: FloatArray
    L: FloatArray
    jitter: float = 0.0
    alpha: FloatArray = field(init=False, repr=False)

    __repr__ = fields_in_brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", solve(self.L, self.y))

    @property
    def terms(self) -> list[tuple[KernelTerm, float, FloatArray]]:
        """The kernel's terms with their variances and the parameters of their maps."""
        return self.model.kernel.split(self.theta)

    @property
    def noise_variance(self) -> float:
        """Noise variance n2, in units of y squared."""
        return float(np.exp(self.theta[-1]))

    @property
    def log_marginal_likelihood(self) -> float:
        """Log density of y under the model."""
        n = len(self.y)
        return -0.5 * (float(self.y @ self.alpha) + log_determinant(self.L) + n * LOG_TWO_PI)

    @cached_property
    def features(self) -> list[FloatArray]:
        """Each term's features of the data, (n, k)."""
        return self._features(self.X)

    def _features(self, X: FloatArray) -> list[FloatArray]:
        return [
            term.feature_map.features(term.feature_map.inputs(X), parameters)
            for term, _, parameters in self.terms
        ]

    def _cross(self, here: list[FloatArray]) -> FloatArray:
        """Return the kernel between points (m), by their features, and the data, (m, n)."""
        kernel = self.model.kernel
        total = np.full((len(here[0]), len(self.X)), kernel.constant_variance)
        for (term, variance, _), left, right in zip(self.terms, here, self.features, strict=True):
            total += variance * term.profile.value(cross_squared_distances(left, right))
        return total

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f (without noise), each (m,), at X (m, D)."""
        cross = self._cross(self._features(X))
        reduced = solve_lower(self.L, cross.T)
        variance = self.model.kernel.total_variance(self.theta) - np.einsum(
            "ij,ij->j", reduced, reduced
        )
        return cross @ self.alpha, np.maximum(variance, 0.0)

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance and their gradients in x, for all rows at once.

        Parameters
        ----------
        X : ndarray, shape (m, D)

        Returns
        -------
        mean, variance : ndarray, shape (m,)
        mean_gradient, variance_gradient : ndarray, shape (m, D)
        """
        kernel = self.model.kernel
        terms = self._cross_terms(X)
        cross = np.full((len(X), len(self.X)), kernel.constant_variance)
        for term in terms:
            cross += term.cross
        weights = solve(self.L, np.asfortranarray(cross.T)).T
        explained = np.einsum("ij,ij->i", cross, weights)
        mean_gradient, variance_gradient = np.zeros_like(X), np.zeros_like(X)
        for term in terms:
            mean_gradient += term.input_gradient(self.alpha)
            variance_gradient -= 2.0 * term.input_gradient(weights)
        variance = np.maximum(kernel.total_variance(self.theta) - explained, 0.0)
        return cross @ self.alpha, variance, mean_gradient, variance_gradient

    def covariance(self, X: FloatArray, others: FloatArray) -> FloatArray:
        """Return the posterior covariance of f at X (m, D) and at other points (k, D), (m, k)."""
        features = self._features(X)
        kernel = self.model.kernel.matrix(self.theta, X, others)
        half = solve_lower(self.L, np.asfortranarray(self._cross(features).T))
        other = solve_lower(self.L, np.asfortranarray(self._cross(self._features(others)).T))
        return kernel - half.T @ other

    def covariance_with_pullback(
        self, X: FloatArray, others: FloatArray
    ) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
        """Return the posterior covariance C (m, k), and what differentiates weighted sums of it.

        Parameters
        ----------
        X : ndarray, shape (m, D)
        others : ndarray, shape (k, D)

        Returns
        -------
        covariance : ndarray, shape (m, k)
        pullback : callable
            From weights w (m, k), held fixed, to d/dX of sum_j w_ij C_ij, shape (m, D).
        """
        kernel = self.model.kernel
        features = self._features(X)
        cross = self._cross(features)
        weights = solve(self.L, np.asfortranarray(self._cross(self._features(others)).T))
        to_data = self._cross_terms(X)
        to_others = self._cross_terms(X, self._features(others))

        def pullback(w: FloatArray) -> FloatArray:
            on_data = -(w @ weights.T)
            gradient = np.zeros_like(X)
            for near, far in zip(to_others, to_data, strict=True):
                gradient += near.input_gradient(w) + far.input_gradient(on_data)
            return gradient

        return kernel.matrix(self.theta, X, others) - cross @ weights, pullback

    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each component's posterior mean and variance [thesis eq. 4.4, 4.5].

        Parameters
        ----------
        X : ndarray, shape (m, D)

        Returns
        -------
        means, variances : ndarray, shape (m, J)
            In the order of ``model.kernel.component_names``.

        Notes
        -----
        Means sum to the full mean. Variances do not sum to the full variance: the
        components are correlated a posteriori, and the sum of their standard deviations
        is an upper bound of the full one.
        """
        means, variances = [], []
        for term in self._cross_terms(X):
            reduced = solve_lower(self.L, np.asfortranarray(term.cross.T))
            means.append(term.cross @ self.alpha)
            variances.append(term.variance - np.einsum("ij,ij->j", reduced, reduced))
        if self.model.kernel.constant_variance > 0:
            mean, variance = self._constant_component()
            means.append(np.full(len(X), mean))
            variances.append(np.full(len(X), variance))
        return np.stack(means, axis=1), np.maximum(np.stack(variances, axis=1), 0.0)

    def components_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return component means and variances (m, J), and their gradients (m, J, D).

        Parameters
        ----------
        X : ndarray, shape (m, D)
        """
        means, variances = self.components(X)
        mean_gradients = np.zeros((*means.shape, X.shape[1]))
        variance_gradients = np.zeros_like(mean_gradients)
        for j, term in enumerate(self._cross_terms(X)):
            weights = solve(self.L, np.asfortranarray(term.cross.T)).T
            mean_gradients[:, j] = term.input_gradient(self.alpha)
            variance_gradients[:, j] = -2.0 * term.input_gradient(weights)
        return means, variances, mean_gradients, variance_gradients

    def _cross_terms(
        self, X: FloatArray, there: list[FloatArray] | None = None
    ) -> list[_CrossTerm]:
        """Return each term's kernel between X and the data or features, ready for gradients."""
        terms = []
        for (term, variance, parameters), left, right in zip(
            self.terms, self._features(X), there or self.features, strict=True
        ):
            value, slope = term.profile.value_and_slope(cross_squared_distances(left, right))
            terms.append(
                _CrossTerm(
                    term.feature_map,
                    parameters,
                    left,
                    right,
                    variance,
                    variance * value,
                    variance * slope,
                )
            )
        return terms

    def _constant_component(self) -> tuple[float, float]:
        """Return posterior mean and variance of the constant."""
        c = self.model.kernel.constant_variance
        reduced = solve_lower(self.L, np.full((len(self.X), 1), c, order="F"))[:, 0]
        return c * float(self.alpha.sum()), c - float(reduced @ reduced)

    def append(self, x: FloatArray, y: float) -> GaussianProcess:
        """Condition on one more observation, parameters kept, in O(n^2).

        Parameters
        ----------
        x : ndarray, shape (D,)
        y : float
        """
        here = self._features(x[None, :])
        diagonal = self.model.kernel.total_variance(self.theta) + self.noise_variance + self.jitter
        L = append_row(self.L, self._cross(here)[0], diagonal)
        longer = GaussianProcess(
            self.model, self.theta, np.vstack([self.X, x]), np.append(self.y, y), L, self.jitter
        )
        rows = zip(self.features, here, strict=True)
        longer.__dict__["features"] = [np.vstack(pair) for pair in rows]
        return longer

    def log_predictive_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return log N(y_i; mean, variance + noise) at each row of X, shape (m,)."""
        mean, variance = self.predict(X)
        return log_normal_density(y - mean, variance + self.noise_variance)

    def predict_left_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each value given all the others, noise included, each (n,).

        Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, eq. 5.10 to 5.12.
        """
        variance = 1.0 / np.diag(inverse(self.L))
        return self.y - self.alpha * variance, variance

    def log_density_left_out(self) -> FloatArray:
        """Return the log density of each value given all the others, shape (n,)."""
        mean, variance = self.predict_left_out()
        return log_normal_density(self.y - mean, variance)


def best_value(posterior: GaussianProcess, eligible: BoolArray | None = None) -> float:
    """Return the best value of all that may be the incumbent; see `best_in_noise`."""
    if eligible is not None and not eligible.any():
        return float(posterior.y.min())
    return float((posterior.y if eligible is None else posterior.y[eligible]).max())


def best_in_noise(posterior: GaussianProcess, eligible: BoolArray | None = None) -> float:
    """Return the incumbent's value: the best value, or in noise the best mean at a visited point.

    The best of many noisy values is too good to be true.

    Parameters
    ----------
    posterior : GaussianProcess
        Of values of which larger is better.
    eligible : ndarray of bool, shape (n,), optional
        Points that may be the incumbent; all by default. Where there is none, anything is an
        improvement, and the worst value of all is returned.
    """
    best = best_value(posterior, eligible)
    visited = posterior.X if eligible is None else posterior.X[eligible]
    if posterior.noise_variance > NOISY and len(visited):
        best = min(best, float(posterior.predict(visited)[0].max()))
    return best


def with_fantasies(
    posterior: GaussianProcess, pending: FloatArray, failing: FloatArray
) -> GaussianProcess:
    """Condition on points that have no value as if they had one; parameters are kept.

    Parameters
    ----------
    posterior : GaussianProcess
        Of values of which larger is better.
    pending : ndarray, shape (m, D)
        Each comes out at its posterior mean. Oldest first; none leaves the posterior as it is.
    failing : ndarray, shape (k, D)
        Each comes out at its posterior mean, or at the median of the values if that is worse:
        where the model is hopeful and the objective fails, the next point would else be the
        last one again, for the rest of the budget. [chosen here: the worst value in place of
        the median spoils more of the neighbourhood]
    """
    middle = float(np.median(posterior.y))
    for points, ceiling in ((failing, middle), (pending, np.inf)):
        for x in points:
            mean, _ = posterior.predict(x[None, :])
            posterior = posterior.append(x, min(float(mean[0]), ceiling))
    return posterior
