"""A hidden layer that is drawn once and never fitted, and its derivatives.

The features of x are ``activation(v_i'x + b_i)``, and with a skip connection x itself beside
them, x standardised by the mean and the spread of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from boring.typing import FloatArray

__all__ = ["Activation", "HiddenLayer", "draw_normalised", "draw_uniform"]

Activation = Literal["tanh", "relu"]
ACTIVATIONS = ("tanh", "relu")


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """One hidden layer, or N of them at once.

    Parameters
    ----------
    V : ndarray, shape (d, h) or (N, d, h)
        Hidden weights.
    b : ndarray, shape (h,) or (N, 1, h)
        Hidden biases.
    activation : {"tanh", "relu"}
    skip : bool
        Whether x joins the features, which then number p = h + d.
    center, scale : ndarray, shape (d,)
        Inputs are standardised by these.
    """

    V: FloatArray
    b: FloatArray
    activation: Activation
    skip: bool
    center: FloatArray
    scale: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return int(self.V.shape[-1]) + (self.V.shape[-2] if self.skip else 0)

    def features(self, X: FloatArray) -> FloatArray:
        """Return the features, shape (n, p) or (N, n, p), at X (n, d)."""
        inputs = (X - self.center) / self.scale
        return self._with_skip(self._activated(inputs @ self.V + self.b), inputs)

    def features_and_slope(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the features, and the activation's derivative (..., n, h), at X (n, d)."""
        inputs = (X - self.center) / self.scale
        before = inputs @ self.V + self.b
        after = self._activated(before)
        slope = 1.0 - after**2 if self.activation == "tanh" else (before > 0).astype(np.float64)
        return self._with_skip(after, inputs), slope

    def input_gradient(self, slope: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the gradient in x of the features' sum with weights that are held fixed.

        Parameters
        ----------
        slope : ndarray, shape (..., n, h)
            From :meth:`features_and_slope`.
        weights : ndarray, broadcastable to (..., n, p)

        Returns
        -------
        ndarray, shape (..., n, d)
        """
        width = self.V.shape[-1]
        gradient = (slope * weights[..., :width]) @ np.swapaxes(self.V, -1, -2)
        if self.skip:
            gradient = gradient + weights[..., width:]
        return np.asarray(gradient / self.scale, dtype=np.float64)

    def _activated(self, before: FloatArray) -> FloatArray:
        return np.tanh(before) if self.activation == "tanh" else np.maximum(before, 0.0)

    def _with_skip(self, after: FloatArray, inputs: FloatArray) -> FloatArray:
        if not self.skip:
            return after
        same = np.broadcast_to(inputs, (*after.shape[:-1], inputs.shape[-1]))
        return np.concatenate([after, same], axis=-1)


def moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of each column, 1 where that is 0."""
    scale = X.std(axis=0)
    return X.mean(axis=0), np.where(scale > 1e-12, scale, 1.0)


def draw_normalised(
    X: FloatArray,
    width: int,
    activation: Activation,
    skip: bool,
    rng: np.random.Generator,
    n_members: int | None = None,
) -> HiddenLayer:
    """Draw hidden weights of length 1 and uniform direction, and standard normal biases.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        Data, for the standardisation.
    width : int
        h.
    activation : {"tanh", "relu"}
    skip : bool
    rng : numpy.random.Generator
        Consumed.
    n_members : int, optional
        N layers at once; None draws one.

    Notes
    -----
    Source: Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 4.
    """
    members = () if n_members is None else (n_members,)
    V = rng.standard_normal((*members, X.shape[1], width))
    V /= np.linalg.norm(V, axis=-2, keepdims=True)
    b = rng.standard_normal((width,) if n_members is None else (n_members, 1, width))
    return HiddenLayer(V, b, activation, skip, *moments(X))


def draw_uniform(
    dim: int, width: int, half_range: float, rng: np.random.Generator, n_members: int
) -> HiddenLayer:
    """Draw N tanh layers with weights and biases uniform in [-half_range, half_range].

    Inputs are taken as they are.
    """
    V = rng.uniform(-half_range, half_range, (n_members, dim, width))
    b = rng.uniform(-half_range, half_range, (n_members, 1, width))
    return HiddenLayer(V, b, "tanh", False, np.zeros(dim), np.ones(dim))
