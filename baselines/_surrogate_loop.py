"""One loop for every surrogate that is not a Gaussian process of the library.

The values are warped, the surrogate is fitted to them, and an acquisition is maximised over the
whole box by the library's maximiser. What differs between the optimisers built on it is the
surrogate alone, so that two of them can be compared on equal terms.

With ``subspace`` the surrogate sees Z = X W, W (D, d) given or learned anew, whenever the data
have grown by 15 %, by the library's full-rank learner; the acquisition is still maximised over
all of x. No surrogate behind this loop was published with one.

**Deviations** from the loops that these surrogates were published in: gradient steps from the
best candidates instead of the best of a random pool; the library's initial design; points that
are out for evaluation, and failed ones with a failed neighbour, count with their predicted mean
(the latter with the median if that is worse).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._learned_basis import learned_basis, remembered_basis
from baselines._members import (
    ComponentPredictor,
    EmpiricalExpectedImprovement,
    LogMixtureImprovement,
    MemberPosterior,
    ProjectedPosterior,
)
from baselines._options import check_choice, check_fits, check_optional_int
from baselines.goal_seeking.joint_network import seek_goal
from baselines.goal_seeking.one_stage import seek_goal_by_process
from boring.acquisition import (
    Acquisition,
    LogExpectedImprovement,
    Posterior,
    UpperConfidenceBound,
)
from boring.acquisition.maximizer import MaximizerResult, duplicates
from boring.box_search import search_box
from boring.exceptions import InvalidInputError
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.result import InfoValue
from boring.rng import keyed_generator
from boring.surrogate import ObjectivePosterior
from boring.typing import FloatArray
from boring.validation import as_points, as_real
from boring.warping import half_rank_warp, log_warp, standardize

__all__ = [
    "Acquire",
    "Fit",
    "Infill",
    "LoopOptions",
    "SurrogateOptimizer",
    "Warp",
]

Acquire = Literal["log-ei", "ucb", "empirical-ei", "mixture-ei"]
Infill = Literal["acquisition", "conditional-map", "one-stage"]
INFILLS = ("acquisition", "conditional-map", "one-stage")
Warp = Literal["standardize", "half-rank", "log"]

WARPS = {"standardize": standardize, "half-rank": half_rank_warp, "log": log_warp}
#: Random starts of a search for a goal, beside the acquisition's maximiser (chosen here).
N_GOAL_STARTS = 2
#: Fewest observations from which a subspace is learned; before, the surrogate sees x itself
#: (chosen here).
MIN_LEARN = 5


@dataclass(frozen=True)
class LoopOptions:
    """What every surrogate of this loop can be told.

    Parameters
    ----------
    warp : {"standardize", "half-rank", "log"}, default "standardize"
        Of the values, before each fit; see :mod:`boring.warping`. All sources standardise.
    acquisition : str, default "log-ei"
        "log-ei" of the predicted mean and variance and "ucb", the upper bound mean + beta sd,
        are there for all; "empirical-ei", the mean improvement of the members, for ensembles;
        "mixture-ei", the exact log-EI of a predictive mixture, for mixtures.
    beta : float, default 2
        Factor on the standard deviation in "ucb" (the library's).
    infill : {"acquisition", "conditional-map", "one-stage"}, default "acquisition"
        Evaluate where the acquisition is largest, or where the incumbent plus the largest
        expected improvement is reached most credibly: by a network
        (:mod:`baselines.goal_seeking.joint_network`) or a Gaussian process
        (:mod:`baselines.goal_seeking.one_stage`). Both need "log-ei" or "mixture-ei".
    subspace : "none", "learned" or array_like of shape (D, d), default "none"
        What the surrogate sees: x, x W with W learned, or x W with this W.
    effective_dim : int, optional
        d of a learned subspace, at most D; None chooses it by BIC at each learning.
    """

    warp: Warp = "standardize"
    acquisition: Acquire = "log-ei"
    beta: float = 2.0
    infill: Infill = "acquisition"
    subspace: Any = "none"
    effective_dim: int | None = None

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb")

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        check_choice(self.warp, "warp", tuple(WARPS))
        check_choice(self.acquisition, "acquisition", self.allowed)
        if as_real(self.beta, "beta", "a finite number, at least 0") < 0:
            raise InvalidInputError(
                f"beta must be at least 0; received {self.beta!r}. Pass a larger one."
            )
        check_choice(self.infill, "infill", INFILLS)
        if self.infill != "acquisition":
            check_choice(self.acquisition, "acquisition", ("log-ei", "mixture-ei"))
        check_optional_int(self.effective_dim, "effective_dim")
        if isinstance(self.subspace, str):
            check_choice(self.subspace, "subspace", ("none", "learned"))


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted surrogate.

    Attributes
    ----------
    posterior : Posterior
        Of the warped values, larger is better, over what the surrogate sees.
    memory : dict
        Hyperparameters to begin the next fit with, JSON-able.
    info : dict
        What to say about it.
    """

    posterior: Posterior
    memory: dict[str, Any] = field(default_factory=dict)
    info: dict[str, InfoValue] = field(default_factory=dict)


class SurrogateOptimizer(Optimizer):
    """Bayesian optimisation with a surrogate that subclasses fit.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`LoopOptions` and of the surrogate.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space, or a given W does not fit it.
    """

    options_type: ClassVar[type] = LoopOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        if self.options.effective_dim is not None:
            check_fits(self.options.effective_dim, self.space.dim)
        self._given = self._given_basis()

    @abstractmethod
    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        """Fit the surrogate.

        Parameters
        ----------
        X : ndarray, shape (n, D) or (n, d)
            What the surrogate sees.
        y : ndarray, shape (n,), warped, larger is better
        memory : mapping
            Of the last fit; empty at the first, and when d has changed. With ``"keep"`` true the
            hyperparameters in it are not to be chosen anew.
        rng : numpy.random.Generator
            The same for every fit of one proposal.
        """

    @property
    def surrogate(self) -> ObjectivePosterior[Posterior] | None:
        """The surrogate of the objective over x; None before the first proposal.

        It has the last proposal's hyperparameters. After a warp that bends they are chosen anew,
        beginning with these, since the warped values say nothing of "how much".
        """
        if not self.memory:
            return None
        W = self._given if self._given is not None else remembered_basis(self.memory)
        last = self.memory["fit"]
        memory = {**last, "keep": self.options.warp == "standardize"} if last else {}

        def posterior(X: FloatArray, y: FloatArray) -> Posterior:
            Z = X if W is None else X @ W
            return _over_x(self._fit(Z, y, memory, self._generator(len(X))).posterior, W)

        return ObjectivePosterior.of(self, posterior)

    def fitted(self, X: FloatArray, y: FloatArray) -> Posterior:
        """Return the surrogate of any data, hyperparameters chosen anew; without a subspace.

        Parameters
        ----------
        X : ndarray, shape (n, D), scaled
        y : ndarray, shape (n,), standardised
        """
        return self._fit(X, y, {}, self._generator(len(X))).posterior

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, self._warped(context.data.finite_y)
        W, memory = self._basis(X, context)
        Z = X if W is None else X @ W
        # A change of d makes the hyperparameters meaningless.
        same = context.memory.get("seen_dim") == Z.shape[1]
        last = context.memory["fit"] if same else {}
        fit = self._fit(Z, y, last, self._generator(len(X)))
        posterior = _over_x(fit.posterior, W)
        incumbent = float(y.max())
        waiting = np.vstack([context.data.failing_X, context.pending])
        if len(waiting):
            mean = posterior.predict(waiting)[0]
            n_failing = len(context.data.failing_X)
            mean[:n_failing] = np.minimum(mean[:n_failing], np.median(y))
            if len(context.pending):
                incumbent = max(incumbent, float(mean[n_failing:].max()))
            X, y = np.vstack([X, waiting]), np.append(y, mean)
            kept = {**fit.memory, "keep": True}
            rng = self._generator(len(context.data.finite_X))
            posterior = _over_x(self._fit(X if W is None else X @ W, y, kept, rng).posterior, W)
        found = search_box(
            self._acquisition(posterior, incumbent), X[int(np.argmax(y))], W, context
        )
        x = found.x
        if self.options.infill != "acquisition":
            x = self._sought(X, y, incumbent, W, found, context)
        info: dict[str, InfoValue] = {
            **fit.info,
            "acquisition": found.value,
            "start": found.family,
            "replaced": found.replaced,
        }
        if self.options.infill != "acquisition":
            info["moved"] = float(np.linalg.norm(x - found.x))
        if W is not None:
            info["effective_dim"] = W.shape[1]
        return Proposal(x, {**memory, "fit": fit.memory, "seen_dim": Z.shape[1]}, info)

    def _sought(
        self,
        X: FloatArray,
        y: FloatArray,
        incumbent: float,
        W: FloatArray | None,
        found: MaximizerResult,
        context: ProposalContext,
    ) -> FloatArray:
        """Return where the incumbent plus the largest EI is reached, unless that is known."""
        random = context.rng.uniform(-1.0, 1.0, (N_GOAL_STARTS, X.shape[1]))
        goal = incumbent + float(np.exp(found.value))
        starts = np.vstack([found.x, random])
        if self.options.infill == "one-stage":
            sought = seek_goal_by_process(X, y, goal, starts, W)
        else:
            sought = seek_goal(X, y, goal, starts, context.rng, W)
        known = duplicates(sought.x, np.vstack([context.data.X, context.pending]))
        return found.x if known else sought.x

    def _warped(self, y: FloatArray) -> FloatArray:
        return WARPS[self.options.warp](y)

    def _generator(self, n: int) -> np.random.Generator:
        return keyed_generator(self.entropy, "surrogate", n)

    def _acquisition(self, posterior: Any, incumbent: float) -> Acquisition:
        choice = self.options.acquisition
        if choice == "ucb":
            return UpperConfidenceBound(posterior, float(self.options.beta))
        if choice == "empirical-ei":
            members: MemberPosterior = posterior
            return EmpiricalExpectedImprovement(members, incumbent)
        if choice == "mixture-ei":
            components: ComponentPredictor = posterior
            return LogMixtureImprovement(components, incumbent)
        return LogExpectedImprovement(posterior, incumbent)

    def _given_basis(self) -> FloatArray | None:
        if isinstance(self.options.subspace, str):
            return None
        W = np.asarray(self.options.subspace, dtype=np.float64)
        dim = self.space.dim
        if W.ndim != 2 or W.shape[0] != dim or not 1 <= W.shape[1] <= dim:
            raise InvalidInputError(
                f"subspace must be 'none', 'learned' or a matrix of shape ({dim}, d) with d from "
                f"1 to {dim}; received shape {W.shape}. Pass one row for each parameter."
            )
        return as_points(W, W.shape[1], "subspace")

    def _basis(
        self, X: FloatArray, context: ProposalContext
    ) -> tuple[FloatArray | None, dict[str, Any]]:
        """Return W, or None for all of x, and what to remember of it."""
        if self._given is not None:
            return self._given, {}
        if self.options.subspace == "none" or len(X) < MIN_LEARN:
            return None, {}
        return learned_basis(
            X,
            context.data.finite_y,
            self.options.effective_dim,
            context.memory,
            context.rng,
            from_last=True,
        )


def _over_x(posterior: Posterior, W: FloatArray | None) -> Posterior:
    return posterior if W is None else ProjectedPosterior(posterior, W)
