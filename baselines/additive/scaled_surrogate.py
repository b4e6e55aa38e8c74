"""A surrogate in the units of the values, around a Gaussian process in standardised ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from boring.models.posterior import GaussianProcess
from boring.typing import FloatArray
from boring.validation import as_points, as_values
from boring.warping import standardized

__all__ = ["ScaledSurrogate"]


class ScaledSurrogate(ABC):
    """Base of the models of this package; keeps :class:`boring.models.base.Surrogate`.

    Attributes
    ----------
    posterior : GaussianProcess
        In standardised values; after :meth:`fit`.
    """

    posterior: GaussianProcess

    @abstractmethod
    def _fit(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> GaussianProcess:
        """Return the posterior given X (n, D) and standardised y (n,)."""

    def fit(self, X: FloatArray, y: FloatArray, *, rng: np.random.Generator) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : ndarray, shape (n, D), scaled units
        y : ndarray, shape (n,)
            Finite, in any unit.
        rng : numpy.random.Generator
            Consumed.

        Raises
        ------
        InvalidInputError
            If shapes disagree or a coordinate is not finite.
        """
        points = as_points(X, np.shape(X)[-1], "X")
        values, self._units = standardized(as_values(y, len(points), "y"))
        self.posterior = self._fit(points, values, rng)
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean (m,), units of y, and variance (m,), squared, of f at X (m, D)."""
        mean, variance = self.posterior.predict(X)
        return self._units.values(mean), self._units.variances(variance)
