"""A random forest on differences of pixels, hyperparameters and offsets together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import shift

from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem, WithoutGradient
from ._data import digits, scikit_learn
from ._hyperparameter import Hyperparameter, settings

__all__ = ["FOREST", "ForestError", "forest_digits", "pixel_differences"]

N_TRAINING = 400
N_VALIDATION = 600
"""Images: the first and the next, in the order of the data set (chosen here, for speed)."""

RANDOM_STATE = 0
"""Seed of the bootstrap and of the choice of features: the objective is deterministic."""

REACH = 3.0
"""Largest offset of a pixel that is looked at, pixels, in either direction (chosen here)."""

FOREST = (
    Hyperparameter("n_estimators", 3, 40, logarithmic=True, integer=True),
    Hyperparameter("max_depth", 2, 20, integer=True),
    Hyperparameter("max_leaf_nodes", 4, 256, logarithmic=True, integer=True),
    Hyperparameter("min_samples_split", 0.005, 0.3, logarithmic=True),
    Hyperparameter("min_samples_leaf", 0.002, 0.1, logarithmic=True),
    Hyperparameter("min_weight_fraction_leaf", 0.0, 0.1),
    Hyperparameter("max_features", 0.02, 1.0, logarithmic=True),
    Hyperparameter("max_samples", 0.1, 1.0),
    Hyperparameter("min_impurity_decrease", 1e-6, 0.03, logarithmic=True),
    Hyperparameter("ccp_alpha", 1e-6, 0.03, logarithmic=True),
)
"""The first ten sides, of scikit-learn's ``RandomForestClassifier`` (ranges chosen here)."""


@dataclass(frozen=True, eq=False)
class ForestError(WithoutGradient):
    """Brier score of a random forest on validation images; a step function.

    The argument is (hyperparameters, row and column of the first offset, of the second). The
    score is the mean of ``sum_k (p_k - y_k)^2`` over the images, k the digits.

    Parameters
    ----------
    images : ndarray, shape (n, 8, 8)
    labels : ndarray, shape (n, 10), 1 in the column of the digit
    n_training : int
        The first rows train, the others validate.
    """

    images: FloatArray
    labels: FloatArray
    n_training: int

    def value(self, X: FloatArray) -> FloatArray:
        """Return the scores, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    def _value(self, x: FloatArray) -> float:
        n = self.n_training
        features = pixel_differences(self.images, x[-4:-2], x[-2:])
        make = scikit_learn("ensemble").RandomForestClassifier
        forest = make(random_state=RANDOM_STATE, n_jobs=1, **settings(FOREST, x[:-4]))
        forest.fit(features[:n], self.labels[:n].argmax(axis=1))
        errors = forest.predict_proba(features[n:]) - self.labels[n:]
        return float((errors**2).sum(axis=1).mean())


def pixel_differences(images: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return ``I(p + first) - I(p + second)`` for every pixel p.

    Parameters
    ----------
    images : ndarray, shape (n, h, w)
    first, second : ndarray, shape (2,)
        Rows and columns, pixels; between pixels brightness is interpolated linearly, beyond the
        picture it is 0.

    Returns
    -------
    ndarray, shape (n, h * w)
    """
    moved = [
        shift(images, (0.0, -offset[0], -offset[1]), order=1, mode="grid-constant")
        for offset in (first, second)
    ]
    differences: FloatArray = (moved[0] - moved[1]).reshape(len(images), -1)
    return differences


def forest_digits() -> TestProblem:
    """Return the tuning of a random forest on digits, D = 14.

    Ten hyperparameters, logarithms to base 10 where :data:`FOREST` says so, and two offsets of two
    coordinates, pixels. Units of y: Brier score, 0.9 for a constant guess. Exchanging the offsets
    changes the signs of the features and hardly the value. Some 0.06 s an evaluation on one core.

    Notes
    -----
    Wang et al. (2016) tune 14 parameters of the forest that labels the parts of a body in depth
    images. Its data are not public: here the features are those (differences between two places
    near a pixel, Shotton et al. 2011), and the images are digits.
    """
    X, labels = digits()
    end = N_TRAINING + N_VALIDATION
    scikit_learn("ensemble")  # missing here rather than at the first evaluation
    sides = [parameter.bounds for parameter in FOREST] + [(-REACH, REACH)] * 4
    return TestProblem(
        name=f"forest-digits-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=ForestError(X[:end].reshape(-1, 8, 8), labels[:end], N_TRAINING),
    )
