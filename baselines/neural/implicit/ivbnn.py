r"""Bayesian optimisation with an implicit variational Bayesian neural network.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 6: the posterior of a small
network's weights is fitted, anew at each step, by a deep implicit model
(:mod:`baselines.neural.implicit.generator`), trained against a critic, the likelihood and the
order-preserving loss (:mod:`baselines.neural.implicit.training`). The main network has 2 n tanh
units for n observations; 30 networks that the generator draws are the prediction.

**Deviations**

* The thesis prints a learning rate of 3e-5, 40 steps of the critic for each of the generator and
  batches of 100, but no number of steps. At its sizes that is minutes to hours for a suggestion.
  Here the rates are larger, the critic takes fewer steps, and the number of steps is fixed.
* The order weighs .4, not 2. At a misordered pair its gradient is 2 kappa times the likelihood's;
  from one half on it raises the misfit of the worse network faster than the likelihood lowers it,
  and with 2 the networks do not come to follow more than a few observations.
* The order is that of the posterior density; the thesis's, which is that of the divergence from
  it, is the other choice of ``order``.
* The acquisition is not printed; log expected improvement of mean and variance of the networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._options import check_choice
from baselines._surrogate_loop import Fit, LoopOptions, SurrogateOptimizer
from baselines.neural.implicit.layers import random_seed, single_precision
from baselines.neural.implicit.order import UTILITIES
from baselines.neural.implicit.regression import RegressionTarget, TanhNetworks, padded
from baselines.neural.implicit.training import Training, sample, train
from boring.exceptions import InvalidInputError
from boring.typing import FloatArray
from boring.validation import as_positive_int, as_real

__all__ = ["IvbnnOptimizer", "IvbnnOptions", "fit_networks"]

#: Learning rates of generator and critic at the start (chosen here).
RATE = 1e-2
CRITIC_RATE = 2e-3


@dataclass(frozen=True)
class IvbnnOptions(LoopOptions):
    """Options of the implicit variational network, beside those of the loop.

    Parameters
    ----------
    n_members : int, default 30
        Networks that predict [thesis ch. 6].
    kappa : float, default .4
        Weight of the order-preserving loss (chosen here; the thesis has 2); 0 leaves it out.
    order : {"posterior", "divergence"}, default "posterior"
        What orders the networks; see :mod:`baselines.neural.implicit.order`.
    steps : int, default 400
        Of the generator (chosen here).
    critic_steps : int, default 1
        For each of those (chosen here; the thesis has 40).
    batch : int, default 32
        Networks in a step (chosen here; the thesis has 100).
    """

    n_members: int = 30
    kappa: float = 0.4
    order: str = "posterior"
    steps: int = 400
    critic_steps: int = 1
    batch: int = 32

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb", "empirical-ei")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_members, "n_members", minimum=2)
        if as_real(self.kappa, "kappa", "a finite number, at least 0") < 0:
            raise InvalidInputError(
                f"kappa must be at least 0; received {self.kappa!r}. Pass a larger one."
            )
        check_choice(self.order, "order", UTILITIES)
        as_positive_int(self.steps, "steps")
        as_positive_int(self.critic_steps, "critic_steps")
        as_positive_int(self.batch, "batch", minimum=2)

    def training(self) -> Training:
        """Return how to train."""
        return Training(
            int(self.steps),
            int(self.critic_steps),
            int(self.batch),
            RATE,
            CRITIC_RATE,
            float(self.kappa),
        )


def fit_networks(
    X: FloatArray, y: FloatArray, options: IvbnnOptions, rng: np.random.Generator
) -> TanhNetworks:
    """Return networks drawn by a generator that was trained on data.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    y : ndarray, shape (n,)
    options : IvbnnOptions
    rng : numpy.random.Generator
        Consumed.

    Notes
    -----
    Both are standardised first. The noise that they state is that with which training ends, .002
    of a standard deviation of y: it is set, not learned. A program is compiled for each d and
    each bucket of n.
    """
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    offset, unit = float(y.mean()), float(y.std()) or 1.0
    width, data = padded((X - centre) / scale, (y - offset) / unit)
    target = RegressionTarget(X.shape[1], width, order=options.order)
    with single_precision():
        trained = train(target, options.training(), random_seed(rng), data)
        n_members = int(options.n_members)
        theta = sample(target, trained.generator, random_seed(rng), n_members, data)
        theta = np.asarray(theta, dtype=np.float64)
    noise_variance = (unit * target.last_noise) ** 2
    return TanhNetworks(theta, X.shape[1], centre, scale, offset, unit, noise_variance)


class IvbnnOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with an implicit variational Bayesian neural network.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`IvbnnOptions`. Needs the extra ``neural``. The first fit, after the initial design,
    compiles a program for some ten seconds.

    Examples
    --------
    >>> optimizer = IvbnnOptimizer([(-1, 1)] * 2, direction="minimize", seed=0, steps=20)
    >>> optimizer.ask().shape
    (1, 2)
    """

    name: ClassVar[str] = "ivbnn"
    options_type: ClassVar[type] = IvbnnOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        networks = fit_networks(X, y, self.options, rng)
        misfit = float(np.sqrt(np.mean((networks.predict(X)[0] - y) ** 2)))
        return Fit(networks, {}, {"misfit": misfit})
