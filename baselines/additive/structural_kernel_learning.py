"""Structural kernel learning: a Gibbs sampler over the groups of an additive model.

Wang, Li, Jegelka and Kohli, "Batched high-dimensional Bayesian optimization via structural
kernel learning", ICML 2017. Each of D inputs has a group z_i out of M = D; group probabilities
have a symmetric Dirichlet(alpha) prior. With them integrated out,

    p(z_i = m | others, data) ~ p(y | X, z) (|A_m| + alpha),

A_m the other inputs of group m. The additive GP-UCB of the sampled structure proposes the point.

**Deviations**

* Empty groups are alike, so they count as one candidate with the weight of all of them.
* Hyperparameters (variance, a lengthscale an input, noise) are at their maximum a posteriori for
  the structure at hand, not sampled with it.
* Single points, no batches by determinantal processes; points out for evaluation count as
  observed at their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from baselines.additive.groups import (
    Group,
    Structure,
    StructureEvidence,
    as_structure,
    singletons,
)
from baselines.additive.groupwise import GroupwiseOptimizer
from boring.acquisition import GroupBeta
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

__all__ = [
    "StructuralKernelOptimizer",
    "StructuralKernelOptions",
    "gibbs_sweep",
    "log_prior",
]


@dataclass(frozen=True)
class StructuralKernelOptions:
    """Options of structural kernel learning; defaults from the authors' code.

    Parameters
    ----------
    alpha : float, default 1
        Of the Dirichlet prior; larger spreads inputs over more groups.
    max_group_size : int, default 3
    n_sweeps : int, default 10
        Passes over all inputs at each update.
    update_every : int, default 10
        Observations between two updates of structure and hyperparameters.
    """

    alpha: float = 1.0
    max_group_size: int = 3
    n_sweeps: int = 10
    update_every: int = 10

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("max_group_size", "n_sweeps", "update_every"):
            as_positive_int(getattr(self, name), name)
        if not as_real(self.alpha, "alpha", "positive") > 0:
            raise InvalidInputError(f"alpha must be positive; received {self.alpha!r}")


def log_prior(structure: Structure, dim: int, alpha: float) -> float:
    """Return the log probability of a partition under the Dirichlet prior.

    Parameters
    ----------
    structure : tuple of groups
        A partition of the inputs.
    dim : int
        D, which is also the number M of labels.
    alpha : float

    Notes
    -----
    Sum over all labellings of the M groups that give this partition: M!/(M - k)! times
    Gamma(M alpha)/Gamma(D + M alpha) prod_j Gamma(|A_j| + alpha)/Gamma(alpha).
    """
    k = len(structure)
    sizes = np.array([len(group) for group in structure])
    labellings = gammaln(dim + 1) - gammaln(dim - k + 1)
    return float(
        labellings
        + gammaln(dim * alpha)
        - gammaln(dim + dim * alpha)
        + np.sum(gammaln(sizes + alpha) - gammaln(alpha))
    )


def gibbs_sweep(
    structure: Structure,
    evidence: StructureEvidence,
    dim: int,
    *,
    alpha: float,
    max_group_size: int,
    rng: np.random.Generator,
) -> Structure:
    """Draw the group of every input in turn, in random order.

    Parameters
    ----------
    structure : tuple of groups
        A partition of the D inputs.
    evidence : StructureEvidence
    dim : int
    alpha : float
    max_group_size : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    tuple of groups
    """
    groups = list(structure)
    total = evidence.total(groups)
    for i in rng.permutation(dim).tolist():
        home = next(group for group in groups if i in group)
        groups.remove(home)
        total -= evidence.correlation(home)
        left = tuple(k for k in home if k != i)
        if left:
            groups.append(left)
            total += evidence.correlation(left)
        options: list[tuple[Group | None, Group]] = [(None, (i,))]
        options += [
            (group, tuple(sorted((*group, i)))) for group in groups if len(group) < max_group_size
        ]
        # eq. 5: weight |A_m| + alpha; the D - k empty groups together have (D - k) alpha.
        log_weights = np.empty(len(options))
        for index, (old, new) in enumerate(options):
            changed = total + evidence.correlation(new)
            if old is not None:
                changed -= evidence.correlation(old)
            n_groups = len(groups) + (old is None)
            prior = (dim - len(groups)) * alpha if old is None else len(old) + alpha
            log_weights[index] = evidence.of_total(changed, n_groups) + np.log(prior)
        # The Gumbel trick draws from the normalised weights.
        old, new = options[int(np.argmax(log_weights + rng.gumbel(size=len(options))))]
        if old is not None:
            groups.remove(old)
            total -= evidence.correlation(old)
        groups.append(new)
        total += evidence.correlation(new)
    return as_structure(groups)


class StructuralKernelOptimizer(GroupwiseOptimizer):
    """Additive GP-UCB on groups from a Gibbs sampler.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`StructuralKernelOptions`. The most probable structure of an update's sweeps is used,
    and the chain goes on from where it stopped.

    Examples
    --------
    >>> optimizer = StructuralKernelOptimizer([(-1, 1)] * 4, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: x[0] * x[1] + x[2] ** 2 + x[3], 20, progress=False)
    >>> sorted(i for group in optimizer.structure for i in group)
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "structural-kernel"
    options_type: ClassVar[type] = StructuralKernelOptions
    per_input = True

    def _learn(
        self,
        X: FloatArray,
        y: FloatArray,
        tied: FloatArray,
        memory: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        dim, options = self.space.dim, self.options
        evidence = StructureEvidence(X, y, tied)

        def score(structure: Structure) -> float:
            return evidence(structure) + log_prior(structure, dim, options.alpha)

        state = as_structure(memory.get("chain", singletons(dim)))
        best = state
        best_score = score(state)
        for _ in range(options.n_sweeps):
            state = gibbs_sweep(
                state,
                evidence,
                dim,
                alpha=options.alpha,
                max_group_size=options.max_group_size,
                rng=rng,
            )
            new_score = score(state)
            if new_score > best_score:
                best, best_score = state, new_score
        return {"structure": best, "chain": state}

    def _beta(self, group_size: int, t: int) -> float:
        return GroupBeta(group_size)(t)
