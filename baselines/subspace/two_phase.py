"""First evaluate differences that show the subspace, then search it by a GP.

What SI-BO and the search by coordinate differences share. Phase 1 evaluates m centres and
steps around each; phase 2 learns W from these values, puts a GP on Z = X W and maximises
the acquisition over the whole cube. The sampling points are proposals like any other and count
as evaluations.

A centre whose value is not finite is replaced by a spare one, and its steps are left out. The
GP sees the centres and every point that is not a step: steps lie so close to their centre that
their values say nothing more once W is known.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from baselines._acquisition import ACQUISITIONS, acquisition_of
from baselines._options import check_choice, check_fits, check_optional_int
from boring._warn import warn
from boring.box_search import search_box
from boring.data import Observations
from boring.exceptions import InvalidInputError, SubspaceWarning
from boring.initial_design import uniform_design
from boring.kernels import Isotropic
from boring.kernels.maps import ProjectedArd
from boring.loop.portfolio import single_model
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import with_fantasies
from boring.models.priors import dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.result import InfoValue, sign_of
from boring.rng import keyed_generator
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.warping import moderate, standardize, standardized

DEFAULT_EFFECTIVE_DIM = 2
SPARE_CENTERS = 3
"""Centres drawn for each one needed, against failures [chosen here]."""
MATCH_TOLERANCE = 1e-9
"""Told points this close to one of the design are that one; scaled units."""
RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest are rounding."""
FIT_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """Centres, spares included, and the steps around each; scaled units.

    Attributes
    ----------
    centers : ndarray, shape (c, D)
    offsets : ndarray, shape (c, s, D)
    n_centers : int
        m, how many of the c are needed.
    """

    centers: FloatArray
    offsets: FloatArray
    n_centers: int

    @cached_property
    def _rows(self) -> tuple[FloatArray, np.ndarray]:
        """Distinct points, and the row of each centre (first) and step (then, by centre)."""
        steps = self.centers[:, None, :] + self.offsets
        every = np.vstack([self.centers, steps.reshape(-1, self.centers.shape[1])])
        distinct, row = np.unique(every, axis=0, return_inverse=True)
        return distinct, row.reshape(-1)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._rows[0])

    @cached_property
    def step_rows(self) -> np.ndarray:
        """Rows of the steps that are not centres too."""
        row = self._rows[1]
        return np.setdiff1d(row, row[: len(self.centers)])

    def rows_of(self, X: FloatArray) -> np.ndarray:
        """Return the row of each point X (n, D), or the number of rows where it is none."""
        if not len(X):
            return np.empty(0, dtype=np.intp)
        return np.asarray(self._tree.query(X, distance_upper_bound=MATCH_TOLERANCE)[1])

    def values(self, data: Observations, pending: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values of centres (c,) and steps (c, s).

        NaN where there is none yet, infinity where there is none to come, minus infinity where
        one is awaited.
        """
        distinct, row = self._rows
        known = np.full(len(distinct) + 1, np.nan)
        known[self.rows_of(pending)] = -np.inf
        known[self.rows_of(data.failed_X)] = np.inf
        known[self.rows_of(data.finite_X)] = moderate(data.finite_y)[0]
        every = known[row]
        count = len(self.centers)
        return every[:count], every[count:].reshape(count, -1)

    def chosen(self, center_values: FloatArray) -> np.ndarray:
        """Return indices of the first m centres that have not failed."""
        return np.flatnonzero(center_values != np.inf)[: self.n_centers]


class TwoPhaseOptimizer(Optimizer):
    """Base: subclasses draw the design and make gradients of its values.

    W is spanned by the gradients' first d right singular vectors. The options hold
    ``effective_dim``, ``n_centers``, ``centers`` and ``acquisition``.
    """

    @abstractmethod
    def _draw_design(self, rng: np.random.Generator) -> SamplingDesign:
        """Return the sampling design, always the same for a generator in the same state."""

    @abstractmethod
    def _gradients(self, offsets: FloatArray, values: FloatArray, steps: FloatArray) -> FloatArray:
        """Return gradients (m', D) from offsets (m, s, D), values (m,) and those of steps (m, s).

        Values of steps are NaN where there is none; gradients that need them are left out.
        """

    @property
    @abstractmethod
    def _default_n_centers(self) -> int:
        """How many centres to take if neither the option nor d asks for more."""

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        check_rank(self.effective_dim, self.space.dim, self.n_centers)

    @property
    def n_centers(self) -> int:
        """Number of centres m."""
        given: int | None = self.options.n_centers
        return max(self._default_n_centers, self.effective_dim) if given is None else given

    @property
    def effective_dim(self) -> int:
        """Dimension d of the subspace."""
        given: int | None = self.options.effective_dim
        return min(DEFAULT_EFFECTIVE_DIM, self.space.dim) if given is None else given

    @cached_property
    def design(self) -> SamplingDesign:
        """The sampling design of this run."""
        return self._draw_design(keyed_generator(self.entropy, self.name, "design"))

    @property
    def n_sampling(self) -> int:
        """Evaluations of the first phase if none fails: distinct centres and steps."""
        return len(self._first_points)

    @property
    def n_before_search(self) -> int:
        """Evaluations before the search: the first phase, or a longer initial design."""
        return max(self.n_initial, self.n_sampling)

    @property
    def active_basis(self) -> FloatArray | None:
        """W, shape (D, d), orthonormal, of the last proposal; None in the first phase."""
        W = np.array(self.memory.get("W", []))
        return W if W.size else None

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP over x W at the last proposal's W and hyperparameters; None in the first phase.

        It stands on the points that the search stands on: those that are no steps.
        """
        data = self.observed
        if "theta" not in self.memory or not data.is_informative:
            return None
        model = projected_model(np.array(self.memory["W"]).reshape(self.space.dim, -1))
        kept = self._kept(data.finite_X)
        y, units = standardized(data.finite_y[kept], sign_of(self.direction))
        posterior = model.condition(np.array(self.memory["theta"]), data.finite_X[kept], y)
        return ObjectiveProcess(self.space, posterior, units)

    def _resolved_options(self) -> dict[str, Any]:
        resolved = {"effective_dim": self.effective_dim, "n_centers": self.n_centers}
        return {**self.option_values(), **resolved}

    def _default_n_initial(self) -> int:
        # Two values at least: until then the base hands out Sobol points.
        return min(max(2, self.n_centers), super()._default_n_initial())

    def _initial_points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the beginning of the sampling design, and uniform points behind its end."""
        more = uniform_design(max(0, n - self.n_sampling), self.space.dim, rng)
        return np.vstack([self._first_points, more])[:n]

    @cached_property
    def _first_points(self) -> FloatArray:
        """What is evaluated if no centre fails, in this order, each point once."""
        design, m = self.design, self.n_centers
        steps = design.centers[:m, None, :] + design.offsets[:m]
        points = np.vstack([design.centers[:m], steps.reshape(-1, self.space.dim)])
        first = np.unique(points, axis=0, return_index=True)[1]
        return points[np.sort(first)]

    def _propose(self, context: ProposalContext) -> Proposal:
        design = self.design
        centers, steps = design.values(context.data, context.pending)
        chosen = design.chosen(centers)
        info: dict[str, InfoValue] = {"phase": "sampling", "n_sampling": self.n_sampling}
        missing = chosen[np.isnan(centers[chosen])]
        if len(missing):
            return Proposal(design.centers[missing[0]], {}, info)
        missing_steps = np.argwhere(np.isnan(steps[chosen]))
        if len(missing_steps):
            j, i = missing_steps[0]
            center = chosen[j]
            return Proposal(design.centers[center] + design.offsets[center, i], {}, info)
        return self._search(context, chosen, centers[chosen], steps[chosen])

    def _search(
        self, context: ProposalContext, chosen: np.ndarray, values: FloatArray, steps: FloatArray
    ) -> Proposal:
        design, dim, memory = self.design, self.space.dim, context.memory
        ready = np.isfinite(values)
        n_values = int(np.isfinite(steps[ready]).sum())
        if int(memory.get("n_values", -1)) == n_values:
            W = np.array(memory["W"]).reshape(dim, -1)
        else:
            known = np.where(np.isfinite(steps[ready]), steps[ready], np.nan)
            gradients = self._gradients(design.offsets[chosen[ready]], values[ready], known)
            W = leading_directions(gradients, self.effective_dim)
            if not W.shape[1]:
                warn(
                    f"{self.name}: the {n_values} differences show no direction in which the "
                    "objective varies; searching all dimensions. Choose a longer step, or more "
                    "centres.",
                    SubspaceWarning,
                )
        k, model = W.shape[1], projected_model(W)
        kept = self._kept(context.data.finite_X)
        X, y = context.data.finite_X[kept], standardize(context.data.finite_y[kept])
        theta = memory.get("theta")
        warm = theta is not None and len(theta) == model.n_parameters
        starts = [prior_mode(model), *([np.array(theta)] if warm else [])]
        fit = model.fit_best(X, y, starts, max_iterations=FIT_ITERATIONS)
        posterior = with_fantasies(
            model.condition(fit.theta, X, y), context.pending, context.data.failing_X
        )
        round_number = max(1, context.n_points - self.n_sampling + 1)
        acquisition = acquisition_of(
            self.options.acquisition, posterior, float(y.max()), k or dim, round_number
        )
        found = search_box(acquisition, X[int(np.argmax(y))], W if k else None, context)
        info: dict[str, InfoValue] = {
            "phase": "search",
            "acquisition": found.value,
            "effective_dim": k or dim,
            "noise_variance": posterior.noise_variance,
        }
        remembered = {"W": W.tolist(), "n_values": n_values, "theta": fit.theta.tolist()}
        return Proposal(found.x, remembered, info)

    def _kept(self, X: FloatArray) -> np.ndarray:
        """Return indices of the points that are not steps; of all if fewer than two are left."""
        kept = np.flatnonzero(~np.isin(self.design.rows_of(X), self.design.step_rows))
        return kept if len(kept) > 1 else np.arange(len(X))


def projected_model(W: FloatArray) -> GaussianProcessModel:
    """Return the model over Z = X W, or over X where W (D, 0) has no columns."""
    dim, k = W.shape
    return single_model(ProjectedArd(W) if k else Isotropic(), dimension_scaled(k or dim))


def leading_directions(gradients: FloatArray, effective_dim: int) -> FloatArray:
    """Return the first right singular vectors of gradients (m, D), shape (D, k).

    k = min(d, rank): 0 if all gradients are zero.
    """
    size = float(np.abs(gradients).max(initial=0.0))
    if not size > 0.0:
        return np.empty((gradients.shape[1], 0))
    _, singular, Vt = np.linalg.svd(gradients / size, full_matrices=False)
    k = min(effective_dim, int(np.sum(singular > RANK_TOLERANCE * singular[0])))
    return np.ascontiguousarray(Vt[:k].T)


def draw_centers(
    kind: str, n_centers: int, dim: int, margin: float, rng: np.random.Generator
) -> FloatArray:
    """Return centres and spares, uniform in the cube or on the unit sphere; scaled units.

    Parameters
    ----------
    kind : {"cube", "sphere"}
    n_centers, dim : int
    margin : float
        How far from the faces of the cube the centres stay.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (3 n_centers, D)
    """
    count = SPARE_CENTERS * n_centers
    if kind == "cube":
        points = rng.uniform(-1.0, 1.0, (count, dim))
    else:
        points = rng.standard_normal((count, dim))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return np.clip(points, margin - 1.0, 1.0 - margin)


def check_options(
    effective_dim: int | None, n_centers: int | None, centers: str, acquisition: str
) -> None:
    """Check the options that the subclasses share, as far as they do not depend on the space."""
    check_optional_int(effective_dim, "effective_dim")
    check_optional_int(n_centers, "n_centers")
    check_choice(acquisition, "acquisition", ACQUISITIONS)
    check_choice(centers, "centers", ("cube", "sphere"))


def check_rank(effective_dim: int, dim: int, n_centers: int) -> None:
    """Raise unless d directions fit into the space and can be shown by that many gradients."""
    check_fits(effective_dim, dim)
    if effective_dim > n_centers:
        raise InvalidInputError(
            f"n_centers must be at least effective_dim: {n_centers} gradients span at most that "
            f"many directions; received effective_dim {effective_dim}. Raise n_centers."
        )
