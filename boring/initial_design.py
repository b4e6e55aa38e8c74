"""Initial designs: where to look before there is anything to model.

All return points of the cube [-1, 1]^D in scaled units and draw from the generator they are given.
"""

from __future__ import annotations

import numpy as np

from .exceptions import InvalidInputError
from .typing import FloatArray
from .validation import as_positive_int

__all__ = [
    "latin_hypercube",
    "nested_latin_hypercube",
    "sobol_design",
    "space_filling",
    "uniform_design",
]

MAX_SOBOL_DIM = 21201
"""Largest dimension for which scipy holds Sobol direction numbers (Joe and Kuo 2008)."""


def uniform_design(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw points independently and uniformly from the cube.

    Parameters
    ----------
    n, dim : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (n, D), scaled units
    """
    n, dim = _sizes(n, dim)
    return rng.uniform(-1.0, 1.0, size=(n, dim))


def latin_hypercube(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw a Latin hypercube: each of n slices of every coordinate holds one point.

    Parameters
    ----------
    n, dim : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray, shape (n, D), scaled units

    Notes
    -----
    McKay, Beckman and Conover 1979.
    """
    from scipy.stats import qmc  # slow to load

    n, dim = _sizes(n, dim)
    unit = qmc.LatinHypercube(dim, rng=rng).random(n)
    return np.asarray(2.0 * unit - 1.0, dtype=np.float64)


def sobol_design(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Return the first points of a scrambled Sobol sequence.

    Parameters
    ----------
    n, dim : int
        The dimension is at most 21201.
    rng : numpy.random.Generator
        Consumed. Generators in the same state give the same sequence, so that a shorter design is
        the beginning of a longer one.

    Returns
    -------
    ndarray, shape (n, D), scaled units

    Notes
    -----
    Sobol 1967; direction numbers of Joe and Kuo 2008; scrambling of Matousek 1998, as in scipy.
    A power of two is balanced best; any n is allowed.

    Examples
    --------
    >>> sobol_design(3, 2, np.random.default_rng(0)).shape
    (3, 2)
    """
    n, dim = _sizes(n, dim)
    if dim > MAX_SOBOL_DIM:
        raise InvalidInputError(
            f"A Sobol sequence has at most {MAX_SOBOL_DIM} dimensions; received {dim}. "
            "Use nested_latin_hypercube or uniform_design."
        )
    from scipy.stats import qmc  # slow to load

    engine = qmc.Sobol(dim, scramble=True, rng=rng)
    unit = engine.random_base2((max(n, 1) - 1).bit_length())[:n]
    return np.asarray(2.0 * unit - 1.0, dtype=np.float64)


def nested_latin_hypercube(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw the first points of a sequence whose first 2^k points are a Latin hypercube.

    Parameters
    ----------
    n, dim : int
    rng : numpy.random.Generator
        Consumed. Generators in the same state give the same sequence, so that a shorter design is
        the beginning of a longer one.

    Returns
    -------
    ndarray, shape (n, D), scaled units

    Notes
    -----
    Qian 2009, doubled: slices are halved, and as many new points as there are take the empty
    halves, in an order of its own for each coordinate.

    Examples
    --------
    >>> X = nested_latin_hypercube(4, 2, np.random.default_rng(0))
    >>> np.sort((2.0 * (X + 1.0)).astype(int), axis=0).tolist()
    [[0, 0], [1, 1], [2, 2], [3, 3]]
    """
    n, dim = _sizes(n, dim)
    unit = rng.random((1, dim))
    while (half := len(unit)) < n:
        slices = np.minimum((2 * half * unit).astype(np.int64), 2 * half - 1)
        empty = rng.permuted(slices ^ 1, axis=0)
        unit = np.vstack([unit, (empty + rng.random(empty.shape)) / (2 * half)])
    return np.asarray(2.0 * unit[:n] - 1.0, dtype=np.float64)


def space_filling(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Return the first points of the sequence that fills the cube in runs.

    Parameters
    ----------
    n, dim : int
    rng : numpy.random.Generator
        Consumed. Generators in the same state give the same sequence, so that a shorter design is
        the beginning of a longer one.

    Returns
    -------
    ndarray, shape (n, D), scaled units
        That of :func:`sobol_design` up to 21201 dimensions, which scipy's ends with; beyond, that
        of :func:`nested_latin_hypercube`, which is as even in each coordinate.

    Examples
    --------
    >>> space_filling(3, 2, np.random.default_rng(0)).shape
    (3, 2)
    """
    draw = sobol_design if dim <= MAX_SOBOL_DIM else nested_latin_hypercube
    return draw(n, dim, rng)


def _sizes(n: int, dim: int) -> tuple[int, int]:
    return as_positive_int(n, "n", minimum=0), as_positive_int(dim, "dim")
