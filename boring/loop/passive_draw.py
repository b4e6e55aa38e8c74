"""The passive draw: the incumbent's active coordinates, all that seems not to matter drawn anew.

A search that has settled knows along which directions W its neighbourhood varies, and takes for
granted that elsewhere, too, nothing else matters. A random point of the box, moved as little as
possible until its W'x is the incumbent's, puts that to the test. If W is all that matters, its
value is the incumbent's, and a model that knows W has foreseen that to many digits: it gains
several nats on one that does not. If something else matters, the point is a good place to see
it from: what has been gained along W is kept while the rest is searched.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from boring.loop.schedule import spread_of_first
from boring.loop.trust_region import same_rows
from boring.typing import FloatArray
from boring.warping import moderate

# What a point of this kind is called in the records.
PHASE = "passive draw"
# Of so many turns of the fresh starts the first is a passive draw.
DRAW_EVERY = 3
# Share of a draw's way that may lead along W, or it says nothing of this W: about 2 degrees. At .1
# a W that was 62 degrees off counted draws for others as its own (Michalewicz 2-in-10, one of 20).
KEPT = 0.03


def passive_draw(center: FloatArray, W: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the point of the box nearest to a random one, among those with W'x = W'center.

    Parameters
    ----------
    center : ndarray, shape (D,), scaled units
    W : ndarray, shape (D, d)
        Orthonormal columns.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (D,), scaled units

    Notes
    -----
    That point is clip(u + W m), u the random one and m the minimum of the dual of the quadratic
    programme, which is convex, piecewise quadratic, and has d variables.
    """
    drawn = rng.uniform(-1.0, 1.0, len(center))
    target = W.T @ center

    def dual(m: FloatArray) -> tuple[float, FloatArray]:
        moved = drawn + W @ m
        x = np.clip(moved, -1.0, 1.0)
        return float(x @ moved - 0.5 * x @ x - m @ target), W.T @ x - target

    start = target - W.T @ drawn
    options = {"gtol": 1e-12, "ftol": 0.0}
    found = minimize(dual, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(np.clip(drawn + W @ found.x, -1.0, 1.0))


def unexplained_changes(
    X: FloatArray, y: FloatArray, draws: FloatArray, W: FloatArray, n_first: int
) -> FloatArray:
    """Return how far values of passive draws were from the incumbent's, beyond what W explains.

    A draw was made for the W of its time. Along the one in question it has moved a little, and by
    a share of the distance that parts the first points along W a value may differ by that share of
    the spread of the first values.

    Parameters
    ----------
    X : ndarray, shape (n, D), scaled units
        In the order in which the values were told.
    y : ndarray, shape (n,)
        Larger is better.
    draws : ndarray, shape (k, D), scaled units
        Points that were asked for as passive draws.
    W : ndarray, shape (D, d)
        Draws that have moved far along it are left out: they were made for another one.
    n_first : int
        Number of first points.

    Returns
    -------
    ndarray, shape (m,), shares of the spread of the first values
        At least zero, oldest first.
    """
    y, _ = moderate(y)
    spread = spread_of_first(y, n_first)
    apart = float(np.median(pdist(X[:n_first] @ W)))
    changes = []
    rows = [int(row) for x in draws for row in np.flatnonzero(same_rows(X, x))[:1]]
    for row in sorted(rows):
        if not row:
            continue
        best = int(np.argmax(y[:row]))
        moved = X[row] - X[best]
        along = float(np.linalg.norm(W.T @ moved))
        if along <= KEPT * np.linalg.norm(moved):
            explained = along / apart if apart > 0 else 0.0
            changes.append(max(0.0, abs(float(y[row] - y[best])) / spread - explained))
    return np.array(changes)
