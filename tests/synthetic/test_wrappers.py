"""Perturbed, Shifted, Negated, PolynomialInput; passive terms; names."""

import numpy as np
import pytest
from scipy.optimize import minimize

from boring.exceptions import InvalidInputError, UnknownNameError
from synthetic import (
    Bowl,
    Embedded,
    Negated,
    Noisy,
    Perturbed,
    PolynomialInput,
    Ripple,
    Shifted,
    TestProblem,
    Well,
    branin,
    camelback,
    decreasing_ripples,
    get_problem,
    michalewicz,
    mixed_terms,
    parabola,
    problem_names,
    recovery_problem,
    unnormalized_gaussian,
)


def assert_gradient_matches_differences(problem, n=10, step=1e-6):
    rng = np.random.default_rng(0)
    X = problem.space.unscale(rng.uniform(-0.9, 0.9, size=(n, problem.dim)))
    scale = np.abs(problem.gradient(X)).max()
    for x in X:
        differences = [
            (problem(x + e) - problem(x - e)) / (2.0 * step) for e in step * np.eye(problem.dim)
        ]
        np.testing.assert_allclose(problem.gradient(x), differences, atol=1e-6 * scale)


@pytest.mark.parametrize(
    "term", [Ripple(0.3), Ripple(0.15, 7.0, -0.3), Bowl(0.2, -0.1), Well(0.25, 0.3, 0.15)]
)
def test_passive_terms_are_best_at_their_offset_and_nowhere_negative(term):
    P = np.linspace(-5.0, 5.0, 10_001)[:, np.newaxis]
    at = np.array([[term.offset]])
    assert term.value(at)[0] == 0.0
    assert term.gradient(at)[0, 0] == 0.0
    assert term.value(P).min() >= 0.0
    differences = (term.value(P + 1e-6) - term.value(P - 1e-6)) / 2e-6
    np.testing.assert_allclose(term.gradient(P)[:, 0], differences, atol=1e-8)


def test_ripples_decrease_and_follow_their_formula():
    ripples = decreasing_ripples(3)
    assert [ripple.amplitude for ripple in ripples] == pytest.approx([0.3, 0.15, 0.075])
    problem = get_problem("ripple-2-in-5", seed=2)
    plain = get_problem("camelback-2-in-5", seed=2)
    np.testing.assert_array_equal(problem.true_basis, plain.true_basis)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(30, 5))
    P = X @ problem.passive_basis
    expected = plain(X) + (1.0 - np.cos(5.0 * (P - 0.2))) @ [0.3, 0.15, 0.075]
    np.testing.assert_allclose(problem(X), expected, rtol=1e-12)


def test_exact_structure_is_an_active_term_plus_one_dimensional_passive_terms():
    problem = get_problem("exact-structure-2-in-5", seed=3)
    W, V = problem.true_basis, problem.passive_basis
    Q = np.hstack((W, V))
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-12)
    assert {type(term) for term in problem.terms} == {Ripple, Bowl, Well}
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(30, 5))
    expected = problem.inner(X)
    for j, term in enumerate(problem.terms):
        expected = expected + term.value(X @ V[:, [j]])
    np.testing.assert_allclose(problem(X), expected, rtol=1e-12)
    assert problem.effective_dim == 2


@pytest.mark.parametrize("name", ["ripple-2-in-5", "rosenbrock-ripple-5-in-10"])
def test_perturbed_optimum_is_reachable_for_every_seed(name):
    for seed in range(30):
        problem = get_problem(name, seed)
        assert np.abs(problem.optimizers).max() <= 0.95
        np.testing.assert_allclose(problem(problem.optimizers), problem.optimum, atol=1e-12)
        P = problem.optimizers @ problem.passive_basis
        np.testing.assert_allclose(P, 0.2, atol=1e-12)


def test_perturbing_makes_a_maximised_problem_worse_too():
    inner = Embedded(unnormalized_gaussian(2), 5, seed=0)
    problem = Perturbed(inner, seed=1)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 5))
    assert problem.direction == "maximize"
    assert np.all(problem(X) <= inner(X))
    assert problem.optimum == 1.0
    np.testing.assert_allclose(problem(problem.optimizers), 1.0, atol=1e-12)


def test_perturbing_on_another_box_works_in_scaled_units():
    inner = Shifted(
        TestProblem(
            name="line",
            space=branin().space,
            formula=branin().formula,
            true_basis=np.array([[1.0], [0.0]]),
            effective_dim=1,
        ),
        0.0,
    )
    problem = Perturbed(inner, [Bowl(1.0, 0.0)], seed=0)
    x = np.array([0.0, 15.0])  # one scaled unit from the middle of the second coordinate
    assert problem(x) - inner(x) == pytest.approx(1.0)
    assert_gradient_matches_differences(problem)


def test_perturbed_refuses_what_has_no_passive_directions_left():
    embedded = Embedded(camelback(), 4, seed=0)
    with pytest.raises(InvalidInputError):
        Perturbed(camelback(), seed=0)
    with pytest.raises(InvalidInputError, match="2 passive directions"):
        Perturbed(embedded, decreasing_ripples(3), seed=0)
    with pytest.raises(InvalidInputError):
        Perturbed(Perturbed(embedded, seed=0), seed=1)
    with pytest.raises(InvalidInputError):
        Perturbed(embedded, [], seed=0)


def test_embedding_a_perturbed_problem_carries_its_passive_directions_along():
    inner = Perturbed(Embedded(camelback(), 4, seed=0), seed=1)
    outer = Embedded(inner, 7, seed=2)
    G = outer.gradient(np.random.default_rng(0).uniform(-1, 1, size=(60, 7)))
    Q = np.hstack((outer.true_basis, outer.passive_basis))
    np.testing.assert_allclose(G - (G @ Q) @ Q.T, 0.0, atol=1e-9 * np.abs(G).max())
    with pytest.raises(InvalidInputError, match="half_width"):
        Embedded(inner, 7, seed=2, half_width=[1.0, 1.0, 1.0, 2.0])


def test_unreachable_offsets_leave_the_optimum_unknown():
    embedded = Embedded(camelback(), 4, seed=0)
    assert Perturbed(embedded, [Bowl(1.0, 3.0)], seed=0).optimum is None


def test_shifted_moves_the_function_inside_its_box():
    inner = camelback()
    problem = Shifted(inner, [0.4, -0.1])
    assert problem([0.4, -0.1]) == inner([0.0, 0.0])
    np.testing.assert_allclose(problem.optimizers, np.add(inner.optimizers, [0.4, -0.1]))
    assert_gradient_matches_differences(problem)
    far = Shifted(inner, [0.0, 0.5])  # the upper optimum leaves the box
    np.testing.assert_allclose(far.optimizers, np.add(inner.optimizers[:1], [0.0, 0.5]))
    assert Shifted(inner, [10.0, 0.0]).optimum is None
    assert Shifted(michalewicz(2), 0.1).optimum is None


def test_negated_turns_the_problem_upside_down():
    problem = Negated(branin())
    assert problem.direction == "maximize"
    assert problem.optimum == -branin().optimum
    np.testing.assert_allclose(problem(problem.optimizers), problem.optimum)
    assert_gradient_matches_differences(problem)
    X = problem.space.sample(20, np.random.default_rng(0))
    np.testing.assert_allclose(problem.regret(problem(X)), branin().regret(branin()(X)))
    assert Negated(problem).direction == "minimize"


def test_wrappers_compose():
    problem = Noisy(Negated(get_problem("ripple-2-in-5", seed=0)), 0.1)
    assert problem.noise_std == 0.1
    assert problem.passive_basis is not None
    assert Embedded(problem, 8, seed=0).noise_std == 0.1
    assert_gradient_matches_differences(problem)


@pytest.mark.parametrize("name", ["camelback-2-in-5", "ripple-2-in-5", "exact-structure-2-in-5"])
def test_gradients_through_wrappers(name):
    assert_gradient_matches_differences(get_problem(name, seed=0))


class TestPolynomialInput:
    def test_formula(self):
        problem = PolynomialInput(camelback(), 3, offsets=(-0.3, 0.2), seed=0, anchor=[0.1, 0, 0.2])
        W, x = problem.feature_basis, np.array([0.5, -0.4, 0.1])
        features = np.concatenate(((x + 0.3) ** 2, (x - 0.2) ** 2))
        np.testing.assert_allclose(problem.features(x)[0], features)
        anchor_features = problem.features([0.1, 0.0, 0.2])[0]
        u = camelback().optimizers[0] + [2.0, 1.0] * ((features - anchor_features) @ W)
        assert problem(x) == pytest.approx(camelback().formula.value(u[np.newaxis])[0])
        assert_gradient_matches_differences(problem)

    @pytest.mark.parametrize("seed", range(5))
    def test_optimum_is_attained_stationary_and_unbeaten(self, seed):
        problem = PolynomialInput(camelback(), 4, seed=seed)
        assert problem.optimum == camelback().optimum
        np.testing.assert_allclose(problem(problem.optimizers), problem.optimum, atol=1e-12)
        np.testing.assert_allclose(problem.gradient(problem.optimizers), 0.0, atol=1e-12)
        X = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(4000, 4))
        start = X[np.argmin(problem(X))]
        found = minimize(lambda x: problem(np.clip(x, -1.0, 1.0)), start, bounds=[(-1.0, 1.0)] * 4)
        assert problem.regret(min(found.fun, problem(X).min())) >= -1e-12

    def test_thesis_feature_selection_example(self):
        # f = -(w_1 (x_1 - a_1)^2 + w_2 (x_2 - a_2)^2)^2, best where x = a.
        class NegativeSquare:
            def value(self, X):
                return -(X[:, 0] ** 2)

            def gradient(self, X):
                return -2.0 * X

        inner = TestProblem(
            name="square",
            space=parabola().space,
            formula=NegativeSquare(),
            direction="maximize",
            optimum=0.0,
            optimizers=np.zeros((1, 1)),
            holds_outside=True,
            true_basis=np.eye(1),
            effective_dim=1,
        )
        w, a = np.array([0.589, 0.808]), np.array([-0.1, 0.1])
        w = w / np.linalg.norm(w)
        problem = PolynomialInput(inner, 2, offsets=[a], basis=w[:, np.newaxis], anchor=a)
        x = np.array([0.6, -0.3])
        assert problem(x) == pytest.approx(-((w @ (x - a) ** 2) ** 2))
        np.testing.assert_allclose(problem.monomial_basis[:, 0], [*w, *(-2.0 * a * w)])

    def test_monomial_basis_gives_the_same_projections_up_to_a_constant(self):
        problem = PolynomialInput(camelback(), 3, seed=1)
        X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(20, 3))
        by_features = problem.features(X) @ problem.feature_basis
        by_monomials = np.hstack((X**2, X)) @ problem.monomial_basis
        np.testing.assert_allclose(np.ptp(by_features - by_monomials, axis=0), 0.0, atol=1e-12)

    def test_optimum_is_unknown_when_that_of_g_is_not_global(self):
        assert PolynomialInput(michalewicz(2), 3, seed=0).optimum is None
        assert PolynomialInput(recovery_problem("sinexp", 2, seed=0), 3, seed=0).optimum is None

    @pytest.mark.parametrize(
        "options",
        [
            {"anchor": [2.0, 0.0, 0.0]},
            {"anchor": [0.0, 0.0]},
            {"basis": np.eye(3)[:, :2]},
            {"basis": np.ones((6, 2))},
            {"offsets": ([0.0, 1.0],)},
        ],
    )
    def test_wrong_input_is_refused(self, options):
        with pytest.raises(InvalidInputError):
            PolynomialInput(camelback(), 3, seed=0, **options)


MEASURED = (  # no optimum is known of these
    "rover-",
    "lasso-",
    "kernel-",
    "boosting-",
    "elliptic-",
    "granular-",
    "supernovae-",
    "alloy-",
    "accelerator-",
    "forest-",
    "cascade-",
    "completion-",
    "svm-",
)


@pytest.mark.parametrize("name", problem_names())
def test_every_standard_name_makes_a_problem_of_that_name(name):
    problem = get_problem(name, seed=0)
    assert problem.name == name
    known = not name.startswith(MEASURED)
    assert (problem.optimum is not None) == known
    assert (problem.true_basis is not None) == known


def test_names_beyond_the_standard_ones():
    assert get_problem("levy-3-in-30", seed=0).dim == 30
    assert get_problem("branin-exact-2-in-8", seed=0).passive_basis.shape == (8, 6)
    assert get_problem("ackley-4-in-12-axis", seed=0).effective_dim == 4
    assert get_problem("michalewicz-2-in-4", seed=0).optimum == michalewicz(2).optimum
    assert get_problem("noncontinuous-rastrigin-ripple-2-in-5", seed=0).optimum == 0.0


def test_optimum_off_the_origin_when_embedded():
    for name in (
        "ackley-2-in-6",
        "schwefel12-3-in-6",
        "gaussian-2-in-6",
        "griewank-2-in-6",
        "rastrigin-3-in-6",
        "noncontinuous-rastrigin-3-in-6",
        "terraces-3-in-6",
    ):
        problem = get_problem(name, seed=0)
        assert abs(problem(np.zeros(6)) - problem.optimum) > 0.01


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("camelbak-2-in-5", "camelback-2-in-5"),
        ("hartman6-6-in-25", "hartmann6-6-in-25"),
        ("rosenbrock-ripples-5-in-10", "rosenbrock-ripple-5-in-10"),
        ("Branin-2", "branin-2"),
        ("shekel-4-inn-20", "shekel-4-in-20"),
        ("noncontinuous-rastrigin-3in15", "noncontinuous-rastrigin-3-in-15"),
    ],
)
def test_unknown_names_suggest_the_near_one(name, near):
    with pytest.raises(UnknownNameError, match=f"'{near}'"):
        get_problem(name, seed=0)


@pytest.mark.parametrize("name", ["", "camelback", "camelback-0", "camelback-2-in", "x"])
def test_other_nonsense_is_an_unknown_name(name):
    with pytest.raises(UnknownNameError):
        get_problem(name, seed=0)


@pytest.mark.parametrize(
    "name", ["ripple-2", "ripple-2-in-5-axis", "levy-5-in-3-axis", "parabola-2-in-3"]
)
def test_names_that_cannot_be_made_are_refused(name):
    with pytest.raises(InvalidInputError):
        get_problem(name, seed=0)


def test_unknown_recovery_name():
    with pytest.raises(UnknownNameError, match="camelback"):
        recovery_problem("camel", 5, seed=0)


def test_mixed_terms_cycle_and_shrink():
    terms = mixed_terms(5)
    assert [type(term) for term in terms] == [Ripple, Bowl, Well, Ripple, Bowl]
    assert terms[3].amplitude == 0.5 * terms[0].amplitude


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: Embedded(f, dim=5, seed=0),
        lambda f: Perturbed(f),
        lambda f: Shifted(f, 0.5),
        lambda f: Noisy(f, 0.1),
        lambda f: Negated(f),
        lambda f: PolynomialInput(f, dim=3, seed=0),
    ],
)
def test_a_plain_function_is_no_problem(wrap):
    with pytest.raises(InvalidInputError, match=r"TestProblem is needed; received function"):
        wrap(lambda x: x.sum())
