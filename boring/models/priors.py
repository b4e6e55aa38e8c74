"""Priors on kernel parameters, as penalties: negative log densities without constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from boring.typing import FloatArray


class ParameterPrior(Protocol):
    """A penalty on a block of parameters."""

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log density, up to a constant, and its gradient."""
        ...


@dataclass(frozen=True)
class Flat:
    """No preference."""

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return zero and a zero gradient."""
        return 0.0, np.zeros_like(parameters)


FLAT = Flat()


@dataclass(frozen=True)
class Gaussian:
    """Independent normal densities; on a log parameter this is a log-normal prior.

    The density is that of the *log* parameter, so there is no Jacobian term: the mode
    is the same in whichever of the two forms one reads it.
    """

    mean: float
    sd: float

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return .5 sum ((p - mean)/sd)^2 and its gradient."""
        scaled = (parameters - self.mean) / self.sd
        return 0.5 * float(scaled @ scaled), scaled / self.sd


@dataclass(frozen=True)
class GaussianAbove(Gaussian):
    """Independent normal densities with a soft wall: hardly anything lies below the floor.

    The wall is a second normal density, of standard deviation ``wall`` around the floor, for
    parameters below it.
    """

    floor: float
    wall: float = 0.1

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the normal penalty plus .5 sum (min(p - floor, 0)/wall)^2, and its gradient."""
        value, gradient = super().penalty(parameters)
        below = np.minimum(parameters - self.floor, 0.0) / self.wall
        return value + 0.5 * float(below @ below), gradient + below / self.wall


@dataclass(frozen=True)
class Frobenius:
    """Penalty ``weight * |M|_F^2`` on a free factor.

    With weight .5 and M square it equals a nuclear norm on the metric M M', which is
    what lets a full-rank fit come out nearly low-rank.
    """

    weight: float

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return weight |M|^2 and its gradient."""
        return self.weight * float(parameters @ parameters), 2.0 * self.weight * parameters


@dataclass(frozen=True)
class LogSingularValues:
    """Normal density on the log singular values of a free factor M (D, rank).

    Invariant to rotations of the inputs and of the features, unlike a prior on entries.
    """

    rank: int
    center: float
    sd: float

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return .5 sum ((log s_i - log center)/sd)^2 and its gradient U diag(.) V'."""
        M = parameters.reshape(-1, self.rank)
        U, singular, Vt = np.linalg.svd(M, full_matrices=False)
        singular = np.maximum(singular, 1e-12)
        scaled = (np.log(singular) - np.log(self.center)) / self.sd
        gradient = (U * (scaled / (self.sd * singular))) @ Vt
        return 0.5 * float(scaled @ scaled), gradient.ravel()


def dimension_scaled(dim: int, center: float = 0.7, sd: float = 1.0) -> Gaussian:
    """Return a log-normal lengthscale prior that grows with the root of the dimension.

    Distances in [-1, 1]^D grow like sqrt(D); a prior that does not follow them makes
    the likelihood flat and the GP blind in high dimensions (Hvarfner et al. 2024).

    Parameters
    ----------
    dim : int
        Number of inputs of the term (D, or d for a term on Z = X W).
    center : float, default 0.7
        Median lengthscale is ``center * sqrt(dim)`` [chosen here; measured on embedded
        test functions].
    sd : float, default 1
        Standard deviation of the log lengthscale.

    Notes
    -----
    `hvarfner` gives the prior as that paper prints it.
    """
    return Gaussian(float(np.log(center) + 0.5 * np.log(dim)), sd)


def shared_lengthscale(dim: int) -> GaussianAbove:
    """Return the prior of one lengthscale that all inputs share, sure that it is not short.

    In many inputs nearly all distances are near .8 sqrt(D). A shared lengthscale far below says
    that no value tells of another: it is noise in disguise, but one that follows each ripple.

    Parameters
    ----------
    dim : int
        D.

    Notes
    -----
    `dimension_scaled` with a standard deviation of 1 / sqrt(D), .5 at the least, and a wall at
    .02 D, .1 sqrt(D) at the most [chosen here; measured in `boring.loop.portfolio`]. In one or
    two inputs it is next to `dimension_scaled`.
    """
    free = dimension_scaled(dim, sd=max(0.5, dim**-0.5))
    return GaussianAbove(free.mean, free.sd, float(np.log(min(0.02 * dim, 0.1 * dim**0.5))))


def hvarfner(dim: int) -> Gaussian:
    """Return the lengthscale prior of Hvarfner et al. (2024), their box rescaled to ours.

    Parameters
    ----------
    dim : int
        D.

    Notes
    -----
    Log-normal with location sqrt(2) + log(D)/2 (+ log 2 for [-1, 1]^D) and scale sqrt(3).
    The paper maximises the density of l, which differs from that of log l by the factor
    1/l; in the logarithm that factor moves the mode by minus the squared scale and leaves
    the scale.
    """
    location = np.sqrt(2.0) + 0.5 * np.log(dim) + np.log(2.0)
    scale = np.sqrt(3.0)
    return Gaussian(float(location - scale**2), float(scale))
