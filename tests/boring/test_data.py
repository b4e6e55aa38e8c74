from fractions import Fraction

import numpy as np
import pytest

from boring.data import Observations
from boring.evaluation import numbers_of
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.validation import as_points, as_positive_int, as_real, as_values, check_options, suggest


def test_append_makes_a_new_object():
    empty = Observations.empty(2)
    one = empty.append([0.1, 0.2], 1.0)
    three = one.append([[0.3, 0.4], [0.5, 0.6]], [np.nan, 3.0])
    assert (len(empty), len(one), len(three)) == (0, 1, 3)
    assert three.dim == 2
    np.testing.assert_array_equal(three.finite, [True, False, True])
    np.testing.assert_array_equal(three.finite_y, [1.0, 3.0])
    np.testing.assert_array_equal(three.finite_X, [[0.1, 0.2], [0.5, 0.6]])


def test_arrays_are_copied_and_read_only():
    X, y = np.zeros((1, 2)), np.zeros(1)
    data = Observations(X, y)
    X[0, 0] = y[0] = 7.0
    assert data.X[0, 0] == data.y[0] == 0.0
    for array in (data.X, data.y):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0


@pytest.mark.parametrize(
    ("y", "informative"),
    [
        ([1.0, 2.0], True),
        ([1.0, 1.0], False),
        ([1.0, np.nan], False),
        ([np.inf, 1.0], False),
        ([-1.7e308, 1.7e308], True),
    ],
)
def test_informative_needs_two_different_finite_values(y, informative):
    assert Observations(np.zeros((2, 1)), y).is_informative is informative


def test_failures_count_once_their_neighbour_fails_too():
    nan = np.nan
    data = Observations([[0.0], [0.5], [0.6]], [1.0, nan, 2.0])
    assert data.failed_X.tolist() == [[0.5]]
    assert data.failing_X.shape == (0, 1)
    assert data.append([0.51], nan).failing_X.tolist() == [[0.5], [0.51]]
    assert data.append([[0.51], [0.505]], [nan, 0.0]).failing_X.shape == (0, 1)
    assert Observations([[0.0]], [nan]).failing_X.shape == (0, 1)
    assert Observations([[0.0], [1.0]], [nan, np.inf]).failing_X.shape == (2, 1)


def test_shapes_must_agree():
    with pytest.raises(InvalidInputError, match=r"one value for each of the 2 points"):
        Observations(np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"shape \(n, 2\)"):
        Observations.empty(2).append([1.0, 2.0, 3.0], 0.0)


@pytest.mark.parametrize(
    ("X", "rule"),
    [
        ([1.0], r"shape \(n, 2\), or \(2,\) for one point; received shape \(1,\)"),
        (np.zeros((1, 1, 2)), r"received shape \(1, 1, 2\)"),
        ([np.nan, 0.0], r"finite coordinates; row 0 is \[nan, 0.0\]"),
        ([[0, 1], [2]], "rectangular array"),
        (["a", "b"], "real numbers; received dtype <U1"),
        ([1j, 0], "real numbers; received dtype complex128"),
        ([None, 1], "real numbers; received NoneType 'None'"),
    ],
)
def test_wrong_points_name_the_rule(X, rule):
    with pytest.raises(InvalidInputError, match=rule):
        as_points(X, 2)


def test_real_numbers_that_numpy_holds_as_objects():
    np.testing.assert_array_equal(as_values([10**30, Fraction(1, 2)], 2), [1e30, 0.5])
    np.testing.assert_array_equal(as_values([10**400, -(10**400)], 2), [np.inf, -np.inf])
    np.testing.assert_array_equal(as_points(np.array([[1, 0.5]], dtype=object), 2), [[1.0, 0.5]])


def test_masked_values_are_not_values():
    masked = np.ma.masked_array([1, 2], [False, True])
    np.testing.assert_array_equal(as_values(masked, 2), [1.0, np.nan])
    with pytest.raises(InvalidInputError, match=r"finite coordinates; row 0 is \[1.0, nan\]"):
        as_points(masked, 2)


@pytest.mark.parametrize(
    "value", ["1", None, 1j, float("nan"), float("inf"), True, 10**400, np.timedelta64(1, "s")]
)
def test_real_numbers(value):
    with pytest.raises(InvalidInputError, match="beta must be a finite real number; received"):
        as_real(value, "beta")


def test_a_duration_is_no_number():
    second = np.timedelta64(1, "s")
    with pytest.raises(InvalidInputError, match="n must be an integer of at least 1; received"):
        as_positive_int(second, "n")
    with pytest.raises(InvalidInputError, match="y must hold real numbers; received timedelta64"):
        as_values(np.array([second], dtype=object), 1)
    with pytest.raises(TypeError, match="it returned timedelta64 '1 seconds' in place of a real"):
        numbers_of(second, 0)


def test_points_are_copied():
    X = np.zeros((1, 2))
    assert not np.shares_memory(as_points(X, 2), X)
    assert as_points(0.5, 1).shape == (1, 1)


@pytest.mark.parametrize("y", [1, 1.5, np.float32(2), True, [3], [[4.0]], np.array(5)])
def test_one_value_in_any_form(y):
    assert as_values(y, 1).shape == (1,)


@pytest.mark.parametrize("y", ["1", 1 + 0j, None, [1.0, 2.0], {"y": 1}, "text"])
def test_wrong_values_are_refused(y):
    with pytest.raises(InvalidInputError, match="must hold"):
        as_values(y, 1)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_positive_integers(value):
    with pytest.raises(InvalidInputError, match="n must be an integer of at least 1"):
        as_positive_int(value, "n")


def test_unknown_option_suggests_the_near_one():
    with pytest.raises(UnknownNameError, match=r"no option 'betta'. Did you mean 'beta'\?"):
        check_options({"betta": 1}, ("beta", "gamma"), "It")
    assert suggest("xyz", ()) == "There are none."
    assert suggest("xyz", ("alpha",)) == "Known: alpha."
