"""The named experiments: problem, budget, methods, initial design."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.validation import suggest

if TYPE_CHECKING:
    from synthetic.base import TestProblem

__all__ = [
    "DEFAULT_METHODS",
    "DEFAULT_SEEDS",
    "EXPERIMENTS",
    "GROUPS",
    "HELD_ASIDE",
    "OPTIMISATION_TABLE",
    "Experiment",
    "get_experiment",
    "named_problem",
]

DEFAULT_METHODS = ("boring", "boring-thesis", "rembo", "gp", "sobol", "random")
DEFAULT_SEEDS = 20
"""Paired seeds; fewer leave the quartiles too uncertain to compare methods."""

OWN_INITIAL_DESIGN = ("boring-thesis",)
"""Methods whose initial design is part of what they are, and is not replaced by the shared one."""

GIVEN_DIMENSION = ("boring-thesis", "rembo")
"""Methods that are told the true effective dimension; the default of BORING finds its own."""

OPTIMISATION_TABLE = ("camelback-2-in-5", "camelback-2-in-10", "rosenbrock-5-in-10")
"""The experiments of the table in the README and of the benchmark."""


@dataclass(frozen=True)
class Experiment:
    """A problem with a budget and the methods to be compared on it.

    Parameters
    ----------
    name : str
    make_problem : callable
        Takes a seed and returns the problem instance of that seed; a module-level function or a
        partial of one, so that it can be sent to another process.
    budget : int
        Evaluations of each run.
    n_initial : int
        Points of the initial design that the methods share.
    methods : tuple of str
        Registered names.
    options : mapping of str to mapping
        Options by method. ``n_initial`` among them replaces the shared one; None there lets the
        method choose.
    description : str
        One line for the list.

    Raises
    ------
    InvalidInputError
        If the budget is not positive, or the initial design is empty or longer than the budget.
    """

    name: str
    make_problem: Callable[[int], TestProblem]
    budget: int
    n_initial: int
    methods: tuple[str, ...] = DEFAULT_METHODS
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise InvalidInputError(f"budget must be at least 1; received {self.budget}.")
        if not 1 <= self.n_initial <= self.budget:
            raise InvalidInputError(
                f"n_initial must lie between 1 and the budget of {self.budget}; received "
                f"{self.n_initial}. Raise the budget or shorten the initial design."
            )

    def problem(self, seed: int) -> TestProblem:
        """Return the problem instance of a seed."""
        return self.make_problem(seed)

    def options_of(self, method: str) -> Mapping[str, Any]:
        """Return the options that the experiment gives to a method."""
        return self.options.get(method, {})

    def with_budget(self, budget: int | None) -> Experiment:
        """Return the experiment with another budget; None changes nothing."""
        return self if budget is None else dataclasses.replace(self, budget=budget)


def named_problem(name: str, seed: int) -> TestProblem:
    """Return the problem of the registry of that name, for a seed."""
    from synthetic.registry import get_problem

    return get_problem(name, seed)


def _standard(
    name: str, budget: int, n_initial: int, effective_dim: int | None, description: str
) -> Experiment:
    """Return the experiment on a problem of the registry; None: no subspace to be told of."""
    options: dict[str, dict[str, Any]] = {}
    methods: tuple[str, ...] = DEFAULT_METHODS
    if effective_dim is None:
        methods = tuple(method for method in methods if method not in GIVEN_DIMENSION)
    else:
        options = {method: {"effective_dim": effective_dim} for method in GIVEN_DIMENSION}
    for method in OWN_INITIAL_DESIGN:
        options.setdefault(method, {})["n_initial"] = None
    return Experiment(
        name=name,
        make_problem=partial(named_problem, name),
        budget=budget,
        n_initial=n_initial,
        methods=methods,
        options=options,
        description=description,
    )


def _noisy(quiet: Experiment, percent: int) -> Experiment:
    """Return the same experiment with noise of so many per cent of the function's range."""
    name = f"{quiet.name}-noise{percent:02d}"
    return dataclasses.replace(
        quiet,
        name=name,
        make_problem=partial(named_problem, name),
        description=f"{quiet.description}; noise of {percent} % of the range",
    )


_THESIS = (
    _standard("camelback-2-in-5", 60, 8, 2, "six-hump camelback on a hidden plane of 5 inputs"),
    _standard("camelback-2-in-10", 100, 10, 2, "the same in 10 inputs; thesis 5.2, setting 2"),
    _standard("sinexp-2-in-5", 60, 8, 2, "sinusoidal-exponential; thesis 5.3.2, function 3"),
    _standard("ripple-2-in-5", 60, 8, 2, "camelback with ripples along every other direction"),
    _standard("rosenbrock-5-in-10", 150, 10, 5, "a curved valley; thesis 5.3.2, function 4"),
    _standard("branin-2-in-25", 100, 10, 2, "Branin on a hidden plane of 25 inputs"),
    _standard("parabola-1-in-2", 30, 5, 1, "the thesis's easiest; 5.3.2, function 1"),
    _standard("camelback-2-in-3", 40, 6, 2, "2-D function in 3-D; thesis 5.2, setting 1"),
    _standard("rosenbrock-5-in-25", 200, 10, 5, "5-D function in 25-D; thesis 5.2, setting 3"),
    _standard("exact-structure-2-in-5", 80, 8, 2, "the thesis's model itself; 5.2, setting 4"),
    _standard("exact-structure-2-in-10", 120, 10, 2, "the same in 10 inputs"),
    _standard("hartmann6-6-in-25", 200, 10, 6, "Hartmann's six variables, rotated in 25 inputs"),
)

# Definitions and budgets of Letham et al. (2020); the first is not among theirs.
_HIGH_DIMENSIONAL = (
    _standard("hartmann6-6-in-100", 200, 10, 6, "Hartmann's six variables, rotated in 100 inputs"),
    _standard("hartmann6-6-in-1000", 200, 10, 6, "the same on a random subspace of 1000 inputs"),
    _standard("branin-2-in-100-axis", 50, 10, 2, "Branin on two of 100 inputs; ALEBO's study"),
    _standard("hartmann6-6-in-100-axis", 200, 10, 6, "Hartmann on six of 100; ALEBO's study"),
    _standard("hartmann6-6-in-1000-axis", 200, 10, 6, "Hartmann on six of 1000; ALEBO's study"),
)

# Budgets chosen here: 200 evaluations, where the published curves have done most of their falling.
_NO_SUBSPACE = (
    _standard("ackley-20", 200, 10, None, "Ackley in 20 inputs, optimum in the middle of the box"),
    _standard("ackley-off-center-20", 200, 10, None, "Ackley on [-5, 10]^20, optimum off centre"),
    _standard("styblinski-tang-20", 200, 10, None, "a sum of 20 quartics with two wells each"),
    _standard("rosenbrock-20", 200, 10, None, "a curved valley through 20 inputs"),
)

# Many wells, plateaus, cliffs, a needle: where a search gets stuck. Budgets chosen here.
_MULTIMODAL = (
    _standard("michalewicz-2-in-10", 100, 10, 2, "two narrow valleys that cross, flat elsewhere"),
    _standard("michalewicz-5-in-20", 150, 10, 5, "five narrow valleys, flat elsewhere"),
    _standard("levy-4-in-20", 150, 10, 4, "Levy's ripples on a bowl of four variables"),
    _standard("griewank-3-in-20", 150, 10, 3, "ripples on a bowl too shallow to lead anywhere"),
    _standard("ackley-5-in-25", 150, 10, 5, "Ackley's cusp among ripples, five variables"),
    _standard("shekel-4-in-20", 150, 10, 4, "Shekel's ten wells, the deepest one narrow"),
    _standard("easom-2-in-10", 100, 10, 2, "a needle in a plain"),
    _standard("terraces-3-in-15", 100, 10, 3, "a bowl in steps, flat between them"),
    _standard("noncontinuous-rastrigin-3-in-15", 150, 10, 3, "wells and flats between cliffs"),
)

# Budgets as those of their kin.
_ASIDE = (
    _standard("levy-4-in-30", 150, 10, 4, "held aside: Levy's ripples in 30 inputs"),
    _standard("levy-2-in-100", 150, 10, 2, "held aside: Levy's ripples in 100 inputs"),
    _standard("michalewicz-2-in-15", 100, 10, 2, "held aside: narrow valleys in 15 inputs"),
    _standard("griewank-3-in-40", 150, 10, 3, "held aside: Griewank's ripples in 40 inputs"),
    _standard("rastrigin-3-in-20", 150, 10, 3, "held aside: Rastrigin's wells in 20 inputs"),
)

HELD_ASIDE = tuple(experiment.name for experiment in _ASIDE)
"""Nothing is tuned on these: they tell how well a choice made on the others carries over."""

_TASKS = (
    _standard("rover-60", 200, 10, None, "path of a rover between obstacles, 30 points"),
    _standard("lasso-diabetes-65", 200, 10, None, "penalties of a weighted Lasso, quadratic terms"),
    _standard(
        "lasso-breast-cancer-30", 200, 10, None, "penalties of a weighted Lasso, 30 features"
    ),
    _standard("lasso-medium-100", 200, 10, None, "LassoBench's design, 5 of 100 features matter"),
    _standard("lasso-high-300", 200, 10, None, "LassoBench's design, 15 of 300 features matter"),
    _standard("kernel-digits-64", 200, 10, None, "pixel weights of a kernel machine on digits"),
    _standard("boosting-diabetes-11", 100, 10, None, "hyperparameters of gradient boosting"),
)

# The list in appendix A of the thesis, as far as it is not among the others; budgets chosen here.
_APPENDIX = (
    _standard("matern-2-in-10", 100, 10, 2, "sample of a Gaussian process, 2 of 10 inputs; A.1"),
    _standard("matern-3-in-20", 150, 10, 3, "the same, 3 of 20 inputs; A.1"),
    _standard("matern-2-in-100", 150, 10, 2, "the same, 2 of 100 inputs; A.6"),
    _standard("gabor-289", 100, 10, 1, "picture that a neuron likes, 17 x 17 pixels; A.7"),
    _standard("elliptic-long-100", 100, 10, None, "diffusion, smooth medium, 100 terms; A.12"),
    _standard("elliptic-short-100", 100, 10, None, "diffusion, rough medium, 100 terms; A.12"),
    _standard("granular-95", 150, 10, None, "chain of 47 beads that shields a wall; A.13"),
    _standard("supernovae-9", 100, 10, None, "cosmology from supernovae, synthetic data; A.16"),
    _standard("completion-digits-3", 50, 6, None, "completion of images; A.17"),
    _standard("cascade-digits-10", 100, 10, None, "cascade of classifiers on digits; A.21"),
    _standard("alloy-13", 100, 10, None, "mixture of 13 elements on a simplex; A.22"),
    _standard("forest-digits-14", 100, 10, None, "forest on pixel differences; A.10"),
    _standard("accelerator-5", 100, 8, None, "beam line of 5 knobs with noise; 5.2, setting 5"),
    _standard("accelerator-20", 150, 10, None, "the same with 20 knobs"),
    _standard("accelerator-40", 200, 10, None, "the same with 40 knobs"),
)

_QUIET = (
    *_THESIS,
    *_HIGH_DIMENSIONAL,
    *_NO_SUBSPACE,
    *_MULTIMODAL,
    *_ASIDE,
    *_TASKS,
    *_APPENDIX,
)

NOISE_PERCENT = (1, 10)
"""Standard deviation of the noise, per cent of the range of the function on its own box."""

NOISY = (
    "camelback-2-in-5",
    "camelback-2-in-10",
    "sinexp-2-in-5",
    "rosenbrock-5-in-10",
    "branin-2-in-25",
    "hartmann6-6-in-25",
    "hartmann6-6-in-100-axis",
    "styblinski-tang-20",
    "levy-4-in-20",
    "griewank-3-in-20",
    "shekel-4-in-20",
    "terraces-3-in-15",
    "lasso-diabetes-65",
    "kernel-digits-64",
    "matern-3-in-20",
    "matern-2-in-100",
    "supernovae-9",
    "alloy-13",
)
"""The third of the problems that there is with noise as well, of every kind some; the accelerators
have noise of their own."""

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *_QUIET,
        *(_noisy(quiet, p) for quiet in _QUIET if quiet.name in NOISY for p in NOISE_PERCENT),
    )
}
"""By name. SwissFEL (thesis 5.2, setting 5) was never published; the accelerators stand in for it.
The tuning of a solver, problem ``mip-highs-47``, is not among them, because it needs the extra
``mip``."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(experiment.name for experiment in members)
    for group, members in {
        "thesis": _THESIS,
        "high-dimensional": _HIGH_DIMENSIONAL,
        "no-subspace": _NO_SUBSPACE,
        "multimodal": _MULTIMODAL,
        "aside": _ASIDE,
        "tasks": _TASKS,
        "appendix": _APPENDIX,
    }.items()
} | {"noisy": tuple(name for name in EXPERIMENTS if "-noise" in name)}
"""Names of the experiments of each kind. Every experiment is in one group."""


def get_experiment(name: str) -> Experiment:
    """Return a named experiment.

    Raises
    ------
    UnknownNameError
        If there is none of that name; the message suggests the nearest.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError(f"There is no experiment {name!r}. {suggest(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
