"""Dropout: at every step a Gaussian process on a random few of the inputs.

Li, Gupta, Rana, Nguyen, Venkatesh and Shilton, "High dimensional Bayesian optimization using
dropout", IJCAI 2017. Each step draws d of the D coordinates uniformly (none is thought to matter
more than another), models the values as a function of these alone, maximises the acquisition over
them, and fills in the rest: at random, from the best point so far ("copy"), or a mixture of both.

For a model of d coordinates the others are noise, whose variance is therefore learned, and the
incumbent is the largest posterior mean, not the largest value.

**Deviations**

* Hyperparameters are MAP, with a broad prior on the noise. Log expected improvement; ``"ucb"`` is
  the paper's upper confidence bound, with GP-UCB's beta in d dimensions and delta = 0.1.
* The thesis says that the most influential coordinates are kept; the method keeps random ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._acquisition import ACQUISITIONS, acquisition_of
from baselines._options import check_choice, check_optional_int
from boring.acquisition import (
    maximize_acquisition,
)
from boring.exceptions import InvalidInputError
from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, Ard, KernelTerm
from boring.models.gp import GaussianProcessModel, prior_mode
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.models.priors import Gaussian, dimension_scaled
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.typing import FloatArray
from boring.validation import as_real
from boring.warping import standardize

__all__ = ["DropoutOptimizer", "DropoutOptions", "fill"]

#: Coordinates at a time, for D = 20 (Li et al. 2017, section 4).
DEFAULT_N_KEPT = 5
#: Priors of log variance and log noise variance, y standardised (chosen here): the coordinates
#: that are left out may explain everything or nothing.
VARIANCE_PRIOR = Gaussian(0.0, 1.5)
NOISE_PRIOR = Gaussian(float(np.log(0.1)), 2.5)
FIT_ITERATIONS = 40
#: Noise variances at which fits start.
NOISE_STARTS = (0.5, 1e-3)


@dataclass(frozen=True)
class DropoutOptions:
    """Options of dropout.

    Parameters
    ----------
    n_kept : int, optional
        Coordinates at a time, d; None takes min(5, D).
    fill : {"mix", "copy", "random"}, default "mix"
        Where the others come from.
    random_share : float, default 0.1
        Probability of a random fill under "mix" (Li et al. 2017).
    acquisition : {"log-ei", "ucb"}, default "log-ei"
    """

    n_kept: int | None = None
    fill: Literal["mix", "copy", "random"] = "mix"
    random_share: float = 0.1
    acquisition: Literal["log-ei", "ucb"] = "log-ei"

    def __post_init__(self) -> None:
        """Check every option that does not depend on the space."""
        check_optional_int(self.n_kept, "n_kept")
        check_choice(self.fill, "fill", ("mix", "copy", "random"))
        check_choice(self.acquisition, "acquisition", ACQUISITIONS)
        if not 0.0 <= as_real(self.random_share, "random_share") <= 1.0:
            raise InvalidInputError(
                f"random_share must be a probability; received {self.random_share!r}. "
                "Pass a number between 0 and 1."
            )


def fill(
    kind: str, best: FloatArray, random_share: float, rng: np.random.Generator
) -> tuple[FloatArray, bool]:
    """Return a point whose coordinates stand for those that are left out.

    Parameters
    ----------
    kind : {"mix", "copy", "random"}
    best : ndarray, shape (D,)
    random_share : float
        Of "mix".
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    x : ndarray, shape (D,)
    is_random : bool
    """
    is_random = kind == "random" or (kind == "mix" and rng.random() < random_share)
    return (rng.uniform(-1.0, 1.0, best.size) if is_random else best.copy()), is_random


class DropoutOptimizer(Optimizer):
    """Bayesian optimisation of random coordinates, a few at a time.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`DropoutOptions`.

    Raises
    ------
    InvalidInputError
        If ``n_kept`` exceeds the dimension of the space.

    Notes
    -----
    ``surrogate`` is None: each step has a model of other coordinates, to which all the rest is
    noise, and none of the objective.

    Examples
    --------
    >>> optimizer = DropoutOptimizer([(-1, 1)] * 8, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 20, progress=False)
    >>> result.X.shape
    (20, 8)
    """

    name: ClassVar[str] = "dropout"
    options_type: ClassVar[type] = DropoutOptions

    def __init__(self, space: Any, **arguments: Any) -> None:
        super().__init__(space, **arguments)
        if self.n_kept > self.space.dim:
            raise InvalidInputError(
                f"n_kept must not exceed the dimension of the space; received {self.n_kept} in "
                f"{self.space.dim} dimensions. Lower n_kept."
            )

    @property
    def n_kept(self) -> int:
        """Coordinates at a time."""
        given: int | None = self.options.n_kept
        return min(DEFAULT_N_KEPT, self.space.dim) if given is None else given

    def _resolved_options(self) -> dict[str, object]:
        return {**self.option_values(), "n_kept": self.n_kept}

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        rng, dim = context.rng, self.space.dim
        kept = np.sort(rng.choice(dim, size=self.n_kept, replace=False))
        best = X[int(np.argmax(y))]
        x, is_random = fill(self.options.fill, best, self.options.random_share, rng)
        posterior = _fit(X[:, kept], y)
        info: dict[str, float | int | str | bool | None] = {
            "log_likelihood": posterior.log_marginal_likelihood,
            "noise_variance": posterior.noise_variance,
            "filled_at_random": is_random,
        }
        posterior = with_fantasies(
            posterior, context.pending[:, kept], context.data.failing_X[:, kept]
        )
        mean = posterior.predict(X[:, kept])[0]
        found = maximize_acquisition(
            acquisition_of(
                self.options.acquisition, posterior, float(mean.max()), self.n_kept, len(X)
            ),
            self.n_kept,
            incumbent=X[int(np.argmax(mean)), kept] if is_random else best[kept],
            rng=rng,
            avoid=_same_elsewhere(np.vstack([context.data.X, context.pending]), x, kept),
        )
        x[kept] = found.x
        info |= {"acquisition": found.value, "replaced": found.replaced}
        return Proposal(x, {}, info)


def _fit(Z: FloatArray, y: FloatArray) -> GaussianProcess:
    """Return the posterior on the kept coordinates Z (n, d) at the best of two MAP fits."""
    d = Z.shape[1]
    prior = dimension_scaled(d)
    term = KernelTerm(SQUARED_EXPONENTIAL, Ard(d), "kept", VARIANCE_PRIOR, prior)
    model = GaussianProcessModel(AdditiveKernel([term], 1.0), NOISE_PRIOR)
    starts = []
    for noise in NOISE_STARTS:
        start = prior_mode(model)
        start[-1] = np.log(noise)
        starts.append(start)
    fit = model.fit_best(Z, y, starts, max_iterations=FIT_ITERATIONS)
    return model.condition(fit.theta, Z, y)


def _same_elsewhere(X: FloatArray, x: FloatArray, kept: np.ndarray) -> FloatArray:
    """Return the kept coordinates of those points that agree with x in all others."""
    others = np.setdiff1d(np.arange(x.size), kept)
    same = np.abs(X[:, others] - x[others]).max(axis=1, initial=0.0) < 1e-9
    return np.asarray(X[np.ix_(same, kept)])
