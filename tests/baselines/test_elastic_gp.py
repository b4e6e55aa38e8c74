import numpy as np
import pytest

from baselines.gaussian_process.elastic_gp import ElasticGPOptimizer, climb, elastic_climb
from boring.acquisition import LogExpectedImprovement
from boring.exceptions import InvalidInputError
from boring.kernels import SQUARED_EXPONENTIAL, AdditiveKernel, Isotropic, KernelTerm
from boring.models.gp import GaussianProcessModel


def rng(seed=0):
    return np.random.default_rng(seed)


def acquisition_of(dim, seed, n=100):
    """Return log expected improvement of a Gaussian bump's data, by lengthscale, and the data."""
    X = rng(seed).uniform(-1, 1, (n, dim))
    y = np.exp(-np.sum((X - 0.25) ** 2, axis=1) / (dim / 8))
    y = (y - y.mean()) / y.std()
    model = GaussianProcessModel(
        AdditiveKernel([KernelTerm(SQUARED_EXPONENTIAL, Isotropic())], 1.0)
    )
    known = {}

    def acquisition_at(lengthscale):
        if lengthscale not in known:
            theta = np.array([0.0, np.log(lengthscale), np.log(1e-4)])
            known[lengthscale] = LogExpectedImprovement(model.condition(theta, X, y), y.max())
        return known[lengthscale]

    return acquisition_at, X


@pytest.mark.parametrize(("dim", "lengthscale"), [(20, 0.3), (50, 0.3)])
def test_succeeds_from_starts_where_the_gradient_underflows(dim, lengthscale):
    stuck = succeeded = 0
    for seed in range(10):
        acquisition_at, _ = acquisition_of(dim, seed)
        target = acquisition_at(lengthscale)
        (start,) = rng(1000 + seed).uniform(-1, 1, (1, dim))
        assert np.linalg.norm(target.value_and_gradient(start[None])[1]) < 1e-5
        plain = climb(target, start)
        stuck += np.abs(plain - start).max() < 1e-6
        path = elastic_climb(acquisition_at, start, lengthscale, np.sqrt(dim))
        succeeded += path.value > target.value(plain[None])[0] + 1.0
        assert path.lengthscales[0] > path.lengthscales[-1] == lengthscale
    assert stuck >= 9
    assert succeeded == 10


def test_where_there_is_a_gradient_it_is_a_plain_climb():
    acquisition_at, X = acquisition_of(3, 0)
    start = X[0] + 0.01
    path = elastic_climb(acquisition_at, start, 0.7, np.sqrt(3))
    assert path.lengthscales == (0.7,)
    np.testing.assert_array_equal(path.x, climb(acquisition_at(0.7), np.clip(start, -1, 1)))
    far = elastic_climb(acquisition_at, np.ones(3), 0.05, 0.01)
    assert far.lengthscales == (0.05,)


def test_the_end_is_a_local_maximum_of_the_target():
    acquisition_at, _ = acquisition_of(20, 3)
    path = elastic_climb(acquisition_at, rng(5).uniform(-1, 1, 20), 0.3, np.sqrt(20))
    target, random = acquisition_at(0.3), rng(6)
    nearby = np.clip(path.x + 1e-3 * random.standard_normal((200, 20)), -1, 1)
    assert np.all(target.value(nearby) <= path.value + 1e-6)


def test_the_given_lengthscale_is_the_target():
    optimizer = ElasticGPOptimizer([(-1, 1)] * 6, direction="minimize", seed=0, lengthscale=0.2)
    result = optimizer.run(lambda x: float(np.sum((x - 0.3) ** 2)), 14, progress=False)
    infos = [record.info for record in result.records if record.phase == "proposal"]
    assert infos
    assert all(abs(info["lengthscale"] - 0.2) < 1e-12 for info in infos)
    assert sum(info["n_stretched"] for info in infos) > 5
    assert result.options["longest"] == np.sqrt(6)


@pytest.mark.statistical
def test_reaches_a_small_regret_in_most_seeds():
    reached = 0
    for seed in range(3):
        optimizer = ElasticGPOptimizer([(-1, 1)] * 5, direction="minimize", seed=seed, n_starts=3)
        result = optimizer.run(lambda x: float(np.sum((x - 0.3) ** 2)), 20, progress=False)
        reached += result.y_best < 5e-2
    assert reached >= 2


@pytest.mark.parametrize("options", [{"lengthscale": 0}, {"longest": -1.0}, {"n_starts": 0}])
def test_bad_options_are_rejected(options):
    with pytest.raises(InvalidInputError):
        ElasticGPOptimizer([(-1, 1)] * 4, direction="minimize", **options)
