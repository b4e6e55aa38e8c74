"""Ways from a point that a domain does not allow to one that it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .domain import Domain
from .typing import FloatArray
from .warping import LARGEST

__all__ = [
    "constraint_slopes",
    "least_violation",
    "minimize_allowed",
    "project",
    "pull_back",
    "reach",
    "repair",
    "two_steps",
]

N_HALVINGS = 20
STEP = 1e-6
"""Step of the differences by which constraints are differentiated, scaled units."""

MARGINS = (1e-2, 1e-4, 1e-7, 0.0)
"""How far inside the allowed region a projection aims, in units of the constraint at its start:
the first that exists is taken, so that rounding does not leave the point outside."""

PROJECTION_ITERATIONS = 50
ACCURACY, EDGE_ACCURACY = 1e-6, 1e-14
"""Of SLSQP, and of a projection without margin, which has to hit the edge itself."""

DESCENT_STEPS = 100
MOST_PAIRS = 1024
"""Pairs of steps that are looked at together; of more, so many at even distances."""
EVOLUTION_POPULATION = 200
EVOLUTION_EVALUATIONS = 10000


def pull_back(domain: Domain, inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Return, for pairs of points, the last allowed one that bisection finds on the way.

    Parameters
    ----------
    domain : Domain
    inside : ndarray, shape (D,) or (n, D), scaled units
        Allowed points; the way begins there.
    outside : ndarray, shape (n, D), scaled units

    Returns
    -------
    ndarray, shape (n, D), scaled units
        Snapped and allowed; the allowed points themselves where nothing else was found.
    """
    best = np.array(np.broadcast_to(inside, outside.shape))
    low, high = np.zeros((len(outside), 1)), np.ones((len(outside), 1))
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        points = domain.snap(inside + middle * (outside - inside))
        good = domain.allowed(points)[:, None]
        best = np.where(good, points, best)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return best


def constraint_slopes(domain: Domain, u: FloatArray, free: np.ndarray) -> FloatArray:
    """Return the derivatives of the m constraints in the free columns, shape (m, len(free)).

    By differences inwards, so that no constraint is evaluated outside the cube.
    """
    steps = np.where(u[free] > 0.0, -STEP, STEP)
    points = np.repeat(u[None, :], len(free) + 1, axis=0)
    points[np.arange(len(free)), free] += steps
    values = domain.values(points)
    return np.asarray(((values[:-1] - values[-1]) / steps[:, None]).T)


def project(domain: Domain, u: FloatArray) -> FloatArray | None:
    """Return an allowed point near u, its discrete columns held.

    Parameters
    ----------
    domain : Domain
    u : ndarray, shape (D,), scaled units, snapped

    Returns
    -------
    ndarray, shape (D,), scaled units, or None
        Least squares by SLSQP, hence for constraints that are smooth near u; None where it ends
        at no allowed point.
    """
    free = domain.free(u)
    scale = np.maximum(np.abs(domain.values(u)[0]), STEP)
    if not free.size or not np.all(np.isfinite(scale)):
        return None
    for margin in MARGINS:
        x = minimize_allowed(
            domain,
            u,
            free,
            lambda v: (0.5 * float(np.sum((v - u[free]) ** 2)), v - u[free]),
            margin * scale,
            PROJECTION_ITERATIONS,
            accuracy=ACCURACY if margin else EDGE_ACCURACY,
        )
        if x is not None and domain.allowed(x)[0]:
            return np.asarray(domain.snap(x)[0])
    return None


def minimize_allowed(
    domain: Domain,
    u: FloatArray,
    free: np.ndarray,
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    margin: FloatArray,
    max_iterations: int,
    low: FloatArray | float = -1.0,
    high: FloatArray | float = 1.0,
    accuracy: float = ACCURACY,
) -> FloatArray | None:
    """Minimise over some columns by SLSQP, the constraints at most minus a margin.

    Parameters
    ----------
    domain : Domain
    u : ndarray, shape (D,), scaled units
        Start; holds the other columns.
    free : ndarray of int, shape (k,)
        The columns to vary.
    objective : callable
        From their values (k,) to a value and its gradient.
    margin : ndarray, shape (m,)
        Constraints are divided by their largest slope at u, the margin too.
    max_iterations : int
    low, high : float or ndarray, shape (k,)
    accuracy : float
        To which SLSQP meets constraints, and of the value at which it ends.

    Returns
    -------
    ndarray, shape (D,), scaled units, or None
        Where it ended, allowed or not; None if that is not finite.
    """
    from scipy.optimize import minimize

    def whole(v: FloatArray) -> FloatArray:
        point = u.copy()
        point[free] = np.clip(v, low, high)
        return point

    size = np.abs(constraint_slopes(domain, u, free)).max(axis=1)
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)

    # A constraint on a logarithmic scale may span all magnitudes that a float has.
    def slack(v: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            values = -(domain.values(whole(v))[0] + margin) / size
        return np.where(np.isfinite(values), values, -1e6)

    def slack_slopes(v: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            slopes = -constraint_slopes(domain, whole(v), free) / size[:, None]
        return np.where(np.isfinite(slopes), slopes, 0.0)

    outcome = minimize(
        objective,
        u[free],
        jac=True,
        method="SLSQP",
        bounds=np.broadcast_to(np.column_stack([low, high]), (len(free), 2)),
        constraints={"type": "ineq", "fun": slack, "jac": slack_slopes},
        options={"maxiter": max_iterations, "ftol": accuracy},
    )
    return whole(outcome.x) if np.all(np.isfinite(outcome.x)) else None


def two_steps(domain: Domain, u: FloatArray) -> FloatArray:
    """Return the lattice points two steps from the snapped point u, in different columns.

    Where a constraint asks for equality none of the neighbours is allowed, and some of these are.

    Returns
    -------
    ndarray, shape (k, D), scaled units
    """
    steps = domain.neighbours(u) - u
    moved = steps != 0.0
    first, second = np.nonzero(np.triu(moved.astype(int) @ moved.T.astype(int) == 0, 1))
    if len(first) > MOST_PAIRS:
        kept = np.linspace(0, len(first) - 1, MOST_PAIRS).astype(int)
        first, second = first[kept], second[kept]
    return domain.snap(np.clip(u + steps[first] + steps[second], -1.0, 1.0))


def least_violation(domain: Domain, u: FloatArray) -> FloatArray:
    """Descend from the snapped point u over its lattice, by summed violation.

    Returns
    -------
    ndarray, shape (D,), scaled units
        A point from which neither one step nor two violate less; at once where it is allowed.
    """
    value = float(domain.violation(u)[0])
    for _ in range(DESCENT_STEPS):
        if value == 0.0:
            break
        found = _less(domain, domain.neighbours(u), value)
        found = _less(domain, two_steps(domain, u), value) if found is None else found
        if found is None:
            break
        u, value = found
    return u


def _less(domain: Domain, points: FloatArray, value: float) -> tuple[FloatArray, float] | None:
    """Return the least violating point with its violation; None if no less than the value."""
    values = domain.violation(points) if len(points) else np.full(1, np.inf)
    best = int(np.argmin(values))
    return (points[best], float(values[best])) if values[best] < value else None


def reach(domain: Domain, u: FloatArray) -> FloatArray | None:
    """Return an allowed point that a descent from the snapped point u ends at; None if none."""
    u = least_violation(domain, u)
    return u if domain.allowed(u)[0] else project(domain, u)


def repair(domain: Domain, U: FloatArray, rng: np.random.Generator) -> FloatArray | None:
    """Search for an allowed point where hardly any is.

    From each start over the lattice and by projection, in turns; then by differential evolution
    on the summed violation.

    Parameters
    ----------
    domain : Domain
    U : ndarray, shape (n, D), scaled units
        Starts, the most hopeful first.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (D,), scaled units, or None
        Snapped and allowed.
    """
    for u in domain.snap(U):
        x = reach(domain, u)
        if x is not None:
            return x
    return _by_evolution(domain, rng)


def _by_evolution(domain: Domain, rng: np.random.Generator) -> FloatArray | None:
    """Minimise the summed violation over the cube; None if it stays positive."""
    from scipy.optimize import differential_evolution

    members = max(1, EVOLUTION_POPULATION // domain.dim)
    outcome = differential_evolution(
        lambda columns: np.minimum(domain.violation(np.clip(columns.T, -1.0, 1.0)), LARGEST),
        [(-1.0, 1.0)] * domain.dim,
        maxiter=max(5, EVOLUTION_EVALUATIONS // (members * domain.dim)),
        popsize=members,
        tol=0.0,
        atol=-1.0,  # a population of equal violations has not converged
        polish=False,
        rng=rng,
        vectorized=True,
        updating="deferred",
        callback=lambda intermediate_result: bool(intermediate_result.fun <= 0.0),
    )
    x = domain.snap(np.clip(outcome.x, -1.0, 1.0))[0]
    return x if domain.allowed(x)[0] else None
