r"""Anchored ensembles of random vector functional links.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 4: each member draws its own
hidden layer and an anchor :math:`\mu_0`, and takes the weights nearest to data and anchor,

.. math:: w = (\alpha I + \beta\Psi'\Psi)^{-1}(\alpha\mu_0 + \beta\Psi'y),
   \qquad \mu_0 \sim N(0, \lambda I + \lambda^2\beta\Psi'\Psi).

With :math:`\lambda = 1/\alpha` the weights of members with one layer are exact draws of the
Bayesian posterior. Mean and spread of the members are the prediction.

**Deviations**

* The thesis prints :math:`\lambda = \alpha/\beta`, with which the covariance is not the
  posterior's (trace .17 of it at alpha = 3, beta = 50).
* The number of members is not printed; 30 here.
* :math:`\alpha` is learned on the first member and shared, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._members import EnsemblePosterior
from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.random_features.bayesian_rvfl import RvflOptions, first_precision
from baselines.random_features.hidden import HiddenLayer, draw_normalised
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = [
    "EnsembleRvflOptimizer",
    "EnsembleRvflOptions",
    "NetworkEnsemble",
    "anchored_weights",
]


@dataclass(frozen=True)
class EnsembleRvflOptions(RvflOptions):
    """Options of the anchored ensemble, beside :class:`RvflOptions`.

    Parameters
    ----------
    n_members : int, default 30
        Chosen here; the thesis prints none.
    """

    n_members: int = 30

    allowed: ClassVar[tuple[str, ...]] = ("log-ei", "ucb", "empirical-ei")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_members, "n_members", minimum=2)


def anchored_weights(
    features: FloatArray, y: FloatArray, alpha: float, beta: float, rng: np.random.Generator
) -> FloatArray:
    """Return randomised MAP weights, one row for each member.

    Parameters
    ----------
    features : ndarray, shape (N, n, p)
        Of each member.
    y : ndarray, shape (n,)
    alpha, beta : float
    rng : numpy.random.Generator
        Consumed, for the anchors.

    Returns
    -------
    ndarray, shape (N, p)

    Notes
    -----
    In the dual form w = a + Psi'(alpha/beta I + Psi Psi')^-1 (y - Psi a) for an anchor a.
    """
    n_members, n, p = features.shape
    turned = np.swapaxes(features, 1, 2)
    anchors = rng.standard_normal((n_members, p, 1)) / np.sqrt(alpha)
    anchors += np.sqrt(beta) / alpha * (turned @ rng.standard_normal((n_members, n, 1)))
    residual = y[:, None] - features @ anchors
    if n < p:
        gram = features @ turned + alpha / beta * np.eye(n)
        step = turned @ np.linalg.solve(gram, residual)
    else:
        gram = turned @ features + alpha / beta * np.eye(p)
        step = np.linalg.solve(gram, turned @ residual)
    return np.asarray((anchors + step)[:, :, 0], dtype=np.float64)


class NetworkEnsemble(EnsemblePosterior):
    """Networks with fitted output weights.

    Parameters
    ----------
    layer : HiddenLayer
        Of N members.
    weights : ndarray, shape (N, p)
    noise_variance : float, default 0
        Of observations about the networks; it is not part of what they predict.
    """

    def __init__(
        self, layer: HiddenLayer, weights: FloatArray, noise_variance: float = 0.0
    ) -> None:
        self.layer = layer
        self.weights = weights
        self.noise_variance = noise_variance

    def members(self, X: FloatArray) -> FloatArray:
        """Return the outputs (n, N) at X (n, D)."""
        return np.asarray((self.layer.features(X) @ self.weights[:, :, None])[:, :, 0].T)

    def members_with_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (n, N) and their gradients (n, N, D)."""
        features, slope = self.layer.features_and_slope(X)
        outputs = (features @ self.weights[:, :, None])[:, :, 0].T
        gradient = self.layer.input_gradient(slope, self.weights[:, None, :])
        return outputs, np.swapaxes(gradient, 0, 1)


class EnsembleRvflOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with an anchored ensemble of RVFL networks.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`EnsembleRvflOptions`.

    Examples
    --------
    >>> optimizer = EnsembleRvflOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "rvfl-ensemble"
    options_type: ClassVar[type] = EnsembleRvflOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: EnsembleRvflOptions = self.options
        layer = draw_normalised(
            X, options.n_hidden, options.activation, options.skip, rng, options.n_members
        )
        features = layer.features(X)
        alpha = first_precision(features[0], y, options, memory).alpha
        beta = float(options.noise_precision)
        weights = anchored_weights(features, y, alpha, beta, rng)
        ensemble = NetworkEnsemble(layer, weights, 1.0 / beta)
        return Fit(ensemble, {"alpha": alpha}, {"alpha": alpha})
