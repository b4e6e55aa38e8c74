"""GPy behind its fence, and native kernel terms as kernels of GPy's own.

This is the only module that imports GPy, and it does so on first use: inside
``warnings.catch_warnings`` and with numpy's global random state put back afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels.additive import KernelTerm
from boring.kernels.maps import Ard, FeatureMap, Free, Isotropic, Projected, ProjectedArd
from boring.models.gp import GaussianProcessModel
from boring.rng import isolated_environment, isolated_global_random_state
from boring.typing import FloatArray

__all__ = [
    "GPY_JITTER",
    "fenced",
    "gpy_inputs",
    "gpy_noise",
    "gpy_terms",
    "lengthscales",
    "projection",
    "stationary",
]

#: What ``GPy.inference...ExactGaussianInference`` adds to the noise variance.
GPY_JITTER = 1e-8
#: Least noise variance handed to GPy, whose parameters are strictly positive.
_MINIMUM_NOISE = 1e-12
#: Seed of the global random state inside the fence; nothing here depends on it.
_FENCE_SEED = 0


@contextmanager
def fenced() -> Iterator[Any]:
    """Yield GPy with its warnings silenced and numpy's global random state put back."""
    with (
        warnings.catch_warnings(),
        isolated_environment(),
        isolated_global_random_state(_FENCE_SEED),
    ):
        warnings.simplefilter("ignore")
        import GPy

        yield GPy


def projection(term: KernelTerm, parameters: FloatArray) -> FloatArray | None:
    """Return T with which the term's GPy inputs are X T; None stands for the identity."""
    match term.feature_map:
        case Projected(basis=basis) | ProjectedArd(basis=basis):
            return basis
        case Free() as free:
            return free.factor(parameters)
        case Isotropic() | Ard():
            return None
    raise InvalidInputError(
        f"GPy has no counterpart of the feature map {type(term.feature_map).__name__}; use one "
        "of Isotropic, Ard, Projected, ProjectedArd and Free"
    )


def gpy_inputs(term: KernelTerm, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return what the term's GPy kernel sees, from the map's fixed inputs."""
    free = isinstance(term.feature_map, Free)
    return inputs @ term.feature_map.factor(parameters) if free else inputs  # type: ignore[attr-defined]


def lengthscales(feature_map: FeatureMap, parameters: FloatArray) -> FloatArray:
    """Return the lengthscales of the term's GPy kernel."""
    return np.ones(1) if isinstance(feature_map, Free) else np.exp(parameters)


def stationary(
    gpy: Any, term: KernelTerm, variance: float, scales: FloatArray, **where: Any
) -> Any:
    """Return GPy's own kernel of the term's profile."""
    kinds = {
        "matern32": gpy.kern.Matern32,
        "matern52": gpy.kern.Matern52,
        "squared-exponential": gpy.kern.RBF,
    }
    if term.profile.name not in kinds:
        raise InvalidInputError(
            f"GPy has no counterpart of the profile {term.profile.name!r}; use one of {[*kinds]}"
        )
    ard = isinstance(term.feature_map, Ard | ProjectedArd)
    return kinds[term.profile.name](
        variance=variance, lengthscale=scales if ard else scales[0], ARD=ard, **where
    )


def gpy_terms(
    gpy: Any, model: GaussianProcessModel, theta: FloatArray, widths: Sequence[int]
) -> list[Any]:
    """Return one GPy kernel a term, each active on its own block of columns."""
    parts, first = [], 0
    for (term, variance, parameters), width in zip(model.kernel.split(theta), widths, strict=True):
        scales = lengthscales(term.feature_map, parameters)
        where = {"input_dim": width, "active_dims": list(range(first, first + width))}
        parts.append(stationary(gpy, term, variance, scales, **where))
        first += width
    if model.kernel.constant_variance > 0:
        parts.append(gpy.kern.Bias(first, variance=model.kernel.constant_variance))
        parts[-1].fix()
    return parts


def gpy_noise(noise_variance: float) -> float:
    return max(noise_variance - GPY_JITTER, _MINIMUM_NOISE)
