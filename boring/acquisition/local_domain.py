"""Maximise an acquisition near the incumbent, over the points of a domain."""

from __future__ import annotations

import numpy as np

from boring.acquisition.base import Acquisition
from boring.acquisition.domain_search import DomainSearch
from boring.acquisition.maximizer import REPEATED
from boring.acquisition.offsets import AtPoints
from boring.admissible import pull_back
from boring.domain import Domain
from boring.typing import FloatArray

__all__ = ["best_in_domain"]

# Of the incumbent's neighbours so many start a climb, beside the relaxed maximiser.
N_NEIGHBOURS = 3
SEARCH_ITERATIONS = 60


def best_in_domain(
    acquisition: Acquisition,
    domain: Domain,
    known: FloatArray,
    unit: float,
    radius: float,
    offset: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Maximise within a trust region, but one that reaches the incumbent's neighbours.

    Parameters
    ----------
    acquisition : Acquisition
        Of offsets from the incumbent, in units of ``unit``.
    domain : Domain
    known : ndarray, shape (m, D), scaled units
        The incumbent first, then the points that are not to be repeated.
    unit, radius : float
        Scaled units.
    offset : ndarray, shape (D,)
        Where the acquisition is largest in the trust region, were there no domain.
    rng : numpy.random.Generator
        Consumed where there are constraints.

    Returns
    -------
    tuple of ndarray, shape (D,), and float
        The offset and its value; -inf if nothing in reach is allowed and new.
    """
    center = known[0]
    snapped = domain.snap(center)[0]
    around = domain.neighbours(snapped)
    reach = np.vstack([snapped, around])
    low, high = np.maximum(-1.0, center - radius), np.minimum(1.0, center + radius)
    discrete = domain.discrete
    low[discrete] = np.minimum(low, reach.min(axis=0))[discrete]
    high[discrete] = np.maximum(high, reach.max(axis=0))[discrete]
    search = DomainSearch(
        AtPoints(acquisition, center, unit),
        domain,
        domain.snap(known),
        rng,
        low,
        high,
        tolerance=REPEATED,
    )
    relaxed = np.clip(center + unit * offset, -1.0, 1.0)[None, :]
    relaxed = domain.snap(relaxed)
    if domain.allowed(snapped)[0]:
        relaxed = pull_back(domain, snapped, relaxed)
    points = np.vstack([relaxed, reach])
    values = search.evaluate(points, np.arange(len(points)))
    order = np.argsort(-values[1:], kind="stable")[:N_NEIGHBOURS]
    starts = np.append(0, 1 + order)
    starts = starts[np.isfinite(values[starts])]
    if starts.size:
        search.climb(points[starts], values[starts], SEARCH_ITERATIONS)
    if search.x is None:
        return offset, -np.inf
    return (search.x - center) / unit, search.value
