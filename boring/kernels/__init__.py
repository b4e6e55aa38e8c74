"""Kernels: radial profiles, linear feature maps, and the sum of both."""

from boring.kernels.additive import AdditiveKernel, KernelTerm
from boring.kernels.maps import (
    Ard,
    FeatureMap,
    Free,
    Isotropic,
    Projected,
    ProjectedArd,
    Stretched,
)
from boring.kernels.profiles import (
    MATERN32,
    MATERN52,
    SQUARED_EXPONENTIAL,
    RadialProfile,
    get_profile,
)

__all__ = [
    "MATERN32",
    "MATERN52",
    "SQUARED_EXPONENTIAL",
    "AdditiveKernel",
    "Ard",
    "FeatureMap",
    "Free",
    "Isotropic",
    "KernelTerm",
    "Projected",
    "ProjectedArd",
    "RadialProfile",
    "Stretched",
    "get_profile",
]
