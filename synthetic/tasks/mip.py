"""Settings of a solver of mixed-integer programs, judged by the work that it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from boring.extras import require
from boring.space import Box
from boring.typing import FloatArray

from ..base import TestProblem, WithoutGradient
from ._hyperparameter import Hyperparameter, settings

__all__ = [
    "OPTIONS",
    "Instance",
    "Run",
    "SolverWork",
    "facility_location",
    "instances",
    "knapsack",
    "mip_highs",
    "set_cover",
    "solver_options",
]

MAX_NODES = 2000
"""Nodes of the tree after which an instance counts as unsolved (chosen here)."""

PENALTY = 10.0
"""An unsolved instance counts as this many times the iterations spent on it (PAR-10)."""

GAP = 1e-4
"""Relative gap at which the solver may stop (default of HiGHS)."""

PRESOLVE_RULES = {
    "dominated_column": 5,
    "forcing_row": 6,
    "forcing_column": 7,
    "free_column_substitution": 8,
    "doubleton_equation": 9,
    "dependent_equations": 10,
    "dependent_free_columns": 11,
    "aggregator": 12,
    "parallel_rows_and_columns": 13,
    "sparsify": 14,
    "probing": 15,
    "enumeration": 16,
}
"""Bits of the option ``presolve_rule_off``."""


def _switch(name: str) -> Hyperparameter:
    return Hyperparameter(name, 0, 1, integer=True)


OPTIONS = (
    _switch("presolve"),
    _switch("primal_simplex"),
    Hyperparameter("simplex_scale_strategy", 0, 4, integer=True),
    Hyperparameter("simplex_dual_edge_weight_strategy", -1, 2, integer=True),
    Hyperparameter("simplex_primal_edge_weight_strategy", -1, 2, integer=True),
    Hyperparameter("simplex_price_strategy", 0, 3, integer=True),
    Hyperparameter("simplex_update_limit", 10, 5000, logarithmic=True, integer=True),
    Hyperparameter("dual_simplex_cost_perturbation_multiplier", 1e-3, 1e2, logarithmic=True),
    Hyperparameter("primal_simplex_bound_perturbation_multiplier", 1e-3, 1e2, logarithmic=True),
    Hyperparameter("dual_simplex_pivot_growth_tolerance", 1e-12, 1e-5, logarithmic=True),
    Hyperparameter("factor_pivot_threshold", 0.01, 0.5, logarithmic=True),
    Hyperparameter("dual_steepest_edge_weight_log_error_threshold", 1.0, 1e3, logarithmic=True),
    Hyperparameter("max_dual_simplex_cleanup_level", 0, 3, integer=True),
    Hyperparameter("max_dual_simplex_phase1_cleanup_level", 0, 3, integer=True),
    _switch("less_infeasible_DSE_check"),
    _switch("less_infeasible_DSE_choose_row"),
    Hyperparameter("presolve_pivot_threshold", 1e-3, 0.5, logarithmic=True),
    Hyperparameter("presolve_substitution_maxfillin", 0, 50, integer=True),
    _switch("mip_detect_symmetry"),
    _switch("mip_allow_restart"),
    _switch("mip_allow_cut_separation_at_nodes"),
    Hyperparameter("mip_max_start_nodes", 1, 2000, logarithmic=True, integer=True),
    Hyperparameter("mip_lp_age_limit", 1, 100, logarithmic=True, integer=True),
    Hyperparameter("mip_pool_age_limit", 1, 1000, logarithmic=True, integer=True),
    Hyperparameter("mip_pool_soft_limit", 10, 100_000, logarithmic=True, integer=True),
    Hyperparameter("mip_pscost_minreliable", 1, 100, logarithmic=True, integer=True),
    Hyperparameter("mip_lifting_for_probing", -1, 5, integer=True),
    Hyperparameter("mip_heuristic_effort", 0.001, 0.5, logarithmic=True),
    _switch("mip_heuristic_run_feasibility_jump"),
    _switch("mip_heuristic_run_rins"),
    _switch("mip_heuristic_run_rens"),
    _switch("mip_heuristic_run_root_reduced_cost"),
    _switch("mip_heuristic_run_zi_round"),
    _switch("mip_heuristic_run_shifting"),
    _switch("no_unnecessary_rebuild_refactor"),
    *(_switch(f"rule_{name}") for name in PRESOLVE_RULES),
)
"""The 47 sides of the box, by the names of HiGHS, except for ``primal_simplex`` and the ``rule_``
switches, which are bits of its options (ranges chosen here)."""

_OWN_SWITCHES = {"presolve", "primal_simplex", *(f"rule_{name}" for name in PRESOLVE_RULES)}


@dataclass(frozen=True, eq=False)
class Instance:
    """A program of variables that are 0 or 1: least ``c'x`` with ``lower <= A x <= upper``.

    Parameters
    ----------
    cost : ndarray, shape (n,)
    matrix : ndarray, shape (m, n)
    lower, upper : ndarray, shape (m,)
    """

    cost: FloatArray
    matrix: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Run:
    """What the solver reports of one instance.

    Parameters
    ----------
    iterations : int
        Of the simplex method, in all linear programs.
    nodes : int
    solved : bool
        Whether optimality was proved within :data:`MAX_NODES` nodes.
    value : float
        Best value found.
    """

    iterations: int
    nodes: int
    solved: bool
    value: float


@dataclass(frozen=True, eq=False)
class SolverWork(WithoutGradient):
    """Mean over instances of the logarithm to base 10 of one plus the iterations; it jumps.

    Simplex iterations are counted rather than seconds, so that the value is the same on every
    machine of one version of HiGHS. Work outside the linear programs, such as presolve, is not
    counted.

    Parameters
    ----------
    instances : tuple of Instance
    """

    instances: tuple[Instance, ...]

    def value(self, X: FloatArray) -> FloatArray:
        """Return the means, shape (n,)."""
        return np.array([self._value(x) for x in X], dtype=np.float64)

    def runs(self, x: FloatArray) -> list[Run]:
        """Return what the solver does on each instance, with the settings of a point (D,)."""
        return [_run(instance, solver_options(x)) for instance in self.instances]

    def _value(self, x: FloatArray) -> float:
        counts = [run.iterations * (1.0 if run.solved else PENALTY) for run in self.runs(x)]
        return float(np.mean(np.log10(1.0 + np.array(counts))))


def solver_options(x: FloatArray) -> dict[str, float | int | str]:
    """Return the options of HiGHS that a point of shape (47,) stands for."""
    chosen = settings(OPTIONS, x)
    options: dict[str, float | int | str] = {
        name: value for name, value in chosen.items() if name not in _OWN_SWITCHES
    }
    options["presolve"] = "on" if chosen["presolve"] else "off"
    options["simplex_strategy"] = 4 if chosen["primal_simplex"] else 1
    options["presolve_rule_off"] = sum(
        1 << bit for name, bit in PRESOLVE_RULES.items() if not chosen[f"rule_{name}"]
    )
    return options


def instances() -> tuple[Instance, ...]:
    """Return the instances: two knapsacks, two set covers, a location problem; always the same."""
    return (
        knapsack(5, 20, seed=0),
        knapsack(5, 25, seed=1),
        set_cover(50, 100, 0.08, seed=0),
        set_cover(50, 90, 0.08, seed=1),
        facility_location(10, 20, seed=0),
    )


def knapsack(m: int, n: int, seed: int) -> Instance:
    """Return a knapsack with m constraints, filled to half (Chu and Beasley 1998)."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(5, 100, (m, n)).astype(np.float64)
    value = weights.mean(axis=0) + rng.integers(0, 30, n)
    capacity = np.floor(0.5 * weights.sum(axis=1))
    return Instance(-value, weights, np.full(m, -np.inf), capacity)


def set_cover(m: int, n: int, density: float, seed: int) -> Instance:
    """Return a set cover: m elements, n sets that hold each with the given probability."""
    rng = np.random.default_rng(seed)
    holds = rng.random((m, n)) < density
    holds[np.arange(m), rng.integers(0, n, m)] = True  # every element is in some set
    cost = rng.integers(10, 30, n).astype(np.float64)
    return Instance(cost, holds.astype(np.float64), np.ones(m), np.full(m, np.inf))


def facility_location(m: int, n: int, seed: int) -> Instance:
    """Return a location problem: m sites of limited capacity, n customers with one site each."""
    rng = np.random.default_rng(seed)
    sites, customers = rng.random((m, 2)), rng.random((n, 2))
    demand = rng.integers(5, 20, n).astype(np.float64)
    capacity = rng.integers(30, 60, m).astype(np.float64)
    capacity *= 1.8 * demand.sum() / capacity.sum()
    distance = np.linalg.norm(sites[:, np.newaxis] - customers, axis=2)
    opening = rng.integers(20, 60, m).astype(np.float64)
    served = np.hstack((np.zeros((n, m)), np.tile(np.eye(n), (1, m))))
    load = np.hstack((-np.diag(capacity), np.kron(np.eye(m), demand)))
    return Instance(
        cost=np.concatenate((opening, (10.0 * distance * demand).ravel())),
        matrix=np.vstack((served, load)),
        lower=np.concatenate((np.ones(n), np.full(m, -np.inf))),
        upper=np.concatenate((np.ones(n), np.zeros(m))),
    )


def mip_highs() -> TestProblem:
    """Return the tuning of the mixed-integer solver HiGHS, D = 47, minimised.

    Raw units: those of :data:`OPTIONS`, logarithms to base 10 where it says so, switches from 0 to
    1 and rounded. Units of y: logarithm to base 10 of simplex iterations. Some 0.5 s an evaluation
    on one core.

    Raises
    ------
    ImportError
        If highspy is not installed; the message names the extra.

    Notes
    -----
    Hutter et al. (2010) and Wang et al. (2016) tune 47 discrete parameters of lp_solve by the gap
    that it leaves after five seconds. Here: 47 options of HiGHS, of which 26 are switches, on five
    small programs that are generated, and iterations in place of seconds. Other versions of HiGHS
    give other values. HiGHS 1.16 writes two lines about its licence to standard output, once a
    process, before any option can keep it from it.
    """
    _highspy()  # missing here rather than at the first evaluation
    sides = [option.bounds for option in OPTIONS]
    return TestProblem(
        name=f"mip-highs-{len(sides)}",
        space=Box.from_bounds(sides),
        formula=SolverWork(instances()),
    )


def _highspy() -> Any:
    return require("highspy", "mip", "The tuning of a mixed-integer solver")


def _run(instance: Instance, options: dict[str, float | int | str]) -> Run:
    highspy = _highspy()
    m, n = instance.matrix.shape
    rows = csr_array(instance.matrix)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n, m
    program.col_cost_ = instance.cost
    program.col_lower_, program.col_upper_ = np.zeros(n), np.ones(n)
    program.row_lower_, program.row_upper_ = instance.lower, instance.upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = rows.indptr, rows.indices
    program.a_matrix_.value_ = rows.data
    program.integrality_ = [highspy.HighsVarType.kInteger] * n
    solver = highspy.Highs()
    fixed = {
        "output_flag": False,
        "threads": 1,
        "parallel": "off",
        "random_seed": 0,
        "mip_max_nodes": MAX_NODES,
        "mip_rel_gap": GAP,
    }
    for name, value in {**fixed, **options}.items():
        known = isinstance(solver.getOptionValue(name)[1], bool)
        status = solver.setOptionValue(name, bool(value) if known else value)
        assert status == highspy.HighsStatus.kOk, f"HiGHS refuses {name} = {value}"
    assert solver.passModel(program) == highspy.HighsStatus.kOk
    solver.run()
    info = solver.getInfo()
    solved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return Run(
        iterations=max(int(info.simplex_iteration_count), 0),
        nodes=int(info.mip_node_count),
        solved=solved,
        value=float(info.objective_function_value),
    )
