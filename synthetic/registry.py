"""Problems by name: ``<family>[-ripple | -exact]-<d>[-in-<D>[-axis]][-noise<percent>]``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.typing import SeedLike

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
from .base import TestProblem
from .bbob import bbob, parse_bbob
from .gabor import gabor
from .gp_samples import matern_sample
from .low_dimensional import (
    branin,
    camelback,
    hartmann3,
    hartmann6,
    parabola,
    sinusoidal_exponential,
)
from .multimodal import (
    easom,
    griewank,
    noncontinuous_rastrigin,
    rastrigin,
    shekel,
    terraces,
)
from .one_dimensional import (
    T3_BOWL,
    T4_WALL,
    anisotropic_t4,
    branches_t3,
    forrester,
    smooth_t1,
    steps_t2,
    two_waves,
    wavy_parabola,
)
from .passive_terms import PassiveTerm, decreasing_ripples, mixed_terms
from .rover import rover
from .two_dimensional import bohachevsky, goldstein_price, mccormick, sine_product
from .value_range import RANGE_POINTS, value_range
from .wrappers import MAX_DRAWS, Embedded, Noisy, Perturbed

__all__ = ["get_problem", "problem_names"]

ROSENBROCK_EMBEDDED_SIDES = (-2.0, 2.0)
"""u = 2 z: on the wide box of the published function the quartic hides the valley (chosen here)."""

RASTRIGIN_EMBEDDED_SIDES = (-2.56, 2.56)
"""Half of the published box, with five wells to an axis, because eleven in three variables are more
than some hundred evaluations can tell from noise (chosen here)."""

OFF_CENTER = 0.25
"""Middle of the box of a function that has its optimum there, so that the origin is not a gift."""

FIXED_AXES = {
    ("hartmann6", 100): (19, 14, 43, 37, 66, 3),
    ("hartmann6", 1000): (190, 140, 430, 370, 660, 30),
    ("branin", 100): (19, 64),
}
"""Coordinates of the axis-aligned benchmarks of Letham et al. (2020), whatever the seed."""


WIDE = (3.0, 2.0)
"""Half of the sides of the camelback's box in the companion papers."""

COSTLY_RANGE_POINTS = 64
"""The same for problems that take milliseconds or more (chosen here)."""


@dataclass(frozen=True)
class _Family:
    """How problems are made: ``make(d)``, or ``make(d, seed)`` if the seed draws the function."""

    make: Callable[..., TestProblem]
    fixed_dim: int | None = None
    make_embedded: Callable[..., TestProblem] | None = None
    center: float = 0.0
    range_points: int = RANGE_POINTS
    seeded: bool = False

    def problem(self, d: int, embedded: bool, seed: np.random.SeedSequence) -> TestProblem:
        """Return the function itself, in the form for its own box or for an embedding."""
        make = (self.make_embedded if embedded else None) or self.make
        return make(d, _child(seed, FUNCTION_KEY)) if self.seeded else make(d)


def _task(maker: str, dim: int, *arguments: str) -> _Family:
    """Return the family of a function of :mod:`synthetic.tasks`, imported when it is made."""
    return _late("tasks", maker, dim, *arguments)


def _late(
    package: str, maker: str, dim: int | None, *arguments: str, seeded: bool = False
) -> _Family:
    """Return the family of a costly function, whose module is imported when it is made.

    The maker takes the arguments, then d unless that is fixed, then the seed if it is seeded.
    """

    def make(d: int, *seed: np.random.SeedSequence) -> TestProblem:
        from . import physics, tasks

        module = {"physics": physics, "tasks": tasks}[package]
        dims = () if dim is not None else (d,)
        problem: TestProblem = getattr(module, maker)(*arguments, *dims, *seed)
        return problem

    return _Family(make, dim, range_points=COSTLY_RANGE_POINTS, seeded=seeded)


def _renamed(make: Callable[[int], TestProblem], family: str) -> Callable[[int], TestProblem]:
    """Return the maker of a function on another box than that of the family it belongs to."""
    return lambda d: replace(make(d), name=f"{family}-{d}")


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
    "ackley-off-center": _Family(ackley_off_center),
    "styblinski-tang": _Family(styblinski_tang),
    "michalewicz": _Family(michalewicz, make_embedded=partial(michalewicz, clipped=True)),
    "schwefel12": _Family(schwefel12, center=OFF_CENTER),
    "gaussian": _Family(unnormalized_gaussian, center=OFF_CENTER),
    "gaussian-mixture": _Family(gaussian_mixture),
    "griewank": _Family(griewank, center=OFF_CENTER),
    "rastrigin": _Family(
        rastrigin,
        make_embedded=partial(rastrigin, sides=RASTRIGIN_EMBEDDED_SIDES),
        center=OFF_CENTER,
    ),
    "noncontinuous-rastrigin": _Family(
        noncontinuous_rastrigin,
        make_embedded=partial(noncontinuous_rastrigin, sides=RASTRIGIN_EMBEDDED_SIDES),
        center=OFF_CENTER,
    ),
    "terraces": _Family(terraces, center=OFF_CENTER),
    "shekel": _Family(lambda d: shekel(), 4),
    "easom": _Family(lambda d: easom(), 2),
    "rover": _Family(lambda d: rover(), 60, range_points=COSTLY_RANGE_POINTS),
    "lasso-diabetes": _task("lasso_diabetes", 65),
    "lasso-breast-cancer": _task("lasso_breast_cancer", 30),
    "lasso-simple": _task("lasso_synthetic", 60, "simple"),
    "lasso-medium": _task("lasso_synthetic", 100, "medium"),
    "lasso-high": _task("lasso_synthetic", 300, "high"),
    "kernel-digits": _task("kernel_digits", 64),
    "boosting-diabetes": _task("boosting_diabetes", 11),
    "matern": _Family(
        matern_sample, make_embedded=partial(matern_sample, clipped=True), seeded=True
    ),
    "gabor": _Family(lambda d, seed: gabor(seed), 289, seeded=True),
    "elliptic-long": _late("physics", "elliptic", 100, "long"),
    "elliptic-short": _late("physics", "elliptic", 100, "short"),
    "granular": _late("physics", "granular", None),
    "supernovae": _late("physics", "supernovae", 9),
    "alloy": _late("physics", "alloy", 13),
    "forest-digits": _task("forest_digits", 14),
    "cascade-digits": _task("cascade_digits", 10),
    "completion-digits": _task("completion_digits", 3),
    "mip-highs": _task("mip_highs", 47),
    "svm-breast-cancer": _task("svm_breast_cancer", 2),
    "accelerator": _late("physics", "accelerator", None, seeded=True),
    # Of the companion papers; their BBOB functions are found by `parse_bbob`.
    "smooth-t1": _Family(lambda d: smooth_t1(), 1),
    "steps-t2": _Family(lambda d: steps_t2(), 1),
    "branches-t3": _Family(lambda d: branches_t3(), 1),
    "branches-t3-unique": _Family(lambda d: branches_t3(T3_BOWL), 1),
    "anisotropic-t4": _Family(lambda d: anisotropic_t4(), 1),
    "anisotropic-t4-inner": _Family(lambda d: anisotropic_t4(T4_WALL), 1),
    "two-waves": _Family(lambda d: two_waves(), 1),
    "forrester": _Family(lambda d: forrester(), 1),
    "wavy-parabola": _Family(lambda d: wavy_parabola(), 1),
    "mccormick": _Family(lambda d: mccormick(), 2),
    "goldstein-price": _Family(lambda d: goldstein_price(), 2),
    "bohachevsky": _Family(lambda d: bohachevsky(), 2, center=OFF_CENTER),
    "sine-product": _Family(lambda d: sine_product(), 2),
    "hartmann3": _Family(lambda d: hartmann3(), 3),
    "camelback-wide": _Family(_renamed(lambda d: camelback(WIDE), "camelback-wide"), 2),
    "levy-wide": _Family(_renamed(partial(levy, sides=(-15.0, 10.0)), "levy-wide")),
    "rosenbrock-narrow": _Family(
        _renamed(partial(rosenbrock, sides=(-2.048, 2.048)), "rosenbrock-narrow")
    ),
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

FUNCTION_KEY = MAX_DRAWS + 1
"""Child of the seed that draws the function itself, where one is drawn."""

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
    family = _family(family_name)
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
        spread = _range_on_own_box(family, d, match["dim"] is not None, sequence)
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


def _family(name: str) -> _Family | None:
    """Return a family by its name, None if there is none."""
    drawn = parse_bbob(name)
    return FAMILIES.get(name) if drawn is None else _bbob_family(*drawn)


@lru_cache(maxsize=128)
def _bbob_family(number: int, instance: int) -> _Family:
    return _Family(lambda d: bbob(number, d, instance))


def _range_on_own_box(
    family: _Family, d: int, embedded: bool, seed: np.random.SeedSequence
) -> float:
    """Return the range of a function itself; embedded ones may have another box of their own."""
    if family.seeded:
        return value_range(family.problem(d, embedded, seed), family.range_points)
    return _range_without_seed(family, d, embedded)


@lru_cache(maxsize=128)
def _range_without_seed(family: _Family, d: int, embedded: bool) -> float:
    problem = family.problem(d, embedded, np.random.SeedSequence(0))
    return value_range(problem, family.range_points)


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


def _random_axes(d: int, dim: int, name: str, seed: np.random.SeedSequence) -> Sequence[int]:
    if dim < d:
        raise InvalidInputError(f"{name!r} asks for {d} of only {dim} coordinates.")
    permutation = np.random.default_rng(seed).permutation(dim)
    return [int(axis) for axis in permutation[:d]]
