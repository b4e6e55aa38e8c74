"""scikit-learn, loaded late, and its bundled data sets, made ready."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from boring.extras import require
from boring.typing import FloatArray

__all__ = ["Fold", "breast_cancer", "diabetes", "digits", "folds", "scikit_learn"]


def scikit_learn(module: str) -> Any:
    """Return a module of scikit-learn.

    Parameters
    ----------
    module : str
        Below ``sklearn``, for instance ``"datasets"``.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed; the message names the extra.
    """
    return require(f"sklearn.{module}", "tasks", "A problem of synthetic.tasks")


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of the rows of a data set.

    Parameters
    ----------
    X_train : ndarray, shape (n, p)
    y_train : ndarray, shape (n,)
    X_test : ndarray, shape (m, p)
    y_test : ndarray, shape (m,)
    """

    X_train: FloatArray
    y_train: FloatArray
    X_test: FloatArray
    y_test: FloatArray


def folds(X: FloatArray, y: FloatArray, n_folds: int) -> tuple[Fold, ...]:
    """Split rows for cross-validation: row i is tested in fold ``i mod n_folds``.

    No random numbers, so the split is the same with every version of everything.

    Parameters
    ----------
    X : ndarray, shape (n, p)
    y : ndarray, shape (n,)
    n_folds : int

    Returns
    -------
    tuple of Fold
    """
    fold_of = np.arange(len(y)) % n_folds
    return tuple(
        Fold(X[fold_of != k], y[fold_of != k], X[fold_of == k], y[fold_of == k])
        for k in range(n_folds)
    )


@lru_cache(maxsize=1)
def diabetes() -> tuple[FloatArray, FloatArray]:
    """Return the diabetes data of Efron et al. (2004): 442 patients, 10 measurements.

    Returns
    -------
    X : ndarray, shape (442, 10), each column with mean 0 and standard deviation 1
    y : ndarray, shape (442,), standardised progression of the disease after a year
    """
    X, y = scikit_learn("datasets").load_diabetes(return_X_y=True)
    return standardized(X), standardized(y)


@lru_cache(maxsize=1)
def breast_cancer() -> tuple[FloatArray, FloatArray]:
    """Return the Wisconsin diagnostic data (Street et al. 1993): 569 biopsies, 30 features.

    Returns
    -------
    X : ndarray, shape (569, 30), each column with mean 0 and standard deviation 1
    y : ndarray, shape (569,), standardised label (1 benign, 0 malignant)
    """
    X, y = scikit_learn("datasets").load_breast_cancer(return_X_y=True)
    return standardized(X), standardized(y)


@lru_cache(maxsize=1)
def digits() -> tuple[FloatArray, FloatArray]:
    """Return the handwritten digits of Alpaydin and Kaynak (1998): 1797 images of 8 x 8 pixels.

    Returns
    -------
    X : ndarray, shape (1797, 64), brightness from 0 to 1
    Y : ndarray, shape (1797, 10), 1 in the column of the digit and 0 elsewhere
    """
    X, labels = scikit_learn("datasets").load_digits(return_X_y=True)
    return np.asarray(X, dtype=np.float64) / 16.0, np.eye(10)[labels]


def standardized(values: Any) -> FloatArray:
    """Return columns shifted and scaled to mean 0 and standard deviation 1."""
    array = np.asarray(values, dtype=np.float64)
    scaled: FloatArray = (array - array.mean(axis=0)) / array.std(axis=0)
    return scaled
