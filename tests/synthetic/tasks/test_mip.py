"""The tuning of a mixed-integer solver: its instances, its options, its count of work."""

import itertools
import sys

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from synthetic import get_problem
from synthetic.tasks import mip
from synthetic.tasks.mip import (
    MAX_NODES,
    OPTIONS,
    PRESOLVE_RULES,
    SolverWork,
    facility_location,
    instances,
    knapsack,
    set_cover,
    solver_options,
)


def middle():
    return np.array([0.5 * sum(option.bounds) for option in OPTIONS])


def brute_force(instance):
    points = np.array(list(itertools.product((0.0, 1.0), repeat=len(instance.cost))))
    sums = points @ instance.matrix.T
    allowed = np.all((sums >= instance.lower - 1e-9) & (sums <= instance.upper + 1e-9), axis=1)
    return (points[allowed] @ instance.cost).min()


def test_options_are_47_and_distinct():
    assert len(OPTIONS) == len({option.name for option in OPTIONS}) == 47
    x = middle()
    x[[option.name == "rule_probing" for option in OPTIONS]] = 0.0
    x[[option.name == "rule_sparsify" for option in OPTIONS]] = 0.2
    rules = [k for k, option in enumerate(OPTIONS) if option.name.startswith("rule_")]
    others = [k for k in rules if OPTIONS[k].name not in ("rule_probing", "rule_sparsify")]
    x[others] = 0.9
    off = solver_options(x)["presolve_rule_off"]
    assert off == (1 << PRESOLVE_RULES["probing"]) | (1 << PRESOLVE_RULES["sparsify"])
    x[[option.name == "primal_simplex" for option in OPTIONS]] = 1.0
    assert solver_options(x)["simplex_strategy"] == 4
    assert not any(name.startswith("rule_") for name in solver_options(x))


def test_instances_are_always_the_same_and_have_their_structure():
    for first, second in zip(instances(), instances(), strict=True):
        np.testing.assert_array_equal(first.matrix, second.matrix)
        np.testing.assert_array_equal(first.cost, second.cost)
    cover = set_cover(30, 20, 0.05, seed=3)
    assert np.all(cover.matrix.sum(axis=1) >= 1.0)
    location = facility_location(4, 6, seed=0)
    assert location.matrix.shape == (10, 28)
    everything_at_home = np.zeros(28)
    everything_at_home[:4] = 1.0
    for customer in range(6):
        everything_at_home[4 + (customer % 4) * 6 + customer] = 1.0
    sums = location.matrix @ everything_at_home
    np.testing.assert_array_equal(sums[:6], 1.0)
    assert np.all(sums[6:] < 0.0)  # demand below capacity


def test_a_missing_highspy_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ImportError, match=r"boring-bo\[mip\]"):
        get_problem("mip-highs-47")


@pytest.mark.parametrize("where", ["middle", "lower", "upper"])
def test_solver_finds_what_enumeration_finds_with_any_options(where):
    pytest.importorskip("highspy")
    small = (
        knapsack(3, 12, seed=0),
        set_cover(15, 12, 0.2, seed=0),
        facility_location(2, 5, seed=1),
    )
    bounds = np.array([option.bounds for option in OPTIONS])
    x = {"middle": middle(), "lower": bounds[:, 0], "upper": bounds[:, 1]}[where]
    for instance, run in zip(small, SolverWork(small).runs(x), strict=True):
        assert run.solved
        assert run.value == pytest.approx(brute_force(instance), rel=1e-4)


def test_value_is_the_mean_logarithm_of_iterations_and_deterministic():
    pytest.importorskip("highspy")
    problem = get_problem("mip-highs-47")
    assert (problem.dim, problem.optimum) == (47, None)
    formula = SolverWork(problem.formula.instances[:2])
    rng = np.random.default_rng(0)
    X = problem.space.sample(2, rng)
    y = formula.value(X)
    np.testing.assert_array_equal(formula.value(X[::-1]), y[::-1])
    assert y[0] != y[1]
    runs = formula.runs(X[0])
    assert all(run.solved and run.iterations > 0 for run in runs)
    assert y[0] == pytest.approx(np.mean([np.log10(1 + run.iterations) for run in runs]))
    with pytest.raises(InvalidInputError, match="no gradient"):
        problem.gradient(X[0])


def test_an_unsolved_instance_counts_tenfold(monkeypatch):
    pytest.importorskip("highspy")
    formula = SolverWork((knapsack(5, 20, seed=0),))
    assert MAX_NODES > 100
    monkeypatch.setattr(mip, "MAX_NODES", 2)
    (run,) = formula.runs(middle())
    assert not run.solved
    value = formula.value(middle()[np.newaxis])[0]
    assert value == pytest.approx(np.log10(1.0 + 10.0 * run.iterations))
