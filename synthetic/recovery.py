"""Placements for the study of how well a subspace is found from points uniform in the cube.

They put most of each function's structure where projections of uniform points fall (standard
deviation 0.577 in every direction), which an optimum near the edge of a function's box would not
need. The optimum is declared where it is known and can be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.exceptions import UnknownNameError
from boring.space import Box
from boring.subspace.stiefel import random_frame
from boring.typing import FloatArray, SeedLike

from .any_dimension import rosenbrock
from .base import TestProblem
from .low_dimensional import camelback, hartmann6, parabola
from .wrappers import Embedded

__all__ = ["RECOVERY_NAMES", "recovery_problem"]

ROSENBROCK_DIM = 5


@dataclass(frozen=True)
class _SkewedSinusoid:
    """``sin(3 a) + 2 exp(-1.5 (b - 0.3)^2) + 0.3 a b``: unbounded below, on the whole plane."""

    def value(self, X: FloatArray) -> FloatArray:
        a, b = X.T
        values: FloatArray = np.sin(3.0 * a) + 2.0 * np.exp(-1.5 * (b - 0.3) ** 2) + 0.3 * a * b
        return values

    def gradient(self, X: FloatArray) -> FloatArray:
        a, b = X.T
        bump = 2.0 * np.exp(-1.5 * (b - 0.3) ** 2)
        return np.column_stack((3.0 * np.cos(3.0 * a) + 0.3 * b, -3.0 * (b - 0.3) * bump + 0.3 * a))


def _skewed_sinusoid() -> TestProblem:
    return TestProblem(
        name="sinexp-recovery-2",
        space=Box(-np.ones(2), np.ones(2)),
        formula=_SkewedSinusoid(),
        true_basis=np.eye(2),
        effective_dim=2,
    )


# The function, and how many units of its own box one unit of z = W'x is: u = origin + stretch z.
_PLACEMENTS: dict[str, tuple[Callable[[], TestProblem], tuple[float, ...], float]] = {
    "parabola": (parabola, (1.0,), 0.0),
    "camelback": (camelback, (1.2, 0.8), 0.0),
    "sinexp": (_skewed_sinusoid, (1.0, 1.0), 0.0),
    "rosenbrock": (
        lambda: rosenbrock(ROSENBROCK_DIM, sides=(-2.0, 2.0)),
        (1.2,) * ROSENBROCK_DIM,
        0.0,
    ),
    "hartmann6": (lambda: hartmann6(clipped=True), (0.43,) * 6, 0.5),
}

RECOVERY_NAMES = tuple(_PLACEMENTS)


def recovery_problem(
    name: str, dim: int, seed: SeedLike = None, axis_aligned: bool = False
) -> TestProblem:
    """Return a function of ``z = W'x`` on [-1, 1]^D, placed for the recovery of W.

    Parameters
    ----------
    name : str
        ``parabola``: 0.99 z^2 + 0.43 z + 0.06. ``camelback``: of (1.2 z_1, 0.8 z_2). ``sinexp``:
        sin(3 z_1) + 2 exp(-1.5 (z_2 - 0.3)^2) + 0.3 z_1 z_2. ``rosenbrock``: of five variables,
        1.2 z. ``hartmann6``: of 0.5 + 0.43 z, clipped to the unit cube.
    dim : int
        Ambient dimension D.
    seed : int, SeedSequence or None
        Draws W uniformly, or the axes.
    axis_aligned : bool, default False
        Take distinct coordinates at random instead of a random rotation.

    Returns
    -------
    TestProblem
        To minimise; ``optimum`` may be None.

    Raises
    ------
    UnknownNameError
        If there is no such function.
    InvalidInputError
        If the function has more than ``dim`` variables.
    """
    if name not in _PLACEMENTS:
        raise UnknownNameError(
            f"{name!r} is not the name of a recovery problem; choose one of "
            f"{', '.join(RECOVERY_NAMES)}."
        )
    make, stretch, origin = _PLACEMENTS[name]
    inner = make()
    rng = np.random.default_rng(seed)
    half = inner.space.width / (2.0 * np.array(stretch))
    center = (0.5 * (inner.space.lower + inner.space.upper) - origin) / np.array(stretch)
    d = inner.dim
    label = f"{name}-recovery-{d}-in-{dim}"
    placed: dict[str, Any] = {"center": center, "half_width": half, "name": label}
    if axis_aligned:
        return Embedded(inner, dim, axes=rng.permutation(dim)[:d].tolist(), **placed)
    # Taken as it is drawn: reaching the optimum is no concern here, a uniform W is.
    return Embedded(inner, dim, basis=random_frame(dim, d, rng), **placed)
