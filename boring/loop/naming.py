"""What an optimiser that learns a subspace shows: the estimate, and a model of the objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.history import History
from boring.loop.local_metric import nearby_factors
from boring.loop.passive_draw import PHASE
from boring.loop.schedule import sees_noise
from boring.loop.subspace_turn import factor_of, gate_of
from boring.optimizer import Optimizer
from boring.result import BestByMean
from boring.rng import keyed_generator, single_blas_thread
from boring.space import Box
from boring.surrogate import ObjectiveModel, fit_objective_model
from boring.typing import Direction, FloatArray, SeedLike

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate

__all__ = ["NamingOptimizer"]

T = TypeVar("T")

# Points told and never asked for, from which on a subspace is estimated for the surrogate's sake:
# from so many on the loop looks for one by default, and of fewer a check trusts next to none.
FEWEST_POINTS = 15


class _Kept(Generic[T]):
    """What was worked out last, and of which history; shallow copies of its owner share it."""

    def __init__(self) -> None:
        self._last: tuple[History, T] | None = None

    def of(self, history: History, work_out: Callable[[], T]) -> T:
        """Return it of this history, worked out if it is kept of another one."""
        last = self._last
        if last is None or last[0] is not history:
            last = self._last = (history, work_out())
        return last[1]


class NamingOptimizer(Optimizer):
    """Base of the optimisers with an effective dimension, a subspace and a surrogate.

    Estimates and models are made when they are asked for, of the history alone, and kept until it
    changes: an ask moves what the loop remembers of the subspace, too.
    Subclasses have the options ``effective_dim`` and ``max_effective_dim``.
    """

    def __init__(
        self,
        space: Box | ArrayLike,
        *,
        direction: Direction,
        n_initial: int | None = None,
        seed: SeedLike = None,
        **options: Any,
    ) -> None:
        super().__init__(space, direction=direction, n_initial=n_initial, seed=seed, **options)
        given = self.options.effective_dim
        if given is not None and given > self.space.dim:
            raise InvalidInputError(
                f"effective_dim must not exceed the number of parameters; received "
                f"effective_dim = {given} in {self.space.dim} dimensions. Lower it, or leave it "
                "out to let the data choose."
            )
        self._estimates: _Kept[SubspaceEstimate | None] = _Kept()
        self._models: _Kept[ObjectiveModel | None] = _Kept()

    @property
    def subspace(self) -> SubspaceEstimate | None:
        """The active subspace as the data so far show it; None before there is enough data.

        Estimated on log-warped values, the warp chosen by evidence, from the loop's own factor and
        the local model's directions among other starts, and cached until the history changes.
        """
        return self._estimates.of(self._history, self._estimate)

    def _estimate(self) -> SubspaceEstimate | None:
        from boring.loop.account import account_of_subspace

        data = self.observed
        if not data.is_informative or len(data.finite_y) < 2 + min(self.space.dim, 3):
            return None
        rng = keyed_generator(self.entropy, "subspace", self.n_told)
        with single_blas_thread():
            return account_of_subspace(
                data.finite_X,
                data.finite_y,
                self.options.effective_dim,
                min(self.options.max_effective_dim, self.space.dim),
                self.memory.get("subspace", {}),
                rng,
                nearby_factors(self.memory.get("local", {}).get("directions", {})),
                self._passive_draws(),
                self.n_initial,
            )

    def _passive_draws(self) -> FloatArray:
        """Return the points asked for as passive draws, scaled units, shape (k, D)."""
        drawn = [ask.x for ask in self._history.asks if ask.phase == PHASE]
        return self.space.scale(np.array(drawn).reshape(-1, self.space.dim))

    @property
    def surrogate(self) -> ObjectiveModel | None:
        """A GP of the objective in the caller's units and sign; None before there is data.

        On the loop's factor if its gate is open. Of earlier values, as long as the gate has scored
        none, on `subspace` if that is trusted, which takes seconds. Else with one lengthscale, or
        with one for each input where that is plainly likelier.
        """
        return self._models.of(self._history, self._model)

    @property
    def best_by_mean(self) -> BestByMean | None:
        """The feasible visited point that is best by mean; None without noise or such a point."""
        known, portfolio = self._noise_std, self.memory.get("portfolio")
        is_noisy = sees_noise(portfolio, None) if known is None else known > 0.0
        if not is_noisy or self.surrogate is None:
            return None
        rows = self.data.feasible
        if not rows.any():
            return None
        X = self._history.X[rows]
        mean, sd = self.surrogate.predict_with_sd(X)
        best = int(np.argmax(self._sign * mean))
        return BestByMean(X[best], float(mean[best]), float(sd[best]))

    def _model(self) -> ObjectiveModel | None:
        if not self.observed.is_informative:
            return None
        with single_blas_thread():
            return self._fit_surrogate()

    def _fit_surrogate(self) -> ObjectiveModel:
        return fit_objective_model(
            self.space, self._sign, self.observed, self._believed_factor(), self._noise_std
        )

    def _believed_factor(self) -> FloatArray | None:
        """Return the loop's factor if its gate is open; before any score, a trusted estimate's."""
        memory = self.memory.get("subspace", {})
        gate = gate_of(memory)
        if gate != 0.0:
            return factor_of(memory, self.space.dim) if gate > 0 else None
        if sum(tell.ask is None for tell in self._history.tells) < FEWEST_POINTS:
            return None
        estimate = self.subspace
        return estimate.factor if estimate is not None and estimate.trusted else None
