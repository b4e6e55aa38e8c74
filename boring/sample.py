"""Which points hyperparameters and subspaces are learned from, where there are very many.

Each step of a fit costs n^3, and a search for a subspace takes hundreds: 12 s from 500 points,
70 s from 1,000. Beyond 500 points what is learned from a sample hardly differs; predictions are
made from all points. The sample is the better half, which says where the function is good, and as
many of the others, which say what it is like elsewhere.
"""

from __future__ import annotations

import numpy as np

from boring.effort import MOST_POINTS
from boring.rng import keyed_generator
from boring.typing import FloatArray

__all__ = ["sample", "spread_out"]


def sample(y: FloatArray, most: int = MOST_POINTS) -> slice | np.ndarray:
    """Return rows to learn from: all, or the best and a random rest.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Larger is better.
    most : int, default 500

    Returns
    -------
    slice or ndarray of int, shape (most,)
        In ascending order. The random ones are drawn by a fixed key, so that one more point changes
        one row at most, or the best and one other.
    """
    n = len(y)
    if n <= most:
        return slice(None)
    order = np.argsort(-y, kind="stable")
    n_best = most // 2
    rest = order[n_best:]
    priorities = keyed_generator(0, "sample").random(n)[rest]
    drawn = rest[np.argsort(priorities, kind="stable")[: most - n_best]]
    return np.sort(np.concatenate([order[:n_best], drawn]))


def spread_out(X: FloatArray, first: int, most: int) -> np.ndarray:
    """Return rows of points that are far apart: each next one is farthest from those before.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    first : int
        Row to begin with.
    most : int
        Number of rows, if there are so many.

    Returns
    -------
    ndarray of int, shape (min(most, n),)
        In the order in which they were taken [Gonzalez 1985].
    """
    rows = [first]
    away = np.linalg.norm(X - X[first], axis=1)
    while len(rows) < min(most, len(X)):
        away[rows[-1]] = -1.0
        rows.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(X - X[rows[-1]], axis=1))
    return np.array(rows)
