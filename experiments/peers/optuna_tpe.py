"""The tree-structured Parzen estimator of Optuna (Bergstra et al. 2011; Akiba et al. 2019).

Default sampler, told the shared initial design in place of its own random one. Its generator runs
through the whole study, so it is replayed; a study is also how it is used, and filling a new one at
every proposal would be charged to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boring.typing import FloatArray

from .base import Requirement
from .replayed import Engine, ReplayedPeer

__all__ = ["TpeOptions", "TpePeer"]


@dataclass(frozen=True)
class TpeOptions:
    """Options of TPE.

    Parameters
    ----------
    multivariate : bool, default False
        One density over all inputs instead of one for each; False is Optuna's default.
    """

    multivariate: bool = False


class _Tpe(Engine):
    """A study of Optuna."""

    def __init__(self, points: FloatArray, costs: FloatArray, seed: int, multivariate: bool):
        import optuna

        self._names = [f"x{k}" for k in range(points.shape[1])]
        self._space = {name: optuna.distributions.FloatDistribution(-1, 1) for name in self._names}
        sampler = optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=0, multivariate=multivariate
        )
        self._study = optuna.create_study(direction="minimize", sampler=sampler)
        self._trials: list[int] = []
        for x, cost in zip(points, costs, strict=True):
            self.tell_other(x, float(cost))

    def ask(self) -> FloatArray:
        """Return the sampler's next point."""
        trial = self._study.ask(self._space)
        self._trials.append(trial.number)
        return np.array([trial.params[name] for name in self._names], dtype=np.float64)

    def tell(self, number: int, cost: float) -> None:
        """Finish a trial."""
        self._study.tell(self._trials[number], cost)

    def tell_other(self, x: FloatArray, cost: float) -> None:
        """Add a finished trial."""
        import optuna

        params = dict(zip(self._names, x.tolist(), strict=True))
        trial = optuna.trial.create_trial(params=params, distributions=self._space, value=cost)
        self._study.add_trial(trial)


class TpePeer(ReplayedPeer):
    """TPE of the package ``optuna``; options are those of :class:`TpeOptions`."""

    name: ClassVar[str] = "peer-tpe"
    options_type: ClassVar[type] = TpeOptions
    requirement: ClassVar[Requirement] = Requirement("optuna", ("optuna",))

    def _load(self) -> None:
        import optuna

        optuna.samplers.TPESampler  # noqa: B018 (its submodules load when first looked at)

    def _start(self, points: FloatArray, costs: FloatArray, seed: int) -> Engine:
        return _Tpe(points, costs, seed, bool(self.options.multivariate))
