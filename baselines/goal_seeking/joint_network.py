r"""Where would a value be reached? A network and the point are trained together.

Aryan, "Sample-efficient optimization using neural networks", PhD thesis, Victoria University of
Wellington 2020, ch. 5: given a goal :math:`y^*`, minimise over the weights w of a network and a
free input :math:`\hat x` of the box

.. math:: \frac{1}{n+1}\Bigl[\sum_i (f_w(x_i) - y_i)^2 + (f_w(\hat x) - y^*)^2\Bigr]
   + \lambda_0\sum w^2 + \lambda_1\sum |w|,

a conditional MAP estimate with a flat prior on :math:`\hat x`. Two layers of 50 tanh units,
:math:`\lambda_0 = \lambda_1 = 5\cdot 10^{-5}`.

**Deviations**

* Optimiser, start and scaling are not printed. L-BFGS-B with box bounds on x; inputs in [-1, 1],
  values standardised; weights begin normal with variance 1 / fan-in.
* A network can bend up to the goal at any x: several starts, and the lowest loss is kept.
* :math:`|w|` is smoothed to :math:`\sqrt{w^2 + 10^{-8}}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from boring.typing import FloatArray

__all__ = ["GoalPoint", "JointLoss", "seek_goal"]

WIDTH = 50
PENALTY = 5e-5
SMOOTHING = 1e-8
MAX_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class GoalPoint:
    """Where the goal is reached at the least cost.

    Attributes
    ----------
    x : ndarray, shape (D,)
    loss, first_loss : float
        At the end and at the beginning of the best start.
    output : float
        Of the network at x.
    start : int
        Which start it was.
    """

    x: FloatArray
    loss: float
    first_loss: float
    output: float
    start: int


class JointLoss:
    """The loss over a vector of all weights and the free input, with its gradient.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    goal : float
    W : ndarray, shape (D, d), optional
        The network sees x W; None lets it see x.
    width : int, default 50
    """

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        goal: float,
        W: FloatArray | None = None,
        width: int = WIDTH,
    ) -> None:
        self.W = np.eye(X.shape[1]) if W is None else W
        self.Z = X @ self.W
        self.targets = np.append(y, goal)
        d = self.W.shape[1]
        self.shapes = [(d, width), (width,), (width, width), (width,), (width,), ()]
        self.sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.n_weights = sum(self.sizes)

    def initial_weights(self, rng: np.random.Generator) -> FloatArray:
        """Return weights with variance 1 / fan-in, biases 0, shape (n_weights,)."""
        d, width = self.shapes[0]
        fans = (d, np.inf, width, np.inf, width, np.inf)
        draws = [
            rng.standard_normal(size) / np.sqrt(fan)
            for size, fan in zip(self.sizes, fans, strict=True)
        ]
        return np.concatenate(draws)

    def output(self, vector: FloatArray) -> float:
        """Return the network's output at the free input."""
        return float(self._forward(vector)[0][-1])

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient at (weights, x), shape (n_weights + D,)."""
        f, Z, first, second, parts = self._forward(vector)
        W1, _, W2, _, w3, _ = parts
        count = len(f)
        weights = vector[: self.n_weights]
        size = np.sqrt(weights**2 + SMOOTHING)
        residual = f - self.targets
        loss = float(residual @ residual) / count + PENALTY * float((weights**2 + size).sum())
        df = 2.0 * residual / count
        d_second = df[:, None] * w3 * (1.0 - second**2)
        d_first = (d_second @ W2.T) * (1.0 - first**2)
        pieces = [
            Z.T @ d_first,
            d_first.sum(axis=0),
            first.T @ d_second,
            d_second.sum(axis=0),
            second.T @ df,
            df.sum(),
        ]
        gradient = np.concatenate([np.ravel(piece) for piece in pieces])
        gradient += PENALTY * (2.0 * weights + weights / size)
        return loss, np.concatenate([gradient, self.W @ (W1 @ d_first[-1])])

    def _forward(
        self, vector: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, list[FloatArray]]:
        cuts = np.cumsum(self.sizes)
        parts = [
            part.reshape(shape)
            for part, shape in zip(np.split(vector, cuts)[:-1], self.shapes, strict=True)
        ]
        W1, b1, W2, b2, w3, b3 = parts
        Z = np.vstack([self.Z, vector[self.n_weights :] @ self.W])
        first = np.tanh(Z @ W1 + b1)
        second = np.tanh(first @ W2 + b2)
        return second @ w3 + b3, Z, first, second, parts


def seek_goal(
    X: FloatArray,
    y: FloatArray,
    goal: float,
    starts: FloatArray,
    rng: np.random.Generator,
    W: FloatArray | None = None,
) -> GoalPoint:
    """Return the point of the box that a network with the data and the goal would pass through.

    Parameters
    ----------
    X : ndarray, shape (n, D), in [-1, 1]
    y : ndarray, shape (n,), standardised
    goal : float
    starts : ndarray, shape (k, D)
        For x; each with a network of its own.
    rng : numpy.random.Generator
        Consumed, for the networks.
    W : ndarray, shape (D, d), optional
    """
    loss = JointLoss(X, y, goal, W)
    free = [(None, None)] * loss.n_weights + [(-1.0, 1.0)] * X.shape[1]
    best: GoalPoint | None = None
    for index, start in enumerate(starts):
        begin = np.concatenate([loss.initial_weights(rng), start])
        found = minimize(
            loss,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=free,
            options={"maxiter": MAX_ITERATIONS},
        )
        if best is None or found.fun < best.loss:
            x = np.clip(found.x[loss.n_weights :], -1.0, 1.0)
            best = GoalPoint(x, float(found.fun), loss(begin)[0], loss.output(found.x), index)
    assert best is not None
    return best
