"""A method for ``scipy.optimize.minimize``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeResult

from boring._beginning import allowed_within_rounding, begin
from boring._brief import in_brief
from boring._run import takes_otherwise
from boring._warn import warn
from boring.domain import Domain
from boring.evaluation import in_words
from boring.exceptions import BoringWarning, EvaluationError, InvalidInputError
from boring.optimizer import Optimizer, optimizer_class
from boring.registry import get_optimizer
from boring.space import Box
from boring.told import BOUND_TOLERANCE
from boring.typing import FloatArray, SeedLike
from boring.validation import ELSEWHERE, as_points, as_positive_int, check_options

__all__ = ["minimize_method"]

DEFAULT_MAXFEV = 100
"""Evaluations (chosen here)."""

OWN_OPTIONS = ("maxfev", "seed", "disp", "optimizer", "n_initial", "noise_std", "repeats")
"""Options beside those of the optimiser."""

SET_HERE: Mapping[str, str] = {
    **ELSEWHERE,
    "direction": "SciPy minimises: negate fun",
    **dict.fromkeys(("domain", "n_constraints"), "constraints holds those that are known"),
}
"""What arguments of an optimiser are here that do not come from options."""

STOPPED = 99
"""SciPy's status of a run that its callback ended."""

Margin = Callable[[FloatArray], FloatArray]
"""From points (n, D), raw units, to values (n,), at most 0 where a constraint holds."""


def minimize_method(
    fun: Callable[..., float],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    maxfev: int = DEFAULT_MAXFEV,
    seed: SeedLike = None,
    disp: bool | None = None,
    optimizer: str = "boring",
    **options: Any,
) -> OptimizeResult:
    """Minimise a function; to be passed as ``method`` to ``scipy.optimize.minimize``.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` with x of shape (D,), raw units. NaN is a failed evaluation.
    x0 : array_like, shape (D,)
        Evaluated first, if the constraints hold there.
    args : tuple
    bounds : scipy.optimize.Bounds or sequence of (low, high)
        Needed, and finite.
    constraints : LinearConstraint, NonlinearConstraint, dict of type "ineq", or a list of these
        Cheap functions of x, called often; every point that is evaluated satisfies them.
    callback : callable, optional
        After each evaluation, with the best point so far: as ``callback(x)``, or as
        ``callback(intermediate_result=OptimizeResult)`` if its one parameter is called so.
        StopIteration ends the run.
    jac, hess, hessp
        Not used.
    maxfev : int, default 100
        Evaluations, x0 included. This and what follows comes from ``options`` of SciPy's.
    seed : int, SeedSequence or None
    disp : bool, optional
        Whether to show a bar with the best value; None shows it on terminals only.
    optimizer : str, default "boring"
        A registered name.
    **options
        ``n_initial``, ``noise_std``, ``repeats`` and the options of the optimiser.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x``, ``fun``, ``nfev``, ``nit``, ``success``, ``status``, ``message``; and ``run``, the
        `boring.result.OptimizationResult` with every evaluation and the subspace. ``success``
        says that a finite value was found and no callback ended the run; where nothing was left to
        evaluate before the budget was used, ``message`` says so.

    Raises
    ------
    InvalidInputError
        If there are no finite bounds, x0 is outside them, a constraint is an equality or of
        another form or raises, or ``tol`` is given.

    Warns
    -----
    BoringWarning
        If x0 breaks a constraint; it is not evaluated then.
    RuntimeWarning
        If derivatives are given.

    Notes
    -----
    An exception of ``fun`` comes out as it is, as from SciPy's own methods; everything evaluated
    before is in its ``.result``.

    Examples
    --------
    >>> from scipy.optimize import minimize
    >>> result = minimize(
    ...     lambda x: float(x @ x), [0.5, 0.5], method=minimize_method,
    ...     bounds=[(-1, 1)] * 2, options={"maxfev": 4, "seed": 0, "n_initial": 4},
    ... )
    >>> result.nfev
    4
    """
    if any(derivative is not None and derivative is not False for derivative in (jac, hess, hessp)):
        message = "minimize_method does not use derivatives (jac, hess, hessp). Leave them out."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    if "tol" in options:
        raise InvalidInputError(
            "minimize_method evaluates maxfev points and has no tolerance; received "
            f"tol={options['tol']!r}. Leave it out, or stop by the callback."
        )
    factory = get_optimizer(optimizer)
    kind = optimizer_class(factory)
    if kind is not None:
        allowed = (*OWN_OPTIONS, *kind.option_names())
        check_options(options, allowed, "minimize_method", SET_HERE)
    maxfev = as_positive_int(maxfev, "maxfev")
    start = as_points(x0, np.size(x0), "x0")[0]
    box = _box(bounds, start)
    domain = _domain(box, _margins(constraints, len(start)))
    run = factory(box, direction="minimize", seed=seed, domain=domain, **options)
    monitor = _Monitor(callback)

    def value(x: FloatArray) -> float:
        return fun(np.copy(x), *args)

    if allowed_within_rounding(domain, box.scale(start[None, :]))[0]:
        begin(run, start, None)
    else:
        warn(
            f"x0 should satisfy the constraints; {in_brief(start)} does not, and was not "
            "evaluated. Pass another x0.",
            BoringWarning,
        )
    raised: Any = None
    try:
        run.run(value, maxfev, callback=monitor, progress=disp)
    except EvaluationError as error:
        if error.__cause__ is None:
            raise
        raised = error.__cause__
        raised.result = error.result
    if raised is not None:  # outside of the handler, which would alter what it was raised from
        raise raised
    return _result(run, maxfev, monitor.is_stopped)


class _Monitor:
    """Passes SciPy's callback what it expects, and remembers whether it ended the run."""

    def __init__(self, callback: Callable[..., Any] | None) -> None:
        self._callback = callback
        self.is_stopped = False
        self._takes_result = _takes_result(callback)
        takes = None if self._takes_result else takes_otherwise(callback, ("x",))
        if takes:
            raise InvalidInputError(
                f"callback is called as callback(x) or callback(intermediate_result=...); received "
                f"one that takes {takes}. Write def callback(x): ..."
            )

    def __call__(self, optimizer: Optimizer, record: object) -> bool:
        """Return whether to stop."""
        if self._callback is None:
            return False
        x, value = _best(optimizer)
        try:
            if self._takes_result:
                self._callback(intermediate_result=OptimizeResult(x=x, fun=value))
            else:
                self._callback(x)
        except StopIteration:
            self.is_stopped = True
        return self.is_stopped


def _takes_result(callback: Any) -> bool:
    if callback is not None and not callable(callback):
        raise InvalidInputError(
            f"callback must be callable; received {in_brief(callback)}. Pass a function."
        )
    try:
        return set(inspect.signature(callback).parameters) == {"intermediate_result"}
    except (TypeError, ValueError):  # None, and what does not say its parameters
        return False


def _best(optimizer: Optimizer) -> tuple[FloatArray, float]:
    history = optimizer.history
    X, y = history.X, history.y
    best = int(np.argmin(np.where(np.isfinite(y), y, np.inf)))
    return X[best].copy(), float(y[best])


def _result(optimizer: Optimizer, maxfev: int, is_stopped: bool) -> OptimizeResult:
    run = optimizer.result()
    is_found = bool(np.isfinite(run.y_best))
    if is_stopped:
        message = "The callback raised StopIteration."
    elif "n_evaluations" not in run.stop_reason:
        reasons = ", ".join(run.stop_reason).replace("_", " ")
        message = f"{run.n_evaluations} of maxfev = {maxfev} points were evaluated: {reasons}."
    elif is_found:
        message = f"All of maxfev = {maxfev} points were evaluated."
    else:
        message = f"None of maxfev = {maxfev} evaluations gave a finite value."
    return OptimizeResult(
        x=np.array(run.x_best),
        fun=run.y_best,
        nfev=run.n_evaluations,
        nit=run.n_evaluations,
        success=is_found and not is_stopped,
        status=STOPPED if is_stopped else int(not is_found),
        message=message,
        run=run,
    )


def _box(bounds: Any, start: FloatArray) -> Box:
    if bounds is None:
        raise InvalidInputError(
            "minimize_method searches a box; bounds is None. Pass for example "
            f"bounds=[(-1, 1)] * {len(start)}."
        )
    if isinstance(bounds, Bounds):
        low, high = (np.broadcast_to(end, start.shape) for end in (bounds.lb, bounds.ub))
        pairs: Any = np.column_stack([low, high])
    else:
        pairs = [tuple(np.nan if end is None else end for end in pair) for pair in bounds]
        pairs = np.array(pairs, dtype=np.float64)
    if pairs.shape != (len(start), 2) or not np.all(np.isfinite(pairs)):
        raise InvalidInputError(
            f"bounds must be a finite (low, high) for each of the {len(start)} numbers of x0; "
            f"received {in_brief(bounds)}. Put the widest values that make sense for None and "
            "infinity."
        )
    box = Box.from_bounds(pairs)
    if not box.contains(start[None, :], BOUND_TOLERANCE)[0]:
        raise InvalidInputError(
            f"x0 must lie within the bounds; received {in_brief(start)}. Move it inside, or widen "
            "the bounds."
        )
    return box


def _domain(box: Box, margins: Sequence[Margin]) -> Domain:
    def scaled(margin: Margin) -> Margin:
        return lambda U: margin(box.unscale(U))

    return Domain(box.dim, constraints=[scaled(margin) for margin in margins])


def _margins(constraints: Any, dim: int) -> list[Margin]:
    """Return one margin for each constraint that SciPy's forms describe."""
    if isinstance(constraints, Mapping | LinearConstraint | NonlinearConstraint):
        constraints = [constraints]
    return [_margin(constraint, dim) for constraint in constraints]


def _margin(constraint: Any, dim: int) -> Margin:
    if isinstance(constraint, LinearConstraint):
        matrix = np.atleast_2d(
            constraint.A.toarray() if hasattr(constraint.A, "toarray") else constraint.A
        )
        if matrix.shape[1] != dim:
            raise InvalidInputError(
                f"A linear constraint must have {dim} columns, as x0 has numbers; it has "
                f"{matrix.shape[1]}."
            )
        return _between(lambda X: X @ matrix.T, constraint)
    if isinstance(constraint, NonlinearConstraint):
        return _between(_by_rows(constraint.fun), constraint)
    if isinstance(constraint, Mapping) and constraint.get("type") == "ineq":
        values = _by_rows(_of_numbers(constraint["fun"]), *constraint.get("args", ()))
        return lambda X: np.asarray(np.max(-values(X), axis=1))
    raise InvalidInputError(
        "A constraint must be a LinearConstraint, a NonlinearConstraint or a dict of type 'ineq'; "
        f"received {in_brief(constraint)}. Equalities cannot be met by choosing points: solve "
        "for a variable instead."
    )


def _by_rows(function: Callable[..., Any], *args: Any) -> Callable[[FloatArray], FloatArray]:
    return lambda X: np.array([_row(function, x, args) for x in X]).reshape(len(X), -1)


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def values(x: FloatArray, *args: Any) -> Any:
        found = function(x, *args)
        if np.asarray(found).dtype == np.bool_:
            raise InvalidInputError(
                "A constraint of type 'ineq' holds where it is at least 0; at "
                f"{in_brief(x)} it returned True or False, which always are. Return x - limit for "
                "x >= limit."
            )
        return found

    return values


def _row(function: Callable[..., Any], x: FloatArray, args: tuple[Any, ...]) -> FloatArray:
    try:
        return np.asarray(np.ravel(function(x, *args)), dtype=np.float64)
    except InvalidInputError:  # it has said what is wrong
        raise
    except Exception as error:
        raise InvalidInputError(
            f"A constraint must return numbers at every x within the bounds; at {in_brief(x)} it "
            f"raised {in_words(error)}. Return NaN where it has no value."
        ) from error


def _between(values: Callable[[FloatArray], FloatArray], constraint: Any) -> Margin:
    low, high = np.asarray(constraint.lb), np.asarray(constraint.ub)
    if np.any(low >= high):
        raise InvalidInputError(
            f"lb of a constraint must lie below ub; received lb = {in_brief(low)}, "
            f"ub = {in_brief(high)}. Equalities cannot be met by choosing points: solve for a "
            "variable instead."
        )

    def margin(X: FloatArray) -> FloatArray:
        found = values(X)
        return np.asarray(np.max(np.maximum(low - found, found - high), axis=1))

    return margin
