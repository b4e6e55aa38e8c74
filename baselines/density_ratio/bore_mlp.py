"""BORE with a neural network: the next point is where a classifier is surest of a good value.

Tiao, Klein, Seeger, Bonilla, Archambeau and Ramos, "BORE: Bayesian optimization by density-ratio
estimation", ICML 2021. The class probability is a monotone function of the network's logit, which
is what is maximised, by L-BFGS over the box: the probability itself is flat where it saturates.

**Deviations**

* tanh units: with the paper's ReLU and ELU the gradient of the logit, or its derivative, jumps.
* scikit-learn's network is trained to convergence by L-BFGS and from new weights at every
  step; BORE's code warm-starts 1000 steps of Adam. What a run remembers is then its data alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from baselines._options import check_positive
from baselines._scikit import scikit_learn
from baselines.density_ratio.network import Network
from baselines.density_ratio.ratio_loop import DensityRatioOptimizer, Labelled, RatioOptions
from boring.acquisition import Acquisition
from boring.typing import BoolArray, FloatArray
from boring.validation import as_positive_int

__all__ = ["BoreMlpOptimizer", "BoreMlpOptions", "NetworkScore", "fit_scikit_network"]


@dataclass(frozen=True, kw_only=True)
class BoreMlpOptions(RatioOptions):
    """Options of BORE with a network, beside those of :class:`RatioOptions`.

    Parameters
    ----------
    n_units : int, default 32
        Units of each of the two hidden layers [BORE].
    penalty : float, default 0.1
        delta: delta/2 times the sum of the squared weights is added to the summed log loss.
        Without one the weights of separable classes grow without end [chosen here].
    max_iterations : int, default 200
        Of L-BFGS [scikit-learn's default].
    """

    n_units: int = 32
    penalty: float = 0.1
    max_iterations: int = 200

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_units, "n_units")
        check_positive(self.penalty, "penalty")
        as_positive_int(self.max_iterations, "max_iterations")


@dataclass(frozen=True, eq=False)
class NetworkScore:
    """The logit of a network with fixed weights.

    Parameters
    ----------
    network : Network
    theta : ndarray, shape (P,)
    """

    network: Network
    theta: FloatArray

    def value(self, Z: FloatArray) -> FloatArray:
        """Return the logit, shape (m,), at Z (m, k)."""
        return self.network.value(self.theta, Z)

    def value_and_gradient(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logit, shape (m,), and its gradient, shape (m, k)."""
        return self.network.input_gradient(self.theta, Z)


def fit_scikit_network(
    Z: FloatArray,
    good: BoolArray,
    hidden: tuple[int, ...],
    penalty: float,
    max_iterations: int,
    seed: int,
) -> NetworkScore:
    """Return scikit-learn's network, as one whose derivatives are at hand.

    Parameters
    ----------
    Z : ndarray, shape (n, k)
    good : ndarray of bool, shape (n,)
    hidden : tuple of int
        Units of the hidden layers.
    penalty : float
        Of the weights, biases excepted.
    max_iterations : int
    seed : int
    """
    classifier = scikit_learn("neural_network").MLPClassifier(
        hidden,
        activation="tanh",
        solver="lbfgs",
        alpha=penalty,
        max_iter=max_iterations,
        random_state=seed,
    )
    convergence_warning = scikit_learn("exceptions").ConvergenceWarning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", convergence_warning)
        classifier.fit(Z, good)
    layers = [
        np.vstack([weights, bias]).ravel()
        for weights, bias in zip(classifier.coefs_, classifier.intercepts_, strict=True)
    ]
    return NetworkScore(Network((Z.shape[1], *hidden, 1)), np.concatenate(layers))


class BoreMlpOptimizer(DensityRatioOptimizer):
    """Bayesian optimisation by a neural classifier of good and bad points.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`BoreMlpOptions`.

    Examples
    --------
    >>> optimizer = BoreMlpOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 20, progress=False)
    >>> result.y_best < 0.05
    True
    """

    name: ClassVar[str] = "bore-mlp"
    options_type: ClassVar[type] = BoreMlpOptions

    def scored(self, labelled: Labelled, rng: np.random.Generator) -> Acquisition:
        """Return a score of Z; see `DensityRatioOptimizer.scored`."""
        options: BoreMlpOptions = self.options
        score = fit_scikit_network(
            labelled.Z,
            labelled.good,
            (options.n_units,) * 2,
            options.penalty,
            options.max_iterations,
            int(rng.integers(2**31)),
        )
        return score
