"""The honest account of the subspace after a run: W, its uncertainty, and its trust.

Data of an optimisation crowd near the optimum. On them the subspace is read from
log-warped values under a low noise floor, with the loop's own factor among the starts:
that one was polished while the run made the very points that tell directions apart. How far
the warp stretches is decided by evidence (`boring.subspace.clustered.most_evident_stretch`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from boring.data import Observations
from boring.exceptions import SubspaceWarning
from boring.loop.passive_draw import unexplained_changes
from boring.loop.schedule import FEWEST_FIRST
from boring.loop.subspace_turn import TRUSTED_GATE, factor_of, gate_of
from boring.sample import sample
from boring.subspace.clustered import CLUSTERED_NOISE_FLOOR, most_evident_stretch
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.factor_fit import basis_of
from boring.subspace.nearby import NearbyFactors
from boring.typing import FloatArray

# Points from which warp and d are chosen, at most: of 500, four data sets of 10 to 20 inputs, the
# same choices and the same W as from all of them, in 18 to 24 s instead of 43 to 55.
CHOOSE_FROM = 250
# Share of W that folds must find again, |W'W_k|_F^2 / d. Of points that crowd around an optimum
# the folds' errors mean little, their agreement much: .67 to 1 in most runs whose W was within 3
# degrees, .29 to .54 on Branin 2-in-25, never found. At .6, 81 of 295 runs on embedded functions
# were trusted, 3 of them wrongly (more than 20 degrees off); at .65, 78 and 1.
AGREED_OVERLAP = 0.65
# Without a lead over the run: what folds must find again, and by how many nats a value they must
# foresee better than without a subspace, with a smaller squared error too. Of 305 runs (embedded
# functions, with noise, with many wells, in 100 inputs) this adds 13 to the 56 trusted, eight of
# them on axes in 100 inputs, where the gate comes late; none of the 69 is more than 10 degrees off.
# With overlaps from .8 on it would add 18, three of them more than 20 degrees off, with any lead
# 16, one of them more than 10.
UNANIMOUS_OVERLAP, UNANIMOUS_LEAD = 0.95, 0.3
# The last so many passive draws decide, if there are so many at least: what is not in W does not
# matter if none changed the value by more than the first share of the spread of the first values,
# beyond what W explains, and something else does if one changed it by more than the second. [chosen
# here]
LAST_DRAWS, FEWEST_DRAWS = 4, 3
UNCHANGED, CHANGED = 0.01, 0.1


def account_of_subspace(
    X: FloatArray,
    y: FloatArray,
    effective_dim: int | None,
    max_effective_dim: int,
    memory: Mapping[str, Any],
    rng: np.random.Generator,
    nearby: NearbyFactors | None = None,
    draws: FloatArray | None = None,
    n_first: int = FEWEST_FIRST,
) -> SubspaceEstimate:
    """Estimate the subspace from the data of a run, of very many points from `boring.sample`.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
    y : ndarray, shape (n,)
        Larger is better.
    effective_dim : int or None
        d; None lets the BIC choose from all data.
    max_effective_dim : int
    memory : mapping
        What the loop remembers of the subspace's surrogate; may be empty.
    rng : numpy.random.Generator
    nearby : NearbyFactors, optional
        What the incumbent's neighbourhood shows (`boring.loop.local_metric`).
    draws : ndarray, shape (k, D), scaled units, optional
        Points asked for as passive draws (`boring.loop.passive_draw`).
    n_first : int
        Number of first points, by whose values changes are measured.

    Returns
    -------
    SubspaceEstimate
        ``angle_to_previous`` is the angle to the basis of the loop's own surrogate.
        Trusted if the surrogate has led an isotropic GP in one-step-ahead log density (the
        gate) and refits to parts of the data find the same W (`AGREED_OVERLAP`), if that
        lead alone exceeds `boring.loop.subspace_turn.TRUSTED_GATE`, or if the refits are near
        unanimous and foresee plainly better (`UNANIMOUS_OVERLAP`). Passive draws, where there are
        enough, overrule all of these. Before the gate has scored a value, if refitting
        cross-validation says so. A W of all inputs names nothing and is not trusted.
    """
    starts = [factor_of(memory, X.shape[1])] if memory else []
    rows, few = sample(y), sample(y, CHOOSE_FROM)
    stretch = most_evident_stretch(
        X[few], y[few], effective_dim, max_effective_dim, rng=rng, starts=starts, nearby=nearby
    )
    estimate = _estimate(
        X[rows],
        stretch.of(y[rows]),
        stretch.effective_dim,
        rng=rng,
        noise_floor=CLUSTERED_NOISE_FLOOR,
        starts=[*starts, stretch.factor],
        previous_basis=basis_of(starts[0]) if starts else None,
    )
    if stretch.table:
        estimate = replace(estimate, dimension_table=stretch.table)
    if not memory:
        return estimate
    gate = gate_of(memory)
    figures = {**estimate.trust, "gate": gate}
    if estimate.effective_dim == X.shape[1]:
        return replace(estimate, trusted=False, trust=figures)
    agreed = estimate.trust.get("overlap", 0.0) >= AGREED_OVERLAP
    if gate == 0.0:
        trusted = estimate.trusted
    else:
        trusted = gate > TRUSTED_GATE or (gate > 0 and agreed) or _is_unanimous(estimate)
    if draws is not None:
        first = max(n_first, FEWEST_FIRST)
        changes = unexplained_changes(X, y, draws, estimate.active_basis, first)[-LAST_DRAWS:]
        if len(changes) >= FEWEST_DRAWS:
            largest = float(changes.max())
            trusted = largest <= UNCHANGED or (trusted and largest <= CHANGED)
            figures |= {"draws": float(len(changes)), "largest_change": largest}
    return replace(estimate, trusted=trusted, trust=figures)


def _is_unanimous(estimate: SubspaceEstimate) -> bool:
    """Tell whether folds alone vouch for W."""
    if not estimate.trusted:
        return False
    trust = estimate.trust
    lead = trust["log_density"] - trust["isotropic_log_density"]
    better = lead >= UNANIMOUS_LEAD and trust["error"] < trust["isotropic_error"]
    return bool(better and trust["overlap"] >= UNANIMOUS_OVERLAP)


def account_by_alternation(
    data: Observations, n_restarts: int, memory: Mapping[str, Any], rng: np.random.Generator
) -> SubspaceEstimate:
    """Estimate the subspace from the data of the thesis preset, by its own method.

    Parameters
    ----------
    data : Observations
    n_restarts : int
    memory : mapping
        Holds the last W, whose number of columns is kept.
    rng : numpy.random.Generator

    Returns
    -------
    SubspaceEstimate
        ``angle_to_previous`` is the angle to the last W of the run.
    """
    previous = np.array(memory["W"])
    return _estimate(
        data.finite_X,
        data.finite_y,
        previous.shape[1],
        rng=rng,
        method="tripathy",
        n_restarts=n_restarts,
        previous_basis=previous,
    )


def _estimate(X: FloatArray, y: FloatArray, effective_dim: int, **options: Any) -> SubspaceEstimate:
    """Estimate without warning: in a run an unsupported subspace is no surprise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubspaceWarning)
        return estimate_active_subspace(X, y, effective_dim, **options)
