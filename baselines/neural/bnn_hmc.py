"""Bayesian neural networks sampled by Hamiltonian Monte Carlo.

Agrawal, Bayesian Optimisation using Neural Networks, Cambridge 2016: a network with three hidden
layers of 50 tanh units, independent normal priors, 5000 draws for a picture; the lower confidence
bound of mean and spread of the draws' outputs, noise not added, is minimised by gradients.

**Deviations**

* Scale of the prior, noise, step size, chains and their lengths, and the bound's factor are not
  printed. A scale of 1 reproduces the printed pictures in trials, smaller ones underfit; the
  bound's factor is 2, the default of the software that the report compares with.
* Several short chains go on from where the last fit's ended, instead of one long one.
* "log-ei" and "empirical-ei" can be chosen, which the comparison with expected improvement needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._options import check_choice, check_positive
from baselines._surrogate_loop import Acquire, Fit, SurrogateOptimizer
from baselines.neural.hmc import HmcSettings, sample_hmc
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.surrogate import NetworkOptions, check_rate, fit_by_chains
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["BnnHmcOptimizer", "BnnHmcOptions"]

PRIORS = ("gaussian", "fan-in", "cauchy", "hierarchical")


@dataclass(frozen=True)
class BnnHmcOptions(NetworkOptions):
    """Options, beside those of :class:`NetworkOptions`.

    Parameters
    ----------
    acquisition : str, default "ucb"
        With factor ``beta`` of 2: the report's lower confidence bound, of values to minimise.
    prior : {"gaussian", "fan-in", "cauchy", "hierarchical"}, default "gaussian"
        See :class:`baselines.neural.priors.WeightPrior`.
    prior_scale : float, default 1
        Trials of the sinusoid: with .5 or .3 the data are underfitted (chosen here).
    noise_sd : float, default 0.05
        Of standardised values, and fixed; the report prints none (chosen here).
    n_chains : int, default 4
    n_burn_in, n_draws, thin : int, default 25, 50 and 4
        Of each chain; every draw is ``thin`` transitions. The report prints 5000 draws, for one
        fit; with these a fit to 100 values takes seconds (chosen here).
    cold_rounds : int, default 4
        The first fit's chains run over this often (chosen here: 1200 transitions; 1000 of
        burn-in were enough in trials).
    n_leapfrog : int, default 20
    target_acceptance : float, default 0.9
        Both of the code that the report follows in adapting.
    """

    acquisition: Acquire = "ucb"
    prior: Literal["gaussian", "fan-in", "cauchy", "hierarchical"] = "gaussian"
    prior_scale: float = 1.0
    noise_sd: float = 0.05
    n_chains: int = 4
    n_burn_in: int = 25
    n_draws: int = 50
    thin: int = 4
    cold_rounds: int = 4
    n_leapfrog: int = 20
    target_acceptance: float = 0.9

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        check_choice(self.prior, "prior", PRIORS)
        check_positive(self.prior_scale, "prior_scale")
        check_positive(self.noise_sd, "noise_sd")
        for name in ("n_chains", "n_burn_in", "thin", "cold_rounds", "n_leapfrog"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.n_draws, "n_draws", minimum=2)
        check_rate(self.target_acceptance, "target_acceptance")


class BnnHmcOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with a network sampled by Hamiltonian Monte Carlo.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BnnHmcOptions`. Needs the extra ``neural``.

    Raises
    ------
    MissingExtraError
        At the first fit, if a library of the extra is missing.
    """

    name: ClassVar[str] = "bnn-hmc"
    options_type: ClassVar[type] = BnnHmcOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: BnnHmcOptions = self.options
        model = NetworkModel(
            options.network(X.shape[1]),
            WeightPrior(options.prior, float(options.prior_scale)),
            Noise("fixed", float(options.noise_sd)),
        )
        settings = HmcSettings(
            options.n_burn_in,
            options.n_draws,
            options.thin,
            options.n_leapfrog,
            float(options.target_acceptance),
        )
        data = padded(X, y)
        return fit_by_chains(
            model,
            lambda positions, sizes: sample_hmc(model, positions, sizes, settings, data, rng),
            options.n_chains,
            options.cold_rounds,
            memory,
            rng,
        )
