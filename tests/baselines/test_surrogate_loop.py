import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from baselines._members import (
    EmpiricalExpectedImprovement,
    EnsemblePosterior,
    LogMixtureImprovement,
    MixturePosterior,
    ProjectedPosterior,
)
from baselines.goal_seeking.conditional_map import ConditionalMapOptimizer
from baselines.mixtures.kde import KdeOptimizer
from baselines.random_features.bayesian_rvfl import BayesianRvflOptimizer
from baselines.random_features.ensemble_rvfl import EnsembleRvflOptimizer
from boring.acquisition import LogExpectedImprovement
from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import largest_angle, orthonormalize
from boring.testing import check_gradient

FAST = {"n_hidden": 50, "n_members": 10}


class Lines(EnsemblePosterior):
    """Members with random slopes: outputs are normal at every x."""

    def __init__(self, n, seed=0):
        self.slopes = np.random.default_rng(seed).standard_normal((n, 2))

    def members(self, X):
        return X @ self.slopes.T

    def members_with_gradient(self, X):
        return self.members(X), np.broadcast_to(self.slopes, (len(X), *self.slopes.shape))


def fitted(cls, **options):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    optimizer = cls([(-1, 1)] * 2, direction="minimize", seed=0, **options)
    return optimizer._fit(X, (y - y.mean()) / y.std(), {}, rng).posterior


def test_empirical_improvement_of_normal_members_is_the_closed_form():
    ensemble, X = Lines(200_000), np.array([[0.5, -0.3], [1.0, 1.0]])
    empirical = EmpiricalExpectedImprovement(ensemble, 0.4).value(X)
    closed = np.exp(LogExpectedImprovement(ensemble, 0.4).value(X))
    np.testing.assert_allclose(empirical, closed, rtol=0.02)


def test_empirical_improvement_is_zero_without_a_better_member_and_has_its_gradient():
    ensemble = Lines(30)
    acquisition = EmpiricalExpectedImprovement(ensemble, 100.0)
    value, slope = acquisition.value_and_gradient(np.ones((1, 2)))
    assert value[0] == 0.0
    np.testing.assert_array_equal(slope, 0.0)
    improving = EmpiricalExpectedImprovement(ensemble, 0.1)

    def at(x):
        value, slope = improving.value_and_gradient(x[None])
        return float(value[0]), slope[0]

    check_gradient(at, np.array([0.7, -0.4]), np.random.default_rng(0), scale=1e-3)


def test_moments_of_an_ensemble_and_their_gradients():
    ensemble = Lines(30)
    for k in (0, 1):

        def moment(x, k=k):
            found = ensemble.predict_with_gradient(x[None])
            return float(found[k][0]), found[k + 2][0]

        check_gradient(moment, np.array([0.7, -0.4]), np.random.default_rng(0))


class Two(MixturePosterior):
    """One component in ten is well above the others."""

    def components(self, X):
        rows = np.ones((len(X), 1))
        return rows * np.log([0.9, 0.1]), rows * [0.0, 3.0], rows * [0.01, 0.01]

    def components_with_gradient(self, X):
        zero = np.zeros((len(X), 2, X.shape[1]))
        return (*self.components(X), zero, zero)


def test_normal_approximation_of_a_mixture_misjudges_its_improvement():
    x = np.zeros((1, 1))
    assert np.exp(LogMixtureImprovement(Two(), 2.0).value(x))[0] == pytest.approx(0.1, rel=1e-6)
    assert np.exp(LogExpectedImprovement(Two(), 2.0).value(x))[0] < 0.05


def test_mixture_improvement_is_the_integral_over_the_density():
    posterior = fitted(KdeOptimizer)
    x = np.array([[0.2, -0.1]])
    exact = float(np.exp(LogMixtureImprovement(posterior, 0.5).value(x))[0])

    def integrand(y):
        return (y - 0.5) * np.exp(posterior.log_density(x, np.array([y]))[0])

    parts = [quad(integrand, a, b, limit=300)[0] for a, b in ((0.5, 3.0), (3.0, 100.0))]
    assert exact == pytest.approx(sum(parts), rel=1e-6)


def test_mixture_improvement_has_its_gradient():
    acquisition = LogMixtureImprovement(fitted(KdeOptimizer), 0.5)

    def at(x):
        value, slope = acquisition.value_and_gradient(x[None])
        return float(value[0]), slope[0]

    check_gradient(at, np.array([0.2, -0.1]), np.random.default_rng(0), scale=0.1)


@pytest.mark.parametrize("cls", [BayesianRvflOptimizer, EnsembleRvflOptimizer, KdeOptimizer])
def test_projected_posterior_is_constant_across_and_differentiates_in_x(cls):
    W = orthonormalize(np.random.default_rng(1).standard_normal((5, 2)))
    posterior = ProjectedPosterior(fitted(cls), W)
    x, across = np.full(5, 0.1), np.linalg.svd(W.T)[2][-1]
    np.testing.assert_allclose(
        posterior.predict(x[None]), posterior.predict((x + across)[None]), rtol=1e-9
    )

    def mean(x):
        found = posterior.predict_with_gradient(x[None])
        return float(found[0][0]), found[2][0]

    check_gradient(mean, x, np.random.default_rng(0), scale=1e-4 if "Ens" in cls.__name__ else 0.1)


def ridge(x):
    return float((x @ np.array([0.6, -0.8, 0.0, 0.0, 0.0]) - 0.4) ** 2)


def test_a_given_subspace_is_all_that_the_surrogate_sees():
    W = [[0.6], [-0.8], [0.0], [0.0], [0.0]]
    optimizer = BayesianRvflOptimizer(
        [(-1, 1)] * 5, direction="minimize", seed=0, subspace=W, n_hidden=50
    )
    optimizer.run(ridge, 14, progress=False)
    assert optimizer.result().y_best < 1e-3
    x = np.full((1, 5), 0.2)
    mean = optimizer.surrogate.predict(x)[0]
    np.testing.assert_allclose(
        optimizer.surrogate.predict(x + np.array([0, 0, 0.5, 0, 0]))[0], mean
    )
    twin = type(optimizer).from_state(optimizer.state())
    np.testing.assert_array_equal(twin.ask(), optimizer.ask())


@pytest.mark.parametrize("warp", ["half-rank", "log"])
@pytest.mark.parametrize("cls", [BayesianRvflOptimizer, KdeOptimizer])
def test_the_surrogate_of_the_objective_knows_no_warp(cls, warp):
    optimizer = cls([(0, 4)] * 2, direction="minimize", seed=0, warp=warp)
    X = np.random.default_rng(0).uniform(0, 4, (30, 2))
    y = 100.0 + np.exp(X.sum(axis=1))
    optimizer.tell(X, y).ask()
    mean, variance = optimizer.surrogate.predict(X)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.3 * y.std()
    assert np.all(variance >= 0.0)


def test_a_learned_subspace_is_found_remembered_and_resumed():
    def fresh():
        return BayesianRvflOptimizer(
            [(-1, 1)] * 5,
            direction="minimize",
            seed=0,
            subspace="learned",
            n_hidden=50,
            effective_dim=1,
        )

    whole = fresh()
    whole.run(ridge, 18, progress=False)
    basis = np.array(whole.memory["basis"])
    truth = np.array([[0.6], [-0.8], [0.0], [0.0], [0.0]])
    assert basis.shape == (5, 1)
    assert largest_angle(basis, truth) < np.deg2rad(15)
    rebuilt = fresh()
    for _ in range(18):
        rebuilt = type(rebuilt).from_state(rebuilt.state())
        x = rebuilt.ask()[0]
        rebuilt.tell(x, ridge(x))
    assert rebuilt.state() == whole.state()


def test_a_subspace_begins_when_there_are_enough_data_and_drops_hyperparameters_of_before():
    optimizer = ConditionalMapOptimizer(
        [(-1, 1)] * 3,
        direction="minimize",
        seed=0,
        n_initial=3,
        subspace="learned",
        effective_dim=1,
        infill="acquisition",
    )
    sizes = []
    for _ in range(7):
        x = optimizer.ask()[0]
        if optimizer.memory:
            sizes.append((optimizer.n_told, len(optimizer.memory["fit"]["theta"])))
        optimizer.tell(x, float((x[0] - x[1]) ** 2))
    # One lengthscale for each input that the surrogate sees, a variance and the noise.
    assert sizes == [(3, 5), (4, 5), (5, 3), (6, 3)]


@pytest.mark.parametrize("acquisition", ["log-ei", "ucb", "empirical-ei"])
@pytest.mark.parametrize("warp", ["standardize", "half-rank", "log"])
def test_options_of_the_loop_give_valid_runs(acquisition, warp):
    optimizer = EnsembleRvflOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, acquisition=acquisition, warp=warp, **FAST
    )
    optimizer.run(lambda x: float(x @ x), 8, progress=False)
    batch = optimizer.ask(3)
    assert len(np.unique(batch, axis=0)) == 3


def test_a_pending_point_moves_the_next_one_away():
    optimizer = KdeOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    optimizer.run(lambda x: float(x @ x), 12, progress=False)
    batch = optimizer.ask(2)
    assert np.linalg.norm(batch[0] - batch[1]) > 1e-3


@pytest.mark.parametrize(
    "options",
    [
        {"subspace": "learnt"},
        {"subspace": np.eye(3)},
        {"subspace": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]},
        {"beta": -1.0},
        {"warp": "rank"},
        {"acquisition": "pi"},
        {"subspace": "learned", "effective_dim": 3},
    ],
)
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        BayesianRvflOptimizer([(-1, 1)] * 2, direction="minimize", **options)


def test_a_larger_beta_proposes_further_from_the_data():
    def distance(beta, seed):
        optimizer = BayesianRvflOptimizer(
            [(-1, 1)] * 2,
            direction="minimize",
            seed=seed,
            acquisition="ucb",
            beta=beta,
            n_hidden=50,
        )
        X = np.random.default_rng(seed).uniform(-1, 1, (15, 2))
        x = optimizer.tell(X, np.sin(3 * X[:, 0]) + X[:, 1]).ask()
        return np.linalg.norm(X - x, axis=1).min()

    means = [np.mean([distance(beta, seed) for seed in range(10)]) for beta in (0.0, 1.0, 10.0)]
    assert means[0] < means[1] < means[2]


def test_upper_bound_uses_beta():
    runs = [
        BayesianRvflOptimizer(
            [(-1, 1)] * 2, direction="minimize", seed=0, acquisition="ucb", beta=beta, n_hidden=50
        )
        .run(lambda x: float(x @ x), 8, progress=False)
        .X
        for beta in (0.0, 3.0)
    ]
    assert not np.array_equal(*runs)
    assert norm.cdf(1.0) == pytest.approx(0.841, abs=1e-3)  # the source's pi for beta = 1
