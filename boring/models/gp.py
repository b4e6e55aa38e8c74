"""The native Gaussian-process engine: model, log posterior, and all its gradients.

Notation (one N x N Cholesky a call): K the kernel matrix, A = K + n2 I, a = A^-1 y,
G = A^-1 - a a', and for a term with variance s2, features Z, profile k and slope s
(`boring.kernels.profiles`), P = s2 G o s:

    NLL        = .5 y'a + .5 log|A| + .5 N log 2 pi
    dNLL/dlog s2 = .5 s2 sum(G o k)        dNLL/dlog n2 = .5 n2 tr G
    dNLL/dZ      = P Z - diag(P 1) Z,      pulled back to the map's parameters;
                   for a free factor dNLL/dM = X'(P Z - diag(P 1) Z).

Rasmussen & Williams (2006), eq. 2.25, 2.26 and 5.9; the factor form is our own
derivation, checked by finite differences and against GPy in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from boring.exceptions import FitError
from boring.kernels.additive import AdditiveKernel, squared_distances
from boring.models.linalg import (
    cholesky,
    inverse,
    log_determinant,
    solve,
)
from boring.models.posterior import LOG_TWO_PI, GaussianProcess
from boring.models.priors import FLAT, ParameterPrior
from boring.typing import FloatArray

# Noise variance of standardised y: floor and ceiling [chosen here].
NOISE_BOUNDS = (1e-6, 1.0)
# L-BFGS memory; 20 is what the full-rank learner was measured with.
LBFGS_MEMORY = 20


@dataclass(frozen=True, eq=False)
class FitResult:
    """Outcome of a maximum a posteriori fit.

    Attributes
    ----------
    theta : ndarray
        Parameters at the lowest value met.
    value : float
        Negative log posterior there (marginal likelihood plus penalties).
    n_iterations, n_calls : int
    """

    theta: FloatArray
    value: float
    n_iterations: int
    n_calls: int


@dataclass(frozen=True, eq=False)
class GaussianProcessModel:
    """A GP prior with priors on its parameters: everything but the data.

    Parameters
    ----------
    kernel : AdditiveKernel
        Priors of its terms are part of the terms.
    noise_prior : ParameterPrior
        On the log noise variance.
    noise_bounds : (float, float)
        Bounds of the noise variance, in units of y squared.

    Notes
    -----
    The mean is zero; give the kernel a constant variance, or standardise y. The
    parameter vector theta is the kernel's (see `AdditiveKernel`), then the log noise
    variance.
    """

    kernel: AdditiveKernel
    noise_prior: ParameterPrior = FLAT
    noise_bounds: tuple[float, float] = NOISE_BOUNDS

    @property
    def n_parameters(self) -> int:
        """Length of theta."""
        return self.kernel.n_parameters + 1

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Bounds of theta, for L-BFGS-B."""
        pairs: list[tuple[float | None, float | None]] = []
        for term in self.kernel.terms:
            pairs += [term.variance_bounds, *term.feature_map.bounds]
        low, high = self.noise_bounds
        return [*pairs, (float(np.log(low)), float(np.log(high)))]

    def penalty(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log prior of theta, up to a constant, and its gradient."""
        gradient = np.empty_like(theta)
        total = 0.0
        for term, part in zip(self.kernel.terms, self.kernel.slices, strict=True):
            for prior, block in (
                (term.variance_prior, slice(part.start, part.start + 1)),
                (term.map_prior, slice(part.start + 1, part.stop)),
            ):
                value, gradient[block] = prior.penalty(theta[block])
                total += value
        value, gradient[-1:] = self.noise_prior.penalty(theta[-1:])
        return total + value, gradient

    def negative_log_likelihood(
        self, theta: FloatArray, X: FloatArray, y: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the negative log marginal likelihood and its gradient in theta.

        Parameters
        ----------
        theta : ndarray, shape (n_parameters,)
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        """
        return self._negative_log_likelihood(theta, self.inputs(X), y)

    def inputs(self, X: FloatArray) -> list[FloatArray]:
        """Return each term's fixed inputs (see `FeatureMap.inputs`)."""
        return [term.feature_map.inputs(X) for term in self.kernel.terms]

    def _negative_log_likelihood(
        self, theta: FloatArray, inputs: Sequence[FloatArray], y: FloatArray
    ) -> tuple[float, FloatArray]:
        n = len(y)
        noise = float(np.exp(theta[-1]))
        parts = self.kernel.split(theta)
        saved = []
        A: FloatArray | None = None
        for (term, variance, parameters), base in zip(parts, inputs, strict=True):
            Z = term.feature_map.features(base, parameters)
            value, slope = term.profile.value_and_slope(squared_distances(Z))
            saved.append((Z, value, slope))
            A = variance * value if A is None else A + variance * value
        assert A is not None
        if self.kernel.constant_variance:
            A += self.kernel.constant_variance
        A.flat[:: n + 1] += noise
        L, _ = cholesky(A)
        alpha = solve(L, y)
        nll = 0.5 * float(y @ alpha) + 0.5 * log_determinant(L) + 0.5 * n * LOG_TWO_PI
        G = inverse(L)
        G -= np.outer(alpha, alpha)

        gradient = np.empty_like(theta)
        for (term, variance, parameters), part, base, (Z, value, slope) in zip(
            parts, self.kernel.slices, inputs, saved, strict=True
        ):
            gradient[part.start] = 0.5 * variance * float(np.vdot(G, value))
            P = G * slope
            P *= variance
            dZ = P @ Z
            dZ -= P.sum(axis=1)[:, None] * Z
            gradient[part.start + 1 : part.stop] = term.feature_map.pullback(
                base, Z, dZ, parameters
            )
        gradient[-1] = 0.5 * noise * float(np.trace(G))
        return nll, gradient

    def negative_log_posterior(
        self, theta: FloatArray, X: FloatArray, y: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return likelihood plus penalties, negated, and the gradient in theta.

        Parameters
        ----------
        theta : ndarray, shape (n_parameters,)
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        """
        value, gradient = self.negative_log_likelihood(theta, X, y)
        penalty, slope = self.penalty(theta)
        return value + penalty, gradient + slope

    def fit(
        self, X: FloatArray, y: FloatArray, start: FloatArray, *, max_iterations: int = 40
    ) -> FitResult:
        """Maximise the log posterior from one start by L-BFGS-B.

        Parameters
        ----------
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        start : ndarray, shape (n_parameters,)
            Clipped into the bounds.
        max_iterations : int

        Returns
        -------
        FitResult
            The best point met, never worse than the start.

        Raises
        ------
        FitError
            If the likelihood is not finite at the start.
        """
        inputs = self.inputs(X)

        def objective(theta: FloatArray) -> tuple[float, FloatArray]:
            try:
                value, gradient = self._negative_log_likelihood(theta, inputs, y)
            except FitError:
                return np.inf, np.zeros_like(theta)
            penalty, slope = self.penalty(theta)
            return value + penalty, gradient + slope

        low, high = np.array(
            [(-np.inf if a is None else a, np.inf if b is None else b) for a, b in self.bounds]
        ).T
        start = np.clip(start, low, high)
        outcome = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=self.bounds,
            options={
                "maxiter": max_iterations,
                "maxcor": LBFGS_MEMORY,
                "maxfun": 2 * max_iterations + 20,
            },
        )
        if not np.isfinite(outcome.fun):
            raise FitError(
                "the log posterior is not finite at the start of the fit; "
                f"start {np.array2string(start, threshold=8)}, {len(y)} observations"
            )
        return FitResult(
            np.asarray(outcome.x), float(outcome.fun), int(outcome.nit), int(outcome.nfev)
        )

    def fit_best(
        self,
        X: FloatArray,
        y: FloatArray,
        starts: Sequence[FloatArray],
        *,
        max_iterations: int | Sequence[int] = 40,
    ) -> FitResult:
        """Fit from several starts and return the one with the lowest value.

        Parameters
        ----------
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        starts : sequence of ndarray
        max_iterations : int, or one a start

        Raises
        ------
        FitError
            If every start failed; ``.history`` holds the messages.
        """
        budgets = (
            [max_iterations] * len(starts) if isinstance(max_iterations, int) else (max_iterations)
        )
        fits: list[FitResult] = []
        failures: list[str] = []
        for start, budget in zip(starts, budgets, strict=True):
            try:
                fits.append(self.fit(X, y, start, max_iterations=budget))
            except FitError as error:
                failures.append(str(error))
        if not fits:
            raise FitError(
                f"all {len(starts)} starts of the fit failed: {failures[-1]}",
                history=tuple(failures),
            )
        return min(fits, key=lambda fit: fit.value)

    def condition(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> GaussianProcess:
        """Return the posterior given data and parameters.

        Parameters
        ----------
        theta : ndarray, shape (n_parameters,)
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        """
        A = self.kernel.matrix(theta, X)
        A.flat[:: len(X) + 1] += float(np.exp(theta[-1]))
        L, jitter = cholesky(A)
        return GaussianProcess(self, theta, X, y, L, jitter)
