"""What is particular to the peers on BoTorch; skipped where it is not installed."""

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from experiments.peers._torch import TORCH
from experiments.peers.baxus import BaxusOptions, BaxusPeer
from experiments.peers.saasbo import SaasboOptions, SaasboPeer
from experiments.peers.turbo import TurboOptions, TurboPeer

needs_torch = pytest.mark.skipif(not TORCH.is_installed, reason=TORCH.absence)


def made(kind, dim=6, **arguments):
    return kind([(-1, 1)] * dim, direction="minimize", **{"n_initial": 5, "seed": 0, **arguments})


def drive(optimizer, n, fun=None):
    fun = fun or (lambda x: float(np.sum((x - 0.2) ** 2)))
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, fun(x))
    return optimizer


@pytest.mark.parametrize("options", [TurboOptions, BaxusOptions, SaasboOptions])
def test_options_are_positive(options):
    for name in options.__dataclass_fields__:
        with pytest.raises(InvalidInputError, match=name):
            options(**{name: 0})


@needs_torch
@pytest.mark.parametrize("kind", [TurboPeer, SaasboPeer])
def test_a_bowl_is_descended(kind):
    result = drive(made(kind), 25).result()
    assert result.y_best < 0.2 * result.y[:5].min()


@needs_torch
def test_turbo_restarts_with_a_design_of_its_own():
    values = iter([1.0, *np.linspace(2.0, 3.0, 60)])
    optimizer = drive(made(TurboPeer, dim=1, n_initial=4), 4 + 28 + 5, lambda x: next(values))
    infos = [record.info for record in optimizer.result().records]
    assert [info["n_restarts"] for info in infos[4:]] == [0] * 28 + [1] * 5
    assert infos[31]["length"] == 0.8 / 2**6
    X = optimizer.result().X[32:36, 0]
    np.testing.assert_array_equal(np.sort(np.floor(2 * X)), [-2, -1, 0, 1])  # a Sobol sequence
    assert infos[36]["length"] == 0.8


@needs_torch
def test_baxus_begins_in_its_embedding_and_grows_it():
    optimizer = drive(made(BaxusPeer, dim=20, budget=30), 25, lambda x: float(np.sum(x**3)))
    X = optimizer.result().X
    embedding = optimizer.first_embedding
    assert embedding.target_dim == optimizer.plan.first_dim == 1
    assert len(np.unique(np.abs(X[:5]).round(12), axis=1).T) == 1
    dims = [record.info["target_dim"] for record in optimizer.result().records[5:]]
    assert dims == sorted(dims)
    assert dims[0] == 1
    assert dims[-1] > 1
    assert optimizer.result().options["first_dim"] == 1


@needs_torch
def test_baxus_leaves_out_what_its_embedding_does_not_hold():
    optimizer = made(BaxusPeer, dim=20)
    X = np.random.default_rng(0).uniform(-1, 1, (6, 20))
    optimizer.tell(X, -100.0 * np.arange(1.0, 7.0))
    drive(optimizer, 8)
    assert np.all(optimizer.first_embedding.holds(optimizer.result().X[6:]))
