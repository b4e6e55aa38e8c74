"""x0 and y0 of minimize: points to begin with, and what is known of them."""

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
import boring
from boring.domain import Domain, GridLattice
from boring.exceptions import (
    DuplicatePointWarning,
    EvaluationError,
    InvalidInputError,
    JournalError,
    NonFiniteWarning,
)
from boring.stopping import Target

BOUNDS = [(0.0, 1.0), (-5.0, 5.0)]
X0 = [[0.2, 1.0], [0.9, -4.0], [0.5, 0.0]]


def bowl(x):
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)


class Counted:
    """An objective that remembers where it was called, and fails at some call."""

    def __init__(self, fails_at=None):
        self.calls = []
        self.fails_at = fails_at

    def __call__(self, x):
        if len(self.calls) == self.fails_at:
            raise RuntimeError("no")
        self.calls.append(x)
        return bowl(x)


@pytest.mark.parametrize("method", ["boring", "sobol", "rembo", "gp"])
def test_points_are_evaluated_first_and_count(method):
    fun = Counted()
    result = boring.minimize(fun, BOUNDS, 8, x0=X0, method=method, seed=0, n_initial=5)
    assert len(fun.calls) == result.n_evaluations == 8
    np.testing.assert_array_equal(result.X[:3], X0)
    phases = [record.phase for record in result.records]
    assert phases[:5] == ["given"] * 3 + ["initial"] * 2
    assert not {"given", "initial"} & set(phases[5:])


def test_they_are_the_run_that_is_told_them():
    result = boring.minimize(bowl, BOUNDS, 8, x0=X0, seed=0)
    optimizer = boring.BoringOptimizer(BOUNDS, direction="minimize", seed=0)
    optimizer.tell(X0, [bowl(x) for x in X0])
    np.testing.assert_array_equal(optimizer.run(bowl, 5).X, result.X)


def test_known_values_cost_nothing():
    fun = Counted()
    result = boring.maximize(fun, BOUNDS, 5, x0=X0, y0=[bowl(x) for x in X0], seed=0, n_initial=4)
    assert (len(fun.calls), result.n_evaluations) == (5, 8)
    assert [record.phase for record in result.records][:4] == ["told"] * 3 + ["initial"]
    optimizer = boring.BoringOptimizer(BOUNDS, direction="maximize", seed=0, n_initial=4)
    expected = optimizer.tell(X0, [bowl(x) for x in X0]).run(bowl, 5)
    assert result.records == expected.records


@pytest.mark.parametrize(
    ("x0", "y0"), [([0.3, 0.0], 7.0), ([[0.3, 0.0]], [7.0]), (np.array([0.3, 0.0]), np.array([7]))]
)
def test_one_point(x0, y0):
    assert boring.minimize(bowl, BOUNDS, 4, x0=x0, method="sobol", seed=0).y_best == 0.0
    result = boring.minimize(bowl, BOUNDS, 4, x0=x0, y0=y0, method="sobol", seed=0)
    assert (result.y[0], result.n_evaluations) == (7.0, 5)


def test_an_earlier_result_is_a_beginning():
    first = boring.minimize(bowl, BOUNDS, 6, method="sobol", seed=0)
    second = boring.minimize(bowl, BOUNDS, 4, x0=first.X, y0=first.y, method="sobol", seed=1)
    np.testing.assert_array_equal(second.y[:6], first.y)


def test_failures_and_repetitions_are_warned_of_as_by_tell():
    with pytest.warns(NonFiniteWarning, match="1 of 3 told are not"):
        result = boring.minimize(bowl, BOUNDS, 2, x0=X0, y0=[1, np.nan, 2], method="sobol", seed=0)
    assert np.isnan(result.y[1])
    with pytest.warns(DuplicatePointWarning):
        boring.minimize(bowl, BOUNDS, 3, x0=[X0[0], X0[0]], method="sobol", seed=0)


def test_a_run_may_end_before_or_within_them():
    done = boring.minimize(
        Counted(0), BOUNDS, 9, x0=X0, y0=[bowl(x) for x in X0], seed=0, stopping=Target(5.0)
    )
    assert (done.n_evaluations, set(done.stop_reason)) == (3, {"target"})
    seen = []
    boring.minimize(
        bowl,
        BOUNDS,
        9,
        x0=X0,
        method="sobol",
        callback=lambda optimizer, record: seen.append(record.phase) or len(seen) == 2,
    )
    assert seen == ["given", "given"]


# Constraints.


def pair(x):
    return bowl(x), [0.4 - x[0]]


@pytest.mark.parametrize("x0", [X0, X0[:1], X0[0]])
def test_known_values_with_constraints_are_the_pairs_of_the_objective(x0):
    points = np.atleast_2d(x0)
    y0 = pair(x0) if np.ndim(x0) == 1 else [pair(x) for x in x0]
    result = boring.minimize(pair, BOUNDS, 2, x0=x0, y0=y0, method="sobol", seed=0, n_constraints=1)
    np.testing.assert_array_equal(result.constraints[: len(points), 0], 0.4 - points[:, 0])
    trial = boring.minimize(pair, BOUNDS, 5, x0=x0, method="sobol", seed=0, n_constraints=1)
    np.testing.assert_array_equal(trial.constraints[: len(points), 0], 0.4 - points[:, 0])


def test_points_to_evaluate_are_of_the_domain():
    domain = Domain(2, GridLattice({0: [-1.0, 0.0, 1.0]}), [lambda U: U[:, 1] - 0.5])
    arguments = {"method": "sobol", "seed": 0, "domain": domain}
    result = boring.minimize(bowl, BOUNDS, 3, x0=[0.5, 1.0], **arguments)
    np.testing.assert_array_equal(result.X[0], [0.5, 1.0])
    for x0, what in (([0.4, 1.0], "has on its lattice"), ([0.5, 4.0], "allows")):
        with pytest.raises(InvalidInputError, match=f"domain {what}; row 0 is .*value in y0"):
            boring.minimize(bowl, BOUNDS, 3, x0=x0, **arguments)
        assert boring.minimize(bowl, BOUNDS, 3, x0=x0, y0=2.0, **arguments).y[0] == 2.0


def test_a_point_on_the_edge_of_a_constraint_is_of_the_domain_in_spite_of_rounding():
    space = boring.Box([-0.7, 0.2], [2.9, 1.9])
    points = np.array([[0.3 * i - 0.6, 0.1 * i + 0.3] for i in range(10)])
    for x in points:
        edges = [
            lambda U, x=x: space.unscale(U)[:, 0] - x[0],
            lambda U, x=x: x[1] - space.unscale(U)[:, 1],
        ]
        call = {"method": "sobol", "seed": 0, "x0": x}
        result = boring.minimize(bowl, space, 1, domain=Domain(2, None, edges), **call)
        np.testing.assert_array_equal(result.X[0], x)
        beyond = [edges[0], lambda U, x=x: x[1] + 1e-6 - space.unscale(U)[:, 1]]
        with pytest.raises(InvalidInputError, match="domain allows"):
            boring.minimize(bowl, space, 1, domain=Domain(2, None, beyond), **call)


@pytest.mark.parametrize("m", [1, 2])
def test_pairs_may_be_none_or_a_tuple(m):
    def fun(x):
        return bowl(x), [0.4 - x[0]] * m

    call = {"method": "sobol", "seed": 0, "n_constraints": m}
    assert boring.minimize(fun, BOUNDS, 2, x0=np.empty((0, 2)), y0=[], **call).n_evaluations == 2
    for n in (1, 2):
        y0 = tuple(fun(x) for x in X0[:n])
        result = boring.minimize(fun, BOUNDS, 2, x0=X0[:n], y0=y0, **call)
        np.testing.assert_array_equal(result.y[:n], [bowl(x) for x in X0[:n]])


# Journals.


@pytest.mark.parametrize("is_known", [True, False])
def test_the_same_call_resumes(tmp_path, is_known):
    path = tmp_path / "run.jsonl"
    arguments = {"x0": X0, "seed": 3, "method": "gp"}
    if is_known:
        arguments["y0"] = [bowl(x) for x in X0]
    whole = boring.minimize(bowl, BOUNDS, 8, **arguments)
    for fails_at in (0, 1, 4):
        with pytest.raises(EvaluationError):
            boring.minimize(Counted(fails_at), BOUNDS, 8, journal=path, **arguments)
    fun = Counted()
    resumed = boring.minimize(fun, BOUNDS, 8, journal=path, **arguments)
    assert resumed.records == whole.records
    assert len(fun.calls) == 3
    again = boring.minimize(Counted(0), BOUNDS, 8, journal=path, **arguments)
    assert again.records == whole.records


def test_a_journal_that_was_cut_within_the_known_values_is_completed(tmp_path):
    path = tmp_path / "run.jsonl"
    arguments = {"x0": X0, "y0": [1, np.inf, 2], "method": "random", "seed": 3, "journal": path}
    with pytest.warns(NonFiniteWarning):
        whole = boring.minimize(bowl, BOUNDS, 2, **arguments)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]))
    assert boring.minimize(bowl, BOUNDS, 2, **arguments).records == whole.records


@pytest.mark.parametrize(
    "change",
    [{"x0": X0[::-1]}, {"x0": X0}, {"y0": [1, 2, 4]}, {"x0": [*X0, [1, 1]], "y0": [1, 2, 3, 4]}],
)
def test_a_journal_with_another_beginning_is_refused(tmp_path, change):
    path = tmp_path / "run.jsonl"
    call = {"method": "random", "seed": 3, "journal": path, "x0": X0, "y0": [1, 2, 3]}
    boring.minimize(bowl, BOUNDS, 2, **call)
    before = path.read_bytes()
    if change == {"x0": X0}:
        change = {"y0": None}
    with pytest.raises(JournalError, match=r"begins with x0 and y0; entry \d .* left as it is"):
        boring.minimize(bowl, BOUNDS, 4, **{**call, **change})
    assert path.read_bytes() == before


# Errors.


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"x0": [0.0, 0.0, 0.0]}, r"x0 must have shape \(n, 2\), or \(2,\).*received shape \(3,\)"),
        ({"x0": [[0.5, 6.0]]}, r"x0 must lie in the box; coordinate 1 of row 0 is 6.0, outside"),
        ({"x0": [[0.5, np.nan]]}, "x0 must hold finite coordinates; row 0"),
        ({"x0": [["a", "b"]]}, "x0 must hold real numbers"),
        ({"x0": X0, "y0": [1.0]}, r"y0 must hold one value for each of the 3 points.*\(1,\)"),
        ({"x0": X0, "y0": ["a", "b", "c"]}, "y0 must hold real numbers"),
        ({"y0": [1.0]}, "y0 holds the values of x0; x0 is None"),
        ({"x0": X0, "n_evaluations": 2}, "n_evaluations counts the points of x0.*2 for 3 points"),
        ({"x0": X0, "y0": [1, 2, 3], "n_constraints": 1}, "y0 must hold a pair for each point"),
        (
            {"x0": X0, "y0": [(1, [2, 3])] * 3, "n_constraints": 1},
            r"y0 must hold 1 values for each of the 3 points.*\(3, 2\)",
        ),
        (
            {"x0": X0, "y0": [(1, [2])] * 2, "n_constraints": 1},
            "y0 must hold one value for each of the 3 points",
        ),
    ],
)
def test_what_cannot_be_a_beginning_costs_nothing(tmp_path, change, rule):
    path = tmp_path / "run.jsonl"
    arguments = {"n_evaluations": 5, "method": "random", "journal": path, **change}
    with pytest.raises(InvalidInputError, match=rule):
        boring.minimize(Counted(0), BOUNDS, **arguments)
    assert not path.exists()
