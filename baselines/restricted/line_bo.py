r"""LineBO: Bayesian optimisation on one line after another, with one model of the whole space.

Kirschner, Mutny, Hiller, Ischebeck and Krause, "Adaptive and safe Bayesian optimization in high
dimensions via one-dimensional subspaces", ICML 2019, algorithm 1. A direction oracle chooses a
line through the best point so far; a one-dimensional Bayesian optimisation searches the line to
some accuracy; then comes the next line. Three oracles: a coordinate axis, a random direction, or a
direction of ascent (the paper minimises). For the last, points near the best one are evaluated at
first, each a step along a gradient that is drawn from the posterior (Thompson sampling); then the
line follows the posterior mean gradient.

**Deviations**

* The model is that of the plain Gaussian process here, fitted as it goes, not one with fixed
  hyperparameters. A gradient is drawn from its exact posterior, not by differences of a draw.
* The line goes through the told point with the largest posterior mean, not through the maximiser of
  the posterior mean on the last line.
* Gradient components that lead out of the box from a face of it are dropped. A random direction
  leads inwards from the faces that its origin lies on: in many dimensions hardly any line through a
  corner has more than that corner in the box.
* Not the safe variant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from baselines._acquisition import ACQUISITIONS
from baselines._options import check_choice, check_optional_int, check_positive
from boring.acquisition import (
    Acquisition,
    LogExpectedImprovement,
    UpperConfidenceBound,
    maximize_acquisition,
)
from boring.models.plain import fit_plain, plain_model
from boring.models.posterior import GaussianProcess, with_fantasies
from boring.optimizer import Optimizer, Proposal, ProposalContext
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray
from boring.validation import as_positive_int
from boring.warping import standardize

__all__ = ["Line", "LineBOOptimizer", "LineBOOptions", "LineView", "gradient_posterior"]

#: Weight of the standard deviation in UCB and in the accuracy of a line (chosen here).
BETA = 2.0
#: Points on a line at which its accuracy is judged.
GRID = 65
#: Steps to the points for the gradient, scaled units: a tenth of a side (as in the authors' runs).
GRADIENT_STEP = 0.2
#: Refit from the prior's mode after so many observations, as in the plain Gaussian process.
RESTART_EVERY = 10
#: A line shorter than this is none (scaled units).
SHORTEST = 1e-6
#: A coordinate this near to a face counts as on it for random directions (scaled units).
NEAR_FACE = 1e-3


@dataclass(frozen=True)
class LineBOOptions:
    """Options of LineBO.

    Parameters
    ----------
    directions : {"random", "coordinate", "descent"}, default "random"
        The direction oracle; "descent" is towards better values, whichever the direction of the
        optimisation.
    acquisition : {"log-ei", "ucb"}, default "log-ei"
        On the line; UCB with weight 2.
    line_points : int, default 10
        Most evaluations of one line (the authors' code: between 10 and 30).
    least_line_points : int, default 3
        Fewest evaluations before a line may end (chosen here).
    line_accuracy : float, default 0.01
        A line ends when its upper confidence bound exceeds its best posterior mean by less,
        standard deviations of the values (the authors' code: one per cent).
    gradient_points : int, optional
        Evaluations before a line of "descent"; None takes D (the authors' code).
    """

    directions: Literal["random", "coordinate", "descent"] = "random"
    acquisition: Literal["log-ei", "ucb"] = "log-ei"
    line_points: int = 10
    least_line_points: int = 3
    line_accuracy: float = 0.01
    gradient_points: int | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice(self.directions, "directions", ("random", "coordinate", "descent"))
        check_choice(self.acquisition, "acquisition", ACQUISITIONS)
        as_positive_int(self.line_points, "line_points")
        as_positive_int(self.least_line_points, "least_line_points")
        check_positive(self.line_accuracy, "line_accuracy")
        check_optional_int(self.gradient_points, "gradient_points")


@dataclass(frozen=True, eq=False)
class Line:
    """The part of a straight line that lies in the cube, as ``centre + u * half``, |u| <= 1.

    Parameters
    ----------
    centre, half : ndarray, shape (D,)
    """

    centre: FloatArray
    half: FloatArray

    @classmethod
    def through(cls, origin: FloatArray, direction: FloatArray) -> Line:
        """Return the line through a point of the cube along a direction, both (D,)."""
        moving = direction != 0.0
        to_faces = (np.array([[-1.0], [1.0]]) - origin[moving]) / direction[moving]
        first, last = float(to_faces.min(axis=0).max()), float(to_faces.max(axis=0).min())
        centre = origin + 0.5 * (first + last) * direction
        return cls(centre, 0.5 * (last - first) * direction)

    @property
    def length(self) -> float:
        """Its length."""
        return 2.0 * float(np.linalg.norm(self.half))

    def up(self, U: FloatArray) -> FloatArray:
        """Return the points (m, D) at U (m, 1)."""
        return np.clip(self.centre + U * self.half, -1.0, 1.0)

    def places_of(self, X: FloatArray) -> FloatArray:
        """Return the places (k, 1) of those points X (n, D) that lie on the line."""
        U = ((X - self.centre) @ self.half / float(self.half @ self.half))[:, None]
        on_line = np.abs(self.centre + U * self.half - X).max(axis=1, initial=0.0) < 1e-9
        return np.asarray(U[on_line])


@dataclass(frozen=True, eq=False)
class LineView:
    """An acquisition as a function of the place on a line.

    Parameters
    ----------
    acquisition : Acquisition
    line : Line
    """

    acquisition: Acquisition
    line: Line

    def value(self, U: FloatArray) -> FloatArray:
        """Return values (m,) at U (m, 1)."""
        return self.acquisition.value(self.line.up(U))

    def value_and_gradient(self, U: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (m,) and gradients (m, 1) at U (m, 1)."""
        value, gradient = self.acquisition.value_and_gradient(self.line.up(U))
        return value, (gradient @ self.line.half)[:, None]


def gradient_posterior(posterior: GaussianProcess, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean (D,) and covariance (D, D) of the gradient of f at a point.

    Parameters
    ----------
    posterior : GaussianProcess
        Of one term, with a lengthscale each (:func:`plain_model`).
    x : ndarray, shape (D,)

    Notes
    -----
    With k = k(r) and slope s = -k'/r, cov(df(x), f(x')) = -s2 s(r) (x - x')/l^2 and
    cov(df(x)) = s2 s(0) diag(1/l^2).
    """
    ((term, variance, log_lengthscales),) = posterior.terms
    squared = np.exp(-2.0 * log_lengthscales)
    difference = x - posterior.X
    slope = variance * term.profile.value_and_slope(difference**2 @ squared)[1]
    cross = -slope[:, None] * difference * squared
    at_zero = variance * float(term.profile.value_and_slope(np.zeros(1))[1][0])
    reduced = np.linalg.solve(posterior.L, cross)
    return cross.T @ posterior.alpha, at_zero * np.diag(squared) - reduced.T @ reduced


class LineBOOptimizer(Optimizer):
    """Bayesian optimisation on a sequence of lines.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`LineBOOptions`.

    Examples
    --------
    >>> box = [(-1, 1)] * 3
    >>> optimizer = LineBOOptimizer(box, direction="minimize", seed=0, directions="coordinate")
    >>> result = optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 25, progress=False)
    >>> result.y_best < 0.05
    True
    """

    name: ClassVar[str] = "line-bo"
    options_type: ClassVar[type] = LineBOOptions

    def _resolved_options(self) -> dict[str, object]:
        return {**self.option_values(), "gradient_points": self.gradient_points}

    @property
    def gradient_points(self) -> int:
        """Evaluations before a line of "descent"."""
        given: int | None = self.options.gradient_points
        return self.space.dim if given is None else given

    @property
    def surrogate(self) -> ObjectiveProcess | None:
        """The GP of the objective at the last proposal's hyperparameters; None before the first."""
        theta = self.memory.get("theta")
        if theta is None:
            return None
        return ObjectiveProcess.of(
            self, partial(plain_model(self.space.dim).condition, np.array(theta))
        )

    def _propose(self, context: ProposalContext) -> Proposal:
        X, y = context.data.finite_X, standardize(context.data.finite_y)
        model = plain_model(self.space.dim)
        theta, cold_at = fit_plain(model, X, y, context.memory, RESTART_EVERY)
        posterior = with_fantasies(
            model.condition(theta, X, y), context.pending, context.data.failing_X
        )
        best = X[int(np.argmax(posterior.predict(X)[0]))]
        stage = self._stage(context.memory, posterior, best, context.rng)
        memory = {"theta": theta.tolist(), "cold_at": cold_at, **stage}
        if stage["stage"] == "gradient":
            x = _gradient_step(posterior, np.array(stage["origin"]), context.rng)
            return Proposal(x, memory, {"stage": "gradient", "step": stage["n"]})
        line = Line.through(np.array(stage["origin"]), np.array(stage["direction"]))
        old = np.vstack([context.data.X, context.pending])
        places = line.places_of(best[None, :])
        found = maximize_acquisition(
            LineView(self._acquisition(posterior, float(y.max())), line),
            1,
            incumbent=places[0] if len(places) else np.zeros(1),
            rng=context.rng,
            avoid=line.places_of(old),
        )
        info = {"stage": "line", "step": stage["n"], "acquisition": found.value}
        return Proposal(line.up(found.x[None, :])[0], memory, info)

    def _acquisition(self, posterior: GaussianProcess, incumbent: float) -> Acquisition:
        if self.options.acquisition == "ucb":
            return UpperConfidenceBound(posterior, BETA)
        return LogExpectedImprovement(posterior, incumbent)

    def _stage(
        self,
        memory: Mapping[str, Any],
        posterior: GaussianProcess,
        best: FloatArray,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Return what the next point is for, and how many points were for that before."""
        stage, n = memory.get("stage"), int(memory.get("n", -1)) + 1
        if stage == "gradient":
            if n < self.gradient_points:
                return {"stage": "gradient", "origin": memory["origin"], "n": n}
            return _new_line(best, _inward(posterior, best), rng)
        if stage == "line":
            line = Line.through(np.array(memory["origin"]), np.array(memory["direction"]))
            if n < self.options.line_points and not self._is_accurate(line, n, posterior):
                return {key: memory[key] for key in ("stage", "origin", "direction")} | {"n": n}
        if self.options.directions == "descent":
            return {"stage": "gradient", "origin": best.tolist(), "n": 0}
        direction = np.zeros(best.size)
        if self.options.directions == "coordinate":
            direction[rng.integers(best.size)] = 1.0
        return _new_line(best, direction, rng)

    def _is_accurate(self, line: Line, n: int, posterior: GaussianProcess) -> bool:
        if n < self.options.least_line_points:
            return False
        mean, variance = posterior.predict(line.up(np.linspace(-1.0, 1.0, GRID)[:, None]))
        gap = float((mean + BETA * np.sqrt(variance)).max() - mean.max())
        return bool(gap < self.options.line_accuracy)


def _new_line(
    origin: FloatArray, direction: FloatArray, rng: np.random.Generator
) -> dict[str, Any]:
    """Return a line's stage; a random direction replaces one that is zero or leads nowhere."""
    if not np.any(direction) or Line.through(origin, direction).length < SHORTEST:
        direction = _unit(rng, origin.size)
        at_face = np.abs(origin) > 1.0 - NEAR_FACE
        direction = np.where(at_face, -np.sign(origin) * np.abs(direction), direction)
    direction = direction / np.linalg.norm(direction)
    return {"stage": "line", "origin": origin.tolist(), "direction": direction.tolist(), "n": 0}


def _inward(posterior: GaussianProcess, x: FloatArray) -> FloatArray:
    """Return the mean gradient at a point without what leads out of the cube."""
    gradient = gradient_posterior(posterior, x)[0]
    leads_out = ((x >= 1.0) & (gradient > 0.0)) | ((x <= -1.0) & (gradient < 0.0))
    return np.where(leads_out, 0.0, gradient)


def _gradient_step(
    posterior: GaussianProcess, origin: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return a point a short way from the origin, along a gradient drawn from the posterior."""
    mean, covariance = gradient_posterior(posterior, origin)
    values, vectors = np.linalg.eigh(covariance)
    scale = np.sqrt(np.maximum(values, 0.0))
    gradient = mean + vectors @ (scale * rng.standard_normal(origin.size))
    norm = float(np.linalg.norm(gradient))
    step = gradient / norm if norm > 0.0 else _unit(rng, origin.size)
    return np.clip(origin + GRADIENT_STEP * step, -1.0, 1.0)


def _unit(rng: np.random.Generator, dim: int) -> FloatArray:
    direction = rng.standard_normal(dim)
    return np.asarray(direction / np.linalg.norm(direction))
