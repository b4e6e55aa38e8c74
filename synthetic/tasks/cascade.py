"""A cascade of boosted classifiers: right answers, and few questions asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.space import Box
from boring.typing import BoolArray, FloatArray

from ..base import TestProblem, WithoutGradient
from ._data import digits, scikit_learn
from ._hyperparameter import Hyperparameter

__all__ = ["CascadeOutcome", "CascadeTask", "balanced", "cascade_digits"]

N_STAGES = 5
STUMPS = Hyperparameter("n_estimators", 1, 20, logarithmic=True, integer=True)
THRESHOLD = (-1.0, 0.5)
"""Sides of the box, by stage: stumps of the stage, and least score that passes; scores lie between
-2 and 2, and 0 divides what looks negative from what looks positive (chosen here)."""

DIGIT = 8
N_TRAINING = 800
N_VALIDATION = 900
"""Images: the first and the next, in the order of the data set (chosen here, for speed)."""

COST = 0.2
"""What it costs to ask every stump of the longest cascade about every image, in units of the error;
asking fewer costs less in proportion (chosen here)."""

RANDOM_STATE = 0


@dataclass(frozen=True)
class CascadeOutcome:
    """How a cascade does on validation data.

    Parameters
    ----------
    missed : float
        Share of the positive images that it rejects.
    false_alarms : float
        Share of the negative images that it accepts.
    stumps : float
        Mean number of stumps asked by image.
    """

    missed: float
    false_alarms: float
    stumps: float


@dataclass(frozen=True, eq=False)
class CascadeTask(WithoutGradient):
    """Mean of both error rates plus the cost of asking; a step function.

    The argument is (logarithm to base 10 of the number of stumps, threshold) of each stage in turn.

    Parameters
    ----------
    X_train : ndarray, shape (n, p)
    y_train : ndarray, shape (n,), boolean
    X_test : ndarray, shape (m, p)
    y_test : ndarray, shape (m,), boolean
    """

    X_train: FloatArray
    y_train: BoolArray
    X_test: FloatArray
    y_test: BoolArray

    def value(self, X: FloatArray) -> FloatArray:
        """Return the objectives, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    def outcome(self, x: FloatArray) -> CascadeOutcome:
        """Train and judge the cascade that a point of shape (D,) stands for.

        Each stage is trained on what the stages before it let pass of the training images, both
        classes with the same weight in all, and rejects what scores less than its threshold. When
        one of the classes is used up there is nothing left to learn, and no further stage.
        """
        make = scikit_learn("ensemble").AdaBoostClassifier
        train, test = np.ones(len(self.y_train), bool), np.ones(len(self.y_test), bool)
        asked = 0
        for log_stumps, threshold in x.reshape(-1, 2):
            labels = self.y_train[train]
            if not test.any() or labels.all() or not labels.any():
                break
            stumps = STUMPS.at(float(log_stumps))
            stage = make(n_estimators=stumps, random_state=RANDOM_STATE)
            stage.fit(self.X_train[train], labels, sample_weight=balanced(labels))
            asked += int(stumps) * int(test.sum())
            train[train] = stage.decision_function(self.X_train[train]) >= threshold
            test[test] = stage.decision_function(self.X_test[test]) >= threshold
        return CascadeOutcome(
            missed=float(np.mean(~test[self.y_test])),
            false_alarms=float(np.mean(test[~self.y_test])),
            stumps=asked / len(test),
        )

    def _value(self, x: FloatArray) -> float:
        outcome = self.outcome(x)
        most = (len(x) // 2) * STUMPS.upper
        error = 0.5 * (outcome.missed + outcome.false_alarms)
        return error + COST * outcome.stumps / most


def balanced(labels: BoolArray) -> FloatArray:
    """Return weights, shape (n,), that sum to 1/2 over either class."""
    positive = labels.mean()
    weights: FloatArray = np.where(labels, 0.5 / positive, 0.5 / (1.0 - positive)) / len(labels)
    return weights


def cascade_digits() -> TestProblem:
    """Return the tuning of a cascade that finds the eights among digits, D = 10.

    Raw units: see :class:`CascadeTask`. Units of y: error rate; 0.5 for a cascade that accepts or
    rejects everything without asking. Some 0.07 s an evaluation on one core.

    Notes
    -----
    Rana et al. (2017) and Li et al. (2017) tune cascades in the manner of Viola and Jones (2001),
    ten parameters a group. Here: five stages of boosted stumps (AdaBoost) with a number and a
    threshold each, on digits; what is asked is paid for, which is what a cascade is for.
    """
    X, labels = digits()
    y = labels[:, DIGIT] == 1.0
    end = N_TRAINING + N_VALIDATION
    scikit_learn("ensemble")  # missing here rather than at the first evaluation
    sides = [STUMPS.bounds, THRESHOLD] * N_STAGES
    return TestProblem(
        name=f"cascade-digits-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=CascadeTask(X[:N_TRAINING], y[:N_TRAINING], X[N_TRAINING:end], y[N_TRAINING:end]),
    )
