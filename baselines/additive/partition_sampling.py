"""Additive structure by Metropolis-Hastings over partitions of the inputs.

Gardner, Guo, Weinberger, Garnett and Grosse, "Discovering and exploiting additive structure for
Bayesian optimization", AISTATS 2017. A model is a partition of the D inputs; its evidence is the
marginal likelihood at its own optimised hyperparameters. The chain starts from the fully
additive partition and is carried from one proposal to the next; a move merges two groups or splits
one in two, and is accepted with probability

    min(1, p(y | M') q(M | M') / (p(y | M) q(M' | M))).

The acquisition is averaged over the sampled models.

**Deviations**

* Within a proposal every model's hyperparameters start from those of the chain's first model, with
  a limited number of steps; the evidence is then a function of the partition alone, as the
  acceptance rule asks, at a cost that D = 100 can bear.
* The averaged acquisition is the expected improvement, maximised jointly over the box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines.additive.groups import (
    LENGTHSCALE_PRIOR,
    NOISE_PRIOR,
    Structure,
    as_structure,
    group_basis,
    singletons,
)
from baselines.additive.improvement_loop import FittedModels, ImprovementOptimizer
from boring.kernels import MATERN52, AdditiveKernel, KernelTerm, ProjectedArd
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess
from boring.models.priors import Gaussian
from boring.optimizer import ProposalContext
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = [
    "PartitionEvidence",
    "PartitionSamplingOptimizer",
    "PartitionSamplingOptions",
    "log_move_probability",
    "metropolis_hastings",
    "partition_model",
    "propose_move",
]

#: Prior sd of a group's log variance; its mean shares the variance of y out (chosen here).
GROUP_VARIANCE_SD = 1.5
COLD_ITERATIONS = 30


@dataclass(frozen=True)
class PartitionSamplingOptions:
    """Options of Metropolis-Hastings over partitions; all but the start are chosen here.

    Parameters
    ----------
    n_models : int, default 5
        Models over which the acquisition is averaged.
    steps_per_model : int, default 4
        Moves of the chain between two of them.
    burn_in : int, default 50
        Moves before the first model of the first proposal.
    fit_iterations : int, default 8
        Of the hyperparameters of a model that the chain looks at.
    """

    n_models: int = 5
    steps_per_model: int = 4
    burn_in: int = 50
    fit_iterations: int = 8

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("n_models", "steps_per_model", "fit_iterations"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.burn_in, "burn_in", minimum=0)


def _splittable(structure: Structure) -> list[int]:
    return [k for k, group in enumerate(structure) if len(group) > 1]


def _merge_probability(structure: Structure) -> float:
    """Return the probability that a move merges: 1/2, or what is left if only one is possible."""
    if len(structure) == 1:
        return 0.0
    return 0.5 if _splittable(structure) else 1.0


def log_move_probability(structure: Structure, target: Structure) -> float:
    """Return log q(target | structure) for two partitions one move apart.

    Parameters
    ----------
    structure, target : tuple of groups
        As :func:`baselines.additive.groups.as_structure` returns them.

    Returns
    -------
    float
        A merge picks one of k (k - 1)/2 pairs of groups; a split picks one of the groups with two
        inputs or more, then one of its 2^(s - 1) - 1 cuts in two. Minus infinity if no move leads
        there.
    """
    gone, new = set(structure) - set(target), set(target) - set(structure)
    merge = _merge_probability(structure)
    k = len(structure)
    if len(gone) == 2 and len(new) == 1:
        return float(np.log(merge) - np.log(k * (k - 1) / 2))
    if len(gone) == 1 and len(new) == 2:
        size = len(next(iter(gone)))
        n_cuts = 2.0 ** (size - 1) - 1.0
        return float(np.log1p(-merge) - np.log(len(_splittable(structure))) - np.log(n_cuts))
    return -np.inf


def propose_move(structure: Structure, rng: np.random.Generator) -> Structure:
    """Draw a merge or a split (see :func:`log_move_probability`).

    Parameters
    ----------
    structure : tuple of groups
        Of two inputs or more.
    rng : numpy.random.Generator
        Consumed.
    """
    groups = list(structure)
    if rng.random() < _merge_probability(structure):
        first, second = rng.choice(len(groups), size=2, replace=False)
        merged = groups[first] + groups[second]
        kept = [group for k, group in enumerate(groups) if k not in (first, second)]
        return as_structure([*kept, merged])
    group = groups.pop(int(rng.choice(_splittable(structure))))
    # One bit an input; the first input's is fixed, which counts each cut once.
    while True:
        bits = np.concatenate([[True], rng.random(len(group) - 1) < 0.5])
        if not bits.all():
            break
    left = [i for i, bit in zip(group, bits, strict=True) if bit]
    right = [i for i, bit in zip(group, bits, strict=True) if not bit]
    return as_structure([*groups, left, right])


def metropolis_hastings(
    structure: Structure,
    log_score: Callable[[Structure], float],
    n_steps: int,
    rng: np.random.Generator,
) -> list[Structure]:
    """Run the chain.

    Parameters
    ----------
    structure : tuple of groups
        Where it starts.
    log_score : callable
        Log of the unnormalised posterior of a partition.
    n_steps : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    list of partitions, length ``n_steps``
        The state after each step. A single input leaves nothing to move.
    """
    states = []
    score = log_score(structure)
    for _ in range(n_steps):
        if sum(len(group) for group in structure) > 1:
            target = propose_move(structure, rng)
            new = log_score(target)
            log_ratio = (
                new
                - score
                + log_move_probability(target, structure)
                - log_move_probability(structure, target)
            )
            if np.log(rng.random()) < log_ratio:
                structure, score = target, new
        states.append(structure)
    return states


def partition_model(structure: Structure, dim: int) -> GaussianProcessModel:
    """Return the additive model of a partition: a variance a group, a lengthscale an input."""
    variance_prior = Gaussian(-float(np.log(len(structure))), GROUP_VARIANCE_SD)
    terms = [
        KernelTerm(
            MATERN52,
            ProjectedArd(group_basis(group, dim)),
            f"inputs {group}",
            variance_prior,
            LENGTHSCALE_PRIOR,
        )
        for group in structure
    ]
    return GaussianProcessModel(AdditiveKernel(terms), NOISE_PRIOR)


class PartitionEvidence:
    """Log evidence of partitions, each at its own optimised hyperparameters.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
        Standardised.
    reference : mapping
        ``variance`` and ``lengthscale``, the logs for each input, and ``noise``: where the fits
        start. A group starts at the sum of its inputs' variances.
    fit_iterations : int
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, reference: Mapping[str, Any], fit_iterations: int
    ) -> None:
        self._X, self._y = X, y
        self._reference = {key: np.asarray(value) for key, value in reference.items()}
        self._fit_iterations = fit_iterations
        self._found: dict[Structure, tuple[float, FloatArray]] = {}

    @staticmethod
    def prior_reference(dim: int) -> dict[str, Any]:
        """Return the reference that the priors like best."""
        return {
            "variance": [-float(np.log(dim))] * dim,
            "lengthscale": [LENGTHSCALE_PRIOR.mean] * dim,
            "noise": NOISE_PRIOR.mean,
        }

    def reference_of(self, structure: Structure) -> dict[str, Any]:
        """Return the fitted hyperparameters of a partition, spread over the inputs."""
        theta = self.theta(structure)
        model = partition_model(structure, self._X.shape[1])
        variance, lengthscale = np.empty(self._X.shape[1]), np.empty(self._X.shape[1])
        for group, part in zip(structure, model.kernel.slices, strict=True):
            variance[list(group)] = theta[part.start] - np.log(len(group))
            lengthscale[list(group)] = theta[part.start + 1 : part.stop]
        return {
            "variance": variance.tolist(),
            "lengthscale": lengthscale.tolist(),
            "noise": float(theta[-1]),
        }

    def theta(self, structure: Structure) -> FloatArray:
        """Return the optimised hyperparameters of a partition's model."""
        return self._fitted(structure)[1]

    def __call__(self, structure: Structure) -> float:
        """Return log p(y | X, partition) at the optimised hyperparameters, in nats."""
        return self._fitted(structure)[0]

    def posterior(self, structure: Structure) -> GaussianProcess:
        """Return the posterior of a partition's model."""
        model = partition_model(structure, self._X.shape[1])
        return model.condition(self.theta(structure), self._X, self._y)

    def _fitted(self, structure: Structure) -> tuple[float, FloatArray]:
        if structure not in self._found:
            model = partition_model(structure, self._X.shape[1])
            fit = model.fit(
                self._X, self._y, self._start(structure), max_iterations=self._fit_iterations
            )
            penalty, _ = model.penalty(fit.theta)
            self._found[structure] = (penalty - fit.value, fit.theta)
        return self._found[structure]

    def _start(self, structure: Structure) -> FloatArray:
        blocks = []
        for group in structure:
            index = list(group)
            shares = self._reference["variance"][index]
            blocks += [[np.logaddexp.reduce(shares)], self._reference["lengthscale"][index]]
        return np.concatenate([*blocks, [self._reference["noise"]]])


class PartitionSamplingOptimizer(ImprovementOptimizer):
    """Expected improvement averaged over sampled additive structures.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`PartitionSamplingOptions`.

    Examples
    --------
    >>> optimizer = PartitionSamplingOptimizer([(-1, 1)] * 3, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 12, progress=False)
    >>> sum(weight for _, weight in optimizer.structures)
    5
    """

    name: ClassVar[str] = "partition-sampling"
    options_type: ClassVar[type] = PartitionSamplingOptions

    @property
    def structures(self) -> list[tuple[Structure, int]]:
        """Partitions of the last proposal and how often each was sampled."""
        return [(as_structure(groups), int(n)) for groups, n in self.memory.get("models", [])]

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP of the objective on the most often sampled partition; None before the first."""
        if not self.structures:
            return None
        best, _ = max(self.structures, key=lambda pair: pair[1])
        reference, iterations = self.memory["reference"], self.options.fit_iterations
        return ObjectiveProcess.of(
            self, lambda X, y: PartitionEvidence(X, y, reference, iterations).posterior(best)
        )

    def _fit_models(self, X: FloatArray, y: FloatArray, context: ProposalContext) -> FittedModels:
        dim, options = self.space.dim, self.options
        memory = context.memory
        state = as_structure(memory.get("chain", singletons(dim)))
        start = memory.get("reference", PartitionEvidence.prior_reference(dim))
        iterations = options.fit_iterations if memory else COLD_ITERATIONS
        reference = PartitionEvidence(X, y, start, iterations).reference_of(state)

        evidence = PartitionEvidence(X, y, reference, options.fit_iterations)
        n_burn_in = 0 if memory else options.burn_in
        n_steps = n_burn_in + options.n_models * options.steps_per_model
        states = metropolis_hastings(state, evidence, n_steps, context.rng)
        models = Counter(states[n_burn_in + options.steps_per_model - 1 :: options.steps_per_model])
        return FittedModels(
            [evidence.posterior(model) for model in models],
            list(models.values()),
            memory={
                "chain": states[-1],
                "reference": reference,
                "models": [[model, count] for model, count in models.items()],
            },
            info={
                "log_likelihood": evidence(states[-1]),
                "n_groups": len(states[-1]),
                "n_models": len(models),
            },
        )
