"""One run of Tripathy's alternation: its settings and its turns.

A turn is a few L-BFGS steps in the hyperparameters with W fixed, then a few steps on the
Stiefel manifold in W with those fixed. Turns repeat until the relative gain is small; then
both parts are tightened. `boring.subspace.tripathy` runs many of these from random frames.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np
from scipy.optimize import minimize

from ..exceptions import FitError, InvalidInputError
from ..typing import FloatArray
from ..validation import as_positive_int, as_real
from ._riemannian import polish
from .curvilinear import curvilinear_descent
from .likelihood import Hyperparameters, StiefelLikelihood

BasisMethod = Literal["conjugate-gradient", "steepest-descent", "trust-regions", "cayley"]

LENGTHSCALE_BOUNDS = (0.05, 100.0)
"""In units of z = W'x, whose sd is .58 for uniform points [chosen here]."""

SIGNAL_BOUNDS = (float(np.exp(-4.0)), float(np.exp(5.0)))
"""In units of var(y) [chosen here; those of the full-rank learner]."""

NOISE_CEILING = 2.0
"""In units of var(y) [chosen here; that of the full-rank learner]."""

CERTIFYING_STEPS = 10
"""Trust-region steps on the winner; convergence is quadratic [chosen here]."""

_FIRST_STEP = 0.1
"""Length of the first trial step on the manifold: a turn of about 6 degrees."""

_MAXIMUM_TIGHTENINGS = 10


@dataclass(frozen=True, slots=True)
class TripathyOptions:
    """Settings of the alternation.

    Attributes
    ----------
    lengthscale_start : float, default 2.5
        In units of z. **Deviation**: Tripathy's code and the thesis draw starts from
        U(0, 1). With turns as long as these, short lengthscales and little noise commit
        W to a rough interpolating optimum: .1 of the starts end within 10 degrees from
        (.5, noise .005), .82 to .92 from here (camelback 2-in-5, N = 100).
    signal_start : float, default 1
        In units of var(y).
    noise_start : float, default 0.2
        In units of var(y). **Deviation**, for the same reason: published code holds the
        noise at .005.
    noise_floor : float, default 0.01
        In units of var(y). **Deviation**: the likelihood over W overfits as D d nears
        N, and a floor is the remedy, for search as for calibration. On
        data that cluster (late in an optimisation) 1e-6 does better.
    hyperparameter_steps, basis_steps : int, default 5 and 20
        Steps in one turn. **Deviation**: 1 and 1 in Tripathy's code, which zigzags
        along the valley that W and the lengthscales share (.52 of the starts succeed
        against .86, and each costs 1.4 times as much; same cell, Cayley curve).
    basis_method : {"conjugate-gradient", "steepest-descent", "trust-regions", "cayley"}
        The first three by pymanopt; "cayley" is the published curve with
        Barzilai-Borwein steps (`boring.subspace.curvilinear`).
    max_rounds : int, default 100 [Tripathy's code; 300 in the thesis's]
        Most turns before tightening.
    tolerance : float, default 1e-3 [Tripathy's code]
        Relative gain of a turn below which the alternation is over.
    tightening_hyperparameter_steps : int, default 100
    tightening_basis_steps : int, default 100
        Steps in each of the longer turns that follow. Tripathy's code makes one turn
        of 1000 and 100; **Deviation**: turns of 100 and 100, repeated.
    tightening_tolerance : float, default 1e-4
        Relative gain below which tightening is over.
    """

    lengthscale_start: float = 2.5
    signal_start: float = 1.0
    noise_start: float = 0.2
    noise_floor: float = 0.01
    hyperparameter_steps: int = 5
    basis_steps: int = 20
    basis_method: BasisMethod = "conjugate-gradient"
    max_rounds: int = 100
    tolerance: float = 1e-3
    tightening_hyperparameter_steps: int = 100
    tightening_basis_steps: int = 100
    tightening_tolerance: float = 1e-4

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.type == "int":
                as_positive_int(value, item.name)
            elif item.type == "float" and not as_real(value, item.name) > 0.0:
                raise InvalidInputError(f"{item.name} must be positive, got {value!r}.")
        if self.basis_method not in get_args(BasisMethod):
            raise InvalidInputError(
                f"basis_method must be one of {get_args(BasisMethod)}, got {self.basis_method!r}."
            )
        if self.noise_floor >= NOISE_CEILING:
            raise InvalidInputError(
                f"noise_floor must lie below {NOISE_CEILING}, got {self.noise_floor}."
            )

    @classmethod
    def published(cls) -> TripathyOptions:
        """Return the settings closest to the thesis's code.

        One step of each kind a turn, at most 300 turns, short lengthscales and little
        noise at the start, no noise floor to speak of. **Deviation**: the
        noise is learned rather than held at .005, starts are the medians of the printed
        U(0, 1), and steps obey Armijo's rule.
        """
        return cls(
            lengthscale_start=0.5,
            signal_start=0.5,
            noise_start=0.005,
            noise_floor=1e-6,
            hyperparameter_steps=1,
            basis_steps=1,
            basis_method="cayley",
            max_rounds=300,
        )


class AlternatingRestart:
    """One run of the alternation from one frame: a `ResumableRestart`.

    Parameters
    ----------
    likelihood : StiefelLikelihood
        Of standardised y.
    W : ndarray, shape (D, d)
        Start.
    options : TripathyOptions

    Attributes
    ----------
    W : ndarray, shape (D, d)
        Current frame.
    parameters : Hyperparameters
        Current kernel parameters.
    """

    def __init__(
        self, likelihood: StiefelLikelihood, W: FloatArray, options: TripathyOptions
    ) -> None:
        effective_dim = W.shape[1]
        pairs = [LENGTHSCALE_BOUNDS] * effective_dim
        pairs += [SIGNAL_BOUNDS, (options.noise_floor, NOISE_CEILING)]
        self._bounds = np.log(np.array(pairs))
        start = np.append(
            np.full(effective_dim, options.lengthscale_start),
            [options.signal_start, options.noise_start],
        )
        self._likelihood = likelihood
        self._options = options
        self._rounds = 0
        self._tightenings = 0
        self._tightening = False
        self._finished = False
        self._step: float | None = None
        self.W = W
        self.parameters = Hyperparameters.from_vector(np.clip(np.log(start), *self._bounds.T))
        self._loss = -likelihood.value(W, self.parameters)

    @property
    def loss(self) -> float:
        """Negative log likelihood at the current point, in nats."""
        return self._loss

    @property
    def finished(self) -> bool:
        """Whether tightening is over."""
        return self._finished

    @property
    def rounds_left(self) -> int:
        """Most turns that can follow, those of tightening included."""
        if self._finished:
            return 0
        return self._options.max_rounds - self._rounds + _MAXIMUM_TIGHTENINGS - self._tightenings

    def advance(self) -> None:
        """Make one turn: hyperparameters with W fixed, then W with those fixed."""
        options, before = self._options, self._loss
        if self._tightening:
            self._turn(options.tightening_hyperparameter_steps, options.tightening_basis_steps)
            self._tightenings += 1
            done = self._small(before, options.tightening_tolerance)
            self._finished = done or self._tightenings >= _MAXIMUM_TIGHTENINGS
            return
        self._turn(options.hyperparameter_steps, options.basis_steps)
        self._rounds += 1
        if self._small(before, options.tolerance) or self._rounds >= options.max_rounds:
            self._tightening = True
            self._rounds = options.max_rounds

    def certify(self) -> None:
        """Bring the Riemannian gradient at W near zero, hyperparameters kept."""
        walk = polish(self.W, self._basis_cost, max_iterations=CERTIFYING_STEPS)
        self.W, self._loss = walk.W, walk.cost

    def _basis_cost(self, W: FloatArray) -> tuple[float, FloatArray]:
        result = self._likelihood.evaluate(W, self.parameters)
        return -result.value, -result.basis_gradient

    def _small(self, before: float, tolerance: float) -> bool:
        # The scale has a floor of one nat: a log likelihood may pass through zero, where
        # the published ratio (L1 - L0)/L0 is meaningless, and changes sign with it.
        return before - self._loss <= tolerance * max(1.0, abs(before))

    def _turn(self, hyperparameter_steps: int, basis_steps: int) -> None:
        self._update_hyperparameters(hyperparameter_steps)
        self._update_basis(basis_steps)

    def _update_hyperparameters(self, steps: int) -> None:
        def cost_and_gradient(vector: FloatArray) -> tuple[float, FloatArray]:
            try:
                result = self._likelihood.evaluate(self.W, Hyperparameters.from_vector(vector))
            except FitError:
                return np.inf, np.zeros_like(vector)
            return -result.value, -result.hyperparameter_gradient

        outcome = minimize(
            cost_and_gradient,
            self.parameters.as_vector(),
            jac=True,
            method="L-BFGS-B",
            bounds=self._bounds,
            options={"maxiter": steps},
        )
        if outcome.fun < self._loss:
            self.parameters = Hyperparameters.from_vector(outcome.x)
            self._loss = float(outcome.fun)

    def _update_basis(self, steps: int) -> None:
        method = self._options.basis_method
        if method == "cayley":
            curve = curvilinear_descent(
                self.W,
                self._basis_cost,
                max_iterations=steps,
                step=self._step,
                relative_gain=1e-9,
            )
            W, cost, self._step = curve.W, curve.cost, curve.step
        else:
            walk = polish(
                self.W,
                self._basis_cost,
                max_iterations=steps,
                method=method,
                first_step=self._step or _FIRST_STEP,
            )
            W, cost = walk.W, walk.cost
            self._step = 2.0 * walk.step if walk.step > 0.0 else 0.1 * _FIRST_STEP
        if cost < self._loss:
            self.W, self._loss = W, cost
