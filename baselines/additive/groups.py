"""Additive models over groups of inputs: kernel, evidence, and the posterior of each group.

A structure is a tuple of groups of coordinates, disjoint or overlapping. Its kernel is
k(x, x') = (s2 / M) sum_j k_j(|(x_j - x_j') / l|), x_j the coordinates of group j, M the number of
groups, with variance and lengthscales shared among the groups. Dividing by M keeps the prior
variance of f the same for every structure, so that evidence compares structures and not
variances (chosen here; the papers leave the scale of a group fixed).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from baselines.additive.tied_model import BlockPrior, TiedModel
from boring.acquisition import Acquisition, maximize_acquisition
from boring.acquisition.maximizer import duplicates
from boring.kernels import (
    SQUARED_EXPONENTIAL,
    AdditiveKernel,
    Ard,
    FeatureMap,
    Isotropic,
    KernelTerm,
    Projected,
    ProjectedArd,
)
from boring.kernels.additive import LOG_VARIANCE_BOUNDS, squared_distances
from boring.kernels.maps import LOG_LENGTHSCALE_BOUNDS
from boring.models.evidence import LOG_TWO_PI
from boring.models.gp import NOISE_BOUNDS, GaussianProcessModel
from boring.models.linalg import cholesky, log_determinant, solve
from boring.models.posterior import GaussianProcess
from boring.models.priors import Gaussian
from boring.typing import FloatArray

__all__ = [
    "Group",
    "Structure",
    "StructureEvidence",
    "as_structure",
    "group_posteriors",
    "maximize_by_groups",
    "prior_mode",
    "singletons",
    "tied_model",
]

Group: TypeAlias = tuple[int, ...]
Structure: TypeAlias = tuple[Group, ...]

#: Priors of log variance, log lengthscale and log noise variance, y standardised and inputs in
#: [-1, 1] (chosen here): groups are small, so that lengthscales are of the order of a side.
VARIANCE_PRIOR = Gaussian(0.0, 1.0)
LENGTHSCALE_PRIOR = Gaussian(0.0, 1.0)
NOISE_PRIOR = Gaussian(-6.0, 2.0)
#: Candidates per coordinate of a group, and the most for one group: Kandasamy et al. spend
#: min(5000, 100 D) / M evaluations on each group.
CANDIDATES_PER_INPUT = 100
MAX_CANDIDATES = 400
#: A proposal this close (Euclidean, scaled units) repeats an old point (see :func:`distinct`).
#: Observing the sum leaves the sds of its parts, so their bounds may propose one point for ever.
#: Medians of six seeds do not depend on this figure; the worst regret falls from .43 to .3 against
#: 1e-6 (a chain of squared differences, 4-D, 50 evaluations), and no further at 1e-2.
REPEAT_TOLERANCE = 1e-3
#: Bytes of kernel matrices that an evidence keeps.
CACHE_BYTES = 100_000_000


def as_structure(groups: Iterable[Iterable[int]]) -> Structure:
    """Return groups in one order: each sorted, and sorted among themselves; empty ones dropped."""
    ordered = (tuple(sorted(int(i) for i in group)) for group in groups)
    return tuple(sorted(group for group in ordered if group))


def singletons(dim: int) -> Structure:
    """Return the fully additive structure, one group for each of D inputs."""
    return tuple((i,) for i in range(dim))


def group_basis(group: Group, dim: int) -> FloatArray:
    """Return the columns of the identity that pick a group's inputs, shape (D, d_j)."""
    return np.asarray(np.eye(dim)[:, list(group)])


def tied_model(structure: Structure, dim: int, *, per_input: bool) -> TiedModel:
    """Return the model with shared hyperparameters u = (log s2, log l, log n2).

    Parameters
    ----------
    structure : tuple of groups
    dim : int
        D.
    per_input : bool
        Whether there is one lengthscale for each input (D of them) or one for all.
    """
    n_lengthscales = dim if per_input else 1
    rows: list[FloatArray] = []
    base: list[float] = []
    terms = []
    unit = np.eye(n_lengthscales + 2)
    for group in structure:
        basis = group_basis(group, dim)
        feature_map: FeatureMap = ProjectedArd(basis) if per_input else Projected(basis)
        terms.append(KernelTerm(SQUARED_EXPONENTIAL, feature_map, f"inputs {group}"))
        rows.append(unit[0])
        base.append(-float(np.log(len(structure))))
        lengthscales = [1 + i for i in group] if per_input else [1]
        rows += [unit[column] for column in lengthscales]
        base += [0.0] * len(lengthscales)
    low, high = NOISE_BOUNDS
    return TiedModel(
        AdditiveKernel(terms),
        base=np.array([*base, 0.0]),
        tie=np.array([*rows, unit[-1]]),
        prior=BlockPrior(
            [(1, VARIANCE_PRIOR), (n_lengthscales, LENGTHSCALE_PRIOR), (1, NOISE_PRIOR)]
        ),
        tied_bounds=[
            LOG_VARIANCE_BOUNDS,
            *[LOG_LENGTHSCALE_BOUNDS] * n_lengthscales,
            (float(np.log(low)), float(np.log(high))),
        ],
    )


def prior_mode(dim: int, *, per_input: bool) -> FloatArray:
    """Return the hyperparameters u that the prior likes best."""
    n_lengthscales = dim if per_input else 1
    return np.array(
        [VARIANCE_PRIOR.mean, *[LENGTHSCALE_PRIOR.mean] * n_lengthscales, NOISE_PRIOR.mean]
    )


class StructureEvidence:
    """Log marginal likelihood of any structure at fixed hyperparameters.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
        Standardised.
    tied : ndarray
        u of :func:`tied_model`, with one lengthscale or D.

    Notes
    -----
    A structure enters through the sum of its groups' correlation matrices and their number, so
    a change of one group costs one matrix and one Cholesky factor.
    """

    def __init__(self, X: FloatArray, y: FloatArray, tied: FloatArray) -> None:
        self._Z = X * np.exp(-tied[1:-1])
        self._y = y
        self._variance = float(np.exp(tied[0]))
        self._noise = float(np.exp(tied[-1]))
        self._cache: dict[Group, FloatArray] = {}
        self._capacity = max(8, CACHE_BYTES // (8 * max(1, len(y)) ** 2))

    def correlation(self, group: Group) -> FloatArray:
        """Return the correlation matrix of one group, shape (n, n)."""
        found = self._cache.get(group)
        if found is None:
            if len(self._cache) >= self._capacity:
                self._cache.clear()
            found = SQUARED_EXPONENTIAL.value(squared_distances(self._Z[:, list(group)]))
            self._cache[group] = found
        return found

    def total(self, structure: Sequence[Group]) -> FloatArray:
        """Return the sum of the groups' correlation matrices."""
        total = np.zeros((len(self._y), len(self._y)))
        for group in structure:
            total += self.correlation(group)
        return total

    def of_total(self, total: FloatArray, n_groups: int) -> float:
        """Return the log marginal likelihood, in nats, from :meth:`total` and M."""
        A = total * (self._variance / n_groups)
        A.flat[:: len(A) + 1] += self._noise
        L, _ = cholesky(A)
        n = len(self._y)
        return -0.5 * (float(self._y @ solve(L, self._y)) + log_determinant(L) + n * LOG_TWO_PI)

    def __call__(self, structure: Sequence[Group]) -> float:
        """Return the log marginal likelihood of a structure, in nats."""
        return self.of_total(self.total(structure), len(structure))


def group_posteriors(posterior: GaussianProcess, structure: Structure) -> list[GaussianProcess]:
    """Return the posterior of each group as a process on the group's own coordinates.

    Parameters
    ----------
    posterior : GaussianProcess
        Of the sum; one term a group, in the order of ``structure``.
    structure : tuple of groups

    Returns
    -------
    list of GaussianProcess
        Mean k_j(x, X) A^-1 y and variance k_j(x, x) - k_j(x, X) A^-1 k_j(X, x) with the matrix A
        of the whole sum [Kandasamy et al. 2015, eq. 3]: one term's kernel with the factor of all.
    """
    parts = []
    for (term, variance, parameters), group in zip(posterior.terms, structure, strict=True):
        isotropic = isinstance(term.feature_map, Projected)
        feature_map: FeatureMap = Isotropic() if isotropic else Ard(len(group))
        model = GaussianProcessModel(
            AdditiveKernel([KernelTerm(term.profile, feature_map, term.name)])
        )
        theta = np.array([np.log(variance), *parameters, posterior.theta[-1]])
        parts.append(
            GaussianProcess(
                model,
                theta,
                np.ascontiguousarray(posterior.X[:, list(group)]),
                posterior.y,
                posterior.L,
                posterior.jitter,
            )
        )
    return parts


def maximize_by_groups(
    acquisitions: Sequence[Acquisition],
    structure: Structure,
    *,
    incumbent: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Maximise a sum of acquisitions over disjoint groups, group by group.

    Parameters
    ----------
    acquisitions : sequence of Acquisition
        One a group, on the group's coordinates.
    structure : tuple of groups
        A partition of the D inputs.
    incumbent : ndarray, shape (D,)
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    x : ndarray, shape (D,)
        In [-1, 1]^D: groups are of coordinates, hence the box is a product of theirs.
    value : float
        Sum of the maxima.
    """
    x, total = np.array(incumbent, dtype=np.float64), 0.0
    for acquisition, group in zip(acquisitions, structure, strict=True):
        index = list(group)
        found = maximize_acquisition(
            acquisition,
            len(group),
            incumbent=incumbent[index],
            rng=rng,
            n_candidates=min(CANDIDATES_PER_INPUT * len(group), MAX_CANDIDATES),
        )
        x[index], total = found.x, total + found.value
    return x, total


def distinct(
    x: FloatArray, structure: Structure, avoid: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, bool]:
    """Redraw one random group, uniformly, while x repeats an old point.

    Returns
    -------
    x : ndarray, shape (D,)
    replaced : bool
    """
    replaced = False
    while duplicates(x, avoid, REPEAT_TOLERANCE):
        group = list(structure[int(rng.integers(len(structure)))])
        x, replaced = x.copy(), True
        x[group] = rng.uniform(-1.0, 1.0, len(group))
    return x, replaced
