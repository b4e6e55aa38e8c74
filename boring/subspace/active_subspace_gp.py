"""The Gaussian process with a built-in projection as a model on its own.

Tripathy, Bilionis & Gonzalez (2016): f(x) = g(W'x), g a GP with Matern-3/2 kernel and one
lengthscale for each column of W, everything by maximum likelihood, d by BIC [thesis eq. 2.4,
2.5, 2.13 corrected]. `boring.models.propagation` derives the moments of f under an uncertain
input [thesis eq. 2.1 to 2.3].
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import BoringError
from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import ProjectedArd
from boring.kernels.profiles import MATERN32, RadialProfile, get_profile
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.subspace.checks import checked_data, checked_dim, checked_points, standardized
from boring.subspace.dimension import DimensionRow, default_max_effective_dim
from boring.subspace.tripathy import (
    N_RESTARTS,
    TripathyOptions,
    TripathySubspace,
    tripathy_by_bic,
    tripathy_subspace,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import in_squared_units

__all__ = ["ActiveSubspaceGP", "posterior_of"]


def posterior_of(
    learned: TripathySubspace, X: FloatArray, y: FloatArray, profile: RadialProfile
) -> GaussianProcess:
    """Return the GP at the learned parameters, given X (n, D) and standardised y (n,)."""
    kernel = AdditiveKernel([KernelTerm(profile, ProjectedArd(learned.active_basis), "active")])
    scales = [learned.signal_variance, *learned.lengthscales, learned.noise_variance]
    theta = np.log(np.array(scales))
    return GaussianProcessModel(kernel).condition(theta, X, y)


class ActiveSubspaceGP:
    """A surrogate that learns its own active subspace.

    Parameters
    ----------
    effective_dim : int, optional
        d; None chooses it by BIC.
    max_effective_dim : int, optional
        Largest d that BIC may choose; default min(6, D, n - 2).
    kernel : str or RadialProfile, default Matern-3/2
        "squared-exponential" lets normal inputs be propagated in closed form.
    n_restarts : int, default 30
        Random starts for each d.
    options : TripathyOptions, optional

    Attributes
    ----------
    learned : TripathySubspace
        W and the hyperparameters, y standardised; after `fit`.
    dimension_table : tuple of DimensionRow
        BIC of each d tried; empty if d was given.
    posterior : GaussianProcess
        Of standardised values.
    center, spread : float
        y = center + spread * standardised.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (40, 5))
    >>> model = ActiveSubspaceGP(n_restarts=5).fit(X, np.sin(2 * X @ [0.6, 0.8, 0, 0, 0]), rng=rng)
    >>> model.active_basis.shape
    (5, 1)
    """

    learned: TripathySubspace
    posterior: GaussianProcess
    dimension_table: tuple[DimensionRow, ...]
    center: float
    spread: float

    def __init__(
        self,
        effective_dim: int | None = None,
        *,
        max_effective_dim: int | None = None,
        kernel: str | RadialProfile = MATERN32,
        n_restarts: int = N_RESTARTS,
        options: TripathyOptions | None = None,
    ) -> None:
        self.profile = get_profile(kernel)
        self._effective_dim = effective_dim
        self._max_effective_dim = max_effective_dim
        self._n_restarts = as_positive_int(n_restarts, "n_restarts")
        self._options = options or TripathyOptions(basis_method="cayley")

    def fit(self, X: ArrayLike, y: ArrayLike, *, rng: np.random.Generator) -> Self:
        """Learn d, W and the hyperparameters.

        Parameters
        ----------
        X : array_like, shape (n, D), scaled units in [-1, 1]
        y : array_like, shape (n,), any unit
        rng : numpy.random.Generator
            Consumed, for the starts.

        Returns
        -------
        Self

        Raises
        ------
        InvalidInputError
            If shapes disagree, X leaves the cube, y is constant or d > D.
        FitError
            If every restart failed.
        """
        inputs, values = checked_data(X, y, None)
        n, dim = inputs.shape
        d = checked_dim(self._effective_dim, "effective_dim", n, dim)
        top = checked_dim(self._max_effective_dim, "max_effective_dim", n, dim)
        standard, self.center, self.spread = standardized(values)
        if d is None:
            self.learned, self.dimension_table = tripathy_by_bic(
                inputs,
                standard,
                top or default_max_effective_dim(dim, n),
                rng=rng,
                n_restarts=self._n_restarts,
                profile=self.profile,
                options=self._options,
            )
        else:
            self.dimension_table = ()
            self.learned = tripathy_subspace(
                inputs,
                standard,
                d,
                rng=rng,
                n_restarts=self._n_restarts,
                profile=self.profile,
                options=self._options,
            )
        self.posterior = posterior_of(self.learned, inputs, standard, self.profile)
        return self

    @property
    def active_basis(self) -> FloatArray:
        """W, shape (D, d), orthonormal, the shortest lengthscale first."""
        return self._fitted.active_basis

    @property
    def noise_variance(self) -> float:
        """Noise variance in units of y squared."""
        return float(in_squared_units(self._fitted.noise_variance, self.spread))

    def predict(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f (without noise), each (m,), in the caller's units.

        Parameters
        ----------
        X : array_like, shape (m, D), scaled units
        """
        points = checked_points(X, len(self.active_basis))
        mean, variance = self.posterior.predict(points)
        return self.center + self.spread * mean, in_squared_units(variance, self.spread)

    def predict_with_gradient(
        self, X: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean (m,), variance (m,) and their gradients (m, D), in the caller's units.

        Parameters
        ----------
        X : array_like, shape (m, D), scaled units
        """
        points = checked_points(X, len(self.active_basis))
        mean, variance, mean_slope, variance_slope = self.posterior.predict_with_gradient(points)
        return (
            self.center + self.spread * mean,
            in_squared_units(variance, self.spread),
            self.spread * mean_slope,
            in_squared_units(variance_slope, self.spread),
        )

    @property
    def _fitted(self) -> TripathySubspace:
        if not hasattr(self, "learned"):
            raise BoringError("the model has not seen data yet: call fit(X, y, rng=...) first.")
        return self.learned
