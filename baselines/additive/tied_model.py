"""A Gaussian process whose parameters are an affine function of fewer ones.

Additive models of the literature share lengthscales and variances among their terms, and
stagewise ones hold some terms fixed. Both are theta = base + T u: u is fitted, theta belongs to
the kernel, and the gradient in u is T' times the one in theta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import FLAT, ParameterPrior
from boring.typing import FloatArray

__all__ = ["BlockPrior", "TiedModel"]

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class BlockPrior:
    """A prior for each of consecutive blocks of parameters.

    Parameters
    ----------
    blocks : sequence of (int, ParameterPrior)
        Length of each block and its prior.
    """

    blocks: Sequence[tuple[int, ParameterPrior]]

    def penalty(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log density, up to a constant, and its gradient."""
        total, start = 0.0, 0
        gradient = np.empty_like(parameters)
        for length, prior in self.blocks:
            part = slice(start, start + length)
            value, gradient[part] = prior.penalty(parameters[part])
            total, start = total + value, start + length
        return total, gradient


@dataclass(frozen=True, eq=False)
class TiedModel(GaussianProcessModel):
    """A model with parameters u, of which the kernel's are theta = base + T u.

    Parameters
    ----------
    kernel, noise_prior, noise_bounds
        As for :class:`boring.models.gp.GaussianProcessModel`. Priors of the kernel and of its
        noise must be flat: ``prior`` is the one that counts.
    base : ndarray, shape (P,)
    tie : ndarray, shape (P, p)
        T.
    prior : ParameterPrior
        On u.
    tied_bounds : sequence of (low, high)
        Of u, for L-BFGS-B.
    """

    base: FloatArray = field(kw_only=True)
    tie: FloatArray = field(kw_only=True)
    prior: ParameterPrior = field(kw_only=True)
    tied_bounds: Sequence[Bounds] = field(kw_only=True)

    @property
    def n_parameters(self) -> int:
        """Length of u."""
        return int(self.tie.shape[1])

    @property
    def bounds(self) -> list[Bounds]:
        """Bounds of u."""
        return list(self.tied_bounds)

    def theta(self, tied: FloatArray) -> FloatArray:
        """Return the parameters of kernel and noise, shape (P,), for u, shape (p,)."""
        return np.asarray(self.base + self.tie @ tied)

    def penalty(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log prior of u, up to a constant, and its gradient."""
        return self.prior.penalty(theta)

    def _evidence(
        self, X: FloatArray, y: FloatArray
    ) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        evidence = super()._evidence(X, y)

        def tied_evidence(tied: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = evidence(self.theta(tied))
            return value, np.asarray(self.tie.T @ gradient)

        return tied_evidence

    def condition(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> GaussianProcess:
        """Return the posterior at u; its ``theta`` are the kernel's own parameters."""
        free = GaussianProcessModel(self.kernel, FLAT, self.noise_bounds)
        return free.condition(self.theta(theta), X, y)
