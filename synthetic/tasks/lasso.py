"""Weighted Lasso: one penalty weight for each feature, judged by cross-validation.

For weights ``exp(lambda_j)`` the coefficients of a fold minimise

    ``|y - X beta|^2 / (2 n) + sum_j exp(lambda_j) |beta_j|``

over its n training rows, and the objective is the mean squared error on the rows left out, averaged
over the folds. Source: Šehić, Gramfort, Salmon and Nardi (2022), LassoBench. Each ``lambda_j`` lies
between ``log(a / 100)`` and ``log(a)``, where ``a = max |X'y| / n`` is the least uniform penalty
that sets every coefficient to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.exceptions import UnknownNameError
from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem
from ._data import Fold, breast_cancer, diabetes, folds, scikit_learn, standardized

__all__ = [
    "SYNTHETIC_SETTINGS",
    "WeightedLasso",
    "lasso_breast_cancer",
    "lasso_diabetes",
    "lasso_synthetic",
]

N_FOLDS = 5
"""Folds of the cross-validation (LassoBench)."""

PENALTY_RANGE = 100.0
"""Largest by smallest penalty weight of the box (LassoBench, synthetic data).

Deviation: the same for real data, where LassoBench has 1e5; at that ratio coordinate descent does
not converge on features that are copies of each other.
"""

TOLERANCE = 1e-9
"""Duality gap of coordinate descent, relative to |y|^2 (chosen here: below what y resolves)."""

MAX_SWEEPS = 200_000
"""Sweeps of coordinate descent; a hundred times what the boxes need (measured)."""

CORRELATION = 0.6
SIGNAL_TO_NOISE = 10.0
"""Synthetic data: of neighbouring features, and |X beta| by |noise| (LassoBench, "noiseless")."""

TRAINING_SHARE = 0.85
"""Share of the synthetic rows that is cross-validated; the rest is a test set (LassoBench)."""

SYNTHETIC_SETTINGS = {
    "simple": (30, 60, 3),
    "medium": (50, 100, 5),
    "high": (150, 300, 15),
}
"""Rows, features D, and coefficients that are not zero (LassoBench)."""

SYNTHETIC_SEED = 42


@dataclass(frozen=True, eq=False)
class WeightedLasso:
    """Cross-validated mean squared error as a function of the logarithms of the penalty weights.

    Parameters
    ----------
    folds : tuple of Fold
    scale : float, default 1
        Divides the error.

    Notes
    -----
    The gradient is exact where the function is differentiable, which it is unless a coefficient is
    about to enter or leave: on the support S, with signs s, the coefficients solve
    ``X_S'X_S beta / n = X_S'y / n - s exp(lambda_S)``, so
    ``d beta / d lambda = -(X_S'X_S / n)^-1 diag(s exp(lambda_S))``.
    """

    folds: tuple[Fold, ...]
    scale: float = 1.0

    def value(self, X: FloatArray) -> FloatArray:
        """Return the errors, shape (n,)."""
        return np.array([self._value(log_weights) for log_weights in X], dtype=np.float64)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradients, shape (n, D)."""
        gradients = [self._gradient(log_weights) for log_weights in X]
        return np.array(gradients, dtype=np.float64).reshape(X.shape)

    def coefficients(self, log_weights: FloatArray, fold: Fold) -> FloatArray:
        """Return the Lasso coefficients of a fold, shape (D,).

        The plain Lasso of scikit-learn, with penalty 1, on features divided by their weights.
        """
        weights = np.exp(log_weights)
        Z = fold.X_train / weights
        lasso = scikit_learn("linear_model").Lasso(
            alpha=1.0,
            fit_intercept=False,
            precompute=Z.T @ Z,
            tol=TOLERANCE,
            max_iter=MAX_SWEEPS,
            random_state=0,  # without effect on the result, and keeps off the global state
        )
        coefficients: FloatArray = lasso.fit(Z, fold.y_train).coef_ / weights
        return coefficients

    def _value(self, log_weights: FloatArray) -> float:
        errors = [
            np.mean((fold.y_test - fold.X_test @ self.coefficients(log_weights, fold)) ** 2)
            for fold in self.folds
        ]
        return float(np.mean(errors)) / self.scale

    def _gradient(self, log_weights: FloatArray) -> FloatArray:
        total = np.zeros_like(log_weights)
        for fold in self.folds:
            beta = self.coefficients(log_weights, fold)
            support = np.flatnonzero(beta)
            train, test = fold.X_train[:, support], fold.X_test[:, support]
            slope = -2.0 * test.T @ (fold.y_test - test @ beta[support]) / len(fold.y_test)
            # Least squares, because two features of real data may be copies of each other.
            adjoint = np.linalg.lstsq(train.T @ train / len(train), slope, rcond=None)[0]
            total[support] -= adjoint * np.sign(beta[support]) * np.exp(log_weights[support])
        return total / (len(self.folds) * self.scale)


def lasso_diabetes() -> TestProblem:
    """Return the weighted Lasso on diabetes with quadratic terms, D = 65.

    Columns: the 10 measurements, then the 55 products of two of them (itself included), each
    standardised. Sex takes two values, so its square is a copy of it. Units of y: share of the
    variance left unexplained.

    Deviation: LassoBench takes 8 linear features of 768 other patients, and keeps a test set.
    """
    X, y = diabetes()
    first, second = np.triu_indices(X.shape[1])
    features = standardized(np.hstack((X, X[:, first] * X[:, second])))
    return _problem("lasso-diabetes", features, y)


def lasso_breast_cancer() -> TestProblem:
    """Return the weighted Lasso on the Wisconsin diagnostic data, D = 30.

    Regression on the label. Units of y: share of the variance left unexplained.

    Deviation: LassoBench takes the 10 features of an older data set, and keeps a test set.
    """
    return _problem("lasso-breast-cancer", *breast_cancer())


def lasso_synthetic(size: str) -> TestProblem:
    """Return the weighted Lasso on synthetic data of LassoBench's design.

    Parameters
    ----------
    size : {"simple", "medium", "high"}
        D = 60, 100 or 300, with 3, 5 or 15 coefficients that are 1 or -1 in turn, evenly spaced.

    Returns
    -------
    TestProblem
        Units of y: error divided by that of the true coefficients on the same rows.

    Raises
    ------
    UnknownNameError
        If there is no such size.

    Notes
    -----
    Features of a row are a stationary autoregression along the columns with correlation 0.6, and
    the noise is scaled to a tenth of the signal's norm.

    Deviation: the definition is LassoBench's, the random numbers are not, so figures published for
    its problems hold here in kind only.
    """
    if size not in SYNTHETIC_SETTINGS:
        raise UnknownNameError(
            f"size must be one of {', '.join(SYNTHETIC_SETTINGS)}; received {size!r}."
        )
    n, dim, n_nonzero = SYNTHETIC_SETTINGS[size]
    rng = np.random.default_rng(SYNTHETIC_SEED)
    X = rng.standard_normal((n, dim))
    for j in range(1, dim):
        X[:, j] = CORRELATION * X[:, j - 1] + np.sqrt(1.0 - CORRELATION**2) * X[:, j]
    beta = np.zeros(dim)
    beta[:: dim // n_nonzero] = (-1.0) ** np.arange(n_nonzero)
    signal, noise = X @ beta, rng.standard_normal(n)
    noise *= np.linalg.norm(signal) / (SIGNAL_TO_NOISE * np.linalg.norm(noise))
    kept = int(TRAINING_SHARE * n)
    oracle = float(np.mean(noise[:kept] ** 2))
    return _problem(f"lasso-{size}", X[:kept], (signal + noise)[:kept], oracle)


def _problem(family: str, X: FloatArray, y: FloatArray, scale: float = 1.0) -> TestProblem:
    dim = X.shape[1]
    largest = np.log(np.max(np.abs(X.T @ y)) / len(y))
    smallest = largest - np.log(PENALTY_RANGE)
    scikit_learn("linear_model")  # missing here rather than at the first evaluation
    return TestProblem(
        name=f"{family}-{dim}",
        space=Box(np.full(dim, smallest), np.full(dim, largest)),
        formula=WeightedLasso(folds(X, y, N_FOLDS), scale),
    )
