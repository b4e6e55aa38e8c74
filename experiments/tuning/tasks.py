"""The tuning tasks: an estimator, its parameters, and some data that come with scikit-learn.

Budgets and sizes are such that one evaluation takes about a tenth of a second of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boring.exceptions import UnknownNameError
from boring.parameters import Categorical, Integer, ParameterSpace, Real
from boring.parameters.base import Parameter
from boring.typing import FloatArray
from boring.validation import suggest

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["TASKS", "TuningTask", "get_task"]

Configuration = Mapping[str, Any]


@dataclass(frozen=True)
class TuningTask:
    """What is tuned.

    Parameters
    ----------
    name, description : str
    data : str
        Name of a loader of `sklearn.datasets`, without ``load_``.
    n_rows : int
        Rows drawn by each seed; their order makes the folds.
    scoring : str
        Of scikit-learn, larger is better; the loss is its negative.
    parameters : tuple of Parameter
    build : callable
        From a configuration and a seed to the estimator.
    """

    name: str
    description: str
    data: str
    n_rows: int
    scoring: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Configuration, int], BaseEstimator]

    @property
    def space(self) -> ParameterSpace:
        """The parameters."""
        return ParameterSpace(self.parameters)

    def load(self) -> tuple[FloatArray, FloatArray]:
        """Return all inputs (n, p), each scaled to [0, 1], and targets (n,)."""
        return _load(self.data)


@cache
def _load(name: str) -> tuple[FloatArray, FloatArray]:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), y


BOOSTING = (
    Real("learning_rate", 0.01, 1.0, log=True),
    Integer("max_iter", 4, 40, log=True),
    Integer("max_leaf_nodes", 2, 31, log=True),
    Integer("max_depth", 1, 8),
    Integer("min_samples_leaf", 1, 50, log=True),
    Real("l2_regularization", 1e-6, 100.0, log=True),
    Integer("max_bins", 4, 64, log=True),
    Real("max_features", 0.1, 1.0),
    Categorical("interaction_cst", (None, "pairwise", "no_interactions")),
)


def _boosted_classifier(configuration: Configuration, seed: int) -> BaseEstimator:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed, **configuration)


def _boosted_regressor(configuration: Configuration, seed: int) -> BaseEstimator:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(early_stopping=False, random_state=seed, **configuration)


SVM = (
    Real("C", 1e-3, 1e3, log=True),
    Categorical("kernel", ("linear", "rbf", "poly", "sigmoid")),
    Real("gamma", 1e-4, 1e2, log=True, when="kernel != 'linear'"),
    Integer("degree", 2, 5, when="kernel == 'poly'"),
    Real("coef0", -1.0, 1.0, when="kernel in ('poly', 'sigmoid')"),
    Categorical("scaling", ("none", "standard", "rows")),
    Categorical("class_weight", (None, "balanced")),
)


def _support_vectors(configuration: Configuration, seed: int) -> BaseEstimator:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler
    from sklearn.svm import SVC

    own = dict(configuration)
    scaling = {"none": "passthrough", "standard": StandardScaler(), "rows": Normalizer()}
    return make_pipeline(scaling[own.pop("scaling")], SVC(random_state=seed, **own))


NETWORK = (
    Integer("layers", 1, 3),
    Integer("width", 4, 64, log=True),
    Categorical("activation", ("relu", "tanh", "logistic")),
    Categorical("solver", ("adam", "sgd", "lbfgs")),
    Real("alpha", 1e-6, 10.0, log=True),
    Integer("max_iter", 5, 20),
    Real("learning_rate_init", 1e-4, 0.3, log=True, when="solver != 'lbfgs'"),
    Integer("batch_size", 16, 128, log=True, when="solver != 'lbfgs'"),
    Real("momentum", 0.0, 0.99, when="solver == 'sgd'"),
    Categorical("nesterovs_momentum", (True, False), when="solver == 'sgd'"),
    Real("beta_1", 0.5, 0.99, when="solver == 'adam'"),
)


def _network(configuration: Configuration, seed: int) -> BaseEstimator:
    from sklearn.neural_network import MLPClassifier

    own = dict(configuration)
    sizes = (own.pop("width"),) * own.pop("layers")
    return MLPClassifier(hidden_layer_sizes=sizes, random_state=seed, **own)


TASKS: Mapping[str, TuningTask] = {
    task.name: task
    for task in (
        TuningTask(
            "boosting-cancer",
            "gradient boosting, log loss on breast cancer: 10 parameters, 2 of them categories",
            "breast_cancer",
            180,
            "neg_log_loss",
            (*BOOSTING, Categorical("class_weight", (None, "balanced"))),
            _boosted_classifier,
        ),
        TuningTask(
            "boosting-diabetes",
            "gradient boosting, root mean squared error on diabetes: 11 parameters, 2 of them "
            "categories, one conditional",
            "diabetes",
            240,
            "neg_root_mean_squared_error",
            (
                *BOOSTING,
                Categorical("loss", ("squared_error", "absolute_error", "quantile")),
                Real("quantile", 0.2, 0.8, when="loss == 'quantile'"),
            ),
            _boosted_regressor,
        ),
        TuningTask(
            "svm-digits",
            "support vectors, share of errors on digits: 7 parameters, 3 of them categories, 3 "
            "conditional",
            "digits",
            300,
            "accuracy",
            SVM,
            _support_vectors,
        ),
        TuningTask(
            "network-digits",
            "a neural network, log loss on digits: 11 parameters, 3 of them categories, 5 "
            "conditional",
            "digits",
            200,
            "neg_log_loss",
            NETWORK,
            _network,
        ),
    )
}
"""By their names."""


def get_task(name: str) -> TuningTask:
    """Return a task by its name.

    Raises
    ------
    UnknownNameError
        If there is none; the message suggests the nearest.
    """
    if name not in TASKS:
        raise UnknownNameError(f"There is no tuning task {name!r}. {suggest(name, TASKS)}")
    return TASKS[name]
