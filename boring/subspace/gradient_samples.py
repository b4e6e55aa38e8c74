"""Active subspaces from gradients, given or by differences along the coordinates.

With C = E[grad f grad f'] over the box, C = U diag(lambda) U', the first d columns of U span
the directions along which f varies most on average (Constantine, Dow & Wang 2014; Constantine
2015, "Active Subspaces", ch. 3). m gradients give C to within sampling error, and a bootstrap
over them shows how large that is.

Without gradients, differences along all coordinates at m points cost m (D + 1) evaluations
(forward) or 2 m D (central). The singular vectors of these gradients are the thesis's simple
alternative to the learned projections.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from boring._brief import fields_in_brief

from ..exceptions import InvalidInputError
from ..typing import FloatArray
from ..validation import as_points, as_positive_int, as_real, as_values
from .stiefel import sign_fix

Scheme = Literal["forward", "central"]

DIFFERENCE_STEP = 1e-3
"""Scaled units [chosen here: the curvature of functions that vary within one unit bends forward
differences by about a thousandth; noise of sd s becomes an error of 1.4 s / step, so noisy values
need a longer one]."""

N_BOOTSTRAP = 200
CONFIDENCE = 0.9
"""Replicates and coverage of the bands [chosen here; Constantine 2015 shows the range of 100 to
10000 replicates]."""

MAX_ERROR_DIM = 10
"""Subspaces of more dimensions get no error [chosen here, for time]."""

_RELATIVE_FLOOR = 1e-14
"""Eigenvalues below this share of the largest are rounding."""


@dataclass(frozen=True, eq=False, slots=True)
class GradientSample:
    """Gradients at some points, and what they cost.

    Attributes
    ----------
    points, gradients : ndarray, shape (m, D), scaled units
    n_evaluations : int
        Evaluations of the function.
    """

    points: FloatArray
    gradients: FloatArray
    n_evaluations: int

    __repr__ = fields_in_brief


@dataclass(frozen=True, eq=False, slots=True)
class ActiveSubspace:
    """Eigenvalues and eigenvectors of C with bootstrap bands; k = min(m, D).

    Attributes
    ----------
    effective_dim : int
        d, given or before the largest gap of the log eigenvalues.
    eigenvalues : ndarray, shape (k,)
        Of C, largest first, in units of (y per scaled input) squared.
    eigenvectors : ndarray, shape (D, k)
    eigenvalue_band : ndarray, shape (k, 2)
        Lower and upper end over bootstrap replicates.
    subspace_errors : ndarray, shape (min(k - 1, 10),)
        Entry d - 1: mean over replicates of the sine of the largest angle between the replicate's
        first d eigenvectors and these. Near 1 where eigenvalues d and d + 1 cannot be told apart.
    """

    effective_dim: int
    eigenvalues: FloatArray
    eigenvectors: FloatArray
    eigenvalue_band: FloatArray
    subspace_errors: FloatArray

    __repr__ = fields_in_brief

    @property
    def active_basis(self) -> FloatArray:
        """W, shape (D, d)."""
        return self.eigenvectors[:, : self.effective_dim]


def difference_offsets(point: FloatArray, step: float, scheme: Scheme) -> FloatArray:
    """Return the steps from a point that a gradient by differences needs.

    Parameters
    ----------
    point : ndarray, shape (D,), scaled units
    step : float
    scheme : {"forward", "central"}

    Returns
    -------
    ndarray, shape (D, D) or (2 D, D)
        Row i leads along coordinate i, for "central" row D + i back. Forward steps that would
        leave the cube go backwards; central ones are cut off at its faces.
    """
    dim = len(point)
    ahead = step * np.eye(dim)
    if scheme == "forward":
        return np.where((point + step > 1.0)[:, None], -ahead, ahead)
    both = np.vstack([ahead, -ahead])
    return np.asarray(np.clip(point + both, -1.0, 1.0) - point)


def gradient_of_differences(
    offsets: FloatArray, value: float, values: FloatArray, scheme: Scheme
) -> FloatArray:
    """Return the gradient (D,) from a point's value and those at `difference_offsets`."""
    dim = offsets.shape[1]
    steps = offsets[np.arange(len(offsets)), np.tile(np.arange(dim), len(offsets) // dim)]
    if scheme == "forward":
        return np.asarray((values - value) / steps)
    return np.asarray((values[:dim] - values[dim:]) / (steps[:dim] - steps[dim:]))


def gradients_by_differences(
    fun: Callable[[FloatArray], float],
    points: ArrayLike,
    *,
    step: float = DIFFERENCE_STEP,
    scheme: Scheme = "forward",
) -> GradientSample:
    """Estimate gradients by differences along every coordinate.

    Parameters
    ----------
    fun : callable
        Takes one point (D,), scaled units, and returns a real number.
    points : array_like, shape (m, D), scaled units in [-1, 1]
    step : float, 0 < step <= 1, default 1e-3
        Scaled units.
    scheme : {"forward", "central"}, default "forward"
        D + 1 evaluations a point with an error of order step, or 2 D with one of step squared.

    Returns
    -------
    GradientSample

    Raises
    ------
    InvalidInputError
        If points lie outside the cube, or the step or the scheme is out of range.

    Notes
    -----
    Noise of sd s in ``fun`` gives entries of the gradient an sd of 1.4 s/step (forward) or
    .7 s/step (central).
    """
    shape = np.shape(points)
    centers = as_points(points, shape[-1] if shape else 1, "points")
    check_differences(step, scheme)
    if not np.all(np.abs(centers) <= 1.0):
        raise InvalidInputError(
            f"points must lie in [-1, 1]; the largest coordinate is {np.abs(centers).max():.3g}. "
            "Scale them with boring.Box.scale."
        )
    gradients = np.empty_like(centers)
    n_evaluations = 0
    for row, point in enumerate(centers):
        offsets = difference_offsets(point, step, scheme)
        values = as_values([fun(point + offset) for offset in offsets], len(offsets), "fun")
        value = float(fun(point)) if scheme == "forward" else np.nan
        gradients[row] = gradient_of_differences(offsets, value, values, scheme)
        n_evaluations += len(offsets) + (scheme == "forward")
    return GradientSample(centers, gradients, n_evaluations)


def check_differences(step: object, scheme: str) -> None:
    """Raise InvalidInputError unless 0 < step <= 1 and the scheme is known."""
    if not 0.0 < as_real(step, "step") <= 1.0:
        raise InvalidInputError(f"step must lie in (0, 1], scaled units; received {step!r}.")
    if scheme not in get_args(Scheme):
        raise InvalidInputError(f"scheme must be one of {get_args(Scheme)}; received {scheme!r}.")


def active_subspace(
    gradients: ArrayLike,
    effective_dim: int | None = None,
    *,
    rng: np.random.Generator,
    n_bootstrap: int = N_BOOTSTRAP,
) -> ActiveSubspace:
    """Return the eigenvectors of the mean outer product of gradients, with bootstrap bands.

    Parameters
    ----------
    gradients : array_like, shape (m, D)
        At points drawn from the law over which to average, uniform as a rule. Not centred.
    effective_dim : int, 1 <= d <= min(m, D), optional
        None takes the d before the largest gap of the log eigenvalues, at most k - 1 (k if
        k = 1).
    rng : numpy.random.Generator
        Consumed, for the bootstrap.
    n_bootstrap : int, default 200

    Returns
    -------
    ActiveSubspace

    Raises
    ------
    InvalidInputError
        If gradients are not finite, all zero, or d is out of range.

    Notes
    -----
    Constantine (2015), ch. 3, with the bootstrap for bands and subspace error. Bands are quantiles
    of the replicates (central 90 percent). **Deviation**: he takes the range over replicates,
    which widens with their number.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (30, 4))
    >>> found = active_subspace(np.cos(X @ [3, 4, 0, 0])[:, None] * [3, 4, 0, 0], rng=rng)
    >>> found.effective_dim, found.active_basis.round(3)[:2, 0].tolist()
    (1, [0.6, 0.8])
    """
    shape = np.shape(gradients)
    if len(shape) != 2 or 0 in shape:
        raise InvalidInputError(f"gradients must have shape (m, D), m >= 1; received {shape}.")
    G = as_points(gradients, shape[1], "gradients")
    as_positive_int(n_bootstrap, "n_bootstrap")
    size = float(np.abs(G).max())
    if not size > 0.0:
        raise InvalidInputError("gradients must not all be zero: they show no direction.")
    k = min(shape)
    values, vectors = _eigen(G / size, k)
    d = _before_the_gap(values) if effective_dim is None else effective_dim
    if as_positive_int(d, "effective_dim") > k:
        raise InvalidInputError(f"effective_dim must be at most min(m, D) = {k}; received {d}.")
    replicates = np.empty((n_bootstrap, k))
    errors = np.zeros(min(k - 1, MAX_ERROR_DIM))
    for row in range(n_bootstrap):
        drawn = G[rng.integers(shape[0], size=shape[0])] / size
        replicates[row], other = _eigen(drawn, k)
        errors += _sines(vectors.T @ other, len(errors))
    tails = 0.5 * (1.0 - CONFIDENCE)
    band = np.quantile(replicates, [tails, 1.0 - tails], axis=0).T
    return ActiveSubspace(
        int(d), values * size**2, sign_fix(vectors), band * size**2, errors / n_bootstrap
    )


def _eigen(G: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the k largest eigenvalues of G'G/m and their orthonormal vectors (D, k)."""
    # From the SVD of G: squaring would lose eigenvalues below 1e-16 of the largest.
    _, singular, Vt = np.linalg.svd(G, full_matrices=False)
    return singular[:k] ** 2 / len(G), Vt[:k].T


def _sines(overlap: FloatArray, count: int) -> list[float]:
    """Return the sine of the largest angle between the first d vectors of two bases."""
    cosines = [np.linalg.svd(overlap[:d, :d], compute_uv=False)[-1] for d in range(1, count + 1)]
    return [float(np.sqrt(max(1.0 - cosine**2, 0.0))) for cosine in cosines]


def _before_the_gap(values: FloatArray) -> int:
    if len(values) == 1:
        return 1
    logs = np.log(np.maximum(values, _RELATIVE_FLOOR * values[0]))
    return int(np.argmax(logs[:-1] - logs[1:])) + 1
