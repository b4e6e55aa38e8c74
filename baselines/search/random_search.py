"""Random search: independent uniform points."""

from __future__ import annotations

from typing import ClassVar

from boring.optimizer import Optimizer
from boring.proposal import Proposal, ProposalContext

__all__ = ["RandomSearchOptimizer"]


class RandomSearchOptimizer(Optimizer):
    """Uniform points of the box, independent of each other and of the values.

    Parameters
    ----------
    space, direction, n_initial, seed
        As in :class:`boring.Optimizer`. The initial design is empty by default, so that every
        point is random; a positive ``n_initial`` begins with the design that all optimisers share.

    Notes
    -----
    Bergstra and Bengio 2012.

    Examples
    --------
    >>> optimizer = RandomSearchOptimizer([(0, 1), (0, 1)], direction="minimize", seed=0)
    >>> optimizer.ask(2).shape
    (2, 2)
    """

    name: ClassVar[str] = "random"
    is_model_based: ClassVar[bool] = False

    def _default_n_initial(self) -> int:
        return 0

    def _propose(self, context: ProposalContext) -> Proposal:
        x = context.rng.uniform(-1.0, 1.0, size=self.space.dim)
        return Proposal(x, memory={}, info={})
