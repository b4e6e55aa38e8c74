"""Expected improvement that is left, and the condition on it."""

import numpy as np
import pytest
from scipy.stats import norm

from boring import BoringOptimizer
from boring.exceptions import InvalidInputError
from boring.outlook import objective_model, remaining_improvement
from boring.parameters import Categorical, Integer, ParameterSpace
from boring.stopping import ExpectedImprovementBelow, RunStatus
from boring.surrogate import ObjectiveModel


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_it_is_large_where_much_is_unknown_and_small_at_the_end(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    optimizer = BoringOptimizer([(-1, 1)] * 2, direction=direction, seed=0, n_initial=5)
    assert remaining_improvement(optimizer) is None

    def tell(points):
        for x in points:
            optimizer.tell(x, sign * float(np.sum((x - 0.2) ** 2)))

    tell(np.array([[-0.9, -0.9], [0.9, -0.8], [-0.8, 0.9], [0.9, 0.9]]))
    early = remaining_improvement(optimizer)
    assert early > 0.02
    grid = np.linspace(-1.0, 1.0, 5)
    tell(np.array([[a, b] for a in grid for b in grid]))
    tell(np.array([[0.2, 0.2]]))
    assert 0.0 <= remaining_improvement(optimizer) < 0.05 * early


def test_the_model_is_the_optimisers_own_gp_or_else_an_isotropic_one():
    from baselines.gaussian_process.plain_gp import PlainGPOptimizer
    from baselines.random_features.bayesian_rvfl import BayesianRvflOptimizer

    X = np.random.default_rng(0).uniform(0, 3, (12, 2))
    own, other = (
        cls([(0, 3)] * 2, direction="minimize", seed=0).tell(X, 70.0 + X.sum(axis=1))
        for cls in (PlainGPOptimizer, BayesianRvflOptimizer)
    )
    for optimizer in (own, other):
        optimizer.ask()
        np.testing.assert_allclose(
            objective_model(optimizer).predict(X)[0], 70.0 + X.sum(axis=1), atol=0.3
        )
    theta = objective_model(own).posterior.theta
    np.testing.assert_array_equal(theta, own.surrogate.posterior.theta)
    assert isinstance(objective_model(other), ObjectiveModel)


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_it_is_the_maximum_over_the_box_and_no_sample_of_it(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    rng = np.random.default_rng(0)
    optimizer = BoringOptimizer([(0, 40)] * 8, direction=direction, seed=0)
    X = rng.uniform(10.0, 30.0, (20, 8))
    optimizer.tell(X, sign * 1e6 * ((X - 20.0) ** 2).sum(axis=1))
    model = objective_model(optimizer)
    best = float((sign * model.predict(X)[0]).min())

    def gain(points):
        mean, variance = model.predict(points)
        sd = np.sqrt(variance)
        z = (best - sign * mean) / sd
        return sd * (z * norm.cdf(z) + norm.pdf(z))

    sampled = gain(rng.uniform(0.0, 40.0, (20000, 8))).max()
    found = remaining_improvement(optimizer)
    assert found > sampled
    corners = gain(40.0 * rng.integers(0, 2, (20000, 8)))
    assert found == pytest.approx(max(found, corners.max()), rel=0.05)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_walls_do_not_let_it_hope_for_more_in_a_valley(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    rng = np.random.default_rng(0)
    optimizer = BoringOptimizer([(-1, 1)] * 4, direction=direction, seed=0)
    X = np.vstack([rng.uniform(-1, 1, (20, 4)), 0.2 + 0.05 * rng.standard_normal((20, 4))])
    bowl = ((X - 0.2) ** 2).sum(axis=1)
    optimizer.tell(X, sign * (bowl + 1000.0 * np.maximum(bowl - 2.0, 0.0)))
    left = remaining_improvement(optimizer)
    # .001 in truth; the walls are up to 1,100 high, the standard deviation of the values is 190.
    assert 0.0 <= left < 0.01


def test_the_condition_looks_every_so_often_and_not_too_early():
    calls = []

    def left():
        calls.append(1)
        return 0.01

    def check(n, condition, remaining=left):
        status = RunStatus(n, n, 1.0, np.zeros(n), "minimize", remaining)
        return condition.check(status)

    condition = ExpectedImprovementBelow(0.1, every=5, n_min=10)
    assert [n for n in range(5, 22) if check(n, condition)] == [10, 15, 20]
    assert len(calls) == 3
    assert check(10, condition) == {"expected_improvement": 0.01}
    assert check(10, ExpectedImprovementBelow(0.001, n_min=10)) == {}
    assert check(10, condition, lambda: None) == {}
    assert check(10, condition, None) == {}


@pytest.mark.parametrize("arguments", [{"floor": 0.0}, {"floor": -1.0}, {"floor": 1.0, "every": 0}])
def test_senseless_floors_are_refused(arguments):
    with pytest.raises(InvalidInputError):
        ExpectedImprovementBelow(**arguments)


def test_a_run_of_an_optimiser_stops_at_the_floor():
    optimizer = BoringOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    condition = ExpectedImprovementBelow(1e3, every=1, n_min=6)
    result = optimizer.run(lambda x: float(x @ x), 30, stopping=condition)
    assert result.n_evaluations == 6
    assert "expected_improvement" in result.stop_reason


def test_a_withdrawn_ask_is_part_of_state_and_journal(tmp_path):
    from boring.optimizer import Optimizer
    from boring.result import OptimizerState

    optimizer = BoringOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    optimizer.start_journal(tmp_path / "run.jsonl")
    optimizer.ask(2)
    optimizer.withdraw(0)
    with pytest.raises(InvalidInputError, match="pending"):
        optimizer.withdraw(0)
    assert len(optimizer.pending) == 1
    state = OptimizerState.from_json(optimizer.state().to_json())
    assert state == optimizer.state()
    assert state.history.pending == (1,)
    assert Optimizer.resume(tmp_path / "run.jsonl").state() == state


def test_only_what_meets_the_constraints_is_improved_on():
    X = np.linspace(-1.0, 1.0, 9)[:, None]

    def left(constraints):
        optimizer = BoringOptimizer([(-1.0, 1.0)], direction="minimize", seed=0, n_constraints=1)
        optimizer.tell(X, X[:, 0], constraints=constraints)
        return remaining_improvement(optimizer)

    assert left(np.ones((9, 1))) is None
    # Nothing below 0 is allowed, though the model sees values down to -1; nothing was told there.
    assert left(-X - 0.01) < 0.2
    # Only the upper half was allowed when it was told, but the limit is clear: 0, not .5.
    optimizer = BoringOptimizer([(-1.0, 1.0)], direction="minimize", seed=0, n_constraints=1)
    upper = np.linspace(0.5, 1.0, 9)[:, None]
    optimizer.tell(upper, upper[:, 0], constraints=-upper)
    assert 0.2 < remaining_improvement(optimizer) < 0.8


def test_a_lattice_that_is_used_up_has_nothing_left_to_gain():
    space = ParameterSpace([Integer("n", 1, 3), Categorical("kind", ["a", "b"])])

    def left(repeats, n=6):
        optimizer = BoringOptimizer(
            space.box, direction="maximize", seed=0, domain=space.domain, repeats=repeats
        )
        points = space.encode([{"n": i, "kind": kind} for i in (1, 2, 3) for kind in "ab"])[:n]
        optimizer.tell(points, np.random.default_rng(0).normal(size=6)[:n])
        return remaining_improvement(optimizer)

    assert left(repeats=False) == 0.0
    assert left(repeats=True) > 0.0
    assert left(repeats=False, n=5) > 0.0


@pytest.mark.parametrize(("scale", "noise_std"), [(1e160, 1e158), (1e-170, 1e-172), (1e-170, 1e9)])
def test_known_noise_may_be_of_any_size(scale, noise_std):
    space = [(0.0, 1.0)] * 2
    optimizer = BoringOptimizer(space, direction="maximize", noise_std=noise_std, seed=0)
    X = np.random.default_rng(0).uniform(size=(20, 2))
    optimizer.tell(X, scale * X.sum(axis=1))
    assert 0.0 <= remaining_improvement(optimizer) < 2.0 * scale


@pytest.mark.parametrize("unit", [2.0**1023, 2.0**-1000])
def test_values_may_be_of_any_size(unit):
    X = np.random.default_rng(0).uniform(-1, 1, (10, 2))
    y = 1.5 + 0.2 * np.sum(X**2, axis=1)
    left, far = (
        remaining_improvement(
            BoringOptimizer([(-1, 1)] * 2, direction="maximize", seed=0).tell(X, size * y)
        )
        for size in (1.0, unit)
    )
    assert far / unit == pytest.approx(left, rel=1e-6)
