"""Conditional MAP: a Gaussian process says how much, a network says where.

Aryan, PhD thesis, Victoria University of Wellington 2020, ch. 5 ("cl"): the value to expect of the
next point is the incumbent's plus the largest expected improvement under any surrogate; a network
trained together with a free input says where (:mod:`baselines.goal_seeking.joint_network`). Here
the surrogate is the plain Gaussian process; every surrogate of :mod:`baselines._surrogate_loop`
has it as ``infill="conditional-map"``. In the thesis it helps a Bayesian network on nine problems
of nine, a Gaussian process or a random forest on one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from baselines._surrogate_loop import Fit, Infill, LoopOptions, SurrogateOptimizer
from boring.models.plain import fit_plain, plain_model
from boring.typing import FloatArray
from boring.validation import as_positive_int

__all__ = ["ConditionalMapOptimizer", "ConditionalMapOptions"]


@dataclass(frozen=True)
class ConditionalMapOptions(LoopOptions):
    """Options, beside :class:`LoopOptions`.

    Parameters
    ----------
    infill : {"conditional-map", "one-stage", "acquisition"}, default "conditional-map"
        "one-stage" is Jones's likelihood of the process itself.
    restart_every : int, default 10
        See :class:`baselines.gaussian_process.plain_gp.PlainGPOptions`.
    """

    infill: Infill = "conditional-map"
    restart_every: int = 10

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_positive_int(self.restart_every, "restart_every")


class ConditionalMapOptimizer(SurrogateOptimizer):
    """Bayesian optimisation by conditional MAP on a Gaussian process.

    Parameters are those of :class:`boring.optimizer.Optimizer`; options those of
    :class:`ConditionalMapOptions`.

    Examples
    --------
    >>> optimizer = ConditionalMapOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    >>> optimizer.run(lambda x: ((x - 0.3) ** 2).sum(), 8, progress=False).X.shape
    (8, 2)
    """

    name: ClassVar[str] = "conditional-map"
    options_type: ClassVar[type] = ConditionalMapOptions

    def _fit(
        self, X: FloatArray, y: FloatArray, memory: Mapping[str, Any], rng: np.random.Generator
    ) -> Fit:
        model = plain_model(X.shape[1])
        if memory.get("keep"):
            return Fit(model.condition(np.array(memory["theta"]), X, y), dict(memory))
        theta, cold_at = fit_plain(model, X, y, memory, self.options.restart_every)
        posterior = model.condition(theta, X, y)
        info = {"noise_variance": posterior.noise_variance}
        return Fit(posterior, {"theta": theta.tolist(), "cold_at": cold_at}, dict(info))
