"""Known constraints that ask integers for equality: no neighbour of an allowed point is allowed."""

import numpy as np
import pytest

from boring.admissible import least_violation, reach, two_steps
from boring.domain import Domain, GridLattice
from boring.parameters import Categorical, Integer, ParameterSpace, Real
from boring.placing import Placing
from boring.study import Study

COUNTS = [Integer(f"n{i}", 0, 20) for i in range(5)]
CASES = {
    "one": (COUNTS, ["n0 + n1 + n2 + n3 + n4 == 20"]),
    "two": ([*COUNTS, Integer("m", 0, 20)], ["n0 + n1 + n2 == 20", "n2 + n3 + 2 * n4 + m == 25"]),
    "wide": ([Integer(f"n{i}", 0, 1000) for i in range(4)], ["n0 + n1 + n2 + n3 == 1000"]),
    "real": ([*COUNTS, Real("x", 0, 1)], ["abs(n0 + n1 + n2 + n3 + n4 + x - 20) <= 1e-3"]),
    "category": ([*COUNTS, Categorical("c", ["a", "b", "d"])], ["n0 + n1 + n2 + n3 + n4 == 20"]),
}


@pytest.mark.parametrize("case", CASES)
def test_equality_is_met_without_going_through_the_lattice(case, monkeypatch):
    monkeypatch.setattr(Placing, "_from_lattice", lambda *_: pytest.fail("20,000 visits"))
    study = Study(ParameterSpace(*CASES[case]), direction="minimize", seed=0)
    for _ in range(11):
        (asked,) = study.ask()
        assert study.space.violations(asked.parameters) == {}
        study.tell(asked.number, float(asked.parameters["n0"]))
    assert study.best["value"] <= 2.0, "the search moves along the constraint"


def test_what_was_told_before_is_passed_over(monkeypatch):
    monkeypatch.setattr(Placing, "_from_lattice", lambda *_: pytest.fail("20,000 visits"))
    study = Study(ParameterSpace(*CASES["one"]), direction="minimize", seed=0)
    placing = study.optimizer._placing
    x = study.space.encode(dict.fromkeys([f"n{i}" for i in range(5)], 4))
    found = placing.proposal(x[0], x, np.random.default_rng(0))
    (near,) = study.space.decode(found[None, :])
    assert sum(near.values()) == 20
    assert sorted(near.values()) == [3, 4, 4, 4, 5], "the nearest of all"


def plane(n_levels, dim, total):
    levels = np.linspace(-1.0, 1.0, n_levels)
    return Domain(
        dim,
        GridLattice(dict.fromkeys(range(dim), levels)),
        [lambda U: np.abs(U.sum(axis=1) - total) - 1e-9],
    )


def test_two_steps_move_different_columns_and_stay_on_the_lattice():
    domain = plane(5, 3, 0.0)
    points = two_steps(domain, np.zeros(3))
    assert len(points) == 3 * 4
    np.testing.assert_array_equal((points != 0.0).sum(axis=1), 2)
    assert domain.allowed(points).sum() == 6
    assert len(two_steps(Domain(2), np.zeros(2))) == 0
    assert len(two_steps(plane(5, 60, 0.0), np.zeros(60))) == 1024, "of 7080"


def test_a_descent_takes_two_steps_where_one_leads_nowhere():
    # Any single step breaks the second constraint by as much as it mends the first.
    levels = np.linspace(-1.0, 1.0, 5)
    domain = Domain(
        2,
        GridLattice({0: levels, 1: levels}),
        [lambda U: np.abs(U[:, 0] - 1.0), lambda U: 2.0 * np.abs(U[:, 0] - U[:, 1])],
    )
    np.testing.assert_array_equal(least_violation(domain, np.array([-1.0, -1.0])), [1.0, 1.0])
    np.testing.assert_array_equal(reach(domain, np.array([-1.0, -1.0])), [1.0, 1.0])


def test_what_no_point_meets_is_refused_after_a_search():
    impossible = plane(3, 2, 10.0)
    assert reach(impossible, np.zeros(2)) is None
