import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from boring.acquisition.domain_maximizer import maximize_in_domain
from boring.acquisition.local_domain import best_in_domain
from boring.domain import Domain, GridLattice
from boring.exceptions import NumericsWarning


class Bowl:
    """A concave quadratic, largest at a centre, with a coupling of all columns."""

    def __init__(self, center, coupling=0.3):
        self.center = np.asarray(center)
        dim = len(self.center)
        self.matrix = np.diag(np.linspace(0.5, 2.0, dim)) + coupling * np.ones((dim, dim))

    def value(self, X):
        return -np.einsum("ni,ij,nj->n", X - self.center, self.matrix, X - self.center)

    def value_and_gradient(self, X):
        return self.value(X), -2.0 * (X - self.center) @ self.matrix


def search(acquisition, domain, **changes):
    arguments = {"incumbent": np.zeros(domain.dim), "rng": np.random.default_rng(0), **changes}
    return maximize_in_domain(acquisition, domain, **arguments)


def test_the_best_lattice_point_is_found_and_not_the_rounded_optimum():
    # The coupling makes plain rounding of the relaxed optimum wrong.
    grid = np.linspace(-1, 1, 5)
    domain = Domain(4, GridLattice(dict.fromkeys(range(4), grid)))
    bowl = Bowl([0.2, 0.2, 0.2, 0.2], coupling=3.0)
    every = np.array(list(itertools.product(grid, repeat=4)))
    values = bowl.value(every)
    assert bowl.value(domain.snap(bowl.center))[0] < values.max() - 0.1
    found = search(bowl, domain)
    assert found.value == pytest.approx(values.max(), abs=1e-12)
    best_two = np.argsort(-values)[:2]
    again = search(bowl, domain, avoid=found.x[None, :])
    assert again.value == pytest.approx(values[best_two[1]], abs=1e-12)
    assert not np.array_equal(again.x, found.x)


def test_continuous_columns_are_refined_with_the_discrete_ones_held():
    domain = Domain(4, GridLattice({0: [-1, 0, 1], 2: [-1, -0.5, 0.5]}))
    bowl = Bowl([0.3, -0.2, 0.1, 0.4])
    found = search(bowl, domain)
    np.testing.assert_array_equal(domain.snap(found.x)[0], found.x)
    best = max(
        -minimize(
            lambda v, a=a, c=c: -bowl.value(np.array([[a, v[0], c, v[1]]]))[0], np.zeros(2)
        ).fun
        for a in (-1, 0, 1)
        for c in (-1, -0.5, 0.5)
    )
    assert found.value == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_smooth_constraints_are_followed_to_the_optimum(seed):
    rng = np.random.default_rng(seed)
    bowl = Bowl(rng.uniform(0.3, 0.9, 5))
    domain = Domain(5, None, [lambda U: U.sum(axis=1) - 0.5, lambda U: np.abs(U[:, 0]) - 0.1])
    found = search(bowl, domain)
    truth = minimize(
        lambda v: -bowl.value(v[None, :])[0],
        np.zeros(5),
        method="COBYLA",
        tol=1e-9,
        options={"maxiter": 5000},
        constraints=[
            {"type": "ineq", "fun": lambda v: 0.5 - v.sum()},
            {"type": "ineq", "fun": lambda v: 0.1 - v[0]},
            {"type": "ineq", "fun": lambda v: 0.1 + v[0]},
            {"type": "ineq", "fun": lambda v: 1.0 - np.abs(v)},
        ],
    )
    assert domain.allowed(found.x)[0]
    assert found.value == pytest.approx(-truth.fun, abs=1e-4)


def test_constraints_that_are_steps_are_approached():
    bowl = Bowl(np.full(5, 0.6))
    smooth = Domain(5, None, [lambda U: U.sum(axis=1) - 0.5])
    steps = Domain(5, None, [lambda U: np.where(U.sum(axis=1) > 0.5, 1.0, -1.0)])
    found = search(bowl, steps)
    assert steps.allowed(found.x)[0]
    assert found.value > search(bowl, smooth).value - 0.05


def test_where_everything_is_taken_the_value_says_so():
    domain = Domain(2, GridLattice({0: [0], 1: [-1, 1]}))
    found = search(Bowl([0, 0]), domain, avoid=np.array([[0.0, -1.0], [0.0, 1.0]]))
    assert found.value == -np.inf
    assert found.replaced


def test_the_family_is_that_of_the_start_which_led_to_the_point():
    class Spike(Bowl):
        """A bowl with one high point, which is taken and at which no other climb arrives."""

        def value(self, X):
            return np.where(np.all(np.abs(X) < 1e-9, axis=1), 10.0, super().value(X))

    domain = Domain(3, GridLattice(dict.fromkeys(range(3), np.linspace(-1, 1, 41))))
    found = search(Spike([0.8, -0.7, 0.75], coupling=0.0), domain, avoid=np.zeros((1, 3)))
    np.testing.assert_allclose(found.x, [0.8, -0.7, 0.75])
    assert found.family in {"uniform", "coordinates", "neighbours"}, "local is the spike"


def test_an_acquisition_that_is_nowhere_finite_is_reported():
    class Nowhere:
        def value(self, X):
            return np.full(len(X), np.nan)

    domain = Domain(2, GridLattice({0: [0, 1]}))
    with pytest.warns(NumericsWarning, match="finite at none"):
        found = search(Nowhere(), domain)
    assert found.value == -np.inf


def test_a_trust_region_below_the_step_still_reaches_the_neighbours():
    domain = Domain(2, GridLattice({0: np.linspace(-1, 1, 5)}))
    center = np.array([0.5, 0.1])
    offset, value = best_in_domain(
        Bowl([-30.0, 0.0]),
        domain,
        np.vstack([center, [[0.0, 0.3]]]),
        0.01,
        1e-4,
        np.array([-0.01, 0.0]),
        np.random.default_rng(0),
    )
    x = center + 0.01 * offset
    np.testing.assert_allclose(x[0], 0.0, atol=1e-12)
    assert abs(x[1] - 0.1) <= 1e-4 * (1 + 1e-9)
    assert np.isfinite(value)


def test_in_a_trust_region_without_new_points_there_is_no_step():
    domain = Domain(1, GridLattice({0: [-1, 0, 1]}))
    known = np.array([[0.0], [-1.0], [1.0]])
    arguments = (0.1, 1e-3, np.zeros(1), np.random.default_rng(0))
    _, value = best_in_domain(Bowl([0.0]), domain, known, *arguments)
    assert value == -np.inf


def test_a_step_beyond_a_constraint_is_pulled_back_to_it():
    class Cliff(Bowl):
        """Level around the incumbent, so that a climb from there leads nowhere."""

        def value_and_gradient(self, X):
            values, gradients = super().value_and_gradient(X)
            level = X[:, 0] < 0.3
            return np.where(level, -9.0, values), np.where(level[:, None], 0.0, gradients)

        def value(self, X):
            return np.where(X[:, 0] < 0.3, -9.0, super().value(X))

    domain = Domain(2, constraints=[lambda X: X[:, 0] - 0.5])
    offset, _ = best_in_domain(
        Cliff([0.9, 0.0], coupling=0.0),
        domain,
        np.zeros((1, 2)),
        1.0,
        1.0,
        np.array([0.9, 0.0]),
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(offset, [0.5, 0.0], atol=1e-3)
