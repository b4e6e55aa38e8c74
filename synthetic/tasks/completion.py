"""Completion of a matrix half of whose entries are hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.space import Box
from boring.typing import BoolArray, FloatArray

from ..base import TestProblem, WithoutGradient
from ._data import digits
from ._hyperparameter import Hyperparameter, settings

__all__ = ["COMPLETION", "CompletionError", "complete", "completion_digits"]

N_ROWS = 300
"""Images: the first, in the order of the data set (chosen here, for speed)."""

HIDDEN_SHARE = 0.5
MASK_SEED = 0
"""Share of the entries that are hidden, and seed of their draw (chosen here)."""

N_SWEEPS = 10
"""Alternations between the factors of rows and of columns (chosen here)."""

START_SEED = 1

COMPLETION = (
    Hyperparameter("rank", 1, 20, integer=True),
    Hyperparameter("ridge", 1e-3, 1e2, logarithmic=True),
    Hyperparameter("mean_ridge", 1e-1, 1e4, logarithmic=True),
)
"""The sides of the box: columns of the factors, penalty on their squares, and rows of evidence
against a mean of a column (ranges chosen here)."""


@dataclass(frozen=True, eq=False)
class CompletionError(WithoutGradient):
    """Root mean squared error on the hidden entries, by the standard deviation of all.

    Parameters
    ----------
    matrix : ndarray, shape (n, p)
    seen : ndarray, shape (n, p), boolean
    """

    matrix: FloatArray
    seen: BoolArray

    def value(self, X: FloatArray) -> FloatArray:
        """Return the errors, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    def _value(self, x: FloatArray) -> float:
        chosen = settings(COMPLETION, x)
        rank, ridge, mean_ridge = int(chosen["rank"]), chosen["ridge"], chosen["mean_ridge"]
        completed = complete(self.matrix, self.seen, rank, ridge, mean_ridge)
        errors = (completed - self.matrix)[~self.seen]
        return float(np.sqrt(np.mean(errors**2)) / self.matrix.std())


def complete(
    matrix: FloatArray,
    seen: BoolArray,
    rank: int,
    ridge: float,
    mean_ridge: float,
    n_sweeps: int = N_SWEEPS,
) -> FloatArray:
    """Return the estimate ``m_j + U_i'V_j`` of every entry, shape (n, p), from those seen.

    The means m of the columns are drawn towards the mean of all seen entries as if by
    ``mean_ridge`` further rows; then U and V in turn minimise the squared error on what is seen
    plus ``ridge (|U|^2 + |V|^2)``.

    Parameters
    ----------
    matrix : ndarray, shape (n, p)
        Entries that are not seen are not looked at.
    seen : ndarray, shape (n, p), boolean
    rank : int
        Columns of U and V.
    ridge, mean_ridge : float
        Positive.
    n_sweeps : int
    """
    weight = seen.astype(np.float64)
    center = matrix[seen].mean()
    excess = np.where(seen, matrix - center, 0.0)
    means = center + excess.sum(axis=0) / (weight.sum(axis=0) + mean_ridge)
    residual = np.where(seen, matrix - means, 0.0)
    V = np.random.default_rng(START_SEED).standard_normal((matrix.shape[1], rank))
    for _ in range(n_sweeps):
        U = _regress(residual, weight, V, ridge)
        V = _regress(residual.T, weight.T, U, ridge)
    completed: FloatArray = means + U @ V.T
    return completed


def _regress(target: FloatArray, weight: FloatArray, V: FloatArray, ridge: float) -> FloatArray:
    """Return the ridge coefficients of every row of the target on the rows of V that it has."""
    rank = V.shape[1]
    products = (V[:, :, np.newaxis] * V[:, np.newaxis, :]).reshape(len(V), -1)
    normal = (weight @ products).reshape(-1, rank, rank) + ridge * np.eye(rank)
    coefficients = np.linalg.solve(normal, (target @ V)[:, :, np.newaxis])[:, :, 0]
    return np.asarray(coefficients, dtype=np.float64)


def completion_digits() -> TestProblem:
    """Return the completion of images of digits, half of whose pixels are hidden, D = 3.

    Raw units: those of :data:`COMPLETION`, logarithms to base 10 where it says so. Units of y:
    error by standard deviation, 1 for the mean of everything. Some 10 ms an evaluation on one core.

    Notes
    -----
    Gardner et al. (2017) tune three parameters of a matrix completion and give neither method nor
    data in detail. Here: alternating least squares (Hastie et al. 2015, section 2) after means of
    the columns, on the pixels of images of digits.
    """
    X, _ = digits()
    X = X[:N_ROWS]
    seen = np.random.default_rng(MASK_SEED).random(X.shape) >= HIDDEN_SHARE
    sides = [parameter.bounds for parameter in COMPLETION]
    return TestProblem(
        name=f"completion-digits-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=CompletionError(X, seen),
    )
