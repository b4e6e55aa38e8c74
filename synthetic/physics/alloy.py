"""Mixtures of thirteen elements, and how their simplex is laid over a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem

__all__ = ["AlloyEnergy", "alloy", "fractions"]

N_ELEMENTS = 13
"""Components (Rana et al. 2017): D."""

EDGE = 1e-6
"""Distance of the box from 0 and from 1, where the map to the simplex is singular."""

COEFFICIENT_SEED = 13

PURE_STD = 1.0
REGULAR_STD = 6.0
SUBREGULAR_STD = 3.0
"""Standard deviations of the coefficients, in units of R T. With a regular coefficient above 2 a
pair of elements does not mix in every proportion (chosen here)."""


@dataclass(frozen=True, eq=False)
class AlloyEnergy:
    """Molar Gibbs energy of a solution, by R T, at coordinates u of the unit cube.

    ``sum_i p_i (g_i + log p_i) + sum_{i<j} p_i p_j (L_ij + M_ij (p_i - p_j))`` for the mole
    fractions ``p = fractions(u)``: the energies of the pure elements, the entropy of mixing,
    and an excess in the polynomials of Redlich and Kister (1948), two terms.

    Parameters
    ----------
    pure : ndarray, shape (k,)
        g.
    regular, subregular : ndarray, shape (k, k)
        L and M, above the diagonal.
    """

    pure: FloatArray
    regular: FloatArray
    subregular: FloatArray

    def value(self, X: FloatArray) -> FloatArray:
        """Return the energies, shape (n,)."""
        return self.of_fractions(fractions(X))

    def of_fractions(self, P: FloatArray) -> FloatArray:
        """Return the energies of mixtures given by their mole fractions, (n, k) -> (n,)."""
        ideal = P @ self.pure + xlogy(P, P).sum(axis=1)
        excess = np.einsum("ni,ij,nj->n", P, self.regular, P)
        excess += np.einsum("ni,ij,nj->n", P**2, self.subregular, P)
        excess -= np.einsum("ni,ij,nj->n", P, self.subregular, P**2)
        energies: FloatArray = ideal + excess
        return energies

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, k)."""
        P = fractions(X)
        L, M = self.regular, self.subregular
        by_fraction = self.pure + np.log(P) + 1.0 + P @ (L + L.T)
        by_fraction += 2.0 * P * (P @ M.T) + P**2 @ M - P**2 @ M.T - 2.0 * P * (P @ M)
        # p = e / sum e with e = -log(1 - u).
        total = -np.log1p(-X).sum(axis=1, keepdims=True)
        by_length = (by_fraction - (by_fraction * P).sum(axis=1, keepdims=True)) / total
        gradients: FloatArray = by_length / (1.0 - X)
        return gradients


def fractions(X: FloatArray) -> FloatArray:
    """Return the mole fractions that points of the open unit cube stand for.

    Parameters
    ----------
    X : ndarray, shape (n, k), in (0, 1)

    Returns
    -------
    ndarray, shape (n, k)
        Positive, each row with sum 1.

    Notes
    -----
    ``p_i = e_i / sum_j e_j`` with ``e_i = -log(1 - u_i)``. For u uniform in the cube the e are
    exponential, so p is uniform on the simplex (Devroye 1986, chapter V): no mixture is favoured
    by the map, and each element and each pair comes within reach, since an e ranges over seven
    decades. The price is one coordinate too many: scaling all e changes nothing.
    """
    lengths = -np.log1p(-X)
    P: FloatArray = lengths / lengths.sum(axis=1, keepdims=True)
    return P


def alloy() -> TestProblem:
    """Return the Gibbs energy of a mixture of thirteen elements, D = 13, minimised.

    Raw units: coordinates between 1e-6 and 1 - 1e-6, see :func:`fractions`. Units of y: R T by
    mole. Some 0.03 ms an evaluation. Pairs that do not mix make several basins; the optimum is
    not known.

    Notes
    -----
    Rana et al. (2017) design an alloy of thirteen elements with a commercial simulator and its
    data. Here the model of such simulators is kept, a solution with Redlich-Kister excess, one
    phase, and its coefficients are synthetic: independent normal numbers, always the same. No
    figure says anything of a real alloy.
    """
    rng = np.random.default_rng(COEFFICIENT_SEED)
    shape = (N_ELEMENTS, N_ELEMENTS)
    energy = AlloyEnergy(
        pure=PURE_STD * rng.standard_normal(N_ELEMENTS),
        regular=np.triu(REGULAR_STD * rng.standard_normal(shape), 1),
        subregular=np.triu(SUBREGULAR_STD * rng.standard_normal(shape), 1),
    )
    return TestProblem(
        name=f"alloy-{N_ELEMENTS}",
        space=Box(np.full(N_ELEMENTS, EDGE), np.full(N_ELEMENTS, 1.0 - EDGE)),
        formula=energy,
    )
