"""Test problems with known optima and known active subspaces.

Functions on their own boxes, wrappers that embed, perturb, shift or blur them, and a registry of
the combinations used in the literature. See :func:`get_problem`, :mod:`synthetic.recovery`, and
:mod:`synthetic.tasks` for problems with real data.
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
from .low_dimensional import branin, camelback, hartmann6, parabola, sinusoidal_exponential
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
    "gaussian_mixture",
    "get_problem",
    "hartmann6",
    "levy",
    "michalewicz",
    "mixed_terms",
    "parabola",
    "problem_names",
    "recovery_problem",
    "rosenbrock",
    "rover",
    "schwefel12",
    "sinusoidal_exponential",
    "styblinski_tang",
    "unnormalized_gaussian",
    "value_range",
]
