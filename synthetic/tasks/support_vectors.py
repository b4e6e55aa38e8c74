"""The two hyperparameters of a support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem, WithoutGradient
from ._data import Fold, breast_cancer, folds, scikit_learn

__all__ = ["SupportVectorError", "svm_breast_cancer"]

N_FOLDS = 3
"""Folds of the cross-validation (chosen here, for speed)."""

SIDES = (-10.0, 10.0)
"""Natural logarithms of C and of gamma, both (HPOlib's table)."""


@dataclass(frozen=True, eq=False)
class SupportVectorError(WithoutGradient):
    """Cross-validated share of errors, per cent, of a support vector machine with a normal kernel.

    A step function: one row more or less.

    Parameters
    ----------
    folds : tuple of Fold
        The sign of y is the class.
    """

    folds: tuple[Fold, ...]

    def value(self, X: FloatArray) -> FloatArray:
        """Return the errors, shape (n,)."""
        return np.array([self._value(*np.exp(x)) for x in X], dtype=np.float64)

    def _value(self, penalty: float, gamma: float) -> float:
        make = scikit_learn("svm").SVC
        wrong = 0
        for fold in self.folds:
            model = make(C=penalty, gamma=gamma).fit(fold.X_train, fold.y_train > 0)
            wrong += int(np.sum(model.predict(fold.X_test) != (fold.y_test > 0)))
        return 100.0 * wrong / sum(len(fold.y_test) for fold in self.folds)


def svm_breast_cancer() -> TestProblem:
    """Return the tuning of a support vector machine on the Wisconsin data, D = 2.

    Raw units: natural logarithms of C and of gamma. Units of y: per cent of errors; 37.3 for a
    constant guess, which most of the box is. Piecewise constant, and so without a gradient.

    Notes
    -----
    In place of the table of HPOlib that Aryan (PhD thesis, Victoria University of Wellington 2020)
    used, with its box.
    """
    return TestProblem(
        name="svm-breast-cancer-2",
        space=Box.from_bounds([SIDES, SIDES]),
        formula=SupportVectorError(folds(*breast_cancer(), N_FOLDS)),
    )
