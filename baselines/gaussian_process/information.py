"""What a plain Gaussian process maximises: improvement, or information about the optimum.

The draws that :mod:`boring.acquisition.information` needs are made here: of the function at
candidates all over the box and around the incumbent, and at the observed points.
"""

from __future__ import annotations

import numpy as np

from boring.acquisition import (
    Acquisition,
    LogEntropySearch,
    LogExpectedImprovement,
    LogMaxValueEntropy,
    LogProbabilityOfImprovement,
    draw_jointly,
)
from boring.acquisition.maximizer import generate_candidates
from boring.models.posterior import GaussianProcess
from boring.typing import FloatArray

__all__ = ["ACQUISITIONS", "process_acquisition", "representers"]

ACQUISITIONS = ("log-ei", "log-pi", "max-value-entropy", "entropy-search")

#: Candidates at which the function is drawn together (chosen here: the draw costs their cube).
N_CANDIDATES = 384
#: Draws of the largest value (Wang and Jegelka use 1, 10 and 100).
N_MAXIMA = 64
#: Standard deviations of the noise by which the largest value exceeds every mean at an observed
#: point: without it a point that is known, and may be the best, tells most (chosen here).
FLOOR = 5.0
#: Representers, and draws over them (chosen here; Hennig and Schuler use some tens of the former).
N_REPRESENTERS = 32
N_DRAWS = 96
#: Draws whose best candidates are the representers.
N_THOMPSON = 256
#: Least improvement in "log-pi", standardised values: without one the search creeps (chosen here).
PI_MARGIN = 0.01


def process_acquisition(
    choice: str,
    posterior: GaussianProcess,
    incumbent: float,
    best: FloatArray,
    rng: np.random.Generator,
) -> Acquisition:
    """Return an acquisition of :data:`ACQUISITIONS`.

    Parameters
    ----------
    choice : str
    posterior : GaussianProcess
        Of standardised values of which larger is better.
    incumbent : float
        The best value.
    best : ndarray, shape (D,)
        Where it was found.
    rng : numpy.random.Generator
        Consumed by the two that draw.
    """
    if choice == "log-ei":
        return LogExpectedImprovement(posterior, incumbent)
    if choice == "log-pi":
        return LogProbabilityOfImprovement(posterior, incumbent, PI_MARGIN)
    candidates = generate_candidates(len(best), incumbent=best, rng=rng, n_candidates=N_CANDIDATES)
    points = np.vstack([best, *candidates.values()])
    if choice == "max-value-entropy":
        draws = draw_jointly(posterior, points, N_MAXIMA, rng)
        known = float(posterior.predict(posterior.X)[0].max())
        floor = known + FLOOR * np.sqrt(posterior.noise_variance)
        return LogMaxValueEntropy(posterior, np.maximum(draws.values.max(axis=1), floor))
    chosen = representers(posterior, points, rng)
    return LogEntropySearch(
        posterior,
        draw_jointly(posterior, chosen, N_DRAWS, rng),
        rng.standard_normal(N_DRAWS),
        posterior.noise_variance,
    )


def representers(
    posterior: GaussianProcess, points: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return the points that are most often the best of a draw, at most 32 of them.

    Parameters
    ----------
    posterior : GaussianProcess
    points : ndarray, shape (m, D)
    rng : numpy.random.Generator
        Consumed.
    """
    draws = draw_jointly(posterior, points, N_THOMPSON, rng)
    counts = np.bincount(draws.values.argmax(axis=1), minlength=len(points))
    # Of those never best, the ones with the largest mean follow.
    order = np.lexsort((-draws.mean, -counts))
    return np.asarray(points[order[:N_REPRESENTERS]])
