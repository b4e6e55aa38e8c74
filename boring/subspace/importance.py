"""Importance of each parameter, with an uncertainty.

The importance of parameter i is its activity score, E[(df/dx_i)^2] over the box, divided
by the sum over all parameters (Constantine & Diaz 2017): the diagonal of the average
gradient outer product, of which W spans the range. f is taken to be the posterior mean.

The uncertainty is a delete-a-group jackknife: everything, the search for W included, is
refitted without each of K groups of points, which are the folds of the trust check, so
that the refits cost nothing more. It covers what a Laplace approximation around one mode
cannot: searches that end in different subspaces. `jackknife_interval` states its coverage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.models.posterior import GaussianProcess
from boring.typing import FloatArray

# Points over which gradients are averaged.
N_POINTS = 512
# Nominal coverage of the interval.
CONFIDENCE = 0.9
# Rows of a batch of predictions.
_BATCH = 256


@dataclass(frozen=True, eq=False, slots=True)
class Importance:
    """Activity scores that sum to 1, and how far they can be relied on.

    Attributes
    ----------
    scores : ndarray, shape (D,)
    std : ndarray, shape (D,)
        Jackknife standard errors.
    interval : ndarray, shape (D, 2)
        Lower and upper end, nominally of 90 percent, within [0, 1].
    """

    scores: FloatArray
    std: FloatArray
    interval: FloatArray


def activity_scores(posterior: GaussianProcess, points: FloatArray) -> FloatArray:
    """Return the normalised mean squared derivatives of the posterior mean.

    Parameters
    ----------
    posterior : GaussianProcess
    points : ndarray, shape (m, D), scaled units
        Spread uniformly over the box.

    Returns
    -------
    ndarray, shape (D,)
        Sums to 1; equal shares if the mean is flat.
    """
    total = np.zeros(points.shape[1])
    for begin in range(0, len(points), _BATCH):
        _, _, gradient, _ = posterior.predict_with_gradient(points[begin : begin + _BATCH])
        total += np.einsum("ij,ij->j", gradient, gradient)
    mass = float(total.sum())
    if not mass > 0.0:
        return np.full(len(total), 1.0 / len(total))
    return np.asarray(total / mass)


def jackknife_interval(scores: FloatArray, replicates: FloatArray) -> Importance:
    """Return standard errors and a t-interval from refits that each lack one group.

    Parameters
    ----------
    scores : ndarray, shape (D,)
        From all points.
    replicates : ndarray, shape (K, D), K >= 2
        Row k from all points but those of group k.

    Returns
    -------
    Importance

    Notes
    -----
    se^2 = (K - 1)/K sum_k (r_k - mean r)^2 (Wu 1986), and a Student t with K - 1 degrees
    of freedom around the score.
    """
    from scipy.special import stdtrit

    K = len(replicates)
    spread = replicates - replicates.mean(axis=0)
    std = np.sqrt((K - 1) / K * np.einsum("ij,ij->j", spread, spread))
    half = float(stdtrit(K - 1, 0.5 + 0.5 * CONFIDENCE)) * std
    interval = np.clip(np.stack([scores - half, scores + half], axis=1), 0.0, 1.0)
    return Importance(scores, std, interval)
