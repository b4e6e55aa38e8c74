"""The Gaussian process optimiser of scikit-optimize, rebuilt from the data at every proposal.

**Deviation**: expected improvement instead of the default "gp_hedge", whose gains are a
by-product of the run and not of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from boring.typing import FloatArray

from .base import RebuiltPeer, Requirement

__all__ = ["SkoptOptions", "SkoptPeer"]


@dataclass(frozen=True)
class SkoptOptions:
    """Options of scikit-optimize.

    Parameters
    ----------
    acquisition : {"EI", "LCB", "PI"}, default "EI"
    """

    acquisition: str = "EI"


class SkoptPeer(RebuiltPeer):
    """The package ``scikit-optimize``; options are those of :class:`SkoptOptions`."""

    name: ClassVar[str] = "peer-skopt"
    options_type: ClassVar[type] = SkoptOptions
    requirement: ClassVar[Requirement] = Requirement("scikit-optimize", ("skopt",))

    def _load(self) -> None:
        import skopt  # noqa: F401

    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        import skopt

        optimizer = skopt.Optimizer(
            [(-1.0, 1.0)] * points.shape[1],
            base_estimator="GP",
            n_initial_points=len(points),
            acq_func=self.options.acquisition,
            random_state=seed,
        )
        optimizer.tell(points.tolist(), costs.tolist())
        x: ArrayLike = optimizer.ask()
        return x
