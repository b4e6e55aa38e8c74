import os
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng

import baselines  # noqa: F401 (registers the names)
from baselines.search.random_search import RandomSearchOptimizer
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.loop.portfolio import iso_model
from boring.models.gp import prior_mode
from boring.optimizer import Optimizer
from boring.proposal import Proposal
from boring.surrogate import ObjectivePosterior
from boring.testing import OPTIMIZER_CHECKS, check_gradient, check_optimizer

# Gradients: right ones pass, wrong ones do not.


def rosenbrock(x):
    value = float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))
    gradient = np.zeros_like(x)
    gradient[:-1] += -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    gradient[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return value, gradient


def log_determinant(A):
    K = A @ A.T + np.eye(len(A))
    return float(np.linalg.slogdet(K)[1]), 2 * np.linalg.solve(K, A)


CASES = {
    "sine": (lambda x: (float(np.sin(x).sum()), np.cos(x)), np.array([0.3, 1.1, -2.0])),
    "rosenbrock": (rosenbrock, np.array([0.5, -0.3, 0.8, 0.1])),
    "matrix": (log_determinant, default_rng(1).standard_normal((4, 3))),
    "offset": (lambda x: (1e3 + float(np.exp(x).sum()), np.exp(x)), np.array([0.1, 0.2])),
    # Rounds like a number of size 1e5 though its own is about one.
    "coarse": (lambda x: (float(np.sin(x).sum() + 1e5 - 1e5), np.cos(x)), np.array([0.3, 1.1])),
    "linear": (lambda x: (float(x @ np.arange(1.0, 4.0)), np.arange(1.0, 4.0)), np.zeros(3)),
    "scalar": (lambda x: (float(x**3), 3 * x**2), np.array(0.7)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_right_gradients_pass(name, seed):
    function, x = CASES[name]
    report = check_gradient(function, x, default_rng(seed))
    assert report.slope >= 1.8
    assert report.value_error <= 1e-6


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
def test_perturbed_gradients_fail(name, size):
    function, x = CASES[name]
    perturbation = default_rng(5).standard_normal(np.shape(x))

    def wrong(point):
        value, gradient = function(point)
        return value, gradient + size * np.abs(gradient).max() * perturbation

    with pytest.raises(AssertionError, match="differs from central differences"):
        check_gradient(wrong, x, default_rng(0))
    with pytest.raises(AssertionError, match="Taylor error falls with order"):
        check_gradient(wrong, x, default_rng(0), tolerance=np.inf)


def test_other_faults_of_gradients():
    with pytest.raises(AssertionError, match="has shape"):
        check_gradient(lambda x: (0.0, np.zeros(3)), np.zeros(2), default_rng(0))
    with pytest.raises(AssertionError, match="is not finite"):
        check_gradient(lambda x: (np.nan, np.zeros(2)), np.zeros(2), default_rng(0))


# The conformance suite: each named check can fail.


def test_all_checks_run_by_default():
    assert check_optimizer("random") == tuple(OPTIMIZER_CHECKS)
    assert check_optimizer(RandomSearchOptimizer, ["ask_is_repeatable"]) == ("ask_is_repeatable",)


def test_checks_of_one_call_share_a_run_that_the_next_call_makes_anew():
    made = []

    def factory(space, **arguments):
        made.append(arguments)
        return RandomSearchOptimizer(space, **arguments)

    for total in (3, 6):  # What both compare with, the one by run, and the mirrored one.
        check_optimizer(factory, ["run_is_ask_and_tell", "directions_mirror"])
        assert len(made) == total


def test_one_check_may_be_named_by_itself():
    assert check_optimizer("random", "ask_is_repeatable") == ("ask_is_repeatable",)


def test_unknown_checks_and_optimizers():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'ask_is_repeatable'"):
        check_optimizer("random", ["ask_is_repeatabel"])
    with pytest.raises(UnknownNameError, match="No optimiser is called"):
        check_optimizer("randm")
    with pytest.raises(InvalidInputError, match="must be a class, a factory or a name"):
        check_optimizer(3)


def must_fail(kind, check):
    with pytest.raises(AssertionError, match=f"^{check}: "):
        check_optimizer(kind, [check])


class Faulty(Optimizer):
    name = "faulty"
    is_model_based = False

    def _propose(self, context):
        return Proposal(context.rng.uniform(-1, 1, self.space.dim), {}, {})


def test_a_sound_optimizer_passes():
    check_optimizer(Faulty)


def test_points_outside_the_box_are_found():
    class Outside(Faulty):
        def ask(self, n=1):
            return super().ask(n) + 100.0

    must_fail(Outside, "shapes_and_bounds")


class Reversed(ObjectivePosterior):
    def predict(self, X):
        mean, variance = super().predict(X)
        return 2.0 * self.units.values(np.zeros(1)) - mean, variance


class Scaled(ObjectivePosterior):
    def predict(self, X):
        return self.posterior.predict(self._scaled(X))


class Misplaced(ObjectivePosterior):
    def predict(self, X):
        mean, variance = self.posterior.predict(X)
        return self.units.values(mean), self.units.variances(variance)


class NotSquared(ObjectivePosterior):
    def predict(self, X):
        mean, variance = super().predict(X)
        return mean, np.sqrt(variance)


@pytest.mark.parametrize("kind", [Reversed, Scaled, Misplaced, NotSquared])
def test_surrogates_in_other_units_are_found(kind):
    class Modelled(Faulty):
        surrogate_type = ObjectivePosterior

        @property
        def surrogate(self):
            model = iso_model(self.space.dim)
            return self.surrogate_type.of(self, partial(model.condition, prior_mode(model)))

    class Wrong(Modelled):
        surrogate_type = kind

    check = "surrogate_is_of_the_objective"
    check_optimizer(Modelled, [check])
    must_fail(Wrong, check)


def test_hidden_counters_are_found():
    class Counting(Faulty):
        count = 0

        def _propose(self, context):
            self.count += 1
            return Proposal(np.full(self.space.dim, 1 / (1 + self.count)), {}, {})

    must_fail(Counting, "resumes_from_state")
    must_fail(Counting, "resumes_from_journal")


def test_hidden_randomness_is_found():
    class Unseeded(Faulty):
        def _propose(self, context):
            return Proposal(default_rng().uniform(-1, 1, self.space.dim), {}, {})

    must_fail(Unseeded, "same_seed_same_run")
    must_fail(Unseeded, "run_is_ask_and_tell")


def test_an_ignored_seed_is_found():
    class Deaf(Faulty):
        def __init__(self, space, *, direction, n_initial=None, seed=None, **options):
            super().__init__(space, direction=direction, n_initial=n_initial, seed=0, **options)

    must_fail(Deaf, "same_seed_same_run")


def test_whoever_proposes_one_point_again_is_helped_out_by_the_base():
    class Stubborn(Faulty):
        def _propose(self, context):
            return Proposal(np.zeros(self.space.dim), {}, {})

    check_optimizer(
        Stubborn, ["ask_is_repeatable", "survives_only_failures", "survives_a_constant"]
    )


def test_a_forgotten_sign_is_found():
    class Signed(Faulty):
        def _propose(self, context):
            sign = 1.0 if self.direction == "minimize" else -1.0
            return Proposal(sign * context.rng.uniform(-1, 1, self.space.dim), {}, {})

    must_fail(Signed, "directions_mirror")


def test_insisting_on_a_failing_spot_is_found():
    class Insisting(Faulty):
        def _propose(self, context):
            near = 1e-5 * context.rng.uniform(-1, 1, self.space.dim)
            return Proposal(np.full(self.space.dim, 0.5) + near, {}, {})

    must_fail(Insisting, "leaves_a_failing_region")


def test_a_unit_of_the_values_that_matters_is_found():
    class Squaring(Faulty):
        def _propose(self, context):
            spread = np.std(context.data.finite_y)
            return Proposal(np.full(self.space.dim, np.tanh(spread)), {}, {})

    must_fail(Squaring, "units_of_values_do_not_matter")


def test_meddling_with_global_state_is_found(monkeypatch):
    class Drawing(Faulty):
        def _propose(self, context):
            np.random.random()  # noqa: NPY002 (the fault)
            return super()._propose(context)

    class Printing(Faulty):
        def _propose(self, context):
            print("fitting...")
            return super()._propose(context)

    class Muting(Faulty):
        def _propose(self, context):
            import warnings

            warnings.simplefilter("ignore")
            return super()._propose(context)

    class Exporting(Faulty):
        def _propose(self, context):
            os.environ["FAULTY_OPTIMIZER"] = "1"
            return super()._propose(context)

    class Naming(Faulty):
        @property
        def subspace(self):
            print("learning...")

    monkeypatch.setenv("FAULTY_OPTIMIZER", "0")
    must_fail(Exporting, "leaves_global_state")
    must_fail(Naming, "leaves_global_state")
    must_fail(Drawing, "leaves_global_state")
    must_fail(Printing, "leaves_global_state")
    must_fail(Muting, "leaves_global_state")


def test_swallowed_options_are_found():
    class Swallowing(Faulty):
        def __init__(self, space, *, direction, n_initial=None, seed=None, **options):
            super().__init__(space, direction=direction, n_initial=n_initial, seed=seed)

    must_fail(Swallowing, "refuses_unknown_options")


def test_lost_values_are_found():
    class Dropping(Faulty):
        def tell(self, x, y):
            return super().tell(x, y) if np.all(np.isfinite(y)) else self

    must_fail(Dropping, "survives_non_finite_values")


def test_ignored_told_points_are_found():
    class Insisting(Faulty):
        def _propose(self, context):
            x = context.rng.uniform(-1, 1, self.space.dim)
            return Proposal(x, {}, {"phase": "initial"})

    must_fail(Insisting, "welcomes_told_points")


def test_other_faults_are_found():
    class Silent(Faulty):
        def tell(self, x, y):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return super().tell(x, y)

    class NeedsPlane(Faulty):
        def _propose(self, context):
            assert self.space.dim > 1, "needs a plane"
            return super()._propose(context)

    class Greedy(Faulty):
        def run(self, fun, n_evaluations, **keywords):
            return super().run(fun, max(n_evaluations, 4), **keywords)

    must_fail(Silent, "survives_duplicates")
    must_fail(NeedsPlane, "works_in_one_dimension")
    must_fail(Greedy, "works_on_a_tiny_budget")
