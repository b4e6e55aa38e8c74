"""The families of problems that names can speak of, and how each is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

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
from .rover import rover
from .two_dimensional import bohachevsky, goldstein_price, mccormick, sine_product
from .value_range import RANGE_POINTS, value_range
from .wrappers import MAX_DRAWS

__all__ = ["FAMILIES", "Family", "child_seed", "find_family", "range_on_own_box"]

ROSENBROCK_EMBEDDED_SIDES = (-2.0, 2.0)
"""u = 2 z: on the wide box of the published function the quartic hides the valley (chosen here)."""

RASTRIGIN_EMBEDDED_SIDES = (-2.56, 2.56)
"""Half of the published box, with five wells to an axis, because eleven in three variables are more
than some hundred evaluations can tell from noise (chosen here)."""

OFF_CENTER = 0.25
"""Middle of the box of a function that has its optimum there, so that the origin is not a gift."""

WIDE = (3.0, 2.0)
"""Half of the sides of the camelback's box in the companion papers."""

COSTLY_RANGE_POINTS = 64
"""Points that the range of a function is estimated from if each takes milliseconds or more (chosen
here)."""

FUNCTION_KEY = MAX_DRAWS + 1
"""Child of the seed that draws the function itself, where one is drawn."""


@dataclass(frozen=True)
class Family:
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
        return make(d, child_seed(seed, FUNCTION_KEY)) if self.seeded else make(d)


def _task(maker: str, dim: int, *arguments: str) -> Family:
    """Return the family of a function of :mod:`synthetic.tasks`, imported when it is made."""
    return _late("tasks", maker, dim, *arguments)


def _late(
    package: str, maker: str, dim: int | None, *arguments: str, seeded: bool = False
) -> Family:
    """Return the family of a costly function, whose module is imported when it is made.

    The maker takes the arguments, then d unless that is fixed, then the seed if it is seeded.
    """

    def make(d: int, *seed: np.random.SeedSequence) -> TestProblem:
        from . import physics, tasks

        module = {"physics": physics, "tasks": tasks}[package]
        dims = () if dim is not None else (d,)
        problem: TestProblem = getattr(module, maker)(*arguments, *dims, *seed)
        return problem

    return Family(make, dim, range_points=COSTLY_RANGE_POINTS, seeded=seeded)


def _renamed(make: Callable[[int], TestProblem], family: str) -> Callable[[int], TestProblem]:
    """Return the maker of a function on another box than that of the family it belongs to."""
    return lambda d: replace(make(d), name=f"{family}-{d}")


FAMILIES: dict[str, Family] = {
    "parabola": Family(lambda d: parabola(), 1),
    "camelback": Family(lambda d: camelback(), 2),
    "sinexp": Family(lambda d: sinusoidal_exponential(), 2),
    "branin": Family(lambda d: branin(), 2),
    "hartmann6": Family(lambda d: hartmann6(), 6),
    "rosenbrock": Family(
        rosenbrock, make_embedded=partial(rosenbrock, sides=ROSENBROCK_EMBEDDED_SIDES)
    ),
    "levy": Family(levy),
    "ackley": Family(ackley, center=OFF_CENTER),
    "ackley-off-center": Family(ackley_off_center),
    "styblinski-tang": Family(styblinski_tang),
    "michalewicz": Family(michalewicz, make_embedded=partial(michalewicz, clipped=True)),
    "schwefel12": Family(schwefel12, center=OFF_CENTER),
    "gaussian": Family(unnormalized_gaussian, center=OFF_CENTER),
    "gaussian-mixture": Family(gaussian_mixture),
    "griewank": Family(griewank, center=OFF_CENTER),
    "rastrigin": Family(
        rastrigin,
        make_embedded=partial(rastrigin, sides=RASTRIGIN_EMBEDDED_SIDES),
        center=OFF_CENTER,
    ),
    "noncontinuous-rastrigin": Family(
        noncontinuous_rastrigin,
        make_embedded=partial(noncontinuous_rastrigin, sides=RASTRIGIN_EMBEDDED_SIDES),
        center=OFF_CENTER,
    ),
    "terraces": Family(terraces, center=OFF_CENTER),
    "shekel": Family(lambda d: shekel(), 4),
    "easom": Family(lambda d: easom(), 2),
    "rover": Family(lambda d: rover(), 60, range_points=COSTLY_RANGE_POINTS),
    "lasso-diabetes": _task("lasso_diabetes", 65),
    "lasso-breast-cancer": _task("lasso_breast_cancer", 30),
    "lasso-simple": _task("lasso_synthetic", 60, "simple"),
    "lasso-medium": _task("lasso_synthetic", 100, "medium"),
    "lasso-high": _task("lasso_synthetic", 300, "high"),
    "kernel-digits": _task("kernel_digits", 64),
    "boosting-diabetes": _task("boosting_diabetes", 11),
    "matern": Family(
        matern_sample, make_embedded=partial(matern_sample, clipped=True), seeded=True
    ),
    "gabor": Family(lambda d, seed: gabor(seed), 289, seeded=True),
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
    "smooth-t1": Family(lambda d: smooth_t1(), 1),
    "steps-t2": Family(lambda d: steps_t2(), 1),
    "branches-t3": Family(lambda d: branches_t3(), 1),
    "branches-t3-unique": Family(lambda d: branches_t3(T3_BOWL), 1),
    "anisotropic-t4": Family(lambda d: anisotropic_t4(), 1),
    "anisotropic-t4-inner": Family(lambda d: anisotropic_t4(T4_WALL), 1),
    "two-waves": Family(lambda d: two_waves(), 1),
    "forrester": Family(lambda d: forrester(), 1),
    "wavy-parabola": Family(lambda d: wavy_parabola(), 1),
    "mccormick": Family(lambda d: mccormick(), 2),
    "goldstein-price": Family(lambda d: goldstein_price(), 2),
    "bohachevsky": Family(lambda d: bohachevsky(), 2, center=OFF_CENTER),
    "sine-product": Family(lambda d: sine_product(), 2),
    "hartmann3": Family(lambda d: hartmann3(), 3),
    "camelback-wide": Family(_renamed(lambda d: camelback(WIDE), "camelback-wide"), 2),
    "levy-wide": Family(_renamed(partial(levy, sides=(-15.0, 10.0)), "levy-wide")),
    "rosenbrock-narrow": Family(
        _renamed(partial(rosenbrock, sides=(-2.048, 2.048)), "rosenbrock-narrow")
    ),
}


def find_family(name: str) -> Family | None:
    """Return a family by its name, None if there is none."""
    drawn = parse_bbob(name)
    return FAMILIES.get(name) if drawn is None else _bbob_family(*drawn)


@lru_cache(maxsize=128)
def _bbob_family(number: int, instance: int) -> Family:
    return Family(lambda d: bbob(number, d, instance))


def range_on_own_box(family: Family, d: int, embedded: bool, seed: np.random.SeedSequence) -> float:
    """Return the range of a function itself; embedded ones may have another box of their own."""
    if family.seeded:
        return value_range(family.problem(d, embedded, seed), family.range_points)
    return _range_without_seed(family, d, embedded)


@lru_cache(maxsize=128)
def _range_without_seed(family: Family, d: int, embedded: bool) -> float:
    problem = family.problem(d, embedded, np.random.SeedSequence(0))
    return value_range(problem, family.range_points)


def child_seed(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the child of a seed sequence with the given key, without counting it as spawned."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
