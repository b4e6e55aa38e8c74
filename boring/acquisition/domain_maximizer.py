"""Maximise an acquisition over a domain: on its lattice, within its known constraints.

The acquisition that decides is that of points which may be asked. A relaxed maximiser is only a
start: it is snapped and pulled back to what is allowed, and from there
`boring.acquisition.domain_search` climbs. So the model never sees, nor is asked about, a point that
its rounding would move: no flat spots, and no proposal that was evaluated before.

Garrido-Merchan and Hernandez-Lobato 2020 round the inputs inside the kernel for the same end.
**Deviation**: the kernel stays smooth, and the search is what keeps to the lattice; all models of
the library can be used, with their gradients.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from boring._warn import warn
from boring.acquisition.base import Acquisition
from boring.acquisition.domain_search import DomainSearch
from boring.acquisition.maximizer import (
    MAX_ITERATIONS,
    N_CANDIDATES,
    N_STARTS,
    JointSearch,
    MaximizerResult,
    as_result,
    check_arguments,
    choose_starts,
    generate_candidates,
)
from boring.admissible import project, pull_back, reach
from boring.domain import Domain
from boring.exceptions import NumericsWarning
from boring.typing import BoolArray, FloatArray

__all__ = ["maximize_in_domain"]

# Candidates outside the constraints that are pulled back; of these, so many are projected too.
N_PULLED = 32
N_PROJECTED = 4


def maximize_in_domain(
    acquisition: Acquisition,
    domain: Domain,
    *,
    incumbent: FloatArray,
    rng: np.random.Generator,
    basis: FloatArray | None = None,
    avoid: FloatArray | None = None,
    n_candidates: int = N_CANDIDATES,
    n_starts: int = N_STARTS,
    max_iterations: int = MAX_ITERATIONS,
) -> MaximizerResult:
    """Maximise an acquisition over the points of a domain that are new.

    Parameters
    ----------
    acquisition : Acquisition
    domain : Domain
    incumbent, rng, basis, avoid, n_candidates, n_starts, max_iterations
        As in :func:`boring.acquisition.maximizer.maximize_acquisition`. Neighbours of the
        incumbent are candidates besides.

    Returns
    -------
    MaximizerResult
        The incumbent, snapped, with value -inf, if no allowed point was met that is new.

    Raises
    ------
    InvalidInputError
        If shapes disagree.

    Warns
    -----
    NumericsWarning
        If the acquisition is finite at no candidate.
    """
    dim = domain.dim
    incumbent, basis, avoid = check_arguments(dim, incumbent, basis, avoid)
    families = generate_candidates(
        dim, incumbent=incumbent, rng=rng, basis=basis, n_candidates=n_candidates
    )
    center = domain.snap(incumbent)[0]
    families["neighbours"] = domain.neighbours(center)
    box = np.ones(dim)
    search = DomainSearch(acquisition, domain, domain.snap(avoid), rng, -box, box)
    points = domain.snap(np.concatenate(list(families.values())))
    labels = np.repeat(list(families), [len(rows) for rows in families.values()])
    points, kept = np.unique(points, axis=0, return_index=True)
    search.families = labels = labels[kept]
    values = search.evaluate(points, np.arange(len(points)))
    if domain.is_constrained:
        pulled = _pulled_candidates(search, points, np.isneginf(values), center)
        rows = np.arange(len(points), len(points) + len(pulled))
        points, labels = np.vstack([points, pulled]), np.append(labels, ["pulled"] * len(pulled))
        search.families = labels
        values = np.append(values, search.evaluate(pulled, rows))
    if not np.isfinite(values).any():
        if search.n_evaluations:
            warn(
                f"the acquisition is finite at none of {search.n_evaluations} candidates; "
                "proposing a point next to the incumbent",
                NumericsWarning,
            )
        return as_result(
            center, -np.inf, -np.inf, "replacement", True, search.n_evaluations, search.n_non_finite
        )
    starts = choose_starts(values, labels, n_starts)
    candidate_value = search.value
    points, values, search.families = points[starts], values[starts], labels[starts]
    if max_iterations and not domain.is_continuous:
        relaxed = JointSearch(acquisition, points, values, float(values.min()))
        relaxed.run(max_iterations)
        ends = domain.snap(relaxed.best_points)
        search.n_evaluations += relaxed.n_evaluations
        search.n_non_finite += relaxed.n_non_finite
        if domain.is_constrained:
            ends = pull_back(domain, points, ends)
        search.offer(points, values, np.arange(len(points)), ends)
    search.climb(points, values, max_iterations)
    if search.x is None:
        return as_result(
            center, -np.inf, -np.inf, "replacement", True, search.n_evaluations, search.n_non_finite
        )
    return as_result(
        search.x,
        search.value,
        candidate_value,
        search.family,
        False,
        search.n_evaluations,
        search.n_non_finite,
    )


def _pulled_candidates(
    search: DomainSearch, points: FloatArray, outside: BoolArray, center: FloatArray
) -> FloatArray:
    """Return allowed points on the way to the best candidates outside, shape (k, D)."""
    domain = search.domain
    beyond = points[outside]
    if not len(beyond):
        return np.empty((0, domain.dim))
    beyond = beyond[np.argsort(-search.values_of(beyond), kind="stable")[:N_PULLED]]
    known = np.vstack([center, search.avoid])
    known = np.vstack([known[domain.allowed(known)], points[~outside]])
    # A descent takes longer, and finds points of which hardly any are allowed.
    way = reach if np.sum(~outside) < N_PROJECTED else project
    pulled = [x for x in (way(domain, u) for u in beyond[:N_PROJECTED]) if x is not None]
    if len(known):
        nearest = cdist(beyond, known).argmin(axis=1)
        pulled += list(pull_back(domain, known[nearest], beyond))
    return np.array(pulled).reshape(-1, domain.dim)
