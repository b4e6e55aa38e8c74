"""Bayesian neural networks with hierarchical or standard priors, sampled by NUTS.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 3: one hidden layer of ten sigmoid
units. HBNN draws a standard deviation from Gamma(2, 0.02) for each of four groups, weights and
biases of either layer; SBNN fixes all of them at 100. The noise has Gamma(2, 200). With expected
improvement of the draws' mean and spread HBNN came out best there; "empirical-ei" is its other
criterion.

**Deviations**

* Chains are shorter, and go on from where the last fit's ended; the thesis runs 2500 draws of
  burn-in and 1000 more, halved, at every step. The first begins where Stan does.
* Weights are sampled in units of their standard deviations. The posterior is the same, and has
  no funnel where data say little.
* The thesis gives the noise's mean as .001, but Gamma(2, 200), as printed, has .01.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._options import check_choice
from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.neural.network import Activation
from baselines.neural.nuts import NutsSettings, sample_nuts
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.surrogate import NetworkOptions, check_rate, fit_by_chains
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["BnnNutsOptimizer", "BnnNutsOptions"]

#: Standard deviation of every weight in SBNN (thesis, ch. 3).
STANDARD_SCALE = 100.0
#: Shape and rate of the noise's standard deviation (thesis, ch. 3).
NOISE = Noise("gamma", 2.0, 200.0)


@dataclass(frozen=True)
class BnnNutsOptions(NetworkOptions):
    """Options, beside those of :class:`NetworkOptions`.

    Parameters
    ----------
    hidden : sequence of int, default (10,)
    activation : str, default "sigmoid"
    prior : {"hierarchical", "standard"}, default "hierarchical"
        HBNN or SBNN.
    n_chains : int, default 1
        All these are the thesis's.
    n_burn_in, n_draws, thin : int, default 500, 250 and 2
        Of each chain; the thesis has 2500, 500 and 2 (chosen here: seconds for each fit).
    tree_depth : int, default 8
        The thesis's.
    target_acceptance : float, default 0.8
        Stan's, which the thesis samples with.
    """

    hidden: tuple[int, ...] = (10,)
    activation: Activation = "sigmoid"
    prior: Literal["hierarchical", "standard"] = "hierarchical"
    n_chains: int = 1
    n_burn_in: int = 500
    n_draws: int = 250
    thin: int = 2
    tree_depth: int = 8
    target_acceptance: float = 0.8

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        check_choice(self.prior, "prior", ("hierarchical", "standard"))
        for name in ("n_chains", "n_burn_in", "thin", "tree_depth"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.n_draws, "n_draws", minimum=2)
        check_rate(self.target_acceptance, "target_acceptance")


class BnnNutsOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with a network sampled by NUTS.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BnnNutsOptions`. Needs the extra ``neural``.

    Raises
    ------
    MissingExtraError
        At the first fit, if a library of the extra is missing.
    """

    name: ClassVar[str] = "bnn-nuts"
    options_type: ClassVar[type] = BnnNutsOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: BnnNutsOptions = self.options
        if options.prior == "hierarchical":
            prior = WeightPrior("hierarchical")
        else:
            prior = WeightPrior("gaussian", STANDARD_SCALE)
        model = NetworkModel(options.network(X.shape[1]), prior, NOISE)
        settings = NutsSettings(
            options.n_burn_in,
            options.n_draws,
            options.thin,
            options.tree_depth,
            float(options.target_acceptance),
        )
        data = padded(X, y)
        return fit_by_chains(
            model,
            lambda positions, sizes: sample_nuts(model, positions, sizes, settings, data, rng),
            options.n_chains,
            memory,
            rng,
        )
