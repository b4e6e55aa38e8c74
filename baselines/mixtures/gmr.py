r"""Gaussian mixture regression: full-covariance components of (x, y), conditioned on x.

Kruse, MSc thesis, DTU 2022, section 4.2. Given x, component k predicts
:math:`N(m_y + S_{yx}S_{xx}^{-1}(x - m_x),\; S_{yy} - S_{yx}S_{xx}^{-1}S_{xy})` with weight
:math:`\lambda_k N(x; m_x, S_{xx})`; the mixture is blended with a prior
(:mod:`baselines.mixtures.blending`). Expectation-maximisation is scikit-learn's (extra
``neural``), three restarts (Kruse's table; his text has 20).

**Deviations**: the number of components (his range is not given; here up to n/2 and 20) is
chosen together with the floor under the covariances, since a component of few points is
otherwise flat; each pair with its best Delta, by cross-validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from baselines._scikit import scikit_learn
from baselines._surrogate_loop import Fit, SurrogateOptimizer
from baselines.mixtures.blending import (
    BlendedMixture,
    FoldedOptions,
    JointMixture,
    Standardiser,
    best_blend,
    folds_of,
    is_due,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["GaussianMixtureRegression", "GmrOptimizer", "GmrOptions", "fit_mixture"]

#: Numbers of components that are tried, as far as there are two observations for each.
COMPONENTS = (1, 2, 3, 5, 8, 13, 20)
#: Floors under the variances of standardised data that are tried with each: scikit-learn's, and
#: a tenth of the data's standard deviation (chosen here).
FLOORS = (1e-6, 1e-2)
MAX_ITERATIONS = 200
#: With fewer observations nothing is held out: one component, Delta 1 (chosen here).
MIN_HELD_OUT = 4


@dataclass(frozen=True)
class GmrOptions(FoldedOptions):
    """Options of Gaussian mixture regression, beside :class:`FoldedOptions`.

    Parameters
    ----------
    n_restarts : int, default 3
        Of expectation-maximisation, in the final fit; fits of the cross-validation have one.
    """

    n_restarts: int = 3

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.n_restarts, "n_restarts")


class GaussianMixtureRegression(JointMixture):
    """Components of (z, y), ready for conditioning on z.

    Parameters
    ----------
    weights : ndarray, shape (K,)
    means : ndarray, shape (K, d + 1)
        y comes last.
    covariances : ndarray, shape (K, d + 1, d + 1)
    """

    def __init__(self, weights: FloatArray, means: FloatArray, covariances: FloatArray) -> None:
        self.weights, self.means = weights, means
        inputs = covariances[:, :-1, :-1]
        self.factors = np.linalg.cholesky(inputs)
        cross = covariances[:, :-1, -1]
        self.slopes = np.stack(
            [cho_solve(cho_factor(S, lower=True), c) for S, c in zip(inputs, cross, strict=True)]
        )
        explained = np.einsum("kd,kd->k", cross, self.slopes)
        self.variances = np.maximum(covariances[:, -1, -1] - explained, 1e-12)

    def joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log weights and conditional means, each (n, K), at Z (n, d)."""
        return self._joint(Z)[:2]

    def joint_with_gradient(
        self, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the same, and gradients (n, K, d) of both."""
        logs, means, whitened = self._joint(Z)
        slopes = [
            -solve_triangular(L, white, lower=True, trans="T").T
            for L, white in zip(self.factors, whitened, strict=True)
        ]
        weight_slopes = np.stack(slopes, axis=1)
        return logs, means, weight_slopes, np.broadcast_to(self.slopes, weight_slopes.shape)

    def _joint(self, Z: FloatArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        d = Z.shape[1]
        logs, means = np.empty((len(Z), len(self.weights))), np.empty((len(Z), len(self.weights)))
        whitened = []
        for k, (weight, mean, L) in enumerate(
            zip(self.weights, self.means, self.factors, strict=True)
        ):
            residual = Z - mean[:-1]
            white = solve_triangular(L, residual.T, lower=True)  # (d, n)
            constant = np.log(weight) - 0.5 * d * np.log(2.0 * np.pi) - np.log(np.diag(L)).sum()
            logs[:, k] = constant - 0.5 * (white**2).sum(axis=0)
            means[:, k] = mean[-1] + residual @ self.slopes[k]
            whitened.append(white)
        return logs, means, whitened


def fit_mixture(
    Z: FloatArray, y: FloatArray, n_components: int, floor: float, n_restarts: int, seed: int
) -> GaussianMixtureRegression:
    """Fit by maximum likelihood.

    Parameters
    ----------
    Z : ndarray, shape (n, d), standardised
    y : ndarray, shape (n,)
    n_components : int
        At most n.
    floor : float
        Added to the variances.
    n_restarts : int
    seed : int

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    model = scikit_learn("mixture").GaussianMixture(
        n_components,
        reg_covar=floor,
        max_iter=MAX_ITERATIONS,
        n_init=n_restarts,
        init_params="k-means++",
        random_state=seed,
    )
    with warnings.catch_warnings():
        # It has not settled after 200 iterations: the best so far is a mixture like any other.
        warnings.simplefilter("ignore")
        model.fit(np.column_stack([Z, y]))
    return GaussianMixtureRegression(model.weights_, model.means_, model.covariances_)


def select_mixture(
    Z: FloatArray, y: FloatArray, n_folds: int, prior_variance: float, rng: np.random.Generator
) -> dict[str, float]:
    """Return number of components, floor and log Delta with the best cross-validated density.

    Parameters
    ----------
    Z : ndarray, shape (n, d), standardised
    y : ndarray, shape (n,), standardised
    n_folds : int
    prior_variance : float
    rng : numpy.random.Generator
        Consumed.
    """
    n = len(y)
    if n < MIN_HELD_OUT:
        return {"n_components": 1, "floor": FLOORS[-1], "log_delta": 0.0}
    fold = folds_of(n, n_folds, rng)
    seed = int(rng.integers(2**31))
    n_training = n - np.bincount(fold)[fold].astype(np.float64)
    most = max(1, int(n_training.min()) // 2)
    best: dict[str, float] = {}
    for n_components in COMPONENTS:
        if n_components > most:
            break
        for floor in FLOORS:
            density, joint = np.empty(n), np.empty(n)
            for held in range(fold.max() + 1):
                out = fold == held
                mixture = fit_mixture(Z[~out], y[~out], n_components, floor, 1, seed)
                density[out] = mixture.log_density(Z[out])
                joint[out] = mixture.log_joint_density(Z[out], y[out])
            log_delta, score = best_blend(density, joint, y, n_training, prior_variance)
            if not best or score > best["score"]:
                best = {
                    "n_components": n_components,
                    "floor": floor,
                    "log_delta": float(log_delta),
                    "score": float(score),
                }
    return best


class GmrOptimizer(SurrogateOptimizer):
    """Bayesian optimisation with Gaussian mixture regression.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`GmrOptions`.

    Examples
    --------
    >>> optimizer = GmrOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "gmr"
    options_type: ClassVar[type] = GmrOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        options: GmrOptions = self.options
        standardiser = Standardiser.of(X)
        Z = standardiser(X)
        seed = int(rng.integers(2**31))
        chosen = dict(memory)
        if is_due(memory, len(y), options.reselect_growth):
            chosen = {
                **select_mixture(Z, y, options.n_folds, options.prior_variance, rng),
                "selected_at": len(y),
            }
        mixture = fit_mixture(
            Z, y, int(chosen["n_components"]), chosen["floor"], options.n_restarts, seed
        )
        posterior = BlendedMixture(
            mixture, standardiser, len(y), chosen["log_delta"], options.prior_variance
        )
        return Fit(posterior, chosen, {"n_components": chosen["n_components"]})
