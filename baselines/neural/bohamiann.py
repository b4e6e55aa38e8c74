"""BOHAMIANN: a network sampled by scale-adapted stochastic gradients.

Springenberg, Klein, Falkner and Hutter, Bayesian Optimization with Robust Bayesian Neural
Networks, NIPS 2016, as run by Kruse, MSc thesis, Technical University of Denmark 2022: three
hidden layers of 50 tanh units, the noise learned along with the weights. The chain begins anew at
every fit, with small random weights.

**Deviations**

* The priors' figures are question marks in the thesis, and a published code divides the weights'
  by their number or leaves both out. Here weights are N(0, 1), and log noise variance is
  N(log .001, 1): that code's starting value, with room to move.
* The thesis scales inputs by their mean and spread; here they are in [-1, 1]^D as everywhere.
* Batches are drawn with replacement, so that their size does not depend on that of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._options import check_positive
from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.neural.priors import NetworkModel, Noise, WeightPrior, padded
from baselines.neural.sghmc import SghmcSettings, sample_sghmc
from baselines.neural.surrogate import NetworkOptions, check_rate, posterior_at, small_weights
from boring.result import InfoValue
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["BohamiannOptimizer", "BohamiannOptions"]

#: Mean and spread of log noise variance (chosen here).
NOISE = Noise("log-normal", float(np.log(1e-3)), 1.0)
#: A chain that runs off to infinity is run again with half the step size, up to this many runs
#: (chosen here); the step size used is in a proposal's info.
MAX_RUNS = 6


@dataclass(frozen=True)
class BohamiannOptions(NetworkOptions):
    """Options, beside those of :class:`NetworkOptions`.

    Parameters
    ----------
    n_burn_in : int, default 3000
    n_draws, thin : int, default 100
        100 networks, one from each 100 steps (both as in the published code).
    batch : int, default 20
        The published code's.
    step_size : float, default 0.01
        epsilon, the paper's; see :mod:`baselines.neural.sghmc` on larger ones.
    friction : float, default 0.05
        The published code's.
    """

    n_burn_in: int = 3000
    n_draws: int = 100
    thin: int = 100
    batch: int = 20
    step_size: float = 0.01
    friction: float = 0.05

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        for name in ("n_burn_in", "thin", "batch"):
            as_positive_int(getattr(self, name), name)
        as_positive_int(self.n_draws, "n_draws", minimum=2)
        check_positive(self.step_size, "step_size")
        check_rate(self.friction, "friction")


class BohamiannOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with a network sampled by stochastic gradients.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BohamiannOptions`. Needs the extra ``neural``.

    Raises
    ------
    MissingExtraError
        At the first fit, if a library of the extra is missing.
    """

    name: ClassVar[str] = "bohamiann"
    options_type: ClassVar[type] = BohamiannOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: BohamiannOptions = self.options
        model = NetworkModel(options.network(X.shape[1]), WeightPrior(), NOISE)
        first = small_weights(model, 1, rng)[0]
        first[-1] = 0.5 * NOISE.a
        data, step_size = padded(X, y), float(options.step_size)
        for _ in range(MAX_RUNS):
            settings = SghmcSettings(
                options.n_burn_in,
                options.n_draws,
                options.thin,
                options.batch,
                step_size,
                float(options.friction),
            )
            draws = sample_sghmc(model, first, settings, data, len(X), rng)
            if np.isfinite(draws).all():
                break
            step_size /= 2.0
        noise = float(np.exp(draws[:, -1]).mean())
        info: dict[str, InfoValue] = {"noise_sd": noise, "step_size": step_size}
        return Fit(posterior_at(model, draws), {}, info)
