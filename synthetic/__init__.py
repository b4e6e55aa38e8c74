"""Test problems with known optima and known active subspaces.

Functions on their own boxes, wrappers that embed, perturb, shift or blur them, and a registry of
the combinations used in the literature. See :func:`get_problem`, :mod:`synthetic.recovery`,
:mod:`synthetic.tasks` for problems with real data, and :mod:`synthetic.physics`.
"""

from __future__ import annotations

from .any_dimension import (
    ackley,
    ackley_off_center,
    gaussian_mixture,
    levy,
    michalewicz,
    rosenbrock,
    schwefel12,
    styblinski_tang,
    unnormalized_gaussian,
)
from .base import Formula, TestProblem, WithoutGradient
from .gabor import gabor
from .gp_samples import matern_sample
from .low_dimensional import branin, camelback, hartmann6, parabola, sinusoidal_exponential
from .multimodal import (
    easom,
    griewank,
    noncontinuous_rastrigin,
    rastrigin,
    shekel,
    terraces,
)
from .passive_terms import Bowl, PassiveTerm, Ripple, Well, decreasing_ripples, mixed_terms
from .polynomial import PolynomialInput
from .recovery import recovery_problem
from .registry import get_problem, problem_names
from .rover import rover
from .value_range import value_range
from .wrappers import Embedded, Negated, Noisy, Perturbed, Shifted

DISTRIBUTION = "boring-bo"
"""Whose package this is: other distributions have top-level packages of the same name."""

__all__ = [
    "DISTRIBUTION",
    "Bowl",
    "Embedded",
    "Formula",
    "Negated",
    "Noisy",
    "PassiveTerm",
    "Perturbed",
    "PolynomialInput",
    "Ripple",
    "Shifted",
    "TestProblem",
    "Well",
    "WithoutGradient",
    "ackley",
    "ackley_off_center",
    "branin",
    "camelback",
    "decreasing_ripples",
    "easom",
    "gabor",
    "gaussian_mixture",
    "get_problem",
    "griewank",
    "hartmann6",
    "levy",
    "matern_sample",
    "michalewicz",
    "mixed_terms",
    "noncontinuous_rastrigin",
    "parabola",
    "problem_names",
    "rastrigin",
    "recovery_problem",
    "rosenbrock",
    "rover",
    "schwefel12",
    "shekel",
    "sinusoidal_exponential",
    "styblinski_tang",
    "terraces",
    "unnormalized_gaussian",
    "value_range",
]
