"""`BoringSearchCV` as a tuner: scikit-learn evaluates, the library searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from boring.parameters import ParameterSpace

from .objective import TuningObjective
from .tasks import get_task

__all__ = ["TaskEstimator", "search"]


class TaskEstimator(BaseEstimator):  # type: ignore[misc]
    """The estimator of a task, in the form that scikit-learn's searches take: with parameters.

    Parameters
    ----------
    task : str
        Name of a `TuningTask`.
    seed : int
    **configuration
        Of the task's space; what is missing is inactive.
    """

    def __init__(self, task: str = "", seed: int = 0, **configuration: Any) -> None:
        self.task, self.seed, self.configuration = task, seed, configuration

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments."""
        return {"task": self.task, "seed": self.seed, **self.configuration}

    def set_params(self, **params: Any) -> Self:
        """Set values of the configuration."""
        self.configuration = {**self.configuration, **params}
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Build the estimator and fit it."""
        self.estimator_ = get_task(self.task).build(self.configuration, self.seed).fit(X, y)
        self.classes_ = getattr(self.estimator_, "classes_", None)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predictions of the fitted estimator."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return its probabilities."""
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the task's kind."""
        tags = super().__sklearn_tags__()
        is_regression = get_task(self.task).scoring.endswith("error")
        tags.estimator_type = "regressor" if is_regression else "classifier"
        return tags


def search(
    objective: TuningObjective,
    space: ParameterSpace,
    seed: int,
    budget: int,
    n_initial: int,
    options: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], list[float]]:
    """Return the configurations that the search tried, and their losses."""
    from boring.integrations.search_cv import BoringSearchCV

    task = objective.task
    found = BoringSearchCV(
        TaskEstimator(task.name, seed),
        space,
        n_iter=budget,
        options={"n_initial": n_initial, **options},
        scoring=task.scoring,
        cv=objective.folds,
        refit=False,
        random_state=seed,
    ).fit(objective.X, objective.y)
    scores = np.asarray(found.cv_results_["mean_test_score"], dtype=np.float64)
    losses = -scores if task.scoring.startswith("neg_") else 1.0 - scores
    return list(found.cv_results_["params"]), losses.tolist()
