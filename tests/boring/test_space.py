import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from boring.exceptions import InvalidInputError
from boring.space import Box

finite = st.floats(-1e6, 1e6)


@st.composite
def boxes(draw):
    dim = draw(st.integers(1, 5))
    lower = np.array(draw(st.lists(finite, min_size=dim, max_size=dim)))
    width = np.array(draw(st.lists(st.floats(1e-3, 1e6), min_size=dim, max_size=dim)))
    return Box(lower, lower + width)


@given(boxes(), st.integers(0, 2**32 - 1))
def test_scaling_round_trip_stays_in_the_box(box, seed):
    X = box.sample(20, np.random.default_rng(seed))
    U = box.scale(X)
    assert np.all(np.abs(U) <= 1.0)
    back = box.unscale(U)
    assert box.contains(back).all()
    np.testing.assert_allclose(back, X, rtol=0, atol=1e-9 * (1 + np.abs(box.lower).max()))


@given(boxes(), st.integers(0, 2**32 - 1))
def test_points_return_as_they_are_told(box, seed):
    U = np.random.default_rng(seed).uniform(-1.0, 1.0, (20, box.dim))
    returned = box.returned(U)
    asked = [box.unscale(u) for u in U]
    np.testing.assert_array_equal(returned, box.scale(asked), "one by one or all at once")
    rounding = 1e-15 * (1 + np.abs(box.lower).max() / box.width.min())
    np.testing.assert_allclose(returned, U, rtol=0, atol=rounding)


@given(boxes())
def test_corners_scale_exactly(box):
    np.testing.assert_array_equal(box.scale(box.lower), -np.ones(box.dim))
    np.testing.assert_array_equal(box.scale(box.upper), np.ones(box.dim))
    np.testing.assert_array_equal(box.unscale(-np.ones(box.dim)), box.lower)
    np.testing.assert_array_equal(box.unscale(np.ones(box.dim)), box.upper)


def test_scaling_keeps_the_side_of_points_outside():
    box = Box([0.0], [2.0])
    np.testing.assert_allclose(box.scale([[3.0], [-1.0]]), [[2.0], [-2.0]])
    np.testing.assert_allclose(box.unscale([[2.0]]), [[3.0]])


def test_contains_and_clip():
    box = Box([0.0, 0.0], [1.0, 2.0])
    X = np.array([[0.5, 2.0], [1.1, 1.0], [1.0 + 1e-12, 0.0]])
    np.testing.assert_array_equal(box.contains(X), [True, False, False])
    np.testing.assert_array_equal(box.contains(X, tolerance=1e-9), [True, False, True])
    assert box.contains(box.clip(X)).all()
    np.testing.assert_array_equal(box.clip(X)[0], X[0])


def test_bounds_are_copied_and_read_only():
    lower = np.zeros(2)
    box = Box(lower, [1.0, 1.0])
    lower[0] = 5.0
    assert box.lower[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 1.0


def test_equality_and_hash():
    assert Box([0], [1]) == Box([0.0], [1.0])
    assert hash(Box([0], [1])) == hash(Box([0.0], [1.0]))
    assert Box([0], [1]) != Box([0], [2])
    assert Box([0], [1]) != "box"


def test_from_bounds_takes_boxes_arrays_and_pairs():
    box = Box([0.0, 1.0], [1.0, 3.0])
    assert Box.from_bounds(box) is box
    assert Box.from_bounds([(0, 1), (1, 3)]) == box
    assert Box.from_bounds(np.array([[0, 1], [1, 3]])) == box
    assert Box.from_bounds([(0, 10**20)]).upper == 1e20


@pytest.mark.parametrize(
    ("bounds", "rule"),
    [
        ([(1, 0)], "lower < upper .* reversed in coordinate 0: lower = 1.0, upper = 0.0"),
        ([(0, 1), (2, 2)], "lower < upper in every coordinate; they are equal in coordinate 1"),
        ([(0, np.nan)], "upper must be finite"),
        ([(-np.inf, 0)], "lower must be finite"),
        ([(-1.7e308, 1.7e308)], "upper - lower must be finite"),
        ([[0, 1, 2], [0, 1, 2]], r"shape \(D, 2\); received shape \(2, 3\)"),
        ([0, 1], r"shape \(D, 2\); received shape \(2,\)"),
        ([], r"shape \(D, 2\); received shape \(0,\)"),
        ([(0, 1), (0,)], r"shape \(D, 2\); received a ragged sequence"),
        ([("a", "b")], "lower must hold real numbers; received dtype"),
        ([(0, 1j)], "lower must hold real numbers; received dtype complex128"),
        (None, r"shape \(D, 2\); received NoneType"),
        (zip([0], [1], strict=True), r"shape \(D, 2\); received zip"),
    ],
)
def test_wrong_bounds_name_the_rule(bounds, rule):
    with pytest.raises(InvalidInputError, match=rule):
        Box.from_bounds(bounds)


def test_from_bounds_takes_those_of_scipy():
    assert Box.from_bounds(Bounds([-1, -2], [1, 2])) == Box([-1, -2], [1, 2])
    assert Box.from_bounds(Bounds([0.0, 0.0], 3.0)) == Box([0, 0], [3, 3])
    with pytest.raises(InvalidInputError, match="finite"):
        Box.from_bounds(Bounds([0.0, 0.0]))


def test_named_bounds_are_sent_to_a_study():
    with pytest.raises(InvalidInputError, match=r"no names.*list\(bounds.values\(\)\).*Study"):
        Box.from_bounds({"gain": (0, 1)})


def test_bounds_of_different_length():
    with pytest.raises(InvalidInputError, match="same length; received 1 and 2"):
        Box([0.0], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match=r"shape \(D,\) with D at least 1"):
        Box([[0.0]], [[1.0]])


@pytest.mark.parametrize("points", ["text", [None, 0], [1j, 0], [[0, 0], [0]]])
def test_points_that_are_no_numbers(points):
    box = Box([0, 0], [1, 1])
    for method in (box.scale, box.unscale, box.contains, box.clip):
        with pytest.raises(InvalidInputError, match="Points must"):
            method(points)


def test_points_of_wrong_length():
    with pytest.raises(InvalidInputError, match="2 coordinates in their last axis"):
        Box([0, 0], [1, 1]).scale([1.0, 2.0, 3.0])
