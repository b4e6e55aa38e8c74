"""Diffusion through a random medium: a partial differential equation of a hundred parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from boring.exceptions import UnknownNameError
from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem

__all__ = ["CORRELATION_LENGTHS", "EllipticEquation", "elliptic", "exponential_modes"]

N_TERMS = 100
"""Terms of the expansion (Tripathy et al. 2016): D."""

CORRELATION_LENGTHS = {"long": 1.0, "short": 0.01}
"""Of the logarithm of the coefficient, in sides of the square (Tripathy et al. 2016)."""

N_CELLS = 40
"""Square elements to a side; the shortest wave of the expansion has eight (chosen here)."""

HALF_SIDE = float(np.sqrt(3.0))
"""Of the box: a uniform variate has the variance of the source's normal one, 1 (chosen here)."""

_REFERENCE_STIFFNESS = (
    np.array([[4, -1, -2, -1], [-1, 4, -1, -2], [-2, -1, 4, -1], [-1, -2, -1, 4]]) / 6.0
)
"""Of the bilinear square element, corners in turn; it does not depend on the element's size."""


@dataclass(frozen=True, eq=False)
class _Mesh:
    """Square elements on the unit square, with u = 0 on three sides.

    ``stiffness @ a`` holds the entries of the stiffness matrix in the order of its pattern
    (``rows``, ``starts``) for coefficients a by element; ``corners`` (n_elements, 4) are unknowns,
    with one more, always zero, for the nodes where u is held.
    """

    corners: np.ndarray[Any, np.dtype[np.intp]]
    stiffness: Any
    rows: np.ndarray[Any, np.dtype[np.intp]]
    starts: np.ndarray[Any, np.dtype[np.intp]]
    load: FloatArray
    output: FloatArray


@dataclass(frozen=True, eq=False)
class EllipticEquation:
    """Mean over the right side of u, where ``-div(a grad u) = 1`` and ``log a = modes @ x``.

    u is 0 on the left, the lower and the upper side of the unit square, and the right side lets
    nothing through (zero normal derivative).

    Parameters
    ----------
    modes : ndarray, shape (n_cells^2, D)
        Terms of the expansion of log a in the middle of each element, times the root of their
        variance; elements in rows from the lower left, along the first axis first.
    n_cells : int
    """

    modes: FloatArray
    n_cells: int

    def value(self, X: FloatArray) -> FloatArray:
        """Return the means, shape (n,)."""
        mesh = _mesh(self.n_cells)
        return np.array([mesh.output @ self._solve(x)[0] for x in X], dtype=np.float64)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D), by the adjoint: one more solution for all of them."""
        return np.array([self._gradient(x) for x in X], dtype=np.float64).reshape(X.shape)

    def solution(self, x: FloatArray) -> FloatArray:
        """Return u at the nodes, shape (n_cells + 1, n_cells + 1), by row from below."""
        n = self.n_cells
        nodes = np.zeros((n + 1, n + 1))
        nodes[1:-1, 1:] = self._solve(x)[0].reshape(n - 1, n)
        return nodes

    def _solve(self, x: FloatArray) -> tuple[FloatArray, Any, FloatArray]:
        """Return u at the unknowns, the factorised stiffness matrix and the coefficients."""
        mesh = _mesh(self.n_cells)
        a = np.exp(self.modes @ x)
        size = len(mesh.load)
        K = csc_array((mesh.stiffness @ a, mesh.rows, mesh.starts), shape=(size, size))
        factor = splu(K, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        return factor.solve(mesh.load), factor, a

    def _gradient(self, x: FloatArray) -> FloatArray:
        mesh = _mesh(self.n_cells)
        u, factor, a = self._solve(x)
        adjoint = factor.solve(mesh.output)  # the stiffness matrix is its own transpose
        by_corner = (np.append(field, 0.0)[mesh.corners] for field in (adjoint, u))
        energy = np.einsum("ei,ij,ej->e", next(by_corner), _REFERENCE_STIFFNESS, next(by_corner))
        gradient: FloatArray = -(a * energy) @ self.modes
        return gradient


def elliptic(correlation: str) -> TestProblem:
    """Return the equation with a random coefficient, D = 100, minimised.

    The value is the mean of u over the right side of the square, 0.07 for a = 1; it is small where
    the medium conducts well towards the other sides. About 3 ms an evaluation, and as much a
    gradient, on one core.

    Parameters
    ----------
    correlation : {"long", "short"}
        Correlation length 1 or 0.01 sides of the square.

    Returns
    -------
    TestProblem
        No optimum and no exact active subspace is known, but one direction bears 99 per cent of
        the mean squared gradient with either correlation. With the long one log a has nearly its
        full variance of 1 and values range over a factor of ten and more; with the short one the
        hundred terms hold a few per cent of it, in nearly equal parts, and values range over a
        tenth around their mean.

    Raises
    ------
    UnknownNameError
        If there is no such correlation.

    Notes
    -----
    Source: Constantine, Dow and Wang (2014) and Tripathy, Bilionis and Gonzalez (2016):
    ``-div(a grad u) = 1`` on the unit square, u = 0 on the left, upper and lower side, nothing
    through the right one, ``log a`` a zero-mean Gaussian field with covariance
    ``exp(-|s - t|_1 / length)``, cut after the 100 largest terms of its Karhunen-Loeve expansion.
    Solved by bilinear finite elements, 40 x 40, the coefficient constant in each, by a sparse
    direct method.

    Deviation: the source draws the hundred variates from a normal distribution, to find the
    distribution of the value. Here they range over a box of the same variance, [-sqrt(3), sqrt(3)]
    each, and the value is to be made small.
    """
    if correlation not in CORRELATION_LENGTHS:
        raise UnknownNameError(
            f"correlation must be one of {', '.join(CORRELATION_LENGTHS)}; received "
            f"{correlation!r}."
        )
    formula = EllipticEquation(_modes(CORRELATION_LENGTHS[correlation], N_CELLS), N_CELLS)
    return TestProblem(
        name=f"elliptic-{correlation}-{N_TERMS}",
        space=Box(np.full(N_TERMS, -HALF_SIDE), np.full(N_TERMS, HALF_SIDE)),
        formula=formula,
    )


def exponential_modes(
    length: float, n_modes: int, points: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the Karhunen-Loeve expansion of the covariance ``exp(-|s - t| / length)`` on [0, 1].

    Parameters
    ----------
    length : float
    n_modes : int
    points : ndarray, shape (n,)

    Returns
    -------
    variances : ndarray, shape (n_modes,), decreasing
    functions : ndarray, shape (n, n_modes)
        At the points; each has square integral 1.

    Notes
    -----
    Ghanem and Spanos (1991), section 2.3: with c = 1 / length and w the roots of
    ``c = w tan(w / 2)`` (cosines around the middle) and ``w = -c tan(w / 2)`` (sines) in turn, the
    variances are ``2 c / (w^2 + c^2)``.
    """
    c, tiny = 1.0 / length, 1e-12
    variances, functions = np.empty(n_modes), np.empty((len(points), n_modes))
    for k in range(n_modes):
        low, high = k * np.pi + tiny, (k + 1) * np.pi - tiny
        if k % 2 == 0:
            w = brentq(lambda w: c * np.cos(w / 2) - w * np.sin(w / 2), low, high, xtol=1e-14)
            wave, square = np.cos(w * (points - 0.5)), 0.5 + np.sin(w) / (2.0 * w)
        else:
            w = brentq(lambda w: w * np.cos(w / 2) + c * np.sin(w / 2), low, high, xtol=1e-14)
            wave, square = np.sin(w * (points - 0.5)), 0.5 - np.sin(w) / (2.0 * w)
        variances[k] = 2.0 * c / (w**2 + c**2)
        functions[:, k] = wave / np.sqrt(square)
    return variances, functions


@lru_cache(maxsize=4)
def _modes(length: float, n_cells: int) -> FloatArray:
    """Return the terms on the square: products of two modes of the side, largest variance first."""
    centers = (np.arange(n_cells) + 0.5) / n_cells
    variances, functions = exponential_modes(length, N_TERMS, centers)
    # The product of two is among the N largest only if i j <= N, counted from 1.
    pairs = [(i, j) for i in range(N_TERMS) for j in range(N_TERMS // (i + 1))]
    pairs.sort(key=lambda pair: (-variances[pair[0]] * variances[pair[1]], pair))
    terms = [
        np.sqrt(variances[i] * variances[j]) * np.outer(functions[:, j], functions[:, i]).ravel()
        for i, j in pairs[:N_TERMS]
    ]
    modes = np.column_stack(terms)
    modes.flags.writeable = False
    return modes


@lru_cache(maxsize=8)
def _mesh(n: int) -> _Mesh:
    held = n * (n - 1)
    unknown = np.full((n + 1, n + 1), held)
    unknown[1:-1, 1:] = np.arange(held).reshape(n - 1, n)
    corners = np.stack(
        [unknown[:-1, :-1], unknown[:-1, 1:], unknown[1:, 1:], unknown[1:, :-1]], axis=-1
    ).reshape(-1, 4)
    i, j = (np.repeat(corners, 4, axis=1), np.tile(corners, (1, 4)))
    weight = np.broadcast_to(_REFERENCE_STIFFNESS.ravel(), i.shape)
    element = np.repeat(np.arange(n * n), 16).reshape(i.shape)
    free = (i < held) & (j < held)
    # Column by column, as a compressed matrix has them; equal places are added up.
    places, position = np.unique(j[free] * held + i[free], return_inverse=True)
    stiffness = csr_array((weight[free], (position, element[free])), shape=(len(places), n * n))
    columns = np.bincount(places // held, minlength=held)
    load, output = np.full((n - 1, n), 1.0 / n**2), np.zeros((n - 1, n))
    load[:, -1] /= 2.0
    output[:, -1] = 1.0 / n  # the trapezoidal rule is exact for the elements
    return _Mesh(
        corners=corners,
        stiffness=stiffness,
        rows=places % held,
        starts=np.concatenate(([0], np.cumsum(columns))),
        load=load.ravel(),
        output=output.ravel(),
    )
