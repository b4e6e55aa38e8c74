"""Curvilinear search on the Stiefel manifold (Wen & Yin 2013), the ascent of Tripathy et al.

Moves along the Cayley curve of `boring.subspace.stiefel.cayley_step`, with
Barzilai-Borwein step lengths and the non-monotone Armijo rule of Zhang & Hager.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..exceptions import FitError
from ..typing import FloatArray
from .stiefel import cayley_step, tangent_projection

CostAndGradient = Callable[[FloatArray], tuple[float, FloatArray]]

# Wen & Yin (2013), section 4.1: Armijo share, backtracking factor, memory of the reference.
ARMIJO_SHARE = 1e-4
CONTRACTION = 0.2
REFERENCE_MEMORY = 0.85
# Bounds of a step length; the gradient's scale is that of a log likelihood.
STEP_BOUNDS = (1e-12, 1e3)
# Backtracks before a search counts as converged: .2^15 of the first trial is lost.
MAXIMUM_BACKTRACKS = 15


@dataclass(frozen=True, slots=True)
class CurvilinearResult:
    """Outcome of a curvilinear search.

    Attributes
    ----------
    W : ndarray, shape (D, d)
        The best frame met.
    cost : float
        Cost there.
    gradient_norm : float
        Norm of the Riemannian gradient there (embedded metric).
    n_iterations, n_calls : int
    step : float
        Barzilai-Borwein step length to continue with.
    """

    W: FloatArray
    cost: float
    gradient_norm: float
    n_iterations: int
    n_calls: int
    step: float


def _canonical(W: FloatArray, gradient: FloatArray) -> FloatArray:
    return gradient - W @ (gradient.T @ W)


def _search(
    cost_and_gradient: CostAndGradient,
    W: FloatArray,
    gradient: FloatArray,
    reference: float,
    required_rate: float,
    step: float,
) -> tuple[FloatArray | None, float, FloatArray, float, int]:
    """Shorten the step until Armijo's rule holds; None for the frame if it never does."""
    for calls in range(1, MAXIMUM_BACKTRACKS + 1):
        moved = cayley_step(W, gradient, step)
        try:
            cost, moved_gradient = cost_and_gradient(moved)
        except FitError:
            cost, moved_gradient = np.inf, gradient
        if cost <= reference - step * required_rate:
            return moved, cost, moved_gradient, step, calls
        step *= CONTRACTION
    return None, np.inf, gradient, step, MAXIMUM_BACKTRACKS


def _barzilai_borwein(
    shift: FloatArray, change: FloatArray, iteration: int, fallback: float
) -> float:
    """Return the next step length; the two Barzilai-Borwein formulas take turns."""
    overlap = abs(float(np.vdot(shift, change)))
    if iteration % 2 == 0:
        numerator, denominator = float(np.vdot(shift, shift)), overlap
    else:
        numerator, denominator = overlap, float(np.vdot(change, change))
    if denominator <= 0.0:
        return fallback
    return float(np.clip(numerator / denominator, *STEP_BOUNDS))


def curvilinear_descent(
    W: FloatArray,
    cost_and_gradient: CostAndGradient,
    *,
    max_iterations: int,
    step: float | None = None,
    gradient_tolerance: float = 1e-6,
    relative_gain: float = 0.0,
) -> CurvilinearResult:
    """Minimise a cost over frames from W.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Start; orthonormal columns.
    cost_and_gradient : callable
        Maps a frame to the cost and its Euclidean gradient (D, d). A `FitError` or a
        non-finite cost shortens the step.
    max_iterations : int
    step : float, optional
        First trial step; by default one that moves the frame by 0.1.
    gradient_tolerance : float
        Riemannian gradient norm at which to stop.
    relative_gain : float
        Stop when an accepted step changes the cost by less than this share of
        1 + |cost|.

    Returns
    -------
    CurvilinearResult
        Never worse than the start.

    Raises
    ------
    FitError
        If the cost is not finite at the start.

    Notes
    -----
    Source: [Wen & Yin 2013, Algorithm 2], applied as [Tripathy et al. 2016, section
    3.3]. **Deviation** from Tripathy's code, which picks each step length by a small
    Bayesian optimisation and may go downhill: Armijo's rule with Barzilai-Borwein steps.
    """
    cost, gradient = cost_and_gradient(W)
    if not np.isfinite(cost):
        raise FitError("the cost is not finite at the start of the curvilinear search.")
    n_calls = 1
    best = (W, cost, gradient)
    reference, weight = cost, 1.0
    direction = _canonical(W, gradient)
    if step is None:
        step = 0.1 / max(float(np.linalg.norm(direction)), 1e-12)
    iteration = 0
    while iteration < max_iterations:
        if float(np.linalg.norm(tangent_projection(W, gradient))) <= gradient_tolerance:
            break
        # dF/dtau at 0 along the curve: -.5 |S|_F^2 = -<G, S W>.
        decrease = float(np.vdot(gradient, direction))
        moved, moved_cost, moved_gradient, step, calls = _search(
            cost_and_gradient, W, gradient, reference, ARMIJO_SHARE * decrease, step
        )
        n_calls += calls
        if moved is None:
            break
        iteration += 1
        moved_direction = _canonical(moved, moved_gradient)
        step = _barzilai_borwein(moved - W, moved_direction - direction, iteration, step)
        gain = abs(cost - moved_cost)
        W, cost, gradient, direction = moved, moved_cost, moved_gradient, moved_direction
        reference = (REFERENCE_MEMORY * weight * reference + cost) / (
            REFERENCE_MEMORY * weight + 1.0
        )
        weight = REFERENCE_MEMORY * weight + 1.0
        if cost < best[1]:
            best = (W, cost, gradient)
        if gain <= relative_gain * (1.0 + abs(cost)):
            break
    norm = float(np.linalg.norm(tangent_projection(best[0], best[2])))
    return CurvilinearResult(best[0], best[1], norm, iteration, n_calls, step)
