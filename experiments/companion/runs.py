"""The named runs: what each consists of, paper by paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boring.exceptions import UnknownNameError
from boring.validation import suggest

from ..config import Experiment, named_problem
from ..ranking import ranking_table
from ..records import RunRecord
from ..thesis.study import Study
from ..variants import base_of
from .groups import group_tables
from .methods import registered
from .ratio import ratio_study
from .regression import functions_study, waves_study
from .seconds import seconds_study
from .tables import against_random_table, learned, observed_table, subspace_table

if TYPE_CHECKING:
    from synthetic.base import TestProblem

__all__ = ["QUICK_STEPS", "RUNS", "CompanionRun", "get_run"]

QUICK_STEPS = 2
"""Evaluations after the initial design in the quick version: some methods take seconds for each."""

Table = Callable[[Sequence[RunRecord]], str]


@dataclass(frozen=True)
class CompanionRun:
    """What one name stands for.

    Parameters
    ----------
    name, title : str
    about : str
        For the report: source, protocol, and what differs from it.
    experiments : tuple of Experiment
    methods : callable
        Returns the methods wanted, registered or not.
    reference : str
        Method that the tables pair the others with.
    tables : tuple of callable
        Markdown from all records, beside the table of each experiment.
    studies : callable, optional
        Returns the studies, of the methods given.
    quick : tuple of str
        Experiments of the quick version.
    """

    name: str
    title: str
    about: str
    experiments: tuple[Experiment, ...] = ()
    methods: Callable[[], tuple[str, ...]] = tuple
    reference: str = "random"
    tables: tuple[Table, ...] = ()
    studies: Callable[[Sequence[str]], tuple[Study, ...]] = lambda methods: ()
    quick: tuple[str, ...] = ()

    def quick_experiments(self) -> tuple[Experiment, ...]:
        """Return those of the quick version, with its budget."""
        few = (one for one in self.experiments if one.name in self.quick)
        return tuple(one.with_budget(one.n_initial + QUICK_STEPS) for one in few)


def _listed(*names: str) -> Callable[[], tuple[str, ...]]:
    return lambda: names


def _on(names: Iterable[str], budget: int, n_initial: int) -> tuple[Experiment, ...]:
    """Return the experiments on problems of the registry."""
    return tuple(
        Experiment(name, partial(named_problem, name), budget, n_initial) for name in names
    )


def _instance(number: int, dim: int, seed: int) -> TestProblem:
    """Return the instance of a seed: the k-th trial of BBOB is on the k-th instance."""
    from synthetic.registry import get_problem

    return get_problem(f"bbob-f{number}-i{seed + 1}-{dim}")


BOHAMIANN = "bohamiann[n_burn_in=1000,n_draws=200,thin=10]"
"""With the chain of Kruse's table 5.1: 1000 steps of burn-in, every tenth of 2000."""

KRUSE = ("kde", "gmr", "spn", "bnn-nuts", BOHAMIANN)
KRUSE_BO = ("smooth-t1-1", "steps-t2-1", "branches-t3-unique-1", "anisotropic-t4-inner-1")
KRUSE_BBOB = tuple(f"bbob-f{number}-{dim}" for dim in (2, 3, 5) for number in (3, 9, 15, 21))

_MIXTURES_REGRESSION = CompanionRun(
    name="mixtures-regression",
    title="Mixtures and networks as regressions",
    about=(
        "Kruse (MSc thesis, DTU 2022), figures 6.1 to 6.8, 6.12 and B.2 to B.5: T1 to T4 and four "
        "BBOB functions (instance 1), ten seeds there. `bnn-nuts` has Aryan's one hidden layer, "
        "not Kruse's three; the other network has Kruse's chain."
    ),
    methods=_listed("gp", *KRUSE),
    studies=lambda methods: (
        functions_study(
            (
                "smooth-t1-1",
                "steps-t2-1",
                "branches-t3-1",
                "anisotropic-t4-1",
                *KRUSE_BBOB,
            ),
            methods,
            quick=("smooth-t1-1, 15", "smooth-t1-1, 36", "branches-t3-1, 15"),
        ),
    ),
)

_MIXTURES_BO = CompanionRun(
    name="mixtures-bo",
    title="Mixtures and networks in Bayesian optimisation",
    about=(
        "Kruse, figures 6.10 and 6.13 to 6.15: 5 initial points and 35 evaluations, 40 in one "
        "variable, 20 seeds. The variants of T3 and T4 are this project's, because the thesis's "
        "are lost. On T3 a regret is that of the lower branch at the best point; what was observed "
        "stands in a table of its own."
    ),
    experiments=(
        *_on(KRUSE_BO, 40, 5),
        *_on(KRUSE_BBOB, 35, 5),
    ),
    methods=_listed("random", "gp", *KRUSE),
    tables=(
        ranking_table,
        lambda records: observed_table(r for r in records if "branches" in r.experiment),
    ),
    quick=("smooth-t1-1", "branches-t3-unique-1", "bbob-f3-2"),
)

RATIOS = ("tpe", "kde-ratio", "bore-mlp", "bore-forest", "bore-trees", "bore-svm", "boggn")

_DENSITY_RATIO = CompanionRun(
    name="density-ratio",
    title="Density ratios",
    about=(
        "BORE, TPE and BOGGN: a known ratio (figure 1 of the density-ratio paper), then its "
        "synthetic functions: 10 initial "
        "points, 50 evaluations, 200 seeds there; gamma as each method has it. Pairs are with "
        "BOGGN, which the paper has first."
    ),
    experiments=_on(("branin-2", "camelback-wide-2", "hartmann3-3", "hartmann6-6"), 50, 10),
    methods=_listed("random", "gp", *RATIOS),
    reference="boggn",
    studies=lambda methods: (ratio_study([m for m in methods if m in RATIOS]),),
    tables=(partial(against_random_table, counts=(25, 50)), ranking_table),
    quick=("branin-2",),
)

GP_EI = "conditional-map[infill=acquisition]"
"""The plain GP in the loop of the other surrogates: their options mean the same."""
GP_UCB = "conditional-map[acquisition=ucb,infill=acquisition]"

BNN = ("bnn-hmc", "bnn-nuts", "bohamiann", "bnn-vi")


def _waves(sizes: tuple[int, ...], methods: Sequence[str]) -> tuple[Study, ...]:
    """Return the study of two waves for the networks among the methods, and the GP."""
    networks = dict.fromkeys(base_of(m) for m in methods if base_of(m) in (*BNN, "ivbnn"))
    return (waves_study(sizes, ("gp", *networks)),)


_BNN = CompanionRun(
    name="bnn",
    title="Networks sampled by Hamiltonian Monte Carlo",
    about=(
        "Agrawal (project report, Cambridge 2016): the sinusoid of figures 7 to 10, and the "
        "benchmark of figure 12, 50 repeats, 2 or 5 initial points; 20 and 25 proposals here. "
        "Surrogate and acquisition are crossed, because the report compares a network with LCB to "
        f"a process with EI. `{GP_EI}` is the plain GP in the loop of the networks."
    ),
    experiments=(
        *_on(("forrester-1",), 22, 2),
        *_on(("rosenbrock-narrow-2", "mccormick-2", "camelback-wide-2"), 30, 5),
    ),
    methods=_listed(
        "random",
        GP_EI,
        GP_UCB,
        "bnn-hmc[acquisition=log-ei,prior=gaussian,prior_scale=1]",
        "bnn-hmc[acquisition=ucb,prior=gaussian,prior_scale=1]",
        "bnn-hmc",
        "bnn-nuts",
        "bohamiann",
        "bnn-vi",
    ),
    reference=GP_EI,
    tables=(ranking_table,),
    studies=partial(_waves, (20,)),
    quick=("forrester-1",),
)

ARYAN_FUNCTIONS = (
    "bohachevsky-2",
    "branin-2",
    "camelback-wide-2",
    "goldstein-price-2",
    "hartmann3-3",
    "hartmann6-6",
    "levy-wide-10",
    "levy-wide-2",
    "levy-wide-5",
    "rosenbrock-2",
    "rosenbrock-5",
    "sine-product-2",
)


def _rvfl() -> tuple[str, ...]:
    """Return all sixteen: precision, kind, activation, with the inputs as features or without."""
    return tuple(
        f"{name}[activation={activation},precision={precision},skip={skip}]"
        for precision in ("learned", "fixed")
        for name in ("rvfl-bayesian", "rvfl-ensemble")
        for activation in ("tanh", "relu")
        for skip in (False, True)
    )


_RANDOM_FEATURES = CompanionRun(
    name="random-features",
    title="Networks with random features",
    about=(
        "Aryan (PhD thesis, Victoria University of Wellington 2020), ch. 4, tables 4.2 to 4.9: "
        "twelve functions, 2 initial points, 200 evaluations, 30 runs, Friedman's ranks and Borda. "
        "Random forest and a sampled GP are not among the methods here."
    ),
    experiments=_on(ARYAN_FUNCTIONS, 200, 2),
    methods=lambda: ("random", "gp", "bohamiann", *_rvfl()),
    tables=(ranking_table,),
    quick=("branin-2", "goldstein-price-2"),
)

TUNING = (
    "svm-breast-cancer-2",
    "completion-digits-3",
    "cascade-digits-10",
    "boosting-diabetes-11",
    "forest-digits-14",
)
"""In place of the nine tables of HPOlib, which cannot be had: real tuning on bundled data."""

_CONDITIONAL = CompanionRun(
    name="conditional",
    title="Conditional MAP as infill",
    about=(
        "Aryan, ch. 5, table 5.1: surrogates with expected improvement and with 'cl', 2 initial "
        "points, 50 evaluations, 30 runs; tuning on bundled data in place of HPOlib's tables. "
        f"`{GP_EI}` is the plain GP with expected improvement."
    ),
    experiments=_on(TUNING, 50, 2),
    methods=_listed(
        "random",
        GP_EI,
        "conditional-map",
        "conditional-map[infill=one-stage]",
        "rvfl-bayesian",
        "rvfl-bayesian[infill=conditional-map]",
        "bohamiann",
        "bohamiann[infill=conditional-map]",
    ),
    reference=GP_EI,
    tables=(ranking_table,),
    quick=("svm-breast-cancer-2",),
)

_IMPLICIT = CompanionRun(
    name="implicit",
    title="Implicit networks",
    about=(
        "Aryan, ch. 6, tables 6.2 to 6.4 and figure 6.8: 2 initial points, 50 evaluations, 30 "
        "runs; tuning on bundled data in place of HPOlib's tables."
    ),
    experiments=_on(TUNING, 50, 2),
    methods=_listed("random", "gp", "bohamiann", "ivbnn"),
    reference="bohamiann",
    tables=(ranking_table,),
    studies=partial(_waves, (4,)),
    quick=("svm-breast-cancer-2",),
)

_BBOB = CompanionRun(
    name="bbob",
    title="Networks and random hidden layers on BBOB",
    about=(
        "Aryan, ch. 3: the 24 functions in 2, 3, 5 and 10 variables, 2 initial points, 100 "
        "evaluations, 15 trials, each on an instance of its own. Runs do not restart."
    ),
    experiments=tuple(
        Experiment(f"bbob-f{number}-{dim}-trials", partial(_instance, number, dim), 100, 2)
        for dim in (2, 3, 5, 10)
        for number in range(1, 25)
    ),
    methods=_listed(
        "random",
        "gp",
        "elm",
        "elm[acquisition=empirical-ei]",
        "bnn-nuts",
        "bnn-nuts[acquisition=empirical-ei]",
    ),
    reference="gp",
    tables=(group_tables,),
    quick=("bbob-f1-2-trials", "bbob-f21-2-trials"),
)

_CONFORMANCE = CompanionRun(
    name="conformance",
    title="Against random search",
    about=(
        "Every companion method on Branin and Hartmann6: 10 initial points, 50 and 100 "
        "evaluations, 20 seeds."
    ),
    experiments=_on(("branin-2", "hartmann6-6"), 100, 10),
    methods=lambda: ("random", "gp", *registered()),
    tables=(partial(against_random_table, counts=(50, 100)),),
    quick=("branin-2",),
)

HYBRIDS = ("rvfl-bayesian", "elm", "bore-svm", "bore-mlp", *BNN, "ivbnn")

_SUBSPACE = CompanionRun(
    name="subspace",
    title="On a learned subspace or on x",
    about=(
        "What none of the papers tried: the surrogate of the learned Z = X W against the same on "
        "x. 10 initial points, 100 evaluations, 20 paired seeds; boring and gp for comparison."
    ),
    experiments=_on(("branin-2-in-25", "camelback-2-in-10"), 100, 10),
    methods=lambda: (
        "random",
        "gp",
        "boring",
        *(one for method in HYBRIDS for one in (method, learned(method))),
    ),
    tables=(subspace_table,),
    quick=("camelback-2-in-10",),
)

_SECONDS = CompanionRun(
    name="seconds",
    title="Seconds per suggestion",
    about="Every companion method against the plain GP.",
    methods=lambda: ("gp", *registered()),
    studies=lambda methods: (seconds_study(methods),),
)

RUNS: Mapping[str, CompanionRun] = {
    run.name: run
    for run in (
        _MIXTURES_REGRESSION,
        _MIXTURES_BO,
        _DENSITY_RATIO,
        _BNN,
        _BBOB,
        _RANDOM_FEATURES,
        _CONDITIONAL,
        _IMPLICIT,
        _CONFORMANCE,
        _SECONDS,
        _SUBSPACE,
    )
}


def get_run(name: str) -> CompanionRun:
    """Return a named run.

    Raises
    ------
    UnknownNameError
        If there is none of that name; the message suggests the nearest.
    """
    if name not in RUNS:
        raise UnknownNameError(f"There is no companion run {name!r}. {suggest(name, RUNS)}")
    return RUNS[name]
