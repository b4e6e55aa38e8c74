"""scikit-learn, loaded late, for the baselines that classify or mix."""

from __future__ import annotations

from typing import Any

from boring.extras import require

__all__ = ["scikit_learn"]


def scikit_learn(module: str) -> Any:
    """Return a module of scikit-learn.

    Parameters
    ----------
    module : str
        Below ``sklearn``, for instance ``"svm"``.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed; the message names the extra.
    """
    return require(f"sklearn.{module}", "neural", "This optimiser")
