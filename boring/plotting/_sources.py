"""What a picture is drawn from: points, values, box and subspace of whatever was passed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from boring import _optimizer_support as support
from boring.exceptions import InvalidInputError
from boring.models.base import ObjectiveSurrogate
from boring.optimizer import Optimizer
from boring.result import OptimizationResult, best_index, feasible_rows, sign_of
from boring.rng import single_blas_thread
from boring.space import Box
from boring.subspace.estimate import SubspaceEstimate
from boring.surrogate import model_of_points
from boring.typing import BoolArray, Direction, FloatArray
from boring.validation import as_points, as_real_array, as_values

from ._labels import literal

DrawT = TypeVar("DrawT", bound=Callable[..., Any])


def takes_studies(draw: DrawT) -> DrawT:
    """Let a function that draws an optimiser draw a study, with the names of its columns.

    An objective that is drawn beside it takes configurations, as that of a study does.
    """
    signature = inspect.signature(draw)

    @wraps(draw)
    def drawn(source: Any, *args: Any, **kwargs: Any) -> Any:
        from boring.study.recorded import RecordedStudy

        if not isinstance(source, RecordedStudy):
            return draw(source, *args, **kwargs)
        bound = signature.bind(source.optimizer, *args, **kwargs)
        if "names" in signature.parameters:
            columns = [literal(name) for name in source.space.column_names]
            bound.arguments.setdefault("names", columns)
        truth = bound.arguments.get("truth")
        if callable(truth):
            bound.arguments["truth"] = lambda point: truth(
                source.space.as_given(source.space.decode(point[None, :])[0])
            )
        return draw(*bound.args, **bound.kwargs)

    return cast(DrawT, drawn)


def result_of(source: Any) -> Any:
    """Return the result so far of an optimiser or a study, subspace aside; else what came."""
    from boring.study.recorded import RecordedStudy

    optimizer = source.optimizer if isinstance(source, RecordedStudy) else source
    if not isinstance(optimizer, Optimizer):
        return source
    return support.build_result(optimizer, data_only=True)


@dataclass(frozen=True, eq=False)
class Points:
    """Evaluated points of a run or a data set.

    Attributes
    ----------
    X : ndarray, shape (n, D), raw units
    y : ndarray, shape (n,)
    space : Box or None
        None if X is in scaled units already.
    direction : {"minimize", "maximize"} or None
    constraints : ndarray, shape (n, m), or None
    """

    X: FloatArray
    y: FloatArray
    space: Box | None
    direction: Direction | None
    constraints: FloatArray | None = None

    @property
    def dim(self) -> int:
        """D."""
        return int(self.X.shape[1])

    @property
    def scaled(self) -> FloatArray:
        """X in [-1, 1]^D."""
        return self.X if self.space is None else self.space.scale(self.X)

    @property
    def feasible(self) -> BoolArray:
        """Mask of the points with a finite value that satisfy every constraint, shape (n,)."""
        return feasible_rows(self.y, self.constraints)

    def finite(self) -> Points:
        """Return the points with a finite value."""
        return self.rows(np.isfinite(self.y))

    def rows(self, kept: BoolArray) -> Points:
        """Return the points of a mask, shape (n,)."""
        constraints = None if self.constraints is None else self.constraints[kept]
        return replace(self, X=self.X[kept], y=self.y[kept], constraints=constraints)

    def incumbent(self) -> int | None:
        """Return the row of the best point; None without a finite value or a direction."""
        if self.direction is None:
            return None
        return best_index(self.y, self.direction, self.constraints)


def points_of(
    source: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    space: Box | ArrayLike | None = None,
) -> Points:
    """Return the evaluated points: those of the source, or the X and y given."""
    box = None if space is None else Box.from_bounds(space)
    if X is not None or y is not None:
        if X is None or y is None:
            raise InvalidInputError("X and y belong together; received only one of them.")
        array = as_real_array(X, "X")
        if array.ndim != 2:
            raise InvalidInputError(
                f"X must have shape (n, D), one row a point; received shape {array.shape}. For one "
                "parameter, pass X[:, None]."
            )
        points = as_points(array, array.shape[1], "X")
        return Points(points, as_values(y, len(points), "y"), box, None)
    if isinstance(source, Optimizer):
        history = source.history
        rows = history.constraints(source.n_constraints)
        return Points(history.X, history.y, source.space, source.direction, rows)
    if isinstance(source, OptimizationResult):
        box = box or source.space
        return Points(source.X, source.y, box, source.direction, source.constraints)
    raise InvalidInputError(
        f"the points are drawn too, and a {type(source).__name__} does not hold them. "
        "Pass an OptimizationResult, an Optimizer, a Study, or X and y."
    )


def subspace_of(source: Any, *, required: bool = True) -> SubspaceEstimate | None:
    """Return the estimate of a result or optimiser, or the estimate itself.

    Raises
    ------
    InvalidInputError
        If there is none and it is required.
    """
    if isinstance(source, SubspaceEstimate):
        return source
    if not isinstance(source, (OptimizationResult, Optimizer)):
        if not required:
            return None
        raise InvalidInputError(
            "an OptimizationResult, an Optimizer, a Study or a SubspaceEstimate is needed; "
            f"received "
            f"{type(source).__name__}."
        )
    estimate = source.subspace
    if estimate is None and required:
        raise InvalidInputError(
            "there is no subspace to draw: the optimiser learns none, or has too few points yet. "
            "Evaluate more, or pass boring.estimate_active_subspace(X, y, rng=...) of the data."
        )
    return estimate


def estimate_of(source: Any) -> SubspaceEstimate:
    """Return the estimate that a picture cannot do without."""
    estimate = subspace_of(source)
    assert estimate is not None
    return estimate


def checked_direction(direction: Any) -> Direction | None:
    """Return the direction that a caller gave, None if none was given."""
    if direction not in (None, "minimize", "maximize"):
        raise InvalidInputError(
            f'direction must be "minimize", "maximize" or None; received {direction!r}.'
        )
    return cast("Direction | None", direction)


def check_dim(points: Points, dim: int) -> None:
    """Raise if points and subspace are not of one dimension, or points leave the cube."""
    if points.dim != dim:
        raise InvalidInputError(
            f"X must have {dim} columns, as the subspace has rows; received {points.dim}."
        )
    if np.abs(points.scaled).max(initial=0.0) > 1.0 + 1e-6:
        raise InvalidInputError(
            "points must lie in [-1, 1] or in the box; the largest scaled coordinate is "
            f"{np.abs(points.scaled).max():.3g}. Pass space=, the box of X."
        )


def model_of(source: Any, run: Points, estimate: SubspaceEstimate | None) -> ObjectiveSurrogate:
    """Return a model of the objective: the optimiser's own, or one fitted to its points.

    Parameters
    ----------
    source : Optimizer or OptimizationResult
    run : Points
        Its points.
    estimate : SubspaceEstimate or None
        A trusted one gives the model an active term, as in `boring.surrogate`.
    """
    own = source.surrogate if isinstance(source, Optimizer) else None
    if own is not None:
        return own
    run = run.finite()
    if run.space is None:
        raise InvalidInputError("the result does not say what box it searched; pass the Optimizer.")
    if len(run.y) < 2 or not np.ptp(run.y) > 0:
        raise InvalidInputError(
            "a model needs two finite values that differ; there are "
            f"{np.unique(run.y).size}. Evaluate more."
        )
    factor = estimate.factor if estimate is not None and estimate.trusted else None
    sign = sign_of(run.direction or "maximize")
    with single_blas_thread():
        return model_of_points(run.space, run.X, run.y, factor, sign=sign)
