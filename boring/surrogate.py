"""The surrogate that a user asks: a GP of the objective in the caller's units and sign.

The loop itself works on warped values, in which "how much" is lost. This model is fitted
to the plain values, and is the one to plot, to slice and to predict with.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from boring.data import Observations
from boring.loop.portfolio import iso_model, prior_mode
from boring.loop.subspace_turn import factor_start, subspace_model
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.space import Box
from boring.typing import FloatArray
from boring.validation import as_points, as_values
from boring.warping import LARGEST, moderate, restore

FIT_ITERATIONS = 60


class ObjectiveModel:
    """A fitted GP of the objective, in raw inputs and the caller's units.

    Parameters
    ----------
    space : Box
        Between raw inputs and the scaled ones of the GP.
    model : GaussianProcessModel
        Prior on standardised values.
    starts : sequence of ndarray
        Parameters from which the fit starts; the best end wins.
    noise_std : float, optional
        Known standard deviation of the noise, caller's units; None learns it.

    Attributes
    ----------
    posterior : GaussianProcess
        On scaled inputs and standardised values; after `fit`.
    """

    posterior: GaussianProcess

    def __init__(
        self,
        space: Box,
        model: GaussianProcessModel,
        starts: list[FloatArray],
        noise_std: float | None = None,
    ) -> None:
        self.space = space
        self.model = model
        self._starts = starts
        self._known_noise = noise_std
        self._center = 0.0
        self._spread = 1.0
        self._exponent = 0

    def fit(self, X: ArrayLike, y: ArrayLike, *, rng: np.random.Generator | None = None) -> Self:
        """Fit to points X (n, D), raw units, and finite values y (n,), caller's units.

        Parameters
        ----------
        X : array_like, shape (n, D), raw units
        y : array_like, shape (n,)
        rng : numpy.random.Generator, optional
            Not used: the fit is deterministic.
        """
        points = self.space.scale(as_points(X, self.space.dim, "X"))
        values, self._exponent = moderate(as_values(y, len(points), "y"))
        self._center, self._spread = float(values.mean()), float(values.std()) or 1.0
        standardised = (values - self._center) / self._spread
        model = self.model
        if self._known_noise is not None:
            known = float(restore(np.asarray(self._known_noise), -self._exponent)) / self._spread
            model = model.with_noise(min(known, LARGEST) ** 2)
        fit = model.fit_best(points, standardised, self._starts, max_iterations=FIT_ITERATIONS)
        self.posterior = model.condition(fit.theta, points, standardised)
        return self

    def predict(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the objective without noise.

        Parameters
        ----------
        X : array_like, shape (m, D) or (D,), raw units

        Returns
        -------
        mean : ndarray, shape (m,), caller's units
        variance : ndarray, shape (m,), caller's units squared
        """
        mean, variance = self.posterior.predict(self._scaled(X))
        return self._raw(self._center + self._spread * mean), self._raw_squared(variance)

    def components(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the components' means and variances [thesis eq. 4.4, 4.5].

        Parameters
        ----------
        X : array_like, shape (m, D), raw units

        Returns
        -------
        means, variances : ndarray, shape (m, J)
            In the order of ``component_names``; the means sum to the full mean less the
            average of the data.
        """
        means, variances = self.posterior.components(self._scaled(X))
        return self._raw(self._spread * means), self._raw_squared(variances)

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components."""
        return self.model.kernel.component_names

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise, caller's units."""
        return float(self._raw(self._spread * np.sqrt(self.posterior.noise_variance)))

    @property
    def spread(self) -> float:
        """What one unit of ``posterior`` is in the caller's units."""
        return float(self._raw(np.asarray(self._spread)))

    def _raw(self, values: FloatArray) -> FloatArray:
        return restore(values, self._exponent)

    def _raw_squared(self, variances: FloatArray) -> FloatArray:
        return restore(self._spread**2 * variances, 2 * self._exponent)

    def _scaled(self, X: ArrayLike) -> FloatArray:
        return self.space.scale(as_points(X, self.space.dim, "X"))


def fit_objective_model(
    space: Box,
    sign: float,
    data: Observations,
    factor: FloatArray | None = None,
    noise_std: float | None = None,
) -> ObjectiveModel:
    """Return a model of all finite data: active term plus rest, if there is a subspace.

    Parameters
    ----------
    space : Box
    sign : float
        +1 if the caller maximises, -1 otherwise.
    data : Observations
        Scaled points; values of which larger is better.
    factor : ndarray, shape (D, d), optional
        Of a subspace that is believed in; the fit starts from it.
    noise_std : float, optional
        Known standard deviation of the noise, caller's units; None learns it.
    """
    dim = space.dim
    if factor is not None:
        model, starts = subspace_model(*factor.shape), [factor_start(factor)]
    else:
        model = iso_model(dim)
        starts = [prior_mode(model)]
    return ObjectiveModel(space, model, starts, noise_std).fit(
        space.unscale(data.finite_X), sign * data.finite_y
    )
