"""The native Gaussian-process model: priors, bounds, fits and posteriors.

The likelihood and its gradients are in `boring.models.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from boring._brief import fields_in_brief
from boring.exceptions import FitError, InvalidInputError
from boring.kernels.additive import AdditiveKernel
from boring.models.evidence import Evidence
from boring.models.linalg import cholesky
from boring.models.posterior import GaussianProcess
from boring.models.priors import FLAT, Gaussian, ParameterPrior
from boring.typing import FloatArray
from boring.warping import LARGEST

# Noise variance of standardised y: floor and ceiling [chosen here].
NOISE_BOUNDS = (1e-6, 1.0)
# Known noise variance, at most: sums of many squares of its size are floats.
MOST_NOISE = LARGEST
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

    __repr__ = fields_in_brief


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

    def with_noise(self, variance: float | None) -> GaussianProcessModel:
        """Return the model with a known noise variance, raised to the lower bound; None keeps it.

        Parameters
        ----------
        variance : float or None
            Units of y squared. Whatever is beyond `MOST_NOISE`, infinity included, is that.
        """
        if variance is None:
            return self
        known = min(max(variance, self.noise_bounds[0]), MOST_NOISE)
        return replace(self, noise_bounds=(known, known))

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

        Raises
        ------
        InvalidInputError
            If theta has another length: the numbers would be taken for other parameters.
        """
        if np.shape(theta) != (self.n_parameters,):
            raise InvalidInputError(
                f"theta must have shape ({self.n_parameters},), the kernel's parameters and the "
                f"log noise variance; received shape {np.shape(theta)}."
            )
        return self._evidence(X, y)(theta)

    def inputs(self, X: FloatArray) -> list[FloatArray]:
        """Return each term's fixed inputs (see `FeatureMap.inputs`)."""
        return [term.feature_map.inputs(X) for term in self.kernel.terms]

    def _evidence(
        self, X: FloatArray, y: FloatArray
    ) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        """Return the negative log likelihood of the data, and its gradient, as a function."""
        return Evidence(self.kernel, X, y)

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
        evidence = self._evidence(X, y)

        def objective(theta: FloatArray) -> tuple[float, FloatArray]:
            try:
                value, gradient = evidence(theta)
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


def prior_mode(model: GaussianProcessModel) -> FloatArray:
    """Return the parameters at the mode of a model's Gaussian priors (a cold start)."""
    theta = np.empty(model.n_parameters)
    for term, part in zip(model.kernel.terms, model.kernel.slices, strict=True):
        assert isinstance(term.variance_prior, Gaussian)
        assert isinstance(term.map_prior, Gaussian)
        theta[part.start] = term.variance_prior.mean
        theta[part.start + 1 : part.stop] = term.map_prior.mean
    assert isinstance(model.noise_prior, Gaussian)
    theta[-1] = model.noise_prior.mean
    return theta
