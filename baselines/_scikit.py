"""scikit-learn, loaded late, for the baselines that classify or mix."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["scikit_learn"]


def scikit_learn(module: str) -> Any:
    """Return a module of scikit-learn.

    Parameters
    ----------
    module : str
        Below ``sklearn``, for instance ``"svm"``.

    Raises
    ------
    ImportError
        If scikit-learn is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ModuleNotFoundError as error:
        raise ImportError(
            "This optimiser needs scikit-learn, which is not installed. Install the extra: "
            "pip install 'boring-bo[neural]'."
        ) from error
