"""Bayesian neural networks by variational inference.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 2, shows one Gaussian and a mixture
of three on a ring, and optimises with neither. Here they are fitted to the weights of a network
with one hidden layer, anew at every fit; the surrogate is an ensemble of draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._options import check_choice, check_positive
from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.surrogate import NetworkOptions, posterior_at, small_weights
from baselines.neural.variational import VariationalSettings, fit_variational
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["BnnViOptimizer", "BnnViOptions"]

#: Standard deviation of every weight to begin from, so that the means find their way first
#: (chosen here).
FIRST_SD = 0.02


@dataclass(frozen=True)
class BnnViOptions(NetworkOptions):
    """Options, beside those of :class:`NetworkOptions`; all defaults chosen here.

    Parameters
    ----------
    hidden : sequence of int, default (50,)
    components : int, default 1
        1 for one Gaussian, more for a mixture (the thesis's has 3).
    prior : {"fan-in", "gaussian"}, default "fan-in"
        See :class:`baselines.neural.priors.WeightPrior`.
    prior_scale : float, default 2
    noise_sd : float, default 0.2
        Of standardised values, fixed. Independent weights cannot follow values closely and be
        uncertain between them: with .05 only a sixth to a quarter of new values of Hartmann6
        lay within two standard deviations (100 values, 1 seed), with .2 three fifths. Learned,
        the noise became .7, and 1.8 for 20 values of Branin: nothing was left of the function.
    n_members : int, default 200
        Networks drawn.
    n_steps : int, default 3000
    n_samples : int, default 4
        Draws of each component for one gradient.
    learning_rate : float, default 0.01
    """

    hidden: tuple[int, ...] = (50,)
    components: int = 1
    prior: Literal["fan-in", "gaussian"] = "fan-in"
    prior_scale: float = 2.0
    noise_sd: float = 0.2
    n_members: int = 200
    n_steps: int = 3000
    n_samples: int = 4
    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        check_choice(self.prior, "prior", ("fan-in", "gaussian"))
        for name in ("components", "n_steps", "n_samples"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.n_members, "n_members", minimum=2)
        for name in ("prior_scale", "noise_sd", "learning_rate"):
            check_positive(getattr(self, name), name)


class BnnViOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with a network fitted by variational inference.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BnnViOptions`. Needs the extra ``neural``.

    Raises
    ------
    MissingExtraError
        At the first fit, if a library of the extra is missing.
    """

    name: ClassVar[str] = "bnn-vi"
    options_type: ClassVar[type] = BnnViOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: BnnViOptions = self.options
        model = NetworkModel(
            options.network(X.shape[1]),
            WeightPrior(options.prior, float(options.prior_scale)),
            Noise("fixed", float(options.noise_sd)),
        )
        means = small_weights(model, options.components, rng)
        log_sds = np.full_like(means, np.log(FIRST_SD))
        settings = VariationalSettings(
            options.n_steps, options.n_samples, float(options.learning_rate)
        )
        found = fit_variational(model, means, log_sds, settings, padded(X, y), rng)
        last = found.bound[-max(1, options.n_steps // 20) :]
        draws = found.draw(options.n_members, rng)
        return Fit(posterior_at(model, draws), {}, {"elbo": float(last.mean())})
