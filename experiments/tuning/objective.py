"""The cross-validated loss of a configuration, remembered on disk."""

from __future__ import annotations

import json
import sqlite3
import time
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from boring.rng import keyed_generator
from boring.typing import FloatArray

from .tasks import TuningTask

__all__ = ["FOLDS", "LossCache", "TuningObjective"]

FOLDS = 3

WAIT = 60.0
"""Seconds that a process waits for another one that writes to the cache."""


class LossCache:
    """Losses by task, seed and configuration, in a file that several processes may use.

    Parameters
    ----------
    path : path-like
        An SQLite data base; made if need be. It holds for one version of scikit-learn and of the
        tasks: the name of the file should tell them apart.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._do("CREATE TABLE IF NOT EXISTS losses (key TEXT PRIMARY KEY, loss REAL)")

    def get(self, key: str) -> float | None:
        """Return a loss, None if it is not known; NaN is a failure."""
        rows = self._do("SELECT loss FROM losses WHERE key = ?", key)
        if not rows:
            return None
        return float("nan") if rows[0][0] is None else float(rows[0][0])

    def put(self, key: str, loss: float) -> None:
        """Keep a loss."""
        self._do("INSERT OR REPLACE INTO losses VALUES (?, ?)", key, loss)

    def _do(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._path, timeout=WAIT)) as connection, connection:
            return list(connection.execute(statement, values).fetchall())


@dataclass
class TuningObjective:
    """The loss of a task on the rows and folds of a seed.

    Parameters
    ----------
    task : TuningTask
    seed : int
        Fixes the rows, the folds, and what the estimators draw.
    cache : LossCache, optional

    Attributes
    ----------
    seconds : float
        Wall seconds spent in evaluations.
    """

    task: TuningTask
    seed: int
    cache: LossCache | None = None
    seconds: float = 0.0
    X: FloatArray = field(init=False)
    y: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Draw the rows."""
        X, y = self.task.load()
        rng = keyed_generator(self.seed, "rows", self.task.data)
        rows = rng.permutation(len(y))[: self.task.n_rows]
        self.X, self.y = X[rows], y[rows]

    @property
    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of each fold, classes in equal shares."""
        from sklearn.model_selection import KFold, StratifiedKFold

        is_regression = self.task.scoring.endswith("error")
        return list((KFold if is_regression else StratifiedKFold)(FOLDS).split(self.X, self.y))

    def __call__(self, configuration: Mapping[str, Any]) -> float:
        """Return the mean loss over the folds; NaN where a fit fails."""
        start = time.perf_counter()
        ordered = dict(sorted(configuration.items()))
        key = json.dumps([self.task.name, self.task.n_rows, self.seed, ordered])
        loss = None if self.cache is None else self.cache.get(key)
        if loss is None:
            loss = self._evaluate(configuration)
            if self.cache is not None:
                self.cache.put(key, loss)
        self.seconds += time.perf_counter() - start
        return loss

    def _evaluate(self, configuration: Mapping[str, Any]) -> float:
        from sklearn.model_selection import cross_val_score
        from threadpoolctl import threadpool_limits

        estimator = self.task.build(configuration, self.seed)
        # Warned of: networks that are stopped early, fits that fail.
        with warnings.catch_warnings(), threadpool_limits(limits=1), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                scores = cross_val_score(
                    estimator, self.X, self.y, cv=self.folds, scoring=self.task.scoring
                )
            except ValueError as error:
                if "fits failed" not in str(error):
                    raise
                return float("nan")
        loss = -scores if self.task.scoring.startswith("neg_") else 1.0 - scores
        return float(np.mean(loss))
