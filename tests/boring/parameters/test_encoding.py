"""Encoding and decoding are exact inverses; distances are even; neighbours are one step away."""

import importlib.util
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real

_spec = importlib.util.spec_from_file_location(
    "parameter_strategies", Path(__file__).with_name("strategies.py")
)
strategies = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(strategies)
is_same, spaces = strategies.is_same, strategies.spaces

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=40, deadline=None)


def cube(space, seed, n=6):
    U = np.random.default_rng(seed).uniform(-1, 1, (n, space.dim))
    U[0], U[1] = -1.0, 1.0
    return U


def test_the_domain_knows_how_far_rounding_moves_reals():
    space = ParameterSpace([Real("a", -7, 5), Real("b", 1e-3, 1e-2, log=True), Integer("c", 1, 9)])
    U = cube(space, 0, 500)
    moved = np.abs(space.encode(space.decode(U)) - U).max(axis=0)
    resolution = space.domain.resolution
    assert moved[:2] == pytest.approx(resolution[:2] / 2, rel=0.1), "half of it at the most"
    assert resolution[2] < 1e-6 < moved[2]


@quick
@given(spaces(), seeds)
def test_round_trips_are_exact(space, seed):
    S = space.snap(cube(space, seed))
    configurations = space.decode(S)
    np.testing.assert_array_equal(space.encode(configurations), S)
    again = space.decode(space.encode(configurations))
    assert all(is_same(a, b) for a, b in zip(again, configurations, strict=True))
    np.testing.assert_array_equal(space.snap(S), S)
    L = space.domain.snap(cube(space, seed))
    np.testing.assert_array_equal(space.domain.snap(L), L)
    np.testing.assert_array_equal(L[:, space.domain.discrete], S[:, space.domain.discrete])
    assert np.abs(S).max() <= 1.0


@quick
@given(spaces(), seeds)
def test_points_survive_json_and_so_does_the_space(space, seed):
    twin = ParameterSpace.from_dict(json.loads(json.dumps(space.to_dict())))
    assert twin == space
    configurations = space.decode(cube(space, seed))
    stored = json.loads(json.dumps(configurations))
    np.testing.assert_array_equal(twin.encode(stored), space.encode(configurations))


@quick
@given(spaces(), seeds)
def test_data_frames_give_the_points_back(space, seed):
    configurations = space.decode(cube(space, seed))
    frame = space.to_frame(configurations)
    assert list(frame.columns) == space.names
    np.testing.assert_array_equal(space.encode(frame), space.encode(configurations))


@quick
@given(spaces(), seeds)
def test_neighbours_are_other_snapped_points_that_differ_in_one_parameter(space, seed):
    u = space.snap(cube(space, seed))[2]
    points = space.domain.neighbours(u)
    np.testing.assert_array_equal(space.snap(points), points)
    here = space.decode([u])[0]
    conditional = {"child", "grandchild"}
    for there in space.decode(points) if len(points) else []:
        changed = {
            name
            for name in space.names
            if name in here and name in there and not is_same(here[name], there[name])
        }
        assert len(changed) == 1 or (
            here.keys() != there.keys() and len(changed - conditional) == 1
        )


@quick
@given(strategies.reals(), seeds)
def test_reals_keep_their_ends_and_lose_next_to_nothing(parameter, seed):
    assert parameter.decode(np.array([[-1.0], [1.0]])) == [parameter.low, parameter.high]
    np.testing.assert_array_equal(
        parameter.encode([parameter.low, parameter.high]), [[-1.0], [1.0]]
    )
    if parameter.step is None:
        U = np.random.default_rng(seed).uniform(-1, 1, (20, 1))
        # Rounding, and what doubles of this size beside so narrow a range cannot tell apart.
        size = max(abs(parameter.low), abs(parameter.high))
        doubles = (
            0.0 if parameter.log else 320 * np.spacing(size) / (parameter.high - parameter.low)
        )
        assert np.abs(parameter.snap(U) - U).max() <= max(2e-10, doubles)


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 8, 2.5e-7, 123.456789])
def test_numbers_that_people_write_come_back_as_written(value):
    for parameter in (Real("x", -1, 200), Real("x", 1e-8, 1e3, log=True)):
        assert parameter.decode(parameter.encode([parameter.check(value)])) == [value]


@pytest.mark.parametrize(
    "parameter",
    [
        Real("x", 1e-300, 1e300, log=True),
        Real("x", 3e-308, 1.7e308, log=True),
        Real("x", 1e9, 1e9 + 1),
        Real("x", -1e300, 1e300),
        Real("x", 1 / 3, 2 / 3),
        Real("x", 0.1, 0.1 + 1e-9),
        Real("x", 0, 1e-300),
    ],
)
def test_extreme_ranges(parameter):
    U = np.linspace(-1, 1, 1001)[:, None]
    values = parameter.decode(U)
    assert np.all(np.diff(values) > 0)
    assert parameter.decode(parameter.encode(values)) == values
    assert [parameter.check(value) for value in values] == values


def test_a_real_between_rounding_and_an_end_is_the_end():
    parameter = Real("x", 0.33333333333399997, 1)
    for value in (parameter.low, 0.333333333334, np.nextafter(parameter.low, 1)):
        checked = parameter.check(value)
        assert parameter.decode(parameter.encode([checked])) == [checked]


def test_integers_sit_evenly_with_the_ends_on_the_ends():
    parameter = Integer("n", 3, 8)
    np.testing.assert_allclose(np.diff(parameter.encode(range(3, 9)).ravel()), 0.4, atol=1e-15)
    real = Real("n", 3, 8)
    np.testing.assert_allclose(parameter.encode(range(3, 9)), real.encode(np.arange(3.0, 9.0)))
    nearest = Integer("n", 0, 4).decode(np.array([[-0.76], [-0.74], [0.2], [0.26]]))
    assert nearest == [0, 1, 2, 3]


def test_logarithmic_integers_go_to_the_nearest_on_that_scale():
    parameter = Integer("n", 1, 1000, log=True)
    values = np.arange(1, 1001)
    placed = parameter.encode(values)[:, 0]
    U = np.random.default_rng(0).uniform(-1, 1, (500, 1))
    nearest = values[np.argmin(np.abs(U - placed), axis=1)]
    assert parameter.decode(U) == nearest.tolist()
    np.testing.assert_allclose(placed[[9, 99]], [-1 / 3, 1 / 3], atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_all_choices_are_equally_far_apart_as_the_ends_of_a_range(k):
    points = Categorical("kind", list(range(k))).encode(range(k))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances[~np.eye(k, dtype=bool)], 2.0)
    assert points.shape == (k, 1 if k == 2 else k)


def test_uniform_points_give_each_choice_the_same_share():
    parameter = Categorical("kind", ["a", "b", "c", "d"])
    U = np.random.default_rng(0).uniform(-1, 1, (8000, 4))
    shares = np.bincount([parameter.choices.index(v) for v in parameter.decode(U)]) / 8000
    assert np.abs(shares - 0.25).max() < 0.02  # four standard errors


def test_neighbours_by_hand():
    space = ParameterSpace(
        [
            Integer("n", 0, 3),
            Categorical("k", ["a", "b", "c"]),
            Ordinal("o", [1, 9]),
            Real("x", 0, 1),
        ]
    )
    u = space.encode({"n": 0, "k": "b", "o": 9, "x": 0.25})[0]
    found = {tuple(c.values()) for c in space.decode(space.domain.neighbours(u))}
    assert found == {(1, "b", 9, 0.25), (0, "a", 9, 0.25), (0, "c", 9, 0.25), (0, "b", 1, 0.25)}


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (Integer("n", 0, 1000), 500, {499, 501, 490, 510, 400, 600}),
        (Integer("n", 0, 1000), 1000, {999, 990, 900}),
        (Integer("n", 1, 10**6, log=True), 1000, {999, 1001, 871, 1148, 251, 3981}),
        (Integer("n", 0, 30, step=10), 10, {0, 20}),
        (Real("x", 0, 1, step=0.1), 0.3, {0.2, 0.4}),
    ],
)
def test_neighbours_of_wide_ranges_also_lie_further_off(parameter, value, expected):
    moved = parameter.decode(parameter.neighbours(parameter.encode([value])[0]))
    assert set(moved) == expected


def test_steps_are_the_decimal_numbers_that_one_means():
    parameter = Real("x", -0.3, 0.65, step=0.1)
    values = parameter.decode(np.linspace(-1, 1, parameter.n_values)[:, None])
    assert values == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert parameter.check(0.1 + 0.2) == 0.3
    with pytest.raises(InvalidInputError, match=r"The nearest is 0\.1"):
        parameter.check(0.13)


@pytest.mark.parametrize(
    ("low", "width", "step"),
    [
        (499_650_000, 10_000, 0.01),
        (-499_650_000, 10_000, 0.01),
        (1.7e9, 100, 0.01),
        (1e9, 1, 0.001),
        (1e9 + 0.1, 0.8, 0.1),
        (0, 1, 1e-11),
        (-1, 2, 2e-13),
        (1.7e18, 10_240, 1024),
    ],
)
def test_steps_are_found_again_however_far_from_zero(low, width, step):
    parameter = Real("x", low, low + width, step=step)
    assert parameter.n_values == round(width / step) + 1
    U = np.random.default_rng(0).uniform(-1, 1, (300, 1))
    values = parameter.decode(U)
    assert len(set(values)) > min(parameter.n_values, 300) // 2
    assert [parameter.check(value) for value in values] == values
    assert parameter.decode(parameter.encode(values)) == values
    # So are the numbers of other programs, which may differ in the last digit.
    assert [parameter.check(np.nextafter(value, 0)) for value in values] == values
    with pytest.raises(InvalidInputError, match="plus a multiple of"):
        parameter.check(values[0] + 0.5 * step)


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(1e16, 1e16 + 8, 2), (1e9, 1e9 + 1, 1e-7), (1.7e18, 1.7e18 + 1e4, 1000)],
)
def test_steps_that_doubles_hardly_tell_apart_are_refused(low, high, step):
    with pytest.raises(InvalidInputError, match=r"step = .* beside .* Count from another origin"):
        Real("x", low, high, step=step)


def test_no_step_lies_beyond_the_bounds():
    for value in (np.float32(1e9 + 64), 1.7e18 + 11 * 1024, 1.7e18 - 1024):
        low = 0 if value < 1e18 else 1.7e18
        parameter = Real("x", low, 1e9 if low == 0 else low + 10_240, step=1 if low == 0 else 1024)
        with pytest.raises(InvalidInputError, match="Parameter 'x': the value must"):
            parameter.check(value)
    with pytest.raises(InvalidInputError, match="step must be positive, at most"):
        Real("x", 0, 1, step=10**400)


def test_inactive_parameters_sit_at_zero_and_make_no_configuration_twice():
    space = ParameterSpace(
        [Categorical("k", ["a", "b"]), Integer("n", 1, 5, when="k == 'b'"), Real("x", 0, 1)]
    )
    U = np.array([[-1.0, -0.7, 0.5], [-1.0, 0.7, 0.5], [1.0, 0.6, 0.5]])
    S = space.snap(U)
    np.testing.assert_array_equal(S[0], S[1])
    assert S[0, 1] == 0.0
    assert space.decode(S) == [
        {"k": "a", "x": 0.75},
        {"k": "a", "x": 0.75},
        {"k": "b", "n": 4, "x": 0.75},
    ]
    switched = space.decode(space.domain.neighbours(S[0]))
    assert switched == [{"k": "b", "n": 3, "x": 0.75}]


def test_the_domain_is_continuous_only_without_lattice_and_conditions():
    assert ParameterSpace([Real("x", 0, 1), Fixed("f", 1)]).domain.is_continuous
    assert not ParameterSpace([Real("x", 0, 1), Integer("n", 1, 2)]).domain.is_continuous
    assert not ParameterSpace([Real("x", 0, 1, step=0.5)]).domain.is_continuous
    with_condition = ParameterSpace([Real("x", 0, 1), Real("y", 0, 1, when="x > 0.5")])
    assert not with_condition.domain.is_continuous
    assert with_condition.decode([[-0.5, 0.3], [0.5, 0.0]]) == [{"x": 0.25}, {"x": 0.75, "y": 0.5}]


def test_nothing_is_lost_by_changing_what_decode_returned():
    space = ParameterSpace([Categorical("k", [[1], [2]]), Fixed("f", {"a": [3]})])
    first = space.decode([[1.0]])[0]
    first["k"].append(9)
    first["f"]["a"].append(9)
    assert space.decode([[1.0]])[0] == {"k": [2], "f": {"a": [3]}}


def test_a_domain_with_conditions_and_constraints_goes_through_pickle():
    space = ParameterSpace(
        [
            Real("gain", 0, 10),
            Categorical("kind", ["a", "b"]),
            Real("tilt", 0, 1, when="kind == 'b'"),
        ],
        constraints=["gain <= 5 or kind == 'a'"],
    )
    U = np.random.default_rng(0).uniform(-1.0, 1.0, (50, space.dim))
    domain = pickle.loads(pickle.dumps(space.domain))
    np.testing.assert_array_equal(domain.snap(U), space.domain.snap(U))
    np.testing.assert_array_equal(domain.allowed(U), space.domain.allowed(U))
    optimizer = BoringOptimizer(space.box, direction="minimize", seed=0, domain=space.domain)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(optimizer)).ask(), optimizer.ask())
