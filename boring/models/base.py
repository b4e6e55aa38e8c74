"""What the loop asks of a model: small protocols, one capability each."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

import numpy as np

from boring.typing import FloatArray


@runtime_checkable
class Surrogate(Protocol):
    """A model of the objective that can be fitted and asked."""

    def fit(self, X: FloatArray, y: FloatArray, *, rng: np.random.Generator) -> Self:
        """Fit to inputs X (n, D) and values y (n,); return self."""
        ...

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f, each (m,), at X (m, D)."""
        ...


@runtime_checkable
class SupportsGradient(Protocol):
    """A posterior whose mean and variance have gradients in the inputs."""

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean (m,), variance (m,), and their gradients (m, D) at X (m, D)."""
        ...


@runtime_checkable
class SupportsComponents(Protocol):
    """A posterior that splits into the terms of an additive kernel."""

    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return component means and variances, each (m, J), at X (m, D)."""
        ...
