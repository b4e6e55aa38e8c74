"""Sobol search: one scrambled low-discrepancy sequence."""

from __future__ import annotations

from typing import ClassVar

from boring.optimizer import Optimizer
from boring.proposal import Proposal, ProposalContext

__all__ = ["SobolSearchOptimizer"]


class SobolSearchOptimizer(Optimizer):
    """The points of one scrambled Sobol sequence, in order.

    Parameters
    ----------
    space, direction, n_initial, seed
        As in :class:`boring.Optimizer`. The initial design is the beginning of the sequence, and
        the search goes on where it ends.

    Notes
    -----
    Sobol 1967; see :func:`boring.initial_design.space_filling`, which also has a sequence for
    more inputs than Sobol's. A told point that was not asked for
    takes a place in the sequence, and so does one that was withdrawn.

    Examples
    --------
    >>> optimizer = SobolSearchOptimizer([(0, 1), (0, 1)], direction="minimize", seed=0)
    >>> optimizer.ask(2).shape
    (2, 2)
    """

    name: ClassVar[str] = "sobol"
    is_model_based: ClassVar[bool] = False

    def _propose(self, context: ProposalContext) -> Proposal:
        index = context.position
        return Proposal(self._sequence_point(index), memory={}, info={"index": index})
