"""Typed parameters: names, units, integers, categories, conditions and known constraints.

A `ParameterSpace` turns configurations (dicts of name to value) into points of the cube
[-1, 1]^D, on which the optimisers work, and back.
"""

from boring.parameters.base import Parameter
from boring.parameters.choices import Categorical, Fixed
from boring.parameters.real import Real
from boring.parameters.space import ParameterSpace
from boring.parameters.whole import Integer, Ordinal

__all__ = [
    "Categorical",
    "Fixed",
    "Integer",
    "Ordinal",
    "Parameter",
    "ParameterSpace",
    "Real",
]
