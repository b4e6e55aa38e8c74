"""Whatever was told, the next suggestion comes: it is finite, new, and no exception."""

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
from boring import BoringOptimizer
from boring.registry import get_optimizer

pytestmark = pytest.mark.filterwarnings("ignore::boring.exceptions.BoringWarning")
STRANGE = (1e300, -1e300, 1e-300, np.nan, np.inf, -np.inf, 0.0)


@pytest.mark.parametrize("name", ["boring", "gp"])
def test_ask_survives_near_copies_and_strange_values_even_where_numpy_raises(name):
    rng = np.random.default_rng(0)
    optimizer = get_optimizer(name)([[-1.0, 1.0]] * 3, direction="minimize", seed=0)
    base = rng.uniform(-0.9, 0.9, 3)
    with np.errstate(all="raise"):  # what some users set for their own code
        for step in range(12):
            for x in optimizer.ask(1 + step % 3):
                assert np.all(np.abs(x) <= 1.0)
                value = float(x @ x) if step % 2 else float(rng.choice(STRANGE))
                optimizer.tell(x, value)
            near = base + 10.0 ** -rng.integers(6, 17) * rng.standard_normal(3)
            optimizer.tell(near, rng.standard_normal())
        assert np.geterr()["under"] == "raise"
    assert len(np.unique(optimizer.ask(3), axis=0)) == 3


def test_one_point_with_many_values_is_taken_for_noise():
    optimizer = BoringOptimizer([[-1.0, 1.0]] * 2, direction="minimize", seed=0)
    rng = np.random.default_rng(0)
    optimizer.tell(np.zeros((12, 2)), rng.standard_normal(12))
    optimizer.tell(optimizer.ask(4), rng.standard_normal(4))
    assert np.all(np.isfinite(optimizer.ask()))


@pytest.mark.parametrize("n_initial", [1, 2, 3])
def test_few_initial_points_will_do_in_many_dimensions(n_initial):
    optimizer = BoringOptimizer(
        [[-1.0, 1.0]] * 20, direction="minimize", seed=0, n_initial=n_initial
    )
    for _ in range(n_initial + 4):
        x = optimizer.ask()[0]
        optimizer.tell(x, x @ x)
    phases = [ask.phase for ask in optimizer.state().history.asks]
    assert phases[:n_initial] == ["initial"] * n_initial
    assert set(phases[max(n_initial, 2) :]) == {"portfolio"}


def test_no_suggestion_seeks_the_edge_where_the_optimum_is_inside():
    optimizer = BoringOptimizer([[-1.0, 1.0]] * 5, direction="minimize", seed=0)
    target = np.array([0.3, -0.2, 0.1, 0.4, -0.5])
    for _ in range(30):
        x = optimizer.ask()[0]
        optimizer.tell(x, np.sum((x - target) ** 2))
    X, y = optimizer.history.X, optimizer.history.y
    assert np.mean(np.abs(X[15:]) > 0.999) < 0.1
    assert np.abs(X[np.argmin(y)] - target).max() < 0.01


def test_past_convergence_the_acquisition_is_a_number_and_points_are_new():
    optimizer = BoringOptimizer([[-1.0, 1.0]] * 2, direction="minimize", seed=0)
    optimizer.tell(np.zeros(2), 0.0)  # the optimum, exactly
    for _ in range(25):
        x = optimizer.ask()[0]
        optimizer.tell(x, 1e6 * (x @ x))
    asks = optimizer.state().history.asks
    found = [ask.info["acquisition"] for ask in asks if "acquisition" in ask.info]
    assert len(set(found)) == len(found) > 5
    assert np.all(np.isfinite(found))
    assert len(np.unique(optimizer.data.X, axis=0)) == 26
