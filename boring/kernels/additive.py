"""The additive kernel k = c + sum_t s2_t k_t(|z_t - z_t'|) [thesis Sec. 4.1].

BORING's model is one active term on Z = X W plus q one-dimensional passive terms, each
with its own variance and lengthscale. A plain GP is the case of a single term.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from boring.kernels.maps import FeatureMap, Projected, ProjectedArd
from boring.kernels.profiles import RadialProfile
from boring.models.priors import FLAT, ParameterPrior
from boring.typing import FloatArray

# Bounds on a term's log variance, y standardised [chosen here].
LOG_VARIANCE_BOUNDS = (-8.0, 6.0)
# Entries of a matrix (n, n) that are worked on at a time: temporaries of them stay in the cache,
# and come from memory that the process has already (at n = 500 a third of a likelihood's time
# was the operating system's).
BLOCK_ENTRIES = 16384


@dataclass(frozen=True, eq=False)
class KernelTerm:
    """One summand: a variance times a radial profile of linear features.

    Attributes
    ----------
    profile : RadialProfile
    feature_map : FeatureMap
    name : str
        Shown in reports of the components, e.g. "active" or "passive 3".
    variance_prior, map_prior : ParameterPrior
        Priors of the log variance and of the map's parameters.
    """

    profile: RadialProfile
    feature_map: FeatureMap
    name: str = "term"
    variance_prior: ParameterPrior = FLAT
    map_prior: ParameterPrior = FLAT
    variance_bounds: tuple[float, float] = LOG_VARIANCE_BOUNDS

    @property
    def n_parameters(self) -> int:
        """Log variance and the map's parameters."""
        return 1 + self.feature_map.n_parameters


@dataclass(frozen=True, eq=False)
class AdditiveKernel:
    """A constant plus a sum of terms.

    Parameters
    ----------
    terms : sequence of KernelTerm
    constant_variance : float, default 0
        Prior variance of an unknown constant mean, in units of y squared.

    Notes
    -----
    The parameter vector holds, term after term, the log variance and then the map's
    parameters.
    """

    terms: Sequence[KernelTerm]
    constant_variance: float = 0.0
    slices: tuple[slice, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ends = np.cumsum([0, *(term.n_parameters for term in self.terms)])
        slices = tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
        object.__setattr__(self, "slices", slices)

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        return int(self.slices[-1].stop)

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, the constant last when there is one."""
        names = tuple(term.name for term in self.terms)
        return (*names, "constant") if self.constant_variance > 0 else names

    def split(self, theta: FloatArray) -> list[tuple[KernelTerm, float, FloatArray]]:
        """Return ``(term, variance, map parameters)`` for every term."""
        return [
            (term, float(np.exp(theta[part.start])), theta[part.start + 1 : part.stop])
            for term, part in zip(self.terms, self.slices, strict=True)
        ]

    def matrix(self, theta: FloatArray, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return K(X, Y), shape (n, m); ``Y=None`` means K(X, X)."""
        total: FloatArray | None = None
        for term, variance, parameters in self.split(theta):
            part = variance * term.profile.value(self._distances(term, parameters, X, Y))
            total = part if total is None else total + part
        assert total is not None
        return total + self.constant_variance

    def total_variance(self, theta: FloatArray) -> float:
        """Return k(x, x), the same for all x."""
        variances = (variance for _, variance, _ in self.split(theta))
        return float(sum(variances) + self.constant_variance)

    @staticmethod
    def _distances(
        term: KernelTerm, parameters: FloatArray, X: FloatArray, Y: FloatArray | None
    ) -> FloatArray:
        left = term.feature_map.features(term.feature_map.inputs(X), parameters)
        if Y is None:
            return squared_distances(left)
        right = term.feature_map.features(term.feature_map.inputs(Y), parameters)
        return cross_squared_distances(left, right)


def row_blocks(n: int) -> list[slice]:
    """Return slices of the rows of a matrix (n, n), about `BLOCK_ENTRIES` entries each."""
    step = max(1, BLOCK_ENTRIES // max(n, 1))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def squared_distances(Z: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return |z_i - z_j|^2 for all rows of Z (n, k), in ``out`` (n, n) if there is one.

    Symmetric to the last bit, with a zero diagonal.
    """
    products: FloatArray = np.matmul(Z, Z.T, out=out)
    norms = products.diagonal().copy()
    products *= -2.0
    for rows in row_blocks(len(Z)):
        products[rows] += np.add.outer(norms[rows], norms)
    np.maximum(products, 0.0, out=products)
    products.flat[:: len(Z) + 1] = 0.0
    return products


def cross_squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return |a_i - b_j|^2 for rows of ``left`` (n, k) and ``right`` (m, k)."""
    products: FloatArray = left @ right.T
    products *= -2.0
    products += np.einsum("ij,ij->i", left, left)[:, None]
    products += np.einsum("ij,ij->i", right, right)
    np.maximum(products, 0.0, out=products)
    return products


def boring_kernel(
    active_basis: FloatArray,
    passive_basis: FloatArray,
    profile: RadialProfile,
    *,
    variance_prior: ParameterPrior = FLAT,
    lengthscale_prior: ParameterPrior = FLAT,
    passive_variance_prior: ParameterPrior = FLAT,
    passive_lengthscale_prior: ParameterPrior = FLAT,
) -> AdditiveKernel:
    """Return the kernel of BORING: active ARD term plus q one-dimensional passive terms.

    Parameters
    ----------
    active_basis : ndarray, shape (D, d)
    passive_basis : ndarray, shape (D, q)
        Column i carries the one-dimensional term on v_i'x; q = 0 leaves the active term.
    profile : RadialProfile
        Shared by all terms; the thesis uses Matern-3/2.

    Notes
    -----
    Source: [thesis Alg. 3], f(x) ~ g_0(W'x) + sum_i g_i(v_i'x).
    """
    active = KernelTerm(
        profile, ProjectedArd(active_basis), "active", variance_prior, lengthscale_prior
    )
    passive = [
        KernelTerm(
            profile,
            Projected(passive_basis[:, [i]]),
            f"passive {i + 1}",
            passive_variance_prior,
            passive_lengthscale_prior,
        )
        for i in range(passive_basis.shape[1])
    ]
    return AdditiveKernel([active, *passive])
