"""Add-GP-UCB: upper confidence bounds over disjoint groups of inputs.

Kandasamy, Schneider and Poczos, "High dimensional Bayesian optimisation and bandits via
additive models", ICML 2015. f is a sum of functions of disjoint groups of at most d inputs; the
bound of each group, mu_j + sqrt(beta_t) sigma_j with beta_t = d_j log(2t)/5, is maximised by
itself, and the maximisers are joined. The decomposition is learned: every so many observations,
the best of a few random ones by marginal likelihood.

**Deviations**

* The decomposition in use competes with the random ones: without it a good one is thrown away at
  the next draw.
* Hyperparameters (one variance, one lengthscale, noise) by gradients under weak priors, instead of
  DIRECT with a shrinking bound; groups maximised by multi-start L-BFGS-B, instead of DIRECT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines.additive.groups import Structure, StructureEvidence, as_structure
from baselines.additive.groupwise import GroupwiseOptimizer
from boring.acquisition import GroupBeta
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["AddGpUcbOptimizer", "AddGpUcbOptions", "random_decomposition"]


@dataclass(frozen=True)
class AddGpUcbOptions:
    """Options of Add-GP-UCB.

    Parameters
    ----------
    group_size : int, default 4
        Largest number d of inputs in a group, at most D (chosen here; the paper tries several).
    n_decompositions : int, default 5
        Random decompositions of which the best is taken [the authors' code].
    update_every : int, default 25
        Observations between two choices of decomposition and hyperparameters [the authors' code].
    decomposition : sequence of groups of inputs, optional
        A known decomposition, indices from 0; None learns one.
    """

    group_size: int = 4
    n_decompositions: int = 5
    update_every: int = 25
    decomposition: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("group_size", "n_decompositions", "update_every"):
            as_positive_int(getattr(self, name), name)


def random_decomposition(dim: int, group_size: int, rng: np.random.Generator) -> Structure:
    """Cut a random permutation of the inputs into groups of ``group_size``, the last smaller.

    Parameters
    ----------
    dim, group_size : int
        D and d.
    rng : numpy.random.Generator
        Consumed.
    """
    order = rng.permutation(dim)
    return as_structure(
        order[start : start + group_size].tolist() for start in range(0, dim, group_size)
    )


class AddGpUcbOptimizer(GroupwiseOptimizer):
    """Additive GP-UCB with disjoint groups.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`AddGpUcbOptions`.

    Raises
    ------
    InvalidInputError
        If ``decomposition`` is not a partition of the inputs.

    Examples
    --------
    >>> optimizer = AddGpUcbOptimizer([(-1, 1)] * 6, direction="minimize", seed=0, group_size=2)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 20, progress=False)
    >>> len(optimizer.structure)
    3
    """

    name: ClassVar[str] = "add-gp-ucb"
    options_type: ClassVar[type] = AddGpUcbOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        given = self.options.decomposition
        if given is None:
            return
        inputs = sorted(int(i) for group in given for i in group)
        if inputs != list(range(self.space.dim)):
            raise InvalidInputError(
                f"decomposition must hold each input from 0 to {self.space.dim - 1} once; "
                f"received {given!r}. Give inputs that stand alone a group of one."
            )

    def _learn(
        self,
        X: FloatArray,
        y: FloatArray,
        tied: FloatArray,
        memory: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        dim = self.space.dim
        if self.options.decomposition is not None:
            return {"structure": as_structure(self.options.decomposition)}
        candidates = [
            random_decomposition(dim, self.options.group_size, rng)
            for _ in range(self.options.n_decompositions)
        ]
        if "structure" in memory:
            candidates.append(as_structure(memory["structure"]))
        return {"structure": max(candidates, key=StructureEvidence(X, y, tied))}

    def _beta(self, group_size: int, t: int) -> float:
        return GroupBeta(group_size)(t)
