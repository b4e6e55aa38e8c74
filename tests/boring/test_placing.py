"""What the base guarantees of every optimiser in a domain: snapped, allowed and new points."""

import json

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
from boring.api import minimize
from boring.domain import Domain, GridLattice
from boring.exceptions import InvalidInputError, JournalError, SpaceExhaustedError
from boring.optimizer import Optimizer
from boring.parameters import Categorical, Integer, ParameterSpace, Real
from boring.placing import Placing, is_new
from boring.registry import get_optimizer
from boring.result import OptimizerState
from boring.space import Box

BOX = Box([0.0, -5.0, 10.0, 0.0], [1.0, 5.0, 1e3, 3.0])
MIXED = Domain(
    4,
    GridLattice({0: np.linspace(-1, 1, 5), 3: [-1, 0.2, 1]}),
    [lambda U: U[:, 0] + U[:, 1] - 0.3, lambda U: np.sum(U[:, 1:3] ** 2, axis=1) - 1.2],
)
NAMES = ["boring", "gp", "rembo", "sobol", "random", "add-gp-ucb", "si-bo", "line-bo"]


def bowl(x):
    u = BOX.scale(x)
    return float(np.sum((u - [0.1, 0.6, -0.3, 0.2]) ** 2) + u[0] * u[1])


def make(name="gp", space=BOX, domain=MIXED, **changes):
    arguments = {"direction": "minimize", "n_initial": 5, "seed": 1, **changes}
    return get_optimizer(name)(space, domain=domain, **arguments)


def drive(optimizer, n, fun=bowl):
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, fun(x))
    return optimizer


def check(X, domain=MIXED, space=BOX):
    U = space.scale(X)
    np.testing.assert_allclose(domain.snap(U), U, atol=1e-12)
    assert domain.allowed(U).all()
    snapped = domain.snap(U)
    assert all(is_new(snapped[[i]], snapped[:i], domain.resolution)[0] for i in range(len(U)))


@pytest.mark.parametrize("name", NAMES)
def test_every_optimizer_asks_what_the_domain_allows(name):
    optimizer = drive(make(name), 7)
    optimizer.ask(4)
    check(np.vstack([optimizer.history.X, optimizer.pending]))


@pytest.mark.parametrize("name", ["boring", "rembo"])
def test_runs_resume_bit_for_bit(name, tmp_path):
    whole = drive(make(name), 9)
    path = tmp_path / "run.jsonl"
    make(name).start_journal(path)
    for _ in range(9):
        drive(Optimizer.resume(path, domain=MIXED), 1)
    assert Optimizer.resume(path, MIXED).state() == whole.state()
    state = OptimizerState.from_json(whole.state().to_json())
    np.testing.assert_array_equal(Optimizer.from_state(state, domain=MIXED).ask(2), whole.ask(2))


def test_a_resumed_run_gets_the_domain_it_had(tmp_path):
    path = tmp_path / "run.jsonl"
    optimizer = drive(make("sobol", repeats=True).start_journal(path), 2)
    header = json.loads(path.read_text().splitlines()[0])
    assert header["domain"] is True
    assert header["repeats"] is True
    for call in (
        lambda: Optimizer.resume(path),
        lambda: Optimizer.resume(path, Domain(4)),
        lambda: Optimizer.from_state(optimizer.state()),
    ):
        with pytest.raises(InvalidInputError, match=r"carries on with them.*Pass domain="):
            call()
    assert Optimizer.resume(path, MIXED).repeats


def test_plain_journals_have_their_old_form(tmp_path):
    path = tmp_path / "run.jsonl"
    drive(make("sobol", domain=None).start_journal(path), 2)
    header = json.loads(path.read_text().splitlines()[0])
    assert not {"domain", "repeats", "has_domain"} & set(header)
    assert not {"domain", "repeats"} & set(json.loads(make("sobol", domain=None).state().to_json()))
    assert Optimizer.resume(path, Domain(4)).domain.is_plain
    with pytest.raises(InvalidInputError, match="began on the plain box"):
        Optimizer.resume(path, MIXED)


def test_a_journal_of_minimize_belongs_to_its_domain(tmp_path):
    path = tmp_path / "run.jsonl"
    arguments = {"method": "sobol", "journal": path, "seed": 0}
    first = minimize(bowl, BOX, 4, domain=MIXED, **arguments)
    again = minimize(bowl, BOX, 6, domain=MIXED, **arguments)
    np.testing.assert_array_equal(again.X[:4], first.X)
    check(again.X)
    with pytest.raises(JournalError, match="has domain = True, and this run has None"):
        minimize(bowl, BOX, 8, **arguments)


@pytest.mark.parametrize("kind", [Domain(4), None])
def test_a_plain_domain_changes_nothing(kind):
    plain = get_optimizer("boring")(BOX, direction="minimize", n_initial=5, seed=1)
    assert drive(make("boring", domain=kind), 8).state() == drive(plain, 8).state()


# Small lattices.

SMALL = Domain(2, GridLattice({0: [-1, 0, 1], 1: [-1, 0, 1]}))
SQUARE = Box([0.0, 0.0], [2.0, 20.0])


def square(x):
    return float(x[0] ** 2 + (x[1] - 10.0) ** 2)


@pytest.mark.parametrize("name", ["boring", "gp", "rembo", "sobol", "random-projections"])
def test_a_tiny_grid_is_visited_once_each_and_then_exhausted(name):
    optimizer = make(name, SQUARE, SMALL)
    result = optimizer.run(square, 20, progress=False)
    assert len(result.y) == 9
    assert len(np.unique(result.X, axis=0)) == 9
    assert result.stop_reason == {"space_exhausted": 9.0}
    assert result.y_best == 0.0
    with pytest.raises(SpaceExhaustedError, match="all 9 points of the lattice"):
        optimizer.ask()


def test_a_batch_larger_than_the_grid_leaves_what_there_is():
    optimizer = make("boring", SQUARE, SMALL)
    with pytest.raises(SpaceExhaustedError, match="repeats=True"):
        optimizer.ask(10)
    assert len(np.unique(optimizer.pending, axis=0)) == 9
    np.testing.assert_array_equal(optimizer.ask(9), optimizer.pending)


def test_constraints_count_in_what_is_left():
    domain = Domain(2, GridLattice({0: [-1, 0, 1], 1: [-1, 0, 1]}), [lambda U: U.sum(axis=1)])
    result = make("gp", SQUARE, domain).run(square, 20, progress=False)
    assert len(result.y) == 6
    check(result.X, domain, SQUARE)


def test_points_are_repeated_on_request():
    optimizer = drive(make("boring", SQUARE, SMALL, repeats=True), 12, square)
    assert len(np.unique(optimizer.history.X, axis=0)) < 12
    check(np.unique(optimizer.history.X, axis=0), SMALL, SQUARE)


def test_told_points_need_not_lie_on_the_lattice_but_take_its_points():
    optimizer = make("sobol", SQUARE, SMALL)
    optimizer.tell([[0.1, 19.0], [1.9, 1.0]], [1.0, 2.0])
    X = optimizer.run(square, 20, progress=False).X[2:]
    assert len(X) == 7
    for taken in ([0.0, 20.0], [2.0, 0.0]):
        assert not np.any(np.all(X == taken, axis=1))


# Thin and empty regions.


@pytest.mark.parametrize("name", ["boring", "random"])
def test_a_sliver_is_found_and_kept_to(name):
    sliver = Domain(
        4,
        GridLattice({3: np.linspace(-1, 1, 9)}),
        [lambda U: np.abs(U[:, 0] - U[:, 1] ** 2) - 1e-4, lambda U: 0.6 - U[:, 3]],
    )
    optimizer = drive(make(name, domain=sliver), 8)
    check(optimizer.history.X, sliver)
    spread = np.ptp(BOX.scale(optimizer.history.X), axis=0)
    assert spread[1] > 0.3, "the design does not spread along the sliver"


def test_what_no_point_satisfies_is_an_error():
    never = Domain(4, None, [lambda U: 1.0 + U[:, 0] ** 2])
    with pytest.raises(InvalidInputError, match=r"must satisfy the constraints.*signs and units"):
        make("sobol", domain=never).ask()
    nowhere = Domain(2, GridLattice({0: [0, 1], 1: [0, 1]}), [lambda U: 1.0 + U[:, 0]])
    with pytest.raises(InvalidInputError, match="all 4 points of the lattice"):
        make("sobol", SQUARE, nowhere).ask()


def test_a_known_allowed_point_shows_the_way_where_there_are_no_slopes():
    spot = Domain(4, None, [lambda U: np.where(np.abs(U - 0.31).max(axis=1) < 0.01, -1.0, 1.0)])
    optimizer = make("sobol", domain=spot)
    optimizer.tell(BOX.unscale(np.full(4, 0.31)), 1.0)
    X = drive(optimizer, 3).result().X
    check(X, spot)


def test_the_design_fills_the_allowed_half_and_not_its_edge():
    half = Domain(2, None, [lambda U: U[:, 0]])
    U = SQUARE.scale(make("sobol", SQUARE, half, n_initial=16).ask(16))
    assert np.all(U[:, 0] <= 0)
    assert np.sum(U[:, 0] > -0.02) <= 2


def test_the_nearest_new_point_takes_the_place_of_a_taken_one():
    grid = np.linspace(-1, 1, 21)
    domain = Domain(2, GridLattice({0: grid, 1: grid}))
    placing = Placing(SQUARE, domain, lambda a, b: np.zeros((b - a, 2)))
    known = domain.snap([[0.0, 0.0], [0.1, 0.0], [-0.1, 0.0], [0.0, 0.1]])
    rng = np.random.default_rng(0)
    x = placing.proposal(np.array([0.01, -0.02]), known, rng)
    np.testing.assert_allclose(x, [0.0, -0.1], atol=1e-12)
    block = domain.snap(np.stack(np.meshgrid(grid[5:16], grid[5:16]), -1).reshape(-1, 2))
    x = placing.proposal(np.array([0.04, 0.0]), block, rng)
    np.testing.assert_allclose(x, [0.6, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"domain": Domain(3)}, "domain must be a Domain of 4 inputs.*one of 3 inputs"),
        ({"domain": "integers"}, "received str"),
        ({"repeats": 1}, "repeats must be True or False"),
    ],
)
def test_errors_name_the_rule(arguments, rule):
    with pytest.raises(InvalidInputError, match=rule):
        make(**arguments)


def test_parameters_with_conditions_and_constraints():
    space = ParameterSpace(
        [
            Real("gain", 0.1, 10.0, log=True),
            Integer("layers", 1, 4),
            Categorical("kind", ["a", "b", "c"]),
            Real("slope", 0.0, 1.0, when="kind == 'a'"),
        ],
        constraints=["gain * layers <= 12"],
    )
    optimizer = make("boring", space.box, space.domain)
    for _ in range(9):
        x = optimizer.ask()
        configuration = space.decode(space.box.scale(x))[0]
        assert configuration["gain"] * configuration["layers"] <= 12
        assert ("slope" in configuration) == (configuration["kind"] == "a")
        loss = (np.log(configuration["gain"]) - 1) ** 2 + configuration["layers"]
        optimizer.tell(x, loss + configuration.get("slope", 0.5) ** 2)
    check(optimizer.history.X, space.domain, space.box)


# What BORING makes of it.


def test_boring_finds_the_optimum_of_a_mixed_quadratic():
    space = Box(-np.ones(4), np.ones(4))
    domain = Domain(4, GridLattice({0: np.linspace(-1, 1, 11), 3: np.linspace(-1, 1, 7)}))
    best = np.array([0.4, 0.3, -0.55, -1 / 3])

    def quadratic(x):
        u = x - best
        return float((u**2) @ [1, 2, 1, 3] + 0.5 * u[0] * u[3])

    optimizer = make("boring", space, domain, n_initial=None)
    X, y = drive(optimizer, 24, quadratic).history.X, optimizer.history.y
    check(X, domain, space)
    np.testing.assert_allclose(X[np.argmin(y)][[0, 3]], best[[0, 3]], atol=1e-9)
    assert y.min() < 1e-4
