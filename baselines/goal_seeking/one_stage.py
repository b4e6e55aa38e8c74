r"""Where would a value be reached? The one-stage likelihood of a Gaussian process.

Jones, "A taxonomy of global optimization methods based on response surfaces", J. Global
Optimization 21 (2001), section 5; Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 5.
If the process passes through :math:`(\hat x, y^*)`, with correlations K of the data and k between
them and :math:`\hat x`, the values have mean :math:`\mu 1 + k(y^* - \mu)` and covariance
:math:`\sigma^2 C`, :math:`C = K - kk'`. With :math:`m = 1 - k` and :math:`\bar y = y - ky^*`,

.. math:: \hat\mu = \frac{m'C^{-1}\bar y}{m'C^{-1}m}, \qquad
   \hat\sigma^2 = \frac1n (\bar y - m\hat\mu)'C^{-1}(\bar y - m\hat\mu),

and :math:`-\frac n2\log\hat\sigma^2 - \frac12\log|C|` is maximised over :math:`\hat x` and the
lengthscales together: the point at which the goal is most credible, given what it does to the rest.

**Deviation**: K has a nugget of 1e-6, and lengthscales lie in [.05, 20] (the box has side 2).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from baselines.goal_seeking.goal_ladder import (
    NUGGET,
    conditional_log_likelihood,
    conditioned,
)
from baselines.goal_seeking.joint_network import GoalPoint
from boring.kernels import SQUARED_EXPONENTIAL, RadialProfile
from boring.typing import FloatArray

__all__ = ["NUGGET", "OneStageLikelihood", "seek_goal_by_process"]

LOG_LENGTHSCALES = (float(np.log(0.05)), float(np.log(20.0)))
MAX_ITERATIONS = 100


class OneStageLikelihood:
    """Minus the log likelihood of the data given the goal, over (log lengthscales, x).

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    goal : float
    W : ndarray, shape (D, d), optional
        Correlations are those of x W, squared exponential with d lengthscales; None takes x.
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, goal: float, W: FloatArray | None = None
    ) -> None:
        self.W = np.eye(X.shape[1]) if W is None else W
        self.Z, self.y, self.goal = X @ self.W, y, goal
        self.n_scales = self.W.shape[1]

    def estimates(self, vector: FloatArray) -> tuple[float, float]:
        """Return the estimates of mu and sigma^2 at (log lengthscales, x), shape (d + D,)."""
        given = conditioned(*self._arguments(vector))
        return given.mean, given.S / len(self.y)

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log likelihood at the best mu and sigma^2, and its gradient."""
        value, by_point, by_scales = conditional_log_likelihood(*self._arguments(vector))
        constant = 0.5 * len(self.y) * (np.log(2.0 * np.pi) + 1.0)
        return float(constant) - value, -np.concatenate([by_scales, self.W @ by_point])

    def _arguments(
        self, vector: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, RadialProfile]:
        log_lengthscales, x = vector[: self.n_scales], vector[self.n_scales :]
        return x @ self.W, log_lengthscales, self.Z, self.y, self.goal, SQUARED_EXPONENTIAL


def seek_goal_by_process(
    X: FloatArray, y: FloatArray, goal: float, starts: FloatArray, W: FloatArray | None = None
) -> GoalPoint:
    """Return the point of the box at which the goal is most credible.

    Parameters
    ----------
    X : ndarray, shape (n, D), in [-1, 1]
    y : ndarray, shape (n,), standardised
    goal : float
    starts : ndarray, shape (k, D)
        For x; lengthscales begin at sqrt(d).
    W : ndarray, shape (D, d), optional
    """
    loss = OneStageLikelihood(X, y, goal, W)
    d = loss.n_scales
    bounds = [LOG_LENGTHSCALES] * d + [(-1.0, 1.0)] * X.shape[1]
    best: GoalPoint | None = None
    for index, start in enumerate(starts):
        begin = np.concatenate([np.full(d, 0.5 * np.log(d)), start])
        found = minimize(
            loss,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": MAX_ITERATIONS},
        )
        if best is None or found.fun < best.loss:
            x = np.clip(found.x[d:], -1.0, 1.0)
            best = GoalPoint(x, float(found.fun), loss(begin)[0], goal, index)
    assert best is not None
    return best
