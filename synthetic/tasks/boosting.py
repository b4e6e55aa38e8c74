"""Hyperparameters of gradient boosting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem, WithoutGradient
from ._data import Fold, diabetes, folds, scikit_learn
from ._hyperparameter import Hyperparameter, settings

__all__ = ["HYPERPARAMETERS", "BoostingError", "boosting_diabetes"]

N_FOLDS = 3
"""Folds of the cross-validation (chosen here, for speed)."""

RANDOM_STATE = 0
"""Seed of the subsampling of rows and features: the objective is deterministic."""


HYPERPARAMETERS = (
    Hyperparameter("learning_rate", 0.003, 1.0, logarithmic=True),
    Hyperparameter("n_estimators", 10, 100, logarithmic=True, integer=True),
    Hyperparameter("max_depth", 1, 6, integer=True),
    Hyperparameter("max_leaf_nodes", 2, 32, logarithmic=True, integer=True),
    Hyperparameter("subsample", 0.3, 1.0),
    Hyperparameter("max_features", 0.1, 1.0),
    Hyperparameter("min_samples_split", 0.005, 0.4, logarithmic=True),
    Hyperparameter("min_samples_leaf", 0.003, 0.2, logarithmic=True),
    Hyperparameter("min_impurity_decrease", 1e-6, 0.1, logarithmic=True),
    Hyperparameter("ccp_alpha", 1e-6, 0.1, logarithmic=True),
    Hyperparameter("alpha", 0.5, 0.99),
)
"""The sides of the box, in the order of the coordinates (ranges chosen here).

``min_samples_*`` and ``max_features`` are shares of the rows and of the features; ``alpha`` is the
quantile at which the Huber loss turns linear.
"""


@dataclass(frozen=True, eq=False)
class BoostingError(WithoutGradient):
    """Cross-validated mean squared error of gradient-boosted trees with the Huber loss.

    A step function: trees are split between rows, and integers are rounded.

    Parameters
    ----------
    folds : tuple of Fold
    """

    folds: tuple[Fold, ...]

    def value(self, X: FloatArray) -> FloatArray:
        """Return the errors, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    @staticmethod
    def settings(x: FloatArray) -> dict[str, float | int]:
        """Return the hyperparameters, by name, that a point of shape (D,) stands for."""
        return settings(HYPERPARAMETERS, x)

    def _value(self, x: FloatArray) -> float:
        make = scikit_learn("ensemble").GradientBoostingRegressor
        errors = []
        for fold in self.folds:
            model = make(loss="huber", random_state=RANDOM_STATE, **self.settings(x))
            model.fit(fold.X_train, fold.y_train)
            errors.append(np.mean((fold.y_test - model.predict(fold.X_test)) ** 2))
        return float(np.mean(errors))


def boosting_diabetes() -> TestProblem:
    """Return the tuning of gradient boosting on the diabetes data, D = 11.

    Raw units: those of :data:`HYPERPARAMETERS`, logarithms to base 10 where it says so. Units of
    y: share of the variance left unexplained; 1 for a constant guess. Piecewise constant, and so
    without a gradient.

    Notes
    -----
    Source of the method: Friedman (2001). The problem is of this library.
    """
    sides = [parameter.bounds for parameter in HYPERPARAMETERS]
    X, y = diabetes()
    return TestProblem(
        name=f"boosting-diabetes-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=BoostingError(folds(X, y, N_FOLDS)),
    )
