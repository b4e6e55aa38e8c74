"""Learn a linear embedding by the most telling points, then search it.

Garnett, Osborne and Hennig, "Active learning of linear embeddings for Gaussian processes", UAI
2014 [thesis Alg. 1]. Until ``n_learning`` values are known, each point is the one whose value says
most about the embedding (BALD on the marginal GP); from then on log-EI under the marginal GP,
whose variance includes what is not known of the embedding. The paper ends with the first part:
the search is the use that the thesis would make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._options import check_fits
from boring.acquisition import LogExpectedImprovement
from boring.box_search import search_box
from boring.models.marginal import MarginalGP
from boring.models.posterior import with_fantasies
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.result import InfoValue
from boring.subspace.factor_fit import basis_of
from boring.subspace.linear_embedding import embedding_model, fit_embedding, most_informative
from boring.surrogate import ObjectivePosterior
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import standardize

__all__ = ["ActiveEmbeddingOptimizer", "ActiveEmbeddingOptions"]

DEFAULT_EFFECTIVE_DIM = 2
DEFAULT_N_LEARNING = 50
DEFAULT_RESTART_EVERY = 10


@dataclass(frozen=True)
class ActiveEmbeddingOptions:
    """Options of the search with an actively learned embedding.

    Parameters
    ----------
    effective_dim : int, optional
        d, at most D; None takes min(2, D).
    n_learning : int, default 50
        Evaluations before the search, initial design included [chosen here; 100 in the paper's
        experiments, which only learn].
    restart_every : int, default 10
        Evaluations between two fits from fresh starts; in between the last MAP is continued
        [chosen here, for time; the paper continues always].
    """

    effective_dim: int | None = None
    n_learning: int = DEFAULT_N_LEARNING
    restart_every: int = DEFAULT_RESTART_EVERY

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        if self.effective_dim is not None:
            as_positive_int(self.effective_dim, "effective_dim")
        as_positive_int(self.n_learning, "n_learning", minimum=0)
        as_positive_int(self.restart_every, "restart_every")


class ActiveEmbeddingOptimizer(Optimizer):
    """Bayesian optimisation in an actively learned linear embedding.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`ActiveEmbeddingOptions`.

    Raises
    ------
    InvalidInputError
        If ``effective_dim`` exceeds the dimension of the space.

    Examples
    --------
    >>> optimizer = ActiveEmbeddingOptimizer(
    ...     [(-1, 1)] * 4, direction="minimize", seed=0, effective_dim=1, n_learning=15
    ... )
    >>> result = optimizer.run(lambda x: (x[0] + x[1] - 0.3) ** 2, 25, progress=False)
    >>> result.y_best < 1e-3
    True
    """

    name: ClassVar[str] = "active-embedding"
    options_type: ClassVar[type] = ActiveEmbeddingOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        check_fits(self.effective_dim, self.space.dim)

    @property
    def effective_dim(self) -> int:
        """Dimension d of the embedding."""
        given: int | None = self.options.effective_dim
        return min(DEFAULT_EFFECTIVE_DIM, self.space.dim) if given is None else given

    @property
    def n_before_search(self) -> int:
        """Evaluations before the search: ``n_learning``, or a longer initial design."""
        return max(self.n_initial, int(self.options.n_learning))

    @property
    def active_basis(self) -> FloatArray | None:
        """Orthonormal basis (D, d) of the embedding at the last proposal; None before."""
        if "theta" not in self.memory:
            return None
        theta = np.array(self.memory["theta"])
        return basis_of(theta[1:-1].reshape(self.space.dim, self.effective_dim))

    @property
    def surrogate(self) -> ObjectivePosterior[MarginalGP] | None:
        """The marginal GP at the last proposal's hyperparameters; None before the first.

        Its variance holds what is not known of the embedding.
        """
        if "theta" not in self.memory:
            return None
        theta = np.array(self.memory["theta"])
        model = embedding_model(self.space.dim, self.effective_dim)
        return ObjectivePosterior.of(self, lambda X, y: MarginalGP(model.condition(theta, X, y)))

    def _resolved_options(self) -> dict[str, Any]:
        return {**self.option_values(), "effective_dim": self.effective_dim}

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        memory = context.memory
        last = np.array(memory["theta"]) if "theta" in memory else None
        fresh_at = int(memory.get("fresh_at", -self.options.restart_every))
        fresh = len(X) - fresh_at >= self.options.restart_every
        marginal = fit_embedding(X, y, self.effective_dim, rng=context.rng, last=last, fresh=fresh)
        theta = marginal.posterior.theta
        posterior = with_fantasies(marginal.posterior, context.pending, context.data.failing_X)
        if len(posterior.y) > len(y):
            marginal = MarginalGP(posterior)
        learning = context.n_points < self.options.n_learning
        info: dict[str, InfoValue] = {"noise_variance": marginal.noise_variance}
        if learning:
            x, information = most_informative(marginal, context.rng)
            info |= {"phase": "learning", "acquisition": information}
        else:
            acquisition = LogExpectedImprovement(marginal, float(y.max()))
            basis = basis_of(marginal.factor)
            found = search_box(acquisition, X[int(np.argmax(y))], basis, context)
            x = found.x
            info |= {"phase": "search", "acquisition": found.value}
        remembered = {"theta": theta.tolist(), "fresh_at": len(X) if fresh else fresh_at}
        return Proposal(x, remembered, info)
