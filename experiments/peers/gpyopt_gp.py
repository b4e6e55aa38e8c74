"""GPyOpt 1.2.6 (archived in 2023), rebuilt from the data at every proposal.

Its defaults: a Gaussian process of GPy's with one Matern-5/2 lengthscale, expected improvement with
jitter .01, five restarts of the likelihood, L-BFGS from five anchor points out of 1000.

What in it does not fit a newer NumPy or a polite process, and how it is kept away:

* ``run_optimization`` names ``numpy.linalg.linalg``, and entropy search ``numpy.NaN``; NumPy 2 has
  neither. Neither is called: the loop is ours, and entropy search is no option.
* Its import mutes all warnings of the process, and it draws from numpy's global generator; both are
  restored by the containment of the peers.
* Its import needs matplotlib and ``pkg_resources``, which setuptools has before version 82; it
  declares neither.
* ``run_optimization`` ends without a word when two points in a row coincide; ours does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import FitError, InvalidInputError
from boring.typing import FloatArray

from .base import RebuiltPeer, Requirement

__all__ = ["GPyOptOptions", "GPyOptPeer"]

ACQUISITIONS = ("EI", "LCB", "MPI")


@dataclass(frozen=True)
class GPyOptOptions:
    """Options of GPyOpt.

    Parameters
    ----------
    acquisition : {"EI", "LCB", "MPI"}, default "EI"
    """

    acquisition: str = "EI"

    def __post_init__(self) -> None:
        """Check the options."""
        if self.acquisition not in ACQUISITIONS:
            raise InvalidInputError(
                f"acquisition must be one of {', '.join(ACQUISITIONS)}; received "
                f"{self.acquisition!r}."
            )


class GPyOptPeer(RebuiltPeer):
    """The package ``GPyOpt``; options are those of :class:`GPyOptOptions`."""

    name: ClassVar[str] = "peer-gpyopt"
    options_type: ClassVar[type] = GPyOptOptions
    requirement: ClassVar[Requirement] = Requirement(
        "GPyOpt", ("GPyOpt", "GPy", "matplotlib", "pkg_resources")
    )

    def _load(self) -> None:
        import GPyOpt.methods  # noqa: F401

    def _suggest(self, points: FloatArray, costs: FloatArray, seed: int) -> ArrayLike:
        from GPyOpt.methods import BayesianOptimization

        domain = [
            {"name": f"x{k}", "type": "continuous", "domain": (-1.0, 1.0)}
            for k in range(points.shape[1])
        ]
        try:
            engine = BayesianOptimization(
                None,
                domain=domain,
                X=points,
                Y=costs[:, None],
                acquisition_type=self.options.acquisition,
            )
            suggested = np.asarray(engine.suggest_next_locations(), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise FitError(
                f"GPyOpt could not factor its kernel matrix at {len(points)} points ({error}). "
                "Repeat the run with another seed, or leave this peer out."
            ) from error
        return suggested.reshape(-1)
