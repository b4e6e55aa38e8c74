"""Search of hyper-parameters with cross-validation, in the form of scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata

from boring._brief import in_brief
from boring._warn import warn
from boring.exceptions import BudgetWarning, InvalidInputError, SpaceExhaustedError
from boring.history import Tell
from boring.integrations._objects import with_objects
from boring.optimizer import Optimizer, optimizer_class
from boring.parameters import ParameterSpace, Real
from boring.parameters.report import SubspaceDescription, describe_subspace
from boring.registry import OptimizerFactory, get_optimizer
from boring.state import OptimizerState
from boring.study.recorded import RecordedStudy
from boring.typing import FloatArray
from boring.validation import ELSEWHERE, check_options

try:
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
    from sklearn.utils._param_validation import Interval
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "BoringSearchCV needs scikit-learn, which is not installed: pip install "
        "'boring-bo[sklearn]'."
    ) from error

__all__ = ["BoringSearchCV"]

ALL_FAILED = re.compile(r"\s*All the \d+ fits failed")
"""How scikit-learn's error begins when no fit of a round succeeded."""

PASSED_ON = ("n_initial", "noise_std", "repeats")
"""Arguments of every optimiser, beside the options of its own, that a search passes on."""

SET_HERE: Mapping[str, str] = {
    "direction": "a search seeks the largest score, such as scikit-learn's 'neg_log_loss'",
    "seed": "random_state makes a search repeatable",
    "domain": "ParameterSpace holds known constraints",
    "n_constraints": "a score is all there is of a fit; ParameterSpace holds known constraints",
    "space": "parameters is the space",
}
"""What arguments of an optimiser are here that a search gives it itself."""


class BoringSearchCV(BaseSearchCV):
    """Search of an estimator's parameters by any optimiser of this library.

    Parameters
    ----------
    estimator : estimator
    parameters : mapping, list, ParameterSpace or ConfigurationSpace
        What `boring.parameters.ParameterSpace.of` takes, under scikit-learn's names, such as
        ``{"svc__C": Real("svc__C", 1e-3, 1e3, log=True), "svc__kernel": ["rbf", "linear"]}``.
        The lists of such a dict may hold any objects, such as estimators; in ``space_`` their texts
        stand for them.
    n_iter : int, default 30
        Configurations to evaluate; a warning says if the space has fewer.
    n_points : int, default 1
        Configurations that are evaluated together; with ``n_jobs``, as many fits as there are
        configurations and folds run in parallel.
    optimizer : str, default "boring"
        A registered name.
    options : mapping, optional
        ``n_initial``, ``noise_std``, ``repeats`` and the options of the optimiser.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `sklearn.model_selection.RandomizedSearchCV`. With several metrics ``refit`` must be
        the name of the one that is searched by.
    random_state : int, RandomState or None

    Attributes
    ----------
    optimizer_ : Optimizer
        With all that was told; its points are those of ``space_``, and ``optimizer_.result()`` has
        the subspace, of which `describe_subspace` gives the names.
    study_ : RecordedStudy
        The same with names and units, to be looked at: for `boring.plotting`, ``report()``,
        ``predict`` and `boring.report.write_html_report`.
    space_ : ParameterSpace
    cv_results_, best_estimator_, best_params_, best_score_, best_index_, scorer_, ...
        As in scikit-learn.

    Notes
    -----
    A fit that fails has the score ``error_score``. What the optimiser is told is the mean, or,
    where that is NaN or infinite, a failure. Where all configurations of a round fail, scikit-learn
    would raise and give up; here they get their rows in ``cv_results_``, behind the others, and the
    search goes on. Only if every configuration fails does it raise.

    With ``cv`` random and not seeded each round would have its own folds; pass a seeded one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from boring.parameters import Real
    >>> search = BoringSearchCV(
    ...     SVC(), [Real("C", 0.01, 100, log=True)], n_iter=3, cv=3, random_state=0
    ... )
    >>> search.fit(*load_iris(return_X_y=True)).best_score_ > 0.9
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "parameters": "no_validation",
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 1, None, closed="left")],
        "optimizer": [str],
        "options": [Mapping, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        parameters: Any,
        *,
        n_iter: int = 30,
        n_points: int = 1,
        optimizer: str = "boring",
        options: Mapping[str, Any] | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.parameters = parameters
        self.n_iter = n_iter
        self.n_points = n_points
        self.optimizer = optimizer
        self.options = options
        self.random_state = random_state

    def describe_subspace(self) -> SubspaceDescription:
        """Return which parameters make up the active subspace, in their units.

        Raises
        ------
        InvalidInputError
            If the optimiser learns none, or has too few points as yet.
        sklearn.exceptions.NotFittedError
        """
        check_is_fitted(self)
        estimate = self.optimizer_.subspace
        if estimate is None:
            raise InvalidInputError(
                f"There is a subspace only of optimisers that learn one; {self.optimizer!r} told "
                f"{self.optimizer_.n_told} points has none. Use 'boring', or a larger n_iter."
            )
        return describe_subspace(estimate, self.space_)

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        """Ask, evaluate and tell until the budget is used."""
        if isinstance(self.scoring, list | tuple | set | Mapping) and not isinstance(
            self.refit, str
        ):
            raise _needs_metric(list(self.scoring), self.refit)
        space = ParameterSpace.of(with_objects(self.parameters))
        factory = get_optimizer(self.optimizer)
        self._check_options(factory)
        optimizer = factory(
            space.box,
            direction="maximize",
            seed=_seed(self.random_state),
            domain=space.domain,
            **(self.options or {}),
        )
        results: dict[str, Any] = {}
        failed: list[dict[str, Any]] = []
        failure: ValueError | None = None
        for start in range(0, self.n_iter, self.n_points):
            points = _ask(optimizer, min(self.n_points, self.n_iter - start))
            if not len(points):
                warn(
                    "n_iter should not exceed the configurations of the space; all "
                    f"{optimizer.n_told} were evaluated, received n_iter={self.n_iter}. Lower it, "
                    "or pass options={'repeats': True} to evaluate some again.",
                    BudgetWarning,
                )
                break
            candidates = [space.as_given(configuration) for configuration in space.decode(points)]
            try:
                results = evaluate_candidates(candidates)
                scores = results[self._score_key(results)][-len(points) :]
            except ValueError as error:
                if not ALL_FAILED.match(str(error)):
                    raise
                failure, scores = error, np.full(len(points), float(self.error_score))
                failed += candidates
            _tell(optimizer, scores, space)
        if not results and failure is not None:
            _note_whole_ranges(failure, space)
            raise failure
        if failed:
            _append_failed(results, failed, float(self.error_score))
        # Only now: what is set is sent to every worker.
        self.space_, self._run = space, optimizer

    def _check_options(self, factory: OptimizerFactory) -> None:
        """Raise for an option that is unknown, or that the search sets itself."""
        options = self.options or {}
        kind = optimizer_class(factory)
        known = options.keys() - SET_HERE.keys() if kind is None else kind.option_names()
        beside = {name: f"{name} stands beside options" for name in self._get_param_names()}
        elsewhere = {**ELSEWHERE, **beside, **SET_HERE}
        check_options(options, (*PASSED_ON, *known), f"Optimiser {self.optimizer!r}", elsewhere)

    def _score_key(self, results: Mapping[str, Any]) -> str:
        name = self.refit if isinstance(self.refit, str) else "score"
        key = f"mean_test_{name}"
        if key in results:
            return key
        if "mean_test_score" in results:
            return "mean_test_score"
        names = [k.removeprefix("mean_test_") for k in results if k.startswith("mean_test_")]
        raise _needs_metric(names, self.refit)

    @property
    def optimizer_(self) -> Optimizer:
        """The optimiser with all that was told."""
        if not hasattr(self, "_run"):
            raise AttributeError(
                f"{type(self).__name__} has no optimizer_ before it is fitted. Call fit."
            )
        if isinstance(self._run, OptimizerState):
            self._run = Optimizer.from_state(self._run, domain=self.space_.domain)
        return self._run

    @property
    def study_(self) -> RecordedStudy:
        """The search as a study, to be looked at; what is told stays with the search."""
        optimizer = self.optimizer_
        return RecordedStudy(self.space_, optimizer)

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle keeps: the state of the optimiser in place of itself."""
        values: dict[str, Any] = dict(super().__getstate__())
        if isinstance(values.get("_run"), Optimizer):
            values["_run"] = values["_run"].state()
        return values


def _note_whole_ranges(failure: ValueError, space: ParameterSpace) -> None:
    """Say which ranges between whole numbers have decimal ones, where no fit succeeds."""
    names = [
        name
        for name, parameter in space.parameters.items()
        if isinstance(parameter, Real)
        and parameter.step is None
        and parameter.low.is_integer()
        and parameter.high.is_integer()
    ]
    if names:
        failure.add_note(
            f"The ranges of {in_brief(names)} have decimal numbers between their ends. If the "
            "estimator wants whole ones, write Integer(name, low, high)."
        )


def _ask(optimizer: Optimizer, n: int) -> FloatArray:
    """Return up to n new points, shape (k, D): fewer if fewer configurations are left."""
    with suppress(SpaceExhaustedError):
        optimizer.ask(n)
    return optimizer.pending


def _tell(optimizer: Optimizer, scores: FloatArray, space: ParameterSpace) -> None:
    """Tell the scores of all that is pending; a warning has the parameters in their units."""
    history = optimizer.history
    tells: list[Tell] = []
    for number, score in zip(history.pending, scores, strict=True):
        y, error = (float(score), None) if np.isfinite(score) else (np.nan, f"score {score}")
        index = history.n_told + len(tells)
        tells.append(Tell(index, history.asks[number].x, y, number, error))
    optimizer.record(tells, place=lambda tell: in_brief(space.decode(tell.x[None])[0]))


def _needs_metric(names: list[str], refit: Any) -> InvalidInputError:
    return InvalidInputError(
        f"With several metrics refit must name the one to search by, of {names}; received "
        f"{refit!r}."
    )


def _seed(random_state: Any) -> int | None:
    if random_state is None or isinstance(random_state, Integral):
        return None if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _append_failed(
    results: dict[str, Any], failed: list[dict[str, Any]], error_score: float
) -> None:
    """Add rows of failed configurations to the results, in place: ``fit`` keeps this very dict.

    They are as scikit-learn's for a round that succeeds in part, but that no times are known.
    """
    results["params"].extend(failed)
    for key, column in list(results.items()):
        if key.startswith("param_"):
            results[key] = _parameter_column(key.removeprefix("param_"), results["params"], column)
        elif key.startswith("rank_"):
            means = results[key.replace("rank_", "mean_", 1)]
            ranks = rankdata(-np.where(np.isnan(means), -np.inf, means), method="min")
            results[key] = ranks.astype(column.dtype)
        elif key != "params":
            value = error_score if "_test_" in key or "_train_" in key else np.nan
            if key.startswith("std_"):
                value -= value  # zero, if it is a finite number
            results[key] = np.append(column, np.full(len(failed), value))
    for name in {name for configuration in failed for name in configuration}:
        if f"param_{name}" not in results:
            results[f"param_{name}"] = _parameter_column(name, results["params"], None)


def _parameter_column(name: str, params: list[dict[str, Any]], column: Any) -> Any:
    values = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
    for index, configuration in enumerate(params):
        if name in configuration:
            values[index] = configuration[name]
    if column is None or column.dtype == object or values.mask.any():
        return values
    return np.ma.MaskedArray([configuration[name] for configuration in params], dtype=column.dtype)
