"""Optimisation in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _optimizer_support as support
from ._beginning import begin
from ._brief import shortened
from .evaluation import Objective, check_on_error
from .exceptions import JournalError
from .journal import OUTCOME_FIELDS, JournalContents, journal_exists, read_journal
from .optimizer import Callback, Optimizer, factory_of, optimizer_class
from .registry import OptimizerFactory
from .result import OptimizationResult
from .rng import seed_entropy
from .space import Box
from .stopping import StoppingCondition
from .typing import Direction, OnError, SeedLike
from .validation import ELSEWHERE, as_positive_int, check_options

__all__ = ["maximize", "minimize"]

_ELSEWHERE = {
    **ELSEWHERE,
    **dict.fromkeys(
        ("maxfev", "maxiter", "max_iter", "maxfun", "n_calls", "n_iter", "n_trials"),
        "n_evaluations counts the evaluations",
    ),
    **dict.fromkeys(("verbose", "disp", "show_progress_bar"), "progress=True shows a bar"),
    **dict.fromkeys(
        ("X", "y", "initial_points", "evaluated_rewards", "points_to_evaluate"),
        "x0 holds the points to begin with, and y0 their values where they are known",
    ),
    **dict.fromkeys(
        ("n_jobs", "workers", "n_workers"), "boring.study.Study.run evaluates with several workers"
    ),
    **dict.fromkeys(
        ("tol", "xtol", "ftol", "timeout", "n_stop"),
        "stopping takes a condition of boring.stopping",
    ),
    "direction": "boring.maximize seeks the largest value, boring.minimize the smallest",
    "args": "bind further arguments by functools.partial",
    "constraints": "n_constraints is the number of measured ones, domain holds known ones",
}
"""What names of other libraries are here."""

_KEYWORDS = (
    *("x0", "y0", "method", "seed", "callback", "on_error", "journal", "stopping", "progress"),
)


def minimize(
    fun: Objective,
    bounds: Box | ArrayLike,
    n_evaluations: int,
    *,
    x0: ArrayLike | None = None,
    y0: ArrayLike | Sequence[tuple[float, ArrayLike]] | None = None,
    method: str | type[Optimizer] = "boring",
    seed: SeedLike = None,
    callback: Callback | None = None,
    on_error: OnError = "raise",
    journal: str | os.PathLike[str] | None = None,
    stopping: StoppingCondition | None = None,
    progress: bool | None = None,
    **options: Any,
) -> OptimizationResult:
    """Minimise a function on a box.

    Parameters
    ----------
    fun : callable
        Takes one point, an array (D,) in raw units, and returns a real number.
    bounds : Box or array_like of shape (D, 2)
        Finite bounds, lower below upper.
    n_evaluations : int
        Evaluations of ``fun`` in all, those of ``x0`` and in a resumed journal among them. Points
        whose values ``y0`` gives are not counted: the result holds so many points more.
    x0 : array_like, shape (D,) or (m, D), raw units, optional
        Points to begin with. They are evaluated first, unless their values are known, and count
        as part of the initial design.
    y0 : array_like, shape (m,), or a number for one point, optional
        Known values of ``x0``, caller's sign, NaN for a failure; where there are constraints the
        pairs that ``fun`` returned.
    method : str or Optimizer subclass, default "boring"
        A registered name (``boring.registry.optimizer_names()``; ``import baselines`` adds more),
        or a class.
    seed : int, SeedSequence or None
        None draws fresh entropy, or takes that of the journal.
    callback : callable, optional
        ``callback(optimizer, record)`` after each evaluation; a true value stops the run.
    on_error : {"raise", "record"}, default "raise"
        Whether an exception of ``fun`` ends the run, or is recorded as NaN.
    journal : path-like, optional
        File that keeps every evaluation; if it holds a run already, the same call resumes it.
    stopping : StoppingCondition, optional
        Reasons to end before the budget does.
    progress : bool, optional
        Whether to show a bar; None shows it on terminals, unless ``BORING_PROGRESS=0``.
    **options
        ``n_initial``, ``domain``, ``repeats``, ``noise_std`` (:class:`boring.optimizer.Optimizer`),
        ``n_constraints`` (``fun`` then returns a pair of its value and those of the constraints,
        each satisfied where it is <= 0), and the options of the method.

    Returns
    -------
    OptimizationResult
        In the units and the sign of ``fun``.

    Raises
    ------
    InvalidInputError
        If an argument breaks these rules, or the domain does not hold a point to evaluate;
        UnknownNameError, with the nearest name, if a method or an option does not exist.
    EvaluationError
        If ``fun`` raises or returns anything but a real number; everything evaluated before is
        in ``.result`` of the exception, and in the journal.
    JournalError
        If the journal is foreign, corrupt, or of another run; the file is left as it is.
    KeyboardInterrupt, SystemExit
        Whatever ``on_error`` says: they end the program; ``.result`` and the journal likewise.

    Warns
    -----
    BudgetWarning, NonFiniteWarning, DuplicatePointWarning, ConstantObjectiveWarning, JournalWarning

    Examples
    --------
    >>> import baselines
    >>> result = minimize(lambda x: float(x @ x), [(-1, 1)] * 3, 16, method="sobol", seed=0)
    >>> result.n_evaluations
    16
    >>> known = {"x0": result.X, "y0": result.y}
    >>> more = minimize(lambda x: float(x @ x), [(-1, 1)] * 3, 2, method="sobol", seed=1, **known)
    >>> more.n_evaluations
    18
    """
    return _optimize(
        "minimize",
        fun,
        bounds,
        n_evaluations,
        x0=x0,
        y0=y0,
        method=method,
        seed=seed,
        callback=callback,
        on_error=on_error,
        journal=journal,
        stopping=stopping,
        progress=progress,
        options=options,
    )


def maximize(
    fun: Objective,
    bounds: Box | ArrayLike,
    n_evaluations: int,
    *,
    x0: ArrayLike | None = None,
    y0: ArrayLike | Sequence[tuple[float, ArrayLike]] | None = None,
    method: str | type[Optimizer] = "boring",
    seed: SeedLike = None,
    callback: Callback | None = None,
    on_error: OnError = "raise",
    journal: str | os.PathLike[str] | None = None,
    stopping: StoppingCondition | None = None,
    progress: bool | None = None,
    **options: Any,
) -> OptimizationResult:
    """Maximise a function on a box; everything else is as in :func:`minimize`.

    Parameters
    ----------
    fun, bounds, n_evaluations, x0, y0, method, seed, callback, on_error
    journal, stopping, progress
        As in :func:`minimize`.
    **options
        As in :func:`minimize`.

    Returns
    -------
    OptimizationResult
        In the units and the sign of ``fun``.
    """
    return _optimize(
        "maximize",
        fun,
        bounds,
        n_evaluations,
        x0=x0,
        y0=y0,
        method=method,
        seed=seed,
        callback=callback,
        on_error=on_error,
        journal=journal,
        stopping=stopping,
        progress=progress,
        options=options,
    )


def _optimize(
    direction: Direction,
    fun: Objective,
    bounds: Box | ArrayLike,
    n_evaluations: int,
    *,
    x0: ArrayLike | None,
    y0: Any,
    method: str | type[Optimizer],
    seed: SeedLike,
    callback: Callback | None,
    on_error: OnError,
    journal: str | os.PathLike[str] | None,
    stopping: StoppingCondition | None,
    progress: bool | None,
    options: dict[str, Any],
) -> OptimizationResult:
    check_on_error(on_error)
    n_evaluations = as_positive_int(n_evaluations, "n_evaluations")
    factory = factory_of(method, "method")
    _check_keywords(factory, options)
    space = Box.from_bounds(bounds)
    if journal is not None and journal_exists(journal):
        contents = read_journal(journal)
        entropy = _journal_entropy(contents, seed)
        optimizer = factory(space, direction=direction, seed=entropy, **options)
        _carry_on(optimizer, contents)
        n_known = begin(optimizer, x0, y0, n_evaluations)
    else:
        optimizer = factory(space, direction=direction, seed=seed, **options)
        n_known = begin(optimizer, x0, y0, n_evaluations)
        if journal is not None:
            optimizer.start_journal(journal)
    remaining = n_known + n_evaluations - optimizer.n_told
    if remaining <= 0:
        optimizer.note_stop({"n_evaluations": float(optimizer.n_told)})
        return optimizer.result()
    return optimizer.run(
        fun,
        remaining,
        callback=callback,
        on_error=on_error,
        stopping=stopping,
        progress=progress,
    )


def _check_keywords(factory: OptimizerFactory, options: dict[str, Any]) -> None:
    """Raise for an unknown keyword, suggesting among options and keywords alike."""
    kind = optimizer_class(factory)
    if kind is None:
        return
    allowed = ("n_initial", "domain", "repeats", *OUTCOME_FIELDS, *kind.option_names())
    check_options(options, (*allowed, *_KEYWORDS), f"Method {kind.name!r}", _ELSEWHERE)


def _journal_entropy(contents: JournalContents, seed: SeedLike) -> int:
    entropy = support.journal_state(contents).entropy
    if seed is not None and seed_entropy(seed) != entropy:
        raise JournalError(
            f"A journal carries on with its own seed; line 1 of {contents.path} has entropy "
            f"{entropy}, and seed={seed!r} was passed. Pass seed=None or that entropy, or start a "
            "new journal."
        )
    return entropy


def _carry_on(optimizer: Optimizer, contents: JournalContents) -> None:
    """Give an optimiser the history of a journal, after checking that it is of the same run."""
    theirs = {**contents.header, "space": contents.space.to_dict()}
    ours = support.journal_header(optimizer)
    for name in {**dict.fromkeys(("domain", "repeats", *OUTCOME_FIELDS)), **ours}:
        if name != "versions" and theirs.get(name) != ours.get(name):
            raise JournalError(
                f"A journal carries on one run; line 1 of {contents.path} has {name} = "
                f"{_short(theirs.get(name))}, and this run has {_short(ours.get(name))}. Repeat "
                "the call that wrote it, or pass another path. The file was left as it is."
            )
    optimizer.continue_journal(contents)


def _short(value: Any) -> str:
    return shortened(str(value.tolist() if isinstance(value, np.ndarray) else value))
