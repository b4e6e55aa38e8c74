"""minimize_method: what scipy.optimize.minimize expects of a method."""

import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize
from scipy.sparse import csr_array

import baselines  # noqa: F401 (registers sobol)
from boring import get_optimizer
from boring.exceptions import BoringWarning, EvaluationError, InvalidInputError, UnknownNameError
from boring.integrations.scipy_method import minimize_method

BOUNDS = [(-1.0, 1.0), (-2.0, 2.0)]
QUICK = {"maxfev": 12, "seed": 0, "optimizer": "sobol"}


def bowl(x, a=0.3, b=-0.5):
    return (x[0] - a) ** 2 + (x[1] - b) ** 2


def run(fun=bowl, x0=(0.0, 0.0), *, options=None, **arguments):
    given = {"bounds": BOUNDS, "method": minimize_method, **arguments}
    return minimize(fun, x0, options={**QUICK, **(options or {})}, **given)


def test_a_minimum_is_found_from_a_start():
    result = run(options={"optimizer": "boring", "maxfev": 14, "n_initial": 5})
    assert result.success
    assert (result.status, result.nfev) == (0, 14)
    np.testing.assert_allclose(result.x, [0.3, -0.5], atol=0.1)
    assert result.fun == bowl(result.x)
    assert result.run.n_evaluations == 14


def test_it_is_the_run_of_the_optimizer_with_x0_told_first():
    result = run(options={"optimizer": "boring", "maxfev": 8, "n_initial": 4})
    optimizer = get_optimizer("boring")(BOUNDS, direction="minimize", seed=0, n_initial=4)
    optimizer.tell([0.0, 0.0], bowl([0.0, 0.0]))
    expected = optimizer.run(bowl, 7)
    np.testing.assert_array_equal(result.run.X, expected.X)
    np.testing.assert_array_equal(result.run.X[0], [0.0, 0.0])


def test_arguments_are_passed_on():
    assert run(args=(0.0, 0.0)).fun == 0.0
    assert run(args=0.0).fun == run(args=(0.0,)).fun


def test_bounds_of_either_form():
    one = run(bounds=Bounds([-1, -2], [1, 2]))
    np.testing.assert_array_equal(one.run.X, run().run.X)
    both = run(bounds=Bounds(-1, 1))
    assert np.abs(both.run.X).max() <= 1.0


LINE = LinearConstraint([[1.0, 1.0]], -np.inf, 0.2)


@pytest.mark.parametrize(
    "constraint",
    [
        LINE,
        [LINE],
        LinearConstraint(csr_array([[1.0, 1.0], [0.0, 1.0]]), [-np.inf, -2.0], [0.2, 2.0]),
        {"type": "ineq", "fun": lambda x: 0.2 - x[0] - x[1]},
        {"type": "ineq", "fun": lambda x, c: [c - x[0] - x[1], 5.0], "args": (0.2,)},
        NonlinearConstraint(lambda x: x[0] + x[1], -np.inf, 0.2),
        (LINE, {"type": "ineq", "fun": lambda x: 3.0 - x[0]}),
    ],
)
def test_every_point_satisfies_the_constraints(constraint):
    result = run(constraints=constraint)
    assert result.nfev == 12
    assert result.run.X.sum(axis=1).max() <= 0.2 + 1e-9


def test_a_constrained_minimum_is_found():
    # The nearest point to (1, 1) with x + y <= 0.2 is (0.1, 0.1).
    result = run(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 1) ** 2,
        constraints=LINE,
        options={"optimizer": "boring", "maxfev": 14, "n_initial": 5},
    )
    assert result.fun <= 2 * 0.9**2 + 0.05


def test_a_start_that_breaks_a_constraint_is_not_evaluated():
    with pytest.warns(BoringWarning, match="x0 should satisfy"):
        result = run(x0=(1.0, 1.0), constraints=LINE)
    assert result.run.X.sum(axis=1).max() <= 0.2 + 1e-9
    assert result.nfev == 12


@pytest.mark.parametrize(
    "constraint",
    [
        {"type": "ineq", "fun": lambda x: 1.0 / (x[1] - 2.0) + None},
        NonlinearConstraint(lambda x: [x[0], "low"], -1.0, 1.0),
    ],
    ids=["dict", "nonlinear"],
)
def test_a_constraint_that_fails_is_reported_at_its_x_in_the_users_units(constraint):
    with pytest.raises(InvalidInputError) as caught:
        run(x0=(0.5, 1.5), constraints=constraint)
    message = str(caught.value)
    assert "[0.5, 1.5]" in message
    assert "TypeError" in message or "ValueError" in message
    assert "scaled units" not in message
    assert "NaN" in message


def test_a_start_on_the_edge_of_a_constraint_is_evaluated():
    for start in ([0.1, 0.2], [0.7, -0.9], [-1 / 3, 0.7], [0.3, 1.1]):
        edge = LinearConstraint([[0.3, 0.7]], -np.inf, 0.3 * start[0] + 0.7 * start[1])
        result = run(x0=start, bounds=[(-1.1, 0.9), (-2.0, 1.7)], constraints=edge)
        np.testing.assert_array_equal(result.run.X[0], start)
    tenths = {"type": "ineq", "fun": lambda x: 0.3 - x[0] - x[1]}  # -5.6e-17 at the start
    np.testing.assert_array_equal(run(x0=[0.1, 0.2], constraints=tenths).run.X[0], [0.1, 0.2])


@pytest.mark.parametrize(
    ("callback", "message"),
    [
        (3, "callback must be callable; received 3"),
        (lambda: None, r"called as callback\(x\) or .*; received one that takes \(\)"),
        (lambda x, state: None, r"takes \(x, state\)"),
    ],
)
def test_a_callback_of_another_form_is_refused_before_the_first_evaluation(callback, message):
    with pytest.raises(InvalidInputError, match=message):
        run(fun=lambda x: pytest.fail("evaluated"), callback=callback)


def test_both_forms_of_callback_see_the_best_so_far():
    seen, results = [], []
    run(callback=seen.append)
    run(callback=lambda intermediate_result: results.append(intermediate_result))
    assert len(seen) == len(results) == 12
    values = [bowl(x) for x in seen]
    assert values == sorted(values, reverse=True)
    assert [r.fun for r in results] == values


@pytest.mark.parametrize("n", [1, 4])
def test_stop_iteration_ends_the_run(n):
    calls = []

    def callback(x):
        calls.append(x)
        if len(calls) == n:
            raise StopIteration

    result = run(callback=callback)
    assert (result.nfev, result.status, result.success) == (n, 99, False)
    assert "StopIteration" in result.message


def test_one_evaluation_is_that_of_x0():
    result = run(options={"maxfev": 1})
    assert result.nfev == 1
    np.testing.assert_array_equal(result.x, [0.0, 0.0])


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_nan_is_a_failure():
    result = run(lambda x: np.nan if x[0] < 0 else bowl(x))
    assert result.success
    assert result.x[0] >= 0
    nothing = run(lambda x: np.nan)
    assert (nothing.success, nothing.status) == (False, 1)
    assert np.isnan(nothing.fun)


def test_the_objective_may_write_into_its_argument():
    def careless(x):
        value = bowl(x)
        x[:] = 99.0
        return value

    np.testing.assert_array_equal(run(careless).run.X, run().run.X)


def test_errors_of_the_objective_reach_the_caller():
    def broken(x):
        raise ArithmeticError("broken")

    with pytest.raises(ArithmeticError, match="broken") as caught:
        run(broken)
    assert caught.value.result.n_evaluations == 0


def test_errors_are_the_same_at_any_evaluation():
    def broken_at(n, calls):
        def fun(x):
            calls.append(x)
            if len(calls) > n:
                raise ArithmeticError("broken")
            return "text" if len(calls) == n == 2 else bowl(x)

        return fun

    with pytest.raises(ArithmeticError, match="broken") as caught:
        run(broken_at(3, []))
    assert caught.value.result.n_evaluations == 3
    with pytest.raises(EvaluationError, match="must return numbers"):
        run(broken_at(2, []))


def test_a_start_may_be_rounded_beyond_a_bound():
    assert run(x0=(1.0 + 1e-13, 0.0)).run.X[0, 0] == 1.0


def test_derivatives_are_left_aside_with_a_warning():
    with pytest.warns(RuntimeWarning, match="does not use derivatives"):
        result = run(jac=lambda x: 2 * x)
    with pytest.warns(RuntimeWarning, match="does not use derivatives"):
        both = run(lambda x: (bowl(x), 2 * x), jac=True)
    np.testing.assert_array_equal(both.run.X, result.run.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(jac=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bounds": None}, "bounds is None"),
        ({"bounds": [(-1, 1), (None, 2)]}, "finite"),
        ({"bounds": Bounds(-np.inf, 1)}, "finite"),
        ({"bounds": [(-1, 1)]}, "each of the 2 numbers"),
        ({"x0": (0.0, 3.0)}, "x0 must lie within"),
        ({"constraints": {"type": "eq", "fun": sum}}, "Equalities"),
        ({"constraints": LinearConstraint([[1, 1]], 0, 0)}, "below ub"),
        ({"constraints": LinearConstraint([[1, 1, 1]], 0, 1)}, "2 columns"),
        ({"constraints": "x > 0"}, "must be a LinearConstraint"),
        (
            {"constraints": {"type": "ineq", "fun": lambda x: x[0] > 0.5}},
            "holds where it is at least 0; .* returned True or False, which always are",
        ),
        ({"tol": 1e-3}, "no tolerance"),
        ({"options": {"maxfev": 0}}, "maxfev"),
        ({"options": {"maxfun": 9}}, "minimize_method has no option 'maxfun'.*maxfev"),
        ({"options": {"maxiter": 9}}, "maxiter.*maxfev.*seed"),
        ({"options": {"optimizer": "borin"}}, "borin"),
        ({"options": {"direction": "maximize"}}, "'direction'. Here SciPy minimises: negate fun"),
        ({"options": {"domain": None}}, "'domain'. Here constraints holds those that are known"),
        ({"options": {"n_constraints": 1}}, "'n_constraints'. Here constraints holds those that"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message):
    with pytest.raises((InvalidInputError, UnknownNameError), match=message):
        run(**arguments)


def test_a_run_that_ends_early_says_so():
    corner = LinearConstraint([[1.0, 1.0]], 3.0, np.inf)
    result = run(x0=(1.0, 2.0), constraints=corner)
    assert (result.nfev, result.success, result.x.tolist()) == (1, True, [1.0, 2.0])
    assert result.message == "1 of maxfev = 12 points were evaluated: space exhausted."


def test_an_error_keeps_what_it_was_raised_from():
    origin = KeyError("temperature")

    def objective(x):
        raise ValueError("no reading") from origin

    with pytest.raises(ValueError, match="no reading") as caught:
        run(objective)
    assert caught.value.__cause__ is origin
    assert caught.value.__context__ is origin or caught.value.__context__ is None
    assert caught.value.result.n_evaluations == 0
