"""Embedding: placement, reachability, invariance, and the optimum it declares."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.stats import qmc

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.subspace.stiefel import random_frame
from synthetic import (
    Embedded,
    TestProblem,
    branin,
    camelback,
    get_problem,
    hartmann6,
    michalewicz,
    problem_names,
    recovery_problem,
    rosenbrock,
    sinusoidal_exponential,
)
from synthetic.placement import REACH, most_central_point

JUMPING = ("terraces-", "noncontinuous-")
"""Families without a gradient."""

CUSPED = ("ackley-",)
"""Families without one at the optimum, where the rounding of z decides what comes out."""

EMBEDDED = [name for name in problem_names() if "-in-" in name]


def reachable_by_linear_program(W, z, reach):
    """Say whether ``W'x = z`` has a solution in the cube of the given half-width."""
    found = linprog(np.zeros(len(W)), A_eq=W.T, b_eq=z, bounds=[(-reach, reach)] * len(W))
    return found.status == 0


def corner_problem():
    """Return a bowl with its minimum in a corner of its box: the hardest point to reach."""

    class Bowl:
        def value(self, X):
            return ((X - 1.0) ** 2).sum(axis=1)

        def gradient(self, X):
            return 2.0 * (X - 1.0)

    return TestProblem(
        name="corner-2",
        space=Box(-np.ones(2), np.ones(2)),
        formula=Bowl(),
        optimum=0.0,
        optimizers=np.ones((1, 2)),
        holds_outside=True,
        true_basis=np.eye(2),
        effective_dim=2,
    )


@pytest.mark.parametrize("name", EMBEDDED)
@pytest.mark.parametrize("seed", [0, 1])
def test_optimum_is_attained_stationary_and_unbeaten(name, seed):
    problem = get_problem(name, seed)
    scale = 1.0 + abs(problem.optimum)
    np.testing.assert_allclose(
        problem(problem.optimizers), problem.optimum, rtol=0.0, atol=1e-12 * scale
    )
    if not name.startswith(JUMPING + CUSPED):
        np.testing.assert_allclose(problem.gradient(problem.optimizers), 0.0, atol=1e-9 * scale)
    assert np.abs(problem.optimizers).max() <= REACH
    # Sobol over the cube, its corners, and local searches from the best of both.
    X = 2.0 * qmc.Sobol(problem.dim, seed=seed).random_base2(12) - 1.0
    X = np.vstack((X, np.sign(X)))
    y = -problem.sign * problem(X)
    found = [y.min()]
    jumps = name.startswith(JUMPING)
    for start in X[np.argsort(y)[:4]]:
        searched = minimize(
            lambda x: -problem.sign * problem(np.clip(x, -1.0, 1.0)),
            start,
            jac=None if jumps else lambda x: -problem.sign * problem.gradient(x.clip(-1.0, 1.0)),
            method="Powell" if jumps else "L-BFGS-B",
            bounds=[(-1.0, 1.0)] * problem.dim,
        )
        found.append(searched.fun)
    assert problem.regret(-problem.sign * min(found)) >= -1e-12 * scale


@pytest.mark.parametrize("name", [n for n in EMBEDDED if "ripple" not in n and "exact" not in n])
def test_function_is_invariant_along_the_complement_of_its_basis_and_of_no_larger_one(name):
    problem = get_problem(name, seed=5)
    W, rng = problem.true_basis, np.random.default_rng(0)
    np.testing.assert_allclose(W.T @ W, np.eye(problem.effective_dim), atol=1e-12)
    X = rng.uniform(-0.4, 0.4, size=(40, problem.dim))
    step = rng.uniform(-0.5, 0.5, size=X.shape)
    inert = step - (step @ W) @ W.T
    inert *= 0.5 / np.abs(inert).max()
    spread = np.ptp(problem(X))
    np.testing.assert_allclose(problem(X + inert), problem(X), atol=1e-10 * spread)
    if name.startswith(JUMPING):
        for w in W.T:
            assert np.any(np.abs(problem(X + 0.5 * w) - problem(X)) > 0.01 * spread)
        return
    # Gradients lie in the span of W and fill it, so no smaller subspace would do.
    G = problem.gradient(rng.uniform(-1.0, 1.0, size=(400, problem.dim)))
    np.testing.assert_allclose(G - (G @ W) @ W.T, 0.0, atol=1e-10 * np.abs(G).max())
    assert np.linalg.matrix_rank(G, tol=1e-8 * np.abs(G).max()) == problem.effective_dim


@pytest.mark.parametrize("make", [camelback, sinusoidal_exponential, branin, hartmann6])
def test_optimum_is_reachable_for_every_seed_and_dimension(make):
    inner = make()
    for dim in (inner.dim, inner.dim + 1, 10, 25):
        for seed in range(20):
            problem = Embedded(inner, dim, seed=seed)
            W = problem.true_basis
            Z = inner.space.scale(inner.optimizers)
            reached = [z for z in Z if reachable_by_linear_program(W, z, REACH)]
            assert len(reached) == len(problem.optimizers) >= 1
            np.testing.assert_allclose(problem.reduce(problem.optimizers), reached, atol=1e-12)
            assert np.abs(problem.optimizers).max() <= REACH


def test_unreachable_draws_are_rejected_and_only_those():
    inner, rejected = corner_problem(), 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        W = random_frame(3, 2, rng)
        while not reachable_by_linear_program(W, np.ones(2), REACH):
            W, rejected = random_frame(3, 2, rng), rejected + 1
        problem = Embedded(inner, 3, seed=seed)
        np.testing.assert_array_equal(problem.true_basis, W)
        assert np.abs(problem.optimizers).max() <= REACH
    assert rejected > 0


def test_placement_that_can_never_reach_is_refused():
    with pytest.raises(InvalidInputError, match="nearer to the origin"):
        Embedded(camelback(), 2, seed=0, center=5.0)


def test_most_central_point_beats_the_point_of_least_norm():
    rng = np.random.default_rng(0)
    for _ in range(20):
        W = random_frame(6, 2, rng)
        z = rng.uniform(-1.0, 1.0, size=2)
        x = most_central_point(W, z)
        np.testing.assert_allclose(W.T @ x, z, atol=1e-12)
        size = np.abs(x).max()
        assert size <= np.abs(W @ z).max() + 1e-12
        assert reachable_by_linear_program(W, z, size * (1.0 + 1e-6))
        assert not reachable_by_linear_program(W, z, size * (1.0 - 1e-4))


@pytest.mark.parametrize(
    ("name", "u"),
    [
        ("camelback-2-in-5", lambda z: camelback()([2.0 * z[0], z[1]])),
        ("rosenbrock-5-in-10", lambda z: rosenbrock(5)(2.0 * z)),
        ("hartmann6-6-in-25", lambda z: hartmann6()((z + 1.0) / 2.0)),
        ("branin-2-in-25", lambda z: branin()([2.5 + 7.5 * z[0], 7.5 + 7.5 * z[1]])),
        (
            "sinexp-2-in-5",
            lambda z: np.sin(5.0 * z[0] + 0.5) * np.exp(-3.0 * (z[1] - 0.3) ** 2),
        ),
    ],
)
def test_the_box_of_g_is_mapped_to_the_unit_cube_of_z(name, u):
    problem = get_problem(name, seed=1)
    z = np.linspace(-0.5, 0.6, problem.effective_dim)
    x = problem.true_basis @ z
    assert problem(x) == pytest.approx(u(z), rel=1e-12)
    np.testing.assert_allclose(problem.reduce(x)[0], z, atol=1e-14)
    np.testing.assert_allclose(problem.reduced_value(z[np.newaxis])[0], problem(x), rtol=1e-12)


def test_g_is_continued_outside_its_box_not_clipped():
    problem = Embedded(camelback(), 4, basis=0.5 * np.array([[1.0, 1.0], [1.0, -1.0]] * 2))
    x = np.ones(4)  # z = (2, 0), u = (4, 0)
    assert problem(x) == pytest.approx((4.0 - 2.1 * 16 + 256 / 3.0) * 16)


def test_axes_select_coordinates():
    problem = Embedded(branin(), 6, axes=[4, 1])
    x = np.array([0.3, -0.2, 0.9, 0.1, 0.5, -0.7])
    assert problem(x) == pytest.approx(branin()([2.5 + 7.5 * 0.5, 7.5 - 7.5 * 0.2]))
    np.testing.assert_array_equal(problem.true_basis, np.eye(6)[:, [4, 1]])
    assert len(problem.optimizers) == 3


def test_center_and_half_width_override_the_placement():
    inner = camelback()
    problem = Embedded(inner, 3, axes=[0, 2], center=[0.1, -0.2], half_width=[0.5, 0.4])
    assert problem([0.1 + 0.5, 0.7, -0.2 - 0.4]) == pytest.approx(inner([2.0, -1.0]))
    np.testing.assert_allclose(problem(problem.optimizers), inner.optimum)


def test_optimum_is_unknown_where_it_cannot_be_vouched_for():
    # Lower outside its box: known on axes, where the cube is the box, unknown when rotated.
    assert Embedded(michalewicz(2), 4, axes=[0, 3]).optimum == michalewicz(2).optimum
    assert Embedded(michalewicz(2), 4, seed=0).optimum is None
    assert Embedded(michalewicz(2), 4, axes=[0, 3], half_width=0.7).optimum is None
    # Out of reach of a basis that was given.
    assert Embedded(camelback(), 4, axes=[0, 3], center=3.0).optimum is None


def test_embedding_an_embedded_problem_multiplies_the_bases():
    middle = Embedded(camelback(), 4, seed=0)
    for half_width in (1.0, [0.5, 1.0, 1.0, 1.5]):
        outer = Embedded(middle, 9, seed=1, half_width=half_width)
        assert outer.effective_dim == 2
        W = outer.true_basis
        np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
        G = outer.gradient(np.random.default_rng(0).uniform(-1, 1, size=(50, 9)))
        np.testing.assert_allclose(G - (G @ W) @ W.T, 0.0, atol=1e-9 * np.abs(G).max())
        np.testing.assert_allclose(outer(outer.optimizers), camelback().optimum, atol=1e-12)


def test_seed_decides_the_basis():
    first, again, other = (get_problem("camelback-2-in-10", seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.true_basis, again.true_basis)
    assert np.abs(first.true_basis - other.true_basis).max() > 0.01


@pytest.mark.parametrize(
    "options",
    [
        {"axes": [0, 0]},
        {"axes": [0]},
        {"axes": [0, 7]},
        {"axes": [0.0, 1.0]},
        {"basis": np.ones((4, 2))},
        {"basis": np.eye(3)[:, :2]},
        {"seed": 0, "axes": [0, 1]},
        {"seed": 0, "half_width": 0.0},
        {"seed": 0, "half_width": [1.0, 1.0, 1.0]},
        {"seed": 0, "center": np.nan},
    ],
)
def test_wrong_placements_are_refused(options):
    with pytest.raises(InvalidInputError):
        Embedded(camelback(), 4, **options)


@pytest.mark.parametrize("axis_aligned", [False, True])
@pytest.mark.parametrize(
    ("name", "d", "truth"),
    [
        ("parabola", 1, lambda z: 0.99 * z[0] ** 2 + 0.43 * z[0] + 0.06),
        ("camelback", 2, lambda z: camelback().formula.value(np.array([z * [1.2, 0.8]]))[0]),
        (
            "sinexp",
            2,
            lambda z: np.sin(3 * z[0]) + 2 * np.exp(-1.5 * (z[1] - 0.3) ** 2) + 0.3 * z[0] * z[1],
        ),
        ("rosenbrock", 5, lambda z: rosenbrock(5).formula.value(1.2 * z[np.newaxis])[0]),
        ("hartmann6", 6, lambda z: hartmann6()(np.clip(0.5 + 0.43 * z, 0.0, 1.0))),
    ],
)
def test_recovery_placements(name, d, truth, axis_aligned):
    problem = recovery_problem(name, 12, seed=4, axis_aligned=axis_aligned)
    assert problem.effective_dim == d
    assert problem.direction == "minimize"
    for x in np.random.default_rng(0).uniform(-1.0, 1.0, size=(20, 12)):
        assert problem(x) == pytest.approx(truth(x @ problem.true_basis), rel=1e-10, abs=1e-12)
    if axis_aligned:
        np.testing.assert_array_equal(np.sort(problem.true_basis.ravel())[-d:], 1.0)
    if problem.optimum is not None:
        np.testing.assert_allclose(problem(problem.optimizers), problem.optimum, atol=1e-12)


def test_recovery_problem_without_a_known_optimum_says_so():
    assert recovery_problem("sinexp", 10, seed=0).optimum is None


def test_recovery_gradients_agree_with_differences():
    rng = np.random.default_rng(0)
    for name in ("sinexp", "hartmann6"):
        problem = recovery_problem(name, 8, seed=0)
        for x in rng.uniform(-0.9, 0.9, size=(10, 8)):
            differences = [
                (problem(x + step) - problem(x - step)) / 2e-6 for step in 1e-6 * np.eye(8)
            ]
            np.testing.assert_allclose(problem.gradient(x), differences, atol=1e-7)
