"""Weights of the inputs of a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem
from ._data import digits

__all__ = ["KernelMachine", "kernel_digits"]

N_TRAINING = 300
N_VALIDATION = 600
"""Images: the first and the next, in the order of the data set (chosen here, for speed)."""

RIDGE = 0.01
"""Added to the diagonal of the kernel matrix, whose own diagonal is 1 (chosen here)."""

LOG10_WEIGHTS = (-2.5, 0.5)
"""Box of the logarithms to base 10 of the weights: from unseen to too sharp (chosen here)."""


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """Validation error of kernel ridge regression with a weight for each input.

    The kernel is ``exp(-sum_j w_j^2 (a_j - b_j)^2 / 2)`` with ``w_j = 10^{s_j}``; s is the
    argument. The error is the mean over validation rows of ``|y - prediction|^2``.

    Parameters
    ----------
    X_train : ndarray, shape (n, D)
    Y_train : ndarray, shape (n, k)
    X_test : ndarray, shape (m, D)
    Y_test : ndarray, shape (m, k)
    ridge : float
    """

    X_train: FloatArray
    Y_train: FloatArray
    X_test: FloatArray
    Y_test: FloatArray
    ridge: float = RIDGE

    def value(self, X: FloatArray) -> FloatArray:
        """Return the errors, shape (n,)."""
        return np.array([self._fit(10.0**s)[0] for s in X], dtype=np.float64)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        gradients = [self._gradient(s) for s in X]
        return np.array(gradients, dtype=np.float64).reshape(X.shape)

    def predict(self, s: FloatArray) -> FloatArray:
        """Return the predictions of the validation rows, shape (m, k), at one point s (D,)."""
        _, residual, *_ = self._fit(10.0**s)
        return self.Y_test - residual

    def _fit(self, weights: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray, object]:
        """Return error, residuals (m, k), cross kernel (m, n), kernel (n, n) and its factor."""
        train, test = self.X_train * weights, self.X_test * weights
        K, cross = _gaussian(train, train), _gaussian(test, train)
        factor = cho_factor(K + self.ridge * np.eye(len(K)), lower=True)
        residual = self.Y_test - cross @ cho_solve(factor, self.Y_train)
        return float(np.mean((residual**2).sum(axis=1))), residual, cross, K, factor

    def _gradient(self, s: FloatArray) -> FloatArray:
        weights = 10.0**s
        _, residual, cross, K, factor = self._fit(weights)
        alpha = cho_solve(factor, self.Y_train)
        # Derivatives of the error by the entries of both kernel matrices, times the entries.
        by_prediction = -2.0 * residual / len(residual)
        by_cross = by_prediction @ alpha.T * cross
        by_kernel = -cho_solve(factor, cross.T @ by_prediction) @ alpha.T * K
        squares = _weighted_squares(by_cross, self.X_test, self.X_train)
        squares += _weighted_squares(by_kernel, self.X_train, self.X_train)
        gradient: FloatArray = -np.log(10.0) * weights**2 * squares
        return gradient


def kernel_digits() -> TestProblem:
    """Return the weights of the 64 pixels for a kernel machine that reads digits, D = 64.

    Least-squares classification: ten outputs, 1 for the digit and 0 for the others. Raw units:
    logarithms to base 10 of the weights. Units of y: squared error summed over the outputs; 0.9
    for a constant guess. The objective is smooth.

    Notes
    -----
    A stand-in for the 388 weights of a support vector machine of Eriksson and Jankowiak (2021),
    whose data are not bundled with anything. Pixels that are black on all images, three or more in
    the corners, do not matter.
    """
    X, Y = digits()
    end = N_TRAINING + N_VALIDATION
    dim = X.shape[1]
    return TestProblem(
        name=f"kernel-digits-{dim}",
        space=Box(np.full(dim, LOG10_WEIGHTS[0]), np.full(dim, LOG10_WEIGHTS[1])),
        formula=KernelMachine(X[:N_TRAINING], Y[:N_TRAINING], X[N_TRAINING:end], Y[N_TRAINING:end]),
    )


def _gaussian(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return ``exp(-|a - b|^2 / 2)`` for all pairs of rows."""
    squares = (A * A).sum(axis=1)[:, np.newaxis] + (B * B).sum(axis=1) - 2.0 * (A @ B.T)
    kernel: FloatArray = np.exp(-0.5 * np.maximum(squares, 0.0))
    return kernel


def _weighted_squares(G: FloatArray, A: FloatArray, B: FloatArray) -> FloatArray:
    """Return ``sum_ab G_ab (A_aj - B_bj)^2`` for every column j."""
    weighted: FloatArray = (
        G.sum(axis=1) @ (A * A) + G.sum(axis=0) @ (B * B) - 2.0 * (A * (G @ B)).sum(axis=0)
    )
    return weighted
