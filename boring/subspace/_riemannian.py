"""The fence around pymanopt: optimisation over frames, and its certificate.

No other module imports pymanopt, and this one does so on first use. pymanopt draws on
numpy's global random state and prints by default; here it gets a starting point, stays
silent, and leaves the global state as found.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ..exceptions import FitError, InvalidInputError
from ..rng import isolated_environment, isolated_global_random_state
from ..typing import FloatArray
from .stiefel import is_orthonormal, tangent_projection

RiemannianMethod = Literal["trust-regions", "conjugate-gradient", "steepest-descent"]
CostAndGradient = Callable[[FloatArray], tuple[float, FloatArray]]

GRADIENT_TOLERANCE = 1e-6
"""Riemannian gradient norm at which a run stops [pymanopt's default]."""

DIFFERENCE_STEP = 1e-5
"""Length of the step of the Hessian's central difference: near the cube root of the
machine epsilon, where truncation and rounding balance."""

_MINIMUM_STEP = 1e-10
_NO_TIME_LIMIT = float("inf")
_START_TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True)
class PolishResult:
    """Outcome of a run on the Stiefel manifold.

    Attributes
    ----------
    W : ndarray, shape (D, d)
        The best frame met, never worse than the start.
    cost : float
        Cost there.
    gradient_norm : float
        Norm of the Riemannian gradient there.
    n_iterations, n_calls : int
        Iterations of pymanopt, and calls of ``cost_and_gradient``.
    step : float
        Length of the last accepted step; 0 when there was none.
    stop_reason : str
    """

    W: FloatArray
    cost: float
    gradient_norm: float
    n_iterations: int
    n_calls: int
    step: float
    stop_reason: str


class _Recorder:
    """Serves cost and gradient from one call, and keeps the best frame met."""

    def __init__(self, cost_and_gradient: CostAndGradient) -> None:
        self._function = cost_and_gradient
        self._last: tuple[FloatArray, float, FloatArray] | None = None
        self.best: tuple[FloatArray, float, FloatArray] | None = None
        self.n_calls = 0

    def _call(self, W: FloatArray) -> tuple[float, FloatArray]:
        self.n_calls += 1
        try:
            value, gradient = self._function(W)
        except FitError:
            return np.inf, np.zeros_like(W)
        return (float(value), gradient) if np.isfinite(value) else (np.inf, np.zeros_like(W))

    def evaluate(self, W: FloatArray) -> tuple[float, FloatArray]:
        if self._last is None or not np.array_equal(self._last[0], W):
            value, gradient = self._call(W)
            self._last = (W.copy(), value, gradient)
            if self.best is None or value < self.best[1]:
                self.best = self._last
        return self._last[1], self._last[2]

    def hessian(self, W: FloatArray, direction: FloatArray) -> FloatArray:
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            return np.zeros_like(direction)
        step = DIFFERENCE_STEP / length
        _, forward = self._call(W + step * direction)
        _, backward = self._call(W - step * direction)
        return np.asarray((forward - backward) / (2.0 * step))


def riemannian_gradient_norm(W: FloatArray, euclidean_gradient: FloatArray) -> float:
    """Return the norm of the Riemannian gradient at W: zero exactly at a critical point.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        A frame.
    euclidean_gradient : ndarray, shape (D, d)
        Gradient of the objective in the ambient space, of either sign.

    Returns
    -------
    float
        Frobenius norm of the gradient's tangent part, in nats when the objective is a
        log likelihood. The metric is the embedded one, as in pymanopt.
    """
    return float(np.linalg.norm(tangent_projection(W, euclidean_gradient)))


@contextmanager
def _precision_of_jax() -> Iterator[None]:
    """Keep JAX's default precision, which pymanopt raises on import, as it does TensorFlow's voice.

    JAX has it from the environment if it is imported in the block itself.
    """
    loaded = sys.modules.get("jax")
    asked = os.environ.get("JAX_ENABLE_X64", "").lower() in ("1", "on", "t", "true", "y", "yes")
    double = asked if loaded is None else bool(loaded.config.jax_enable_x64)
    is_first = "pymanopt" not in sys.modules
    try:
        yield
    finally:
        jax = sys.modules.get("jax")
        if is_first and jax is not None:
            jax.config.update("jax_enable_x64", double)


def _optimizer(
    method: RiemannianMethod,
    max_iterations: int,
    tolerance: float,
    minimum_step: float,
    first_step: float,
) -> Any:
    from pymanopt.optimizers import ConjugateGradient, SteepestDescent, TrustRegions
    from pymanopt.optimizers.line_search import AdaptiveLineSearcher

    common = {
        "max_time": _NO_TIME_LIMIT,
        "max_iterations": max_iterations,
        "max_cost_evaluations": np.iinfo(np.int64).max,
        "min_gradient_norm": tolerance,
        "min_step_size": minimum_step,
        "verbosity": 0,
        "log_verbosity": 0,
    }
    if method == "trust-regions":
        return TrustRegions(**common)
    line_searcher = AdaptiveLineSearcher(initial_step_size=first_step)
    if method == "steepest-descent":
        return SteepestDescent(line_searcher=line_searcher, **common)
    return ConjugateGradient(line_searcher=line_searcher, **common)


def polish(
    W: FloatArray,
    cost_and_gradient: CostAndGradient,
    *,
    max_iterations: int = 100,
    method: RiemannianMethod = "trust-regions",
    gradient_tolerance: float = GRADIENT_TOLERANCE,
    minimum_step: float = _MINIMUM_STEP,
    first_step: float = 1.0,
    seed: int = 0,
) -> PolishResult:
    """Minimise a cost over frames from W, by pymanopt.

    Parameters
    ----------
    W : ndarray, shape (D, d)
        Start; orthonormal columns.
    cost_and_gradient : callable
        Maps a (D, d) array to the cost and its Euclidean gradient (D, d). For trust
        regions it is also called slightly off the manifold. A `FitError` or a
        non-finite cost counts as an infinite cost.
    max_iterations : int
        0 returns the start with its gradient norm.
    method : {"trust-regions", "conjugate-gradient", "steepest-descent"}
        Trust regions take their Hessian from central differences of the gradient.
    gradient_tolerance : float
        Riemannian gradient norm at which to stop.
    minimum_step : float
        Length of a line-search step below which to stop (not for trust regions).
    first_step : float
        Length of the first trial step of a line search (not for trust regions); pass
        twice the last ``step`` to continue an interrupted run cheaply.
    seed : int
        For what pymanopt may draw; numpy's global state is restored afterwards.

    Returns
    -------
    PolishResult

    Raises
    ------
    InvalidInputError
        If W is not orthonormal, or the method is unknown.
    FitError
        If the cost is not finite at the start.
    """
    if method not in get_args(RiemannianMethod):
        raise InvalidInputError(
            f"method must be one of {get_args(RiemannianMethod)}, got {method!r}."
        )
    if W.ndim != 2 or not is_orthonormal(W, _START_TOLERANCE):
        raise InvalidInputError("the start of polish must have orthonormal columns.")
    recorder = _Recorder(cost_and_gradient)
    cost, gradient = recorder.evaluate(W)
    if not np.isfinite(cost):
        raise FitError("the cost is not finite at the start of the Riemannian optimisation.")
    start_norm = riemannian_gradient_norm(W, gradient)
    if max_iterations < 1 or start_norm <= gradient_tolerance or start_norm == 0.0:
        reason = "no iterations asked for" if max_iterations < 1 else "start is critical"
        return PolishResult(W.copy(), cost, start_norm, 0, recorder.n_calls, 0.0, reason)

    with isolated_environment(), _precision_of_jax():
        import pymanopt

    manifold = pymanopt.manifolds.Stiefel(*W.shape)
    function = pymanopt.function.numpy(manifold)
    problem = pymanopt.Problem(
        manifold,
        function(lambda point: recorder.evaluate(point)[0]),
        euclidean_gradient=function(lambda point: recorder.evaluate(point)[1]),
        euclidean_hessian=function(recorder.hessian),
    )
    optimizer = _optimizer(method, max_iterations, gradient_tolerance, minimum_step, first_step)
    # A step of length zero makes pymanopt's momentum 0/0; it then stops by minimum_step.
    with isolated_global_random_state(seed), np.errstate(divide="ignore", invalid="ignore"):
        outcome = optimizer.run(problem, initial_point=W.copy())
    assert recorder.best is not None
    best, best_cost, best_gradient = recorder.best
    return PolishResult(
        best,
        best_cost,
        riemannian_gradient_norm(best, best_gradient),
        int(outcome.iterations),
        recorder.n_calls,
        float(outcome.step_size) if outcome.step_size is not None else 0.0,
        str(outcome.stopping_criterion),
    )
