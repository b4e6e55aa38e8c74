"""SMAC3 (Lindauer et al. 2022), rebuilt from the data at every proposal."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.typing import FloatArray

from .base import RebuiltPeer, Requirement

__all__ = ["SmacOptions", "SmacPeer"]

FACADES = {"blackbox": "BlackBoxFacade", "forest": "HyperparameterOptimizationFacade"}

ROOM = 2
"""Trials that a scenario has room for beyond those told; one is asked for."""


@dataclass(frozen=True)
class SmacOptions:
    """Options of SMAC.

    Parameters
    ----------
    facade : {"blackbox", "forest"}, default "blackbox"
        A Gaussian process, which its authors advise for continuous inputs, or a random forest.
    """

    facade: str = "blackbox"

    def __post_init__(self) -> None:
        """Check the options."""
        if self.facade not in FACADES:
            raise InvalidInputError(
                f"facade must be one of {sorted(FACADES)}; received {self.facade!r}."
            )


class SmacPeer(RebuiltPeer):
    """The package ``smac``; options are those of :class:`SmacOptions`."""

    name: ClassVar[str] = "peer-smac"
    options_type: ClassVar[type] = SmacOptions
    requirement: ClassVar[Requirement] = Requirement("smac", ("smac", "ConfigSpace"))

    def _load(self) -> None:
        import ConfigSpace  # noqa: F401
        import smac  # noqa: F401

    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        import ConfigSpace

        names = [f"x{k:05d}" for k in range(points.shape[1])]
        space = ConfigSpace.ConfigurationSpace({name: (-1.0, 1.0) for name in names}, seed=seed)
        told = [
            ConfigSpace.Configuration(space, values=dict(zip(names, x.tolist(), strict=True)))
            for x in points
        ]
        with tempfile.TemporaryDirectory() as folder:
            facade = self._facade(space, len(points), seed, folder)
            return self._ask(facade, told, costs, names)

    def _facade(self, space: Any, n_told: int, seed: int, folder: str) -> Any:
        import smac

        scenario = smac.Scenario(
            space,
            deterministic=True,
            n_trials=n_told + ROOM,
            seed=seed,
            output_directory=folder,
        )
        kind = getattr(smac, FACADES[self.options.facade])
        return kind(
            scenario,
            _never_called,
            initial_design=kind.get_initial_design(scenario, n_configs=0),
            overwrite=True,
            logging_level=False,
        )

    @staticmethod
    def _ask(facade: Any, told: list[Any], costs: FloatArray, names: list[str]) -> ArrayLike:
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        for configuration, cost in zip(told, costs.tolist(), strict=True):
            facade.tell(TrialInfo(configuration, seed=0), TrialValue(cost=cost))
        asked = facade.ask().config
        return np.array([asked[name] for name in names], dtype=np.float64)


def _never_called(config: object, seed: int = 0) -> float:
    """Stand for the objective, which the experiments evaluate themselves."""
    raise RuntimeError("SMAC is driven by ask and tell; it must not evaluate anything.")
