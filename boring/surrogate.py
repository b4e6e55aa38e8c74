"""The surrogate that a user asks: a model of the objective in the caller's units and sign.

An algorithm sees scaled inputs and standardised values of which larger is better.
`ObjectivePosterior` is any posterior of these as a model of the objective, and
`ObjectiveProcess` a Gaussian process; see :class:`boring.models.base.ObjectiveSurrogate`.

The default loop works on warped values, in which "how much" is lost. `ObjectiveModel` is fitted
to the plain values, and is the one to plot, to slice and to predict with. Without a subspace that
is believed in it has one lengthscale, or one for each input where the values plainly say so: of 20
inputs of which three matter, 80 values near the optimum, one lengthscale is off by .95 at random
points, its own standard deviation being .56, and lengthscales of their own by .2.

Points of an optimisation crowd around an optimum, predict one another well, and hide how little
they tell of the rest of the box. So the variances of `ObjectiveModel` are inflated by what the most
spread third of the points shows, each predicted from all the others. At random points of the box
after runs (23, on eleven functions of 5 to 25 inputs) the intervals of 90 per cent then hold .81
instead of .75 (fewest on the camelback, .70 instead of .58), and the median log density is
-2.1 nats instead of -2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boring.data import Observations
from boring.loop.portfolio import iso_model
from boring.loop.subspace_turn import factor_start, subspace_model
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.plain import plain_model
from boring.models.posterior import GaussianProcess
from boring.result import sign_of
from boring.sample import sample, spread_out
from boring.space import Box
from boring.typing import FloatArray
from boring.validation import as_points, as_values
from boring.warping import LARGEST, Units, restore, standardized

if TYPE_CHECKING:
    from boring.optimizer import Optimizer

__all__ = [
    "ObjectiveModel",
    "ObjectivePosterior",
    "ObjectiveProcess",
    "fit_objective_model",
    "model_of_points",
]

FIT_ITERATIONS = 60

FEWEST_SPREAD = 8
"""Points, spread most, that tell how wide intervals have to be, or a third of all (chosen here)."""

PLAINLY = 10.0
"""Nats of log posterior density by which lengthscales of their own must lead a shared one."""


class Predictor(Protocol):
    """A posterior of standardised values at scaled inputs."""

    def predict(self, X: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance, each (m,), at X (m, D)."""
        ...


PosteriorT = TypeVar("PosteriorT", bound=Predictor)


class ObjectivePosterior(Generic[PosteriorT]):
    """A posterior on scaled inputs and standardised values, as a model of the objective.

    Parameters
    ----------
    space : Box
        Between raw inputs and scaled ones.
    posterior : object with ``predict``
        On scaled inputs and standardised values.
    units : Units
        Between these values and the caller's.
    """

    def __init__(self, space: Box, posterior: PosteriorT, units: Units) -> None:
        self.space = space
        self.posterior = posterior
        self.units = units

    @classmethod
    def of(
        cls, optimizer: Optimizer, condition: Callable[[FloatArray, FloatArray], PosteriorT]
    ) -> Self | None:
        """Return what an optimiser's data say; None without two different finite values.

        Parameters
        ----------
        optimizer : Optimizer
        condition : callable
            Takes X (n, D), scaled, and standardised y (n,), larger is better; returns the
            posterior. Values are those of the objective, whatever constraints say.
        """
        data = optimizer.observed
        if not data.is_informative:
            return None
        values, units = standardized(data.finite_y, sign_of(optimizer.direction))
        return cls(optimizer.space, condition(data.finite_X, values), units)

    def predict(self, X: ArrayLike, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the objective without noise.

        Parameters
        ----------
        X : array_like, shape (m, D) or (D,), raw units

        Returns
        -------
        mean : ndarray, shape (m,), caller's units and sign
        variance : ndarray, shape (m,), caller's units squared
        """
        mean, variance = self._standardised(X)
        return self.units.values(mean), self.units.variances(variance)

    def predict_with_sd(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation, as `predict` does mean and variance.

        Of values beyond 1e154 the variance is no float, and the standard deviation is one.
        """
        mean, variance = self._standardised(X)
        return self.units.values(mean), self.units.deviations(variance)

    def _standardised(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        return self.posterior.predict(self._scaled(X))

    def _scaled(self, X: ArrayLike) -> FloatArray:
        return self.space.scale(as_points(X, self.space.dim, "X"))


class ObjectiveProcess(ObjectivePosterior[GaussianProcess]):
    """A Gaussian process as a model of the objective, with its components and its noise.

    Parameters are those of `ObjectivePosterior`.
    """

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
        return self.units.differences(means), self.units.variances(variances)

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components."""
        return self.posterior.model.kernel.component_names

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise, caller's units."""
        return float(self.units.deviations(np.asarray(self.posterior.noise_variance)))


class ObjectiveModel(ObjectiveProcess):
    """A GP that is fitted to the objective, in raw inputs and the caller's units.

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
    sign : float, default 1.0
        +1 if larger values are better, -1 otherwise: of more than 500 points, hyperparameters are
        fitted to the best and some others (`boring.sample`).

    Attributes
    ----------
    posterior : GaussianProcess
        On scaled inputs and standardised values; after `fit`.
    units : Units
        Between these values and the caller's; after `fit`.
    loss : float
        Negative log posterior density of the parameters, up to the priors' constants; after `fit`.
    """

    def __init__(
        self,
        space: Box,
        model: GaussianProcessModel,
        starts: list[FloatArray],
        noise_std: float | None = None,
        sign: float = 1.0,
    ) -> None:
        self.space = space
        self.model = model
        self._starts = starts
        self._known_noise = noise_std
        self._sign = sign
        self._best: int | None = None

    @cached_property
    def inflation(self) -> float:
        """Factor on the variances, at least 1: by how much values far apart miss predictions.

        1 of a posterior that was not fitted here. Worked out when it is first asked for.
        """
        if self._best is None:
            return 1.0
        n = len(self.posterior.y)
        rows = spread_out(self.posterior.X, self._best, max(FEWEST_SPREAD, n // 3))
        mean, variance = self.posterior.predict_left_out()
        return max(1.0, float(np.mean(((self.posterior.y - mean) ** 2 / variance)[rows])))

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
        values, self.units = standardized(as_values(y, len(points), "y"))
        model = self.model
        if self._known_noise is not None:
            moderate = float(restore(np.asarray(self._known_noise), -self.units.exponent))
            model = model.with_noise(min(moderate / self.units.spread, LARGEST) ** 2)
        rows = sample(self._sign * values)
        fit = model.fit_best(
            points[rows], values[rows], self._starts, max_iterations=FIT_ITERATIONS
        )
        self.posterior = model.condition(fit.theta, points, values)
        self._best = int(np.argmax(self._sign * values))
        self.__dict__.pop("inflation", None)
        self.loss = float(fit.value)
        return self

    def _standardised(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance, inflated by what values far apart have shown."""
        mean, variance = super()._standardised(X)
        return mean, self.inflation * variance

    def components(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the components' means and variances, these inflated, too."""
        means, variances = super().components(X)
        return means, self.inflation * variances


def model_of_points(
    space: Box,
    X: ArrayLike,
    y: ArrayLike,
    factor: FloatArray | None = None,
    noise_std: float | None = None,
    sign: float = 1.0,
) -> ObjectiveModel:
    """Return the model of points: along a subspace, or of whichever lengthscales explain them.

    Parameters
    ----------
    space : Box
    X : array_like, shape (n, D), raw units
    y : array_like, shape (n,)
        Finite, caller's units.
    factor : ndarray, shape (D, d), optional
        Of a subspace that is believed in: an active term plus rest, fitted from it. None: one
        lengthscale, or one for each input if that is likelier by `PLAINLY`.
    noise_std : float, optional
        Known standard deviation of the noise, caller's units; None learns it.
    sign : float, default 1.0
        +1 if larger values are better, -1 otherwise; see `ObjectiveModel`.
    """

    def fitted(model: GaussianProcessModel, start: FloatArray) -> ObjectiveModel:
        return ObjectiveModel(space, model, [start], noise_std, sign).fit(X, y)

    if factor is not None:
        return fitted(subspace_model(*factor.shape), factor_start(factor))
    iso, plain = iso_model(space.dim, len(np.asarray(y))), plain_model(space.dim)
    shared = fitted(iso, prior_mode(iso))
    if space.dim == 1:
        return shared
    each = fitted(plain, prior_mode(plain))
    return each if each.loss < shared.loss - PLAINLY else shared


def fit_objective_model(
    space: Box,
    sign: float,
    data: Observations,
    factor: FloatArray | None = None,
    noise_std: float | None = None,
) -> ObjectiveModel:
    """Return the model of all finite data; see `model_of_points`.

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
    X, y = space.unscale(data.finite_X), sign * data.finite_y
    return model_of_points(space, X, y, factor, noise_std, sign)
