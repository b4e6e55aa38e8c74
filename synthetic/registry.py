"""Problems by name: ``<family>[-ripple | -exact]-<d>[-in-<D>[-axis]][-noise<percent>]``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.typing import SeedLike

from ._families import FAMILIES, child_seed, find_family, range_on_own_box
from .base import TestProblem
from .passive_terms import PassiveTerm, decreasing_ripples, mixed_terms
from .wrappers import MAX_DRAWS, Embedded, Noisy, Perturbed

__all__ = ["get_problem", "problem_names"]

FIXED_AXES = {
    ("hartmann6", 100): (19, 14, 43, 37, 66, 3),
    ("hartmann6", 1000): (190, 140, 430, 370, 660, 30),
    ("branin", 100): (19, 64),
}
"""Coordinates of the axis-aligned benchmarks of Letham et al. (2020), whatever the seed."""

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
    "hartmann6-6-in-1000",
    "hartmann6-6-in-1000-axis",
    "michalewicz-2-in-10",
    "michalewicz-5-in-20",
    "levy-4-in-20",
    "griewank-3-in-20",
    "ackley-5-in-25",
    "rastrigin-3-in-20",
    "noncontinuous-rastrigin-3-in-15",
    "terraces-3-in-15",
    "shekel-4-in-20",
    "easom-2-in-10",
    "parabola-1",
    "camelback-2",
    "sinexp-2",
    "branin-2",
    "hartmann6-6",
    "rosenbrock-10",
    "rosenbrock-20",
    "levy-10",
    "ackley-10",
    "ackley-20",
    "ackley-off-center-20",
    "styblinski-tang-10",
    "styblinski-tang-20",
    "michalewicz-5",
    "michalewicz-10",
    "schwefel12-20",
    "gaussian-20",
    "gaussian-mixture-20",
    "rover-60",
    "lasso-diabetes-65",
    "lasso-breast-cancer-30",
    "lasso-simple-60",
    "lasso-medium-100",
    "lasso-high-300",
    "kernel-digits-64",
    "boosting-diabetes-11",
    "matern-2-in-10",
    "matern-3-in-20",
    "matern-2-in-100",
    "gabor-289",
    "elliptic-long-100",
    "elliptic-short-100",
    "granular-95",
    "supernovae-9",
    "alloy-13",
    "forest-digits-14",
    "cascade-digits-10",
    "completion-digits-3",
    "svm-breast-cancer-2",
    "accelerator-5",
    "accelerator-20",
    "accelerator-40",
)

_GRAMMAR = re.compile(
    r"(?P<stem>[a-z][a-z0-9-]*?)-(?P<d>[1-9][0-9]*)(?:-in-(?P<dim>[1-9][0-9]*)(?P<axis>-axis)?)?"
    r"(?:-noise(?P<percent>0[1-9]|[1-9][0-9]))?"
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
        ``exact-structure-2-in-D`` are short for those of the camelback. At the end, ``-noise01`` to
        ``-noise99`` add noise of that many per cent of the function's range.
    seed : int, SeedSequence or None
        Draws directions; the same seed gives the same problem, and the plain and the perturbed one
        the same active subspace. Of functions on their own box, samples of a process (``matern``),
        the filter of ``gabor`` and the errors of an ``accelerator`` depend on it, the others do
        not; of the BBOB functions, ``bbob-f<1 to 24>[-i<instance>]-<d>``, the instance says all.

    Returns
    -------
    TestProblem

    Raises
    ------
    UnknownNameError
        If the name says nothing; the message suggests the nearest.
    InvalidInputError
        If the numbers in it do not fit.
    ImportError
        If the problem needs scikit-learn, highspy or ioh and that is not installed.

    Notes
    -----
    The range that noise is measured by is that of the function on its own box, without passive
    terms, whatever it is embedded in (:func:`synthetic.value_range.value_range`): a rotated quartic
    reaches values far out that have nothing to do with what there is to find. It is estimated from
    4096 points, 64 where an evaluation takes milliseconds or more.

    Examples
    --------
    >>> problem = get_problem("camelback-2-in-5", seed=0)
    >>> problem.dim, problem.effective_dim, round(problem.optimum, 4)
    (5, 2, -1.0316)
    """
    match = _GRAMMAR.fullmatch(name)
    stem = "" if match is None else match["stem"]
    family_name, kind = _parse_stem(ALIASES.get(stem, stem))
    family = find_family(family_name)
    if match is None or family is None:
        near = difflib.get_close_matches(name, STANDARD, n=1, cutoff=0.0)[0]
        raise UnknownNameError(
            f"{name!r} is not the name of a problem; did you mean {near!r}? Names are "
            "<family>-<d> or <family>-<d>-in-<D>, and -noise01 or -noise10 after them; families: "
            f"{', '.join(FAMILIES)}, bbob-f<1 to 24> and bbob-f<1 to 24>-i<instance>."
        )
    d, sequence = int(match["d"]), _sequence(seed)
    if family.fixed_dim not in (None, d):
        raise InvalidInputError(
            f"{family_name} has {family.fixed_dim} variables; received {d} in {name!r}."
        )
    if match["percent"] is not None:
        noiseless = get_problem(name.removesuffix(f"-noise{match['percent']}"), sequence)
        share = int(match["percent"]) / 100.0
        spread = range_on_own_box(family, d, match["dim"] is not None, sequence)
        return Noisy(noiseless, share * spread, name=name)
    if match["dim"] is None:
        if kind is not None:
            raise InvalidInputError(f"Passive terms need a name with -in-<D>; received {name!r}.")
        return family.problem(d, False, sequence)
    dim = int(match["dim"])
    inner = family.problem(d, True, sequence)
    if match["axis"] is None:
        return _rotated(name, inner, dim, family.center, kind, sequence)
    if kind is not None:
        raise InvalidInputError(f"Passive terms have no axis-aligned form; received {name!r}.")
    axes = FIXED_AXES.get((family_name, dim)) or _random_axes(d, dim, name, sequence)
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
        outer = seed if attempt == 0 else child_seed(seed, attempt)
        embedded = Embedded(inner, dim, seed=outer, center=center)
        terms = TERMS[kind](dim - inner.dim)
        problem = Perturbed(embedded, terms, seed=child_seed(outer, MAX_DRAWS), name=name)
        if problem.optimum is not None or embedded.optimum is None:
            return problem
    raise InvalidInputError(f"No draw of directions makes the optimum of {name!r} reachable.")


def _sequence(seed: SeedLike) -> np.random.SeedSequence:
    return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


def _random_axes(d: int, dim: int, name: str, seed: np.random.SeedSequence) -> Sequence[int]:
    if dim < d:
        raise InvalidInputError(f"{name!r} asks for {d} of only {dim} coordinates.")
    permutation = np.random.default_rng(seed).permutation(dim)
    return [int(axis) for axis in permutation[:d]]
