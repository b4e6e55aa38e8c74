"""Problems by name: ``<family>[-ripple | -exact]-<d>[-in-<D>][-axis]``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.typing import SeedLike

from .any_dimension import (
    ackley,
    gaussian_mixture,
    levy,
    michalewicz,
    rosenbrock,
    schwefel12,
    styblinski_tang,
    unnormalized_gaussian,
)
from .base import TestProblem
from .low_dimensional import branin, camelback, hartmann6, parabola, sinusoidal_exponential
from .passive_terms import PassiveTerm, decreasing_ripples, mixed_terms
from .wrappers import MAX_DRAWS, Embedded, Perturbed

__all__ = ["get_problem", "problem_names"]

ROSENBROCK_EMBEDDED_SIDES = (-2.0, 2.0)
"""u = 2 z: on the wide box of the published function the quartic hides the valley (chosen here)."""

OFF_CENTER = 0.25
"""Middle of the box of a function that has its optimum there, so that the origin is not a gift."""

FIXED_AXES = {
    ("hartmann6", 100): (19, 14, 43, 37, 66, 3),
    ("branin", 100): (19, 64),
}
"""Coordinates of the axis-aligned benchmarks of Letham et al. (2020), whatever the seed."""


@dataclass(frozen=True)
class _Family:
    make: Callable[[int], TestProblem]
    fixed_dim: int | None = None
    make_embedded: Callable[[int], TestProblem] | None = None
    center: float = 0.0


FAMILIES: dict[str, _Family] = {
    "parabola": _Family(lambda d: parabola(), 1),
    "camelback": _Family(lambda d: camelback(), 2),
    "sinexp": _Family(lambda d: sinusoidal_exponential(), 2),
    "branin": _Family(lambda d: branin(), 2),
    "hartmann6": _Family(lambda d: hartmann6(), 6),
    "rosenbrock": _Family(
        rosenbrock, make_embedded=partial(rosenbrock, sides=ROSENBROCK_EMBEDDED_SIDES)
    ),
    "levy": _Family(levy),
    "ackley": _Family(ackley, center=OFF_CENTER),
    "styblinski-tang": _Family(styblinski_tang),
    "michalewicz": _Family(michalewicz),
    "schwefel12": _Family(schwefel12, center=OFF_CENTER),
    "gaussian": _Family(unnormalized_gaussian, center=OFF_CENTER),
    "gaussian-mixture": _Family(gaussian_mixture),
}

ALIASES = {"ripple": "camelback-ripple", "exact-structure": "camelback-exact"}
"""Short names of the thesis's problems: the camelback with sinusoids, or with passive terms."""

TERMS: dict[str, Callable[[int], tuple[PassiveTerm, ...]]] = {
    "ripple": decreasing_ripples,
    "exact": mixed_terms,
}

STANDARD = (
    "parabola-1-in-2",
    "camelback-2-in-3",
    "camelback-2-in-5",
    "camelback-2-in-10",
    "camelback-2-in-25",
    "camelback-2-in-50-axis",
    "sinexp-2-in-5",
    "sinexp-2-in-10",
    "sinexp-2-in-25",
    "ripple-2-in-5",
    "ripple-2-in-10",
    "exact-structure-2-in-5",
    "exact-structure-2-in-10",
    "rosenbrock-5-in-10",
    "rosenbrock-5-in-25",
    "rosenbrock-ripple-5-in-10",
    "branin-2-in-10",
    "branin-2-in-20",
    "branin-2-in-25",
    "branin-2-in-100-axis",
    "hartmann6-6-in-25",
    "hartmann6-6-in-100",
    "hartmann6-6-in-100-axis",
    "parabola-1",
    "camelback-2",
    "sinexp-2",
    "branin-2",
    "hartmann6-6",
    "rosenbrock-10",
    "levy-10",
    "ackley-10",
    "styblinski-tang-10",
    "michalewicz-5",
    "michalewicz-10",
    "schwefel12-20",
    "gaussian-20",
    "gaussian-mixture-20",
)

_GRAMMAR = re.compile(
    r"(?P<stem>[a-z][a-z0-9-]*?)-(?P<d>[1-9][0-9]*)(?:-in-(?P<dim>[1-9][0-9]*)(?P<axis>-axis)?)?"
)


def problem_names() -> tuple[str, ...]:
    """Return the names of the standard problems.

    :func:`get_problem` knows more: any family of these with other numbers in its name.
    """
    return STANDARD


def get_problem(name: str, seed: SeedLike = None) -> TestProblem:
    """Make a problem from its name.

    Parameters
    ----------
    name : str
        ``<family>-<d>`` is the function itself on its own box. ``<family>-<d>-in-<D>`` hides it in
        the cube [-1, 1]^D behind a random rotation; with ``-axis`` it uses d of the D coordinates.
        After the family, ``-ripple`` adds a decreasing sinusoid along each passive direction and
        ``-exact`` other terms of one variable each; ``ripple-2-in-D`` and
        ``exact-structure-2-in-D`` are short for those of the camelback.
    seed : int, SeedSequence or None
        Draws directions; the same seed gives the same problem, and the plain and the perturbed one
        the same active subspace. Functions on their own box do not depend on it.

    Returns
    -------
    TestProblem

    Raises
    ------
    UnknownNameError
        If the name says nothing; the message suggests the nearest.
    InvalidInputError
        If the numbers in it do not fit.

    Examples
    --------
    >>> problem = get_problem("camelback-2-in-5", seed=0)
    >>> problem.dim, problem.effective_dim, round(problem.optimum, 4)
    (5, 2, -1.0316)
    """
    match = _GRAMMAR.fullmatch(name)
    stem = "" if match is None else match["stem"]
    family_name, kind = _parse_stem(ALIASES.get(stem, stem))
    family = FAMILIES.get(family_name)
    if match is None or family is None:
        near = difflib.get_close_matches(name, STANDARD, n=1, cutoff=0.0)[0]
        raise UnknownNameError(
            f"{name!r} is not the name of a problem; did you mean {near!r}? Names are "
            f"<family>-<d> or <family>-<d>-in-<D>; families: {', '.join(FAMILIES)}."
        )
    d = int(match["d"])
    if family.fixed_dim not in (None, d):
        raise InvalidInputError(
            f"{family_name} has {family.fixed_dim} variables; received {d} in {name!r}."
        )
    if match["dim"] is None:
        if kind is not None:
            raise InvalidInputError(f"Passive terms need a name with -in-<D>; received {name!r}.")
        return family.make(d)
    dim = int(match["dim"])
    inner = (family.make_embedded or family.make)(d)
    if match["axis"] is None:
        return _rotated(name, inner, dim, family.center, kind, _sequence(seed))
    if kind is not None:
        raise InvalidInputError(f"Passive terms have no axis-aligned form; received {name!r}.")
    axes = FIXED_AXES.get((family_name, dim)) or _random_axes(d, dim, name, seed)
    return Embedded(inner, dim, axes=axes, center=family.center, name=name)


def _parse_stem(stem: str) -> tuple[str, Literal["ripple", "exact"] | None]:
    """Split ``family-kind``."""
    if stem.endswith("-ripple"):
        return stem.removesuffix("-ripple"), "ripple"
    if stem.endswith("-exact"):
        return stem.removesuffix("-exact"), "exact"
    return stem, None


def _rotated(
    name: str,
    inner: TestProblem,
    dim: int,
    center: float,
    kind: Literal["ripple", "exact"] | None,
    seed: np.random.SeedSequence,
) -> TestProblem:
    """Embed by random rotation; draw again while passive terms put the optimum out of reach."""
    if kind is None:
        return Embedded(inner, dim, seed=seed, center=center, name=name)
    for attempt in range(MAX_DRAWS):
        # The first attempt has the W of the unperturbed problem of the same seed.
        outer = seed if attempt == 0 else _child(seed, attempt)
        embedded = Embedded(inner, dim, seed=outer, center=center)
        terms = TERMS[kind](dim - inner.dim)
        problem = Perturbed(embedded, terms, seed=_child(outer, MAX_DRAWS), name=name)
        if problem.optimum is not None or embedded.optimum is None:
            return problem
    raise InvalidInputError(f"No draw of directions makes the optimum of {name!r} reachable.")


def _sequence(seed: SeedLike) -> np.random.SeedSequence:
    return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


def _child(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the child of a seed sequence with the given key, without counting it as spawned."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))


def _random_axes(d: int, dim: int, name: str, seed: SeedLike) -> Sequence[int]:
    if dim < d:
        raise InvalidInputError(f"{name!r} asks for {d} of only {dim} coordinates.")
    permutation = np.random.default_rng(seed).permutation(dim)
    return [int(axis) for axis in permutation[:d]]
