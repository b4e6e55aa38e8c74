"""Ensembles of extreme learning machines.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 3: 500 networks with ten tanh units,
whose hidden weights and biases are uniform in [-10, 10] and never fitted; the output weights are
the least-squares ones of minimum norm. Mean and spread of the 500 outputs are the prediction;
"empirical-ei" is the mean improvement of the members instead.

**Deviations**: inputs are in [-1, 1]^D, and biases share the range of the weights; the thesis
says neither. With fewer observations than hidden units every member interpolates; with just as
many its weights may be huge, which the pseudo-inverse is left to bear, as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._options import check_positive
from baselines._surrogate_loop import Fit, LoopOptions, SurrogateOptimizer
from baselines.random_features.ensemble_rvfl import NetworkEnsemble
from baselines.random_features.hidden import draw_uniform
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["ElmOptimizer", "ElmOptions", "fit_elm"]


@dataclass(frozen=True)
class ElmOptions(LoopOptions):
    """Options of the ensemble, beside :class:`LoopOptions`.

    Parameters
    ----------
    n_members : int, default 500
    n_hidden : int, default 10
    half_range : float, default 10
        Of the hidden weights and biases.
    """

    n_members: int = 500
    n_hidden: int = 10
    half_range: float = 10.0

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb", "empirical-ei")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_members, "n_members", minimum=2)
        as_positive_int(self.n_hidden, "n_hidden")
        check_positive(self.half_range, "half_range")


def fit_elm(
    X: FloatArray,
    y: FloatArray,
    n_members: int,
    n_hidden: int,
    half_range: float,
    rng: np.random.Generator,
) -> NetworkEnsemble:
    """Return the ensemble, with output weights pinv(H) y.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    n_members, n_hidden : int
    half_range : float
    rng : numpy.random.Generator
        Consumed.
    """
    layer = draw_uniform(X.shape[1], n_hidden, half_range, rng, n_members)
    return NetworkEnsemble(layer, np.linalg.pinv(layer.features(X)) @ y)


class ElmOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with an ensemble of extreme learning machines.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`ElmOptions`.

    Examples
    --------
    >>> optimizer = ElmOptimizer([(-1, 1)] * 2, direction="minimize", seed=0, n_members=50)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "elm"
    options_type: ClassVar[type] = ElmOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: ElmOptions = self.options
        return Fit(fit_elm(X, y, options.n_members, options.n_hidden, options.half_range, rng))
