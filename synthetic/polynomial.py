"""A problem whose hidden directions are linear in squares of the inputs (thesis 5.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.subspace.stiefel import is_orthonormal, random_frame
from boring.typing import FloatArray, SeedLike

from .base import Formula, TestProblem, check_problem

__all__ = ["PolynomialInput"]

POLYNOMIAL_OFFSETS = (-0.1, 0.1)
"""The constants x_0 and x_1 of thesis eq. 5.1, which gives no numbers (chosen here)."""

ANCHOR_HALF_WIDTH = 0.5
"""The optimiser is drawn uniformly from this part of the cube (chosen here)."""


@dataclass(frozen=True, eq=False)
class _SquaredInput:
    """``inner(origin + stretch * (W' features(x)))``."""

    inner: Formula
    basis: FloatArray  # W (k D, d)
    offsets: FloatArray  # (k, D)
    origin: FloatArray  # (d,)
    stretch: FloatArray  # (d,)

    def features(self, X: FloatArray) -> FloatArray:
        squares: FloatArray = (X[:, np.newaxis] - self.offsets) ** 2
        return squares.reshape(len(X), -1)

    def value(self, X: FloatArray) -> FloatArray:
        return self.inner.value(self._lift(X))

    def gradient(self, X: FloatArray) -> FloatArray:
        slopes = (self.inner.gradient(self._lift(X)) * self.stretch) @ self.basis.T
        chain = 2.0 * (X[:, np.newaxis] - self.offsets)
        gradients: FloatArray = (slopes.reshape(chain.shape) * chain).sum(axis=1)
        return gradients

    def _lift(self, X: FloatArray) -> FloatArray:
        lifted: FloatArray = self.origin + self.stretch * (self.features(X) @ self.basis)
        return lifted


class PolynomialInput(TestProblem):
    """A function of d projections of squared inputs: ``g(W'[(x - x_0)^2; (x - x_1)^2])``.

    Parameters
    ----------
    inner : TestProblem
        g, on a box of d variables.
    dim : int
        Number D of inputs x in [-1, 1]^D.
    offsets : sequence of k entries, each a float or of shape (D,), default (-0.1, 0.1)
        The constants x_0, x_1, ...
    seed : int, SeedSequence or None
        Draws W, unless it is given, and then the anchor, unless it is given.
    basis : array_like of shape (k D, d), optional
        W itself, with orthonormal columns, in the order of :meth:`features`.
    anchor : array_like of shape (D,), optional
        Where the optimum shall be.
    name : str, optional

    Raises
    ------
    InvalidInputError
        If a shape does not fit, W is not orthonormal or the anchor is outside the cube.

    Notes
    -----
    Source: thesis eq. 5.1. The half-width of g's box is one unit of a projection. Where an optimum
    of a quadratic map lies is not plain, so g is translated: the anchor's features are mapped onto
    g's first optimiser, which makes the anchor an optimiser, reachable by construction. Its value
    is the optimum if that holds outside g's box. Without an optimiser of g nothing is translated
    and nothing is declared.

    There is no active subspace in x (``true_basis`` is None); ``feature_basis`` is the one in the
    features, and ``monomial_basis`` the same map in the monomials ``[x^2; x]``.
    """

    inner: TestProblem
    formula: _SquaredInput

    def __init__(
        self,
        inner: TestProblem,
        dim: int,
        *,
        offsets: Sequence[ArrayLike] = POLYNOMIAL_OFFSETS,
        seed: SeedLike = None,
        basis: ArrayLike | None = None,
        anchor: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        check_problem(inner)
        rng = np.random.default_rng(seed)
        try:
            constants = np.array([np.broadcast_to(o, (dim,)) for o in offsets], dtype=np.float64)
        except ValueError as error:
            raise InvalidInputError(
                f"Each offset must be a number or have shape ({dim},); received {offsets!r}."
            ) from error
        n_features = constants.size
        W = (
            random_frame(n_features, inner.dim, rng)
            if basis is None
            else np.array(basis, dtype=np.float64)
        )
        if W.shape != (n_features, inner.dim) or not is_orthonormal(W):
            raise InvalidInputError(
                f"basis must have shape ({n_features}, {inner.dim}) and orthonormal columns; "
                f"received shape {W.shape}."
            )
        drawn = rng.uniform(-ANCHOR_HALF_WIDTH, ANCHOR_HALF_WIDTH, size=dim)
        best = drawn if anchor is None else np.array(anchor, dtype=np.float64)
        if best.shape != (dim,) or not np.all(np.abs(best) <= 1.0):
            raise InvalidInputError(
                f"anchor must have shape ({dim},) and lie in [-1, 1]; received {anchor!r}."
            )
        stretch = 0.5 * inner.space.width
        origin = 0.5 * (inner.space.lower + inner.space.upper)
        if inner.optimizers is not None:
            projected = ((best - constants) ** 2).ravel() @ W
            origin = inner.optimizers[0] - stretch * projected
        known = inner.optimizers is not None and inner.holds_outside
        super().__init__(
            name=name or f"{inner.name}-polynomial-in-{dim}",
            space=Box(-np.ones(dim), np.ones(dim)),
            formula=_SquaredInput(inner.formula, W, constants, origin, stretch),
            direction=inner.direction,
            optimum=inner.optimum if known else None,
            optimizers=best[np.newaxis] if known else None,
            holds_outside=known,
            noise_std=inner.noise_std,
        )
        object.__setattr__(self, "inner", inner)

    @property
    def feature_basis(self) -> FloatArray:
        """W, shape (k D, d)."""
        return self.formula.basis

    @property
    def monomial_basis(self) -> FloatArray:
        """Coefficients of ``[x_1^2 ... x_D^2, x_1 ... x_D]``, shape (2 D, d), without constants."""
        k, dim = self.formula.offsets.shape
        blocks = self.formula.basis.reshape(k, dim, -1)
        linear = -2.0 * self.formula.offsets[:, :, np.newaxis] * blocks
        return np.vstack((blocks.sum(axis=0), linear.sum(axis=0)))

    def features(self, X: ArrayLike) -> FloatArray:
        """Return ``[(x - x_0)^2, (x - x_1)^2, ...]``, shape (n, k D), of points (n, D)."""
        points, _ = self._points(X, "X")
        return self.formula.features(points)
