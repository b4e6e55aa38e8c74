import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boring.admissible import project, pull_back, repair
from boring.domain import Domain, GridLattice, Lattice
from boring.exceptions import InvalidInputError
from boring.parameters import Categorical, ParameterSpace, Real

levels = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=6)
points = st.lists(
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=5
).map(np.array)


class OneHot(Lattice):
    """One category in all columns: 1 where it is, -1 elsewhere."""

    def snap(self, U):
        snapped = -np.ones_like(U)
        snapped[np.arange(len(U)), U.argmax(axis=1)] = 1.0
        return snapped

    def neighbours(self, u):
        every = 2.0 * np.eye(len(u)) - 1.0
        return every[~np.all(every == u, axis=1)]


@given(st.dictionaries(st.integers(0, 2), levels), points)
def test_snapping_is_idempotent_and_finds_the_nearest(columns, U):
    domain = Domain(3, GridLattice(columns))
    snapped = domain.snap(U)
    np.testing.assert_array_equal(domain.snap(snapped), snapped)
    for column in range(3):
        distance = np.abs(snapped[:, column] - U[:, column])
        grid = np.array(columns.get(column, U[:, column]))
        nearest = np.abs(grid[:, None] - U[:, column]).min(axis=0)
        np.testing.assert_allclose(distance, nearest, atol=1e-15)


@given(points)
def test_a_snapped_point_is_the_neighbour_of_its_neighbours(U):
    for domain in (Domain(3, OneHot()), Domain(3, GridLattice({0: [-1, 0.2, 1], 2: [0, 1]}))):
        u = domain.snap(U)[0]
        around = domain.neighbours(u)
        np.testing.assert_array_equal(domain.snap(around), around)
        assert not np.any(np.all(around == u, axis=1))
        for v in around:
            assert np.any(np.all(domain.neighbours(v) == u, axis=1))


def test_the_plain_domain_is_the_cube():
    domain = Domain(2)
    U = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    np.testing.assert_array_equal(domain.snap(U), U)
    assert domain.is_plain
    assert domain.allowed(U).all()
    assert domain.neighbours(U[0]).shape == (0, 2)
    assert not domain.discrete.any()


def test_discrete_columns_are_found():
    assert Domain(3, GridLattice({1: [0.5]})).discrete.tolist() == [False, True, False]
    assert Domain(3, OneHot()).discrete.all()


class Conditional(Lattice):
    """The second column counts only where the first is 1."""

    def snap(self, U):
        snapped = np.array(U)
        snapped[:, 0] = np.where(U[:, 0] > 0, 1.0, -1.0)
        snapped[snapped[:, 0] < 0, 1] = 0.0
        return snapped

    def neighbours(self, u):
        return self.snap(np.array([[-u[0], u[1], u[2]]]))


class KnowsItsColumns(Domain):
    @property
    def discrete(self):
        return np.array([True, False, False])


def test_a_column_may_be_free_at_some_points_only():
    domain = KnowsItsColumns(3, Conditional())
    assert domain.free(np.array([1.0, 0.3, 0.0])).tolist() == [1, 2]
    assert domain.free(np.array([-1.0, 0.0, 1.0])).tolist() == [2]


def test_a_point_is_allowed_where_no_constraint_is_positive_once_it_is_snapped():
    lattice = GridLattice({0: [-1.0, 1.0]})
    domain = Domain(2, lattice, [lambda U: U[:, 0] + U[:, 1], lambda U: -1.5 - U.sum(axis=1)])
    U = [[0.1, -1.0], [0.1, -0.9], [-0.1, 0.9], [-0.1, -0.6]]
    assert domain.allowed(U).tolist() == [True, False, True, False]
    np.testing.assert_allclose(domain.violation(U), [0.0, 0.1, 0.0, 0.1])


def test_a_constraint_that_is_not_a_number_is_not_satisfied():
    domain = Domain(1, None, [lambda U: np.full(len(U), np.nan)])
    assert not domain.allowed([[0.0]])[0]
    assert domain.violation([[0.0]])[0] == np.inf


class Broken(Lattice):
    def snap(self, U):
        return U[:, :1]

    def neighbours(self, u):
        return 2.0 + u[None, :]


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: Domain(2, lattice=[1, 2]), "lattice must be a Lattice or None; received list"),
        (lambda: Domain(2, None, [3]), "A constraint must be callable; received int"),
        (lambda: GridLattice({0: [-2, 1]}), r"must have values in \[-1, 1\]; column 0"),
        (lambda: GridLattice({0: []}), r"must have values in \[-1, 1\]; column 0"),
        (lambda: Domain(2, GridLattice({2: [0, 1]})), r"from 0 to D - 1 = 1; received 2"),
        (lambda: Domain(2, Broken()).snap([[0, 0]]), r"shape \(1, 2\); Broken returned.*\(1, 1\)"),
        (lambda: Domain(2, Broken()).neighbours([0, 0]), r"coordinate outside \[-1, 1\]"),
        (
            lambda: Domain(2, None, [lambda U: U]).allowed([[0, 0]]),
            r"number 0 returned shape \(1, 2\) for 1 points",
        ),
        (
            lambda: Domain(2, None, [lambda U: U[:, 0], lambda U: U[:, 0] < 1]).violation([[0, 0]]),
            "at most 0; number 1 returned True and False.*Return x - limit for x <= limit",
        ),
        (
            lambda: Domain(2, None, [lambda U: [bool(u[0] > 0.5) for u in U]]).allowed([[0, 0]]),
            "number 0 returned True and False, of which True counts as 1",
        ),
        (lambda: Domain(2).snap([[0.0]]), r"U must have shape \(n, 2\)"),
    ],
)
def test_errors_name_the_rule(call, rule):
    with pytest.raises(InvalidInputError, match=rule):
        call()


# Ways to allowed points.

BALL = Domain(3, None, [lambda U: np.sum(U**2, axis=1) - 0.25])


def test_projection_finds_the_nearest_point_of_a_ball():
    u = np.array([0.6, -0.6, 0.3])
    x = project(BALL, u)
    assert BALL.allowed(x)[0]
    np.testing.assert_allclose(x, 0.5 * u / np.linalg.norm(u), atol=1e-2)


def test_projection_says_when_there_is_no_slope_to_follow():
    stairs = Domain(3, None, [lambda U: np.where(BALL.allowed(U), -1.0, 1.0)])
    assert project(stairs, np.array([0.6, -0.6, 0.3])) is None


def test_pulling_back_ends_at_the_edge_on_the_way():
    outside = np.array([[0.9, 0.0, 0.0], [0.3, 0.0, 0.0]])
    pulled = pull_back(BALL, np.zeros(3), outside)
    assert BALL.allowed(pulled).all()
    np.testing.assert_allclose(pulled[0], [0.5, 0.0, 0.0], atol=2e-6)
    np.testing.assert_allclose(pulled[1], outside[1], atol=1e-5)


def test_repair_finds_a_sliver():
    rng = np.random.default_rng(0)
    sliver = Domain(
        4,
        GridLattice({3: np.linspace(-1, 1, 9)}),
        [lambda U: np.abs(U[:, 0] - U[:, 1] ** 2) - 1e-4, lambda U: 0.9 - U[:, 3]],
    )
    x = repair(sliver, rng.uniform(-1, 1, (3, 4)), rng)
    assert sliver.allowed(x)[0]


def test_repair_finds_a_small_box_by_its_violation_where_there_are_no_slopes():
    rng = np.random.default_rng(0)
    coarse = Domain(3, None, [lambda U: np.floor(10 * np.abs(U - 0.43).max(axis=1))])
    x = repair(coarse, np.full((1, 3), -0.9), rng)
    assert np.abs(x - 0.43).max() < 0.1


def test_repair_gives_up_on_the_impossible():
    rng = np.random.default_rng(0)
    never = Domain(2, None, [lambda U: 1.0 + U[:, 0] ** 2])
    assert repair(never, np.zeros((2, 2)), rng) is None


def test_repair_bears_a_constraint_that_is_nowhere_a_number():
    domain = Domain(2, constraints=[lambda U: np.full(len(U), np.nan)])
    assert repair(domain, np.zeros((1, 2)), np.random.default_rng(0)) is None


def test_projection_bears_a_constraint_that_spans_all_magnitudes():
    space = ParameterSpace(
        [Real("p", 1e-300, 1e300, log=True), Categorical("kind", ["a", "b"])],
        constraints=["p >= 7.5e-69"],
    )
    for p in np.linspace(-0.06, -0.03, 60):
        with np.errstate(over="raise"):
            inside = project(space.domain, np.array([p, -0.5]))
        assert inside is None or space.domain.allowed(inside[None])[0]


def test_a_constraint_that_raises_is_named():
    domain = Domain(2, constraints=[lambda U: U[:, 0], lambda U: {}["limit"]])
    with pytest.raises(InvalidInputError, match=r"number 1 raised KeyError: 'limit'"):
        domain.allowed([[0.0, 0.0]])


def test_a_constraint_whose_error_has_no_text_is_named_too():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    def constraint(U):
        raise Silent

    with pytest.raises(InvalidInputError, match=r"raised Silent: \(it has no text\)"):
        Domain(2, constraints=[constraint]).allowed([[0.0, 0.0]])
