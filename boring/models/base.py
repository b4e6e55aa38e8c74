"""What the loop asks of a model: small protocols, one capability each."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from boring.space import Box
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
class ObjectiveSurrogate(Protocol):
    """What an optimiser knows of the objective, in the caller's units and sign.

    The same for every optimiser, so that models can be compared and drawn;
    :class:`boring.surrogate.ObjectivePosterior` makes one of any posterior.
    """

    @property
    def space(self) -> Box:
        """The box of the raw inputs."""
        ...

    def predict(self, X: ArrayLike, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance without noise, each (m,), at X (m, D) or (D,), raw units."""
        ...
