"""Bayesian optimisation with Tripathy's active-subspace Gaussian process.

Tripathy, Bilionis and Gonzalez (2016) built the model for the propagation of uncertainty; here
it is the surrogate of a loop: every ``refit_every`` points W and d are learned anew by
`boring.subspace.active_subspace_gp.ActiveSubspaceGP`, in between only the hyperparameters, and
the acquisition on Z = X W is maximised over the whole cube. It is BORING without burn-in in an
embedding and without passive terms, that is, with no protection against a wrong W.

**Deviations** from the model of the paper: the hyperparameters at given W have the priors of
the library's loop, as maximum likelihood on clustered points ends in extremes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from baselines._acquisition import ACQUISITIONS, Choice, acquisition_of
from baselines._options import check_choice, check_fits
from boring.box_search import search_box
from boring.kernels.maps import ProjectedArd
from boring.kernels.profiles import MATERN32
from boring.loop.portfolio import single_model
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import with_fantasies
from boring.models.priors import dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.result import InfoValue
from boring.subspace.active_subspace_gp import ActiveSubspaceGP
from boring.subspace.checks import MIN_POINTS
from boring.subspace.stiefel import random_frame
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import standardize

__all__ = ["TripathyOptimizer", "TripathyOptimizerOptions"]

FIT_ITERATIONS = 60


@dataclass(frozen=True)
class TripathyOptimizerOptions:
    """Options of the search with Tripathy's model.

    Parameters
    ----------
    effective_dim : int, optional
        d, at most D; None chooses it by BIC at every refit.
    max_effective_dim : int, default 3
        Largest d that BIC may choose [chosen here, for time].
    refit_every : int, default 10
        Evaluations between two estimates of W [chosen here, for time].
    n_restarts : int, default 10
        Random starts for each d [Tripathy's code: 10 to 20].
    acquisition : {"log-ei", "ucb"}, default "log-ei"
        UCB with GP-UCB's beta in d dimensions, delta = 0.1.
    """

    effective_dim: int | None = None
    max_effective_dim: int = 3
    refit_every: int = 10
    n_restarts: int = 10
    acquisition: Choice = "log-ei"

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        if self.effective_dim is not None:
            as_positive_int(self.effective_dim, "effective_dim")
        for name in ("max_effective_dim", "refit_every", "n_restarts"):
            as_positive_int(getattr(self, name), name)
        check_choice(self.acquisition, "acquisition", ACQUISITIONS)


class TripathyOptimizer(Optimizer):
    """Bayesian optimisation in a subspace learned by Tripathy's alternation.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`TripathyOptimizerOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = TripathyOptimizer([(-1, 1)] * 4, direction="minimize", seed=0, n_restarts=3)
    >>> result = optimizer.run(lambda x: (x[0] + x[1] - 0.3) ** 2, 25, progress=False)
    >>> result.y_best < 1e-3
    True
    """

    name: ClassVar[str] = "tripathy"
    options_type: ClassVar[type] = TripathyOptimizerOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        if self.options.effective_dim is not None:
            check_fits(self.options.effective_dim, self.space.dim)

    @property
    def active_basis(self) -> FloatArray | None:
        """W, shape (D, d), of the last proposal; None before the first."""
        return np.array(self.memory["W"]) if "W" in self.memory else None

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP over x W at the last proposal's W and hyperparameters; None before the first."""
        W = self.active_basis
        if W is None:
            return None
        theta = np.array(self.memory["theta"])
        return ObjectiveProcess.of(self, partial(projected_model(W).condition, theta))

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        n = len(X)
        memory, theta = context.memory, None
        if "W" in memory and n - int(memory["learned_at"]) < self.options.refit_every:
            W, learned_at = np.array(memory["W"]), int(memory["learned_at"])
            theta = np.array(memory["theta"])
        else:
            W, learned_at = self._learn(X, y, context.rng), n
        d = W.shape[1]
        model = projected_model(W)
        starts = [prior_mode(model), *([theta] if theta is not None else [])]
        fit = model.fit_best(X, y, starts, max_iterations=FIT_ITERATIONS)
        posterior = with_fantasies(
            model.condition(fit.theta, X, y), context.pending, context.data.failing_X
        )
        acquisition = acquisition_of(self.options.acquisition, posterior, float(y.max()), d, n)
        found = search_box(acquisition, X[int(np.argmax(y))], W, context)
        info: dict[str, InfoValue] = {
            "acquisition": found.value,
            "effective_dim": d,
            "log_posterior": -fit.value,
            "learned_at": learned_at,
        }
        remembered = {"W": W.tolist(), "learned_at": learned_at, "theta": fit.theta.tolist()}
        return Proposal(found.x, remembered, info)

    def _learn(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> FloatArray:
        n, dim = X.shape
        most = max(1, min(dim, n - 2))
        given: int | None = self.options.effective_dim
        if n < MIN_POINTS:
            # Too few finite values for any estimate: every direction is as good.
            return random_frame(dim, 1, rng)
        model = ActiveSubspaceGP(
            None if given is None else min(given, most),
            max_effective_dim=min(self.options.max_effective_dim, most),
            n_restarts=self.options.n_restarts,
        )
        return model.fit(X, y, rng=rng).active_basis


def projected_model(W: FloatArray) -> GaussianProcessModel:
    """Return the model over Z = X W, with a lengthscale for each column of W (D, d)."""
    return single_model(ProjectedArd(W), dimension_scaled(W.shape[1]), MATERN32)
