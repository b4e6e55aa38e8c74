from __future__ import annotations

import numpy as np
import pytest

from baselines.additive.add_gp_ucb import AddGpUcbOptimizer, random_decomposition
from boring.acquisition import GroupBeta
from boring.exceptions import InvalidInputError


def separable(x):
    return float((x[0] - x[1]) ** 2 + np.cos(3 * x[2]) + (x[3] - 0.4) ** 2)


@pytest.mark.parametrize(("dim", "size"), [(7, 3), (4, 9), (1, 1), (6, 2)])
def test_random_decompositions_hold_every_input_once(dim, size):
    structure = random_decomposition(dim, size, np.random.default_rng(0))
    assert sorted(i for group in structure for i in group) == list(range(dim))
    assert len(structure) == -(-dim // size)
    assert max(len(group) for group in structure) <= size


def test_beta_is_the_papers():
    optimizer = AddGpUcbOptimizer([(-1, 1)] * 4, direction="minimize", seed=0)
    assert optimizer._beta(3, 20) == GroupBeta(3)(20) == pytest.approx(np.sqrt(0.6 * np.log(40)))


def test_the_decomposition_in_use_competes_with_new_ones():
    optimizer = AddGpUcbOptimizer(
        [(-1, 1)] * 4, direction="minimize", seed=1, group_size=2, update_every=4
    )
    optimizer.run(separable, 30, progress=False)
    seen = [record.info["n_groups"] for record in optimizer.result().records if record.info]
    assert set(seen) == {2}
    assert optimizer.memory["updated_at"] > 20


def test_a_known_decomposition_is_kept_and_finds_the_optimum():
    groups = [[0, 1], [2], [3]]
    optimizer = AddGpUcbOptimizer([(-1, 1)] * 4, direction="minimize", seed=1, decomposition=groups)
    result = optimizer.run(separable, 40, progress=False)
    assert optimizer.structure == ((0, 1), (2,), (3,))
    assert result.y_best < np.cos(3.0) + 0.05


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2]], [[0, 1], [2, 3]]])
def test_a_decomposition_that_is_no_partition_is_refused(groups):
    with pytest.raises(InvalidInputError, match="once"):
        AddGpUcbOptimizer([(-1, 1)] * 3, direction="minimize", decomposition=groups)


def test_surrogate_predicts_the_values():
    optimizer = AddGpUcbOptimizer([(-1, 1)] * 4, direction="minimize", seed=7)
    assert optimizer.surrogate is None
    assert optimizer.structure is None
    optimizer.run(separable, 30, progress=False)
    result, model = optimizer.result(), optimizer.surrogate
    mean, _ = model.predict(result.X)
    assert np.corrcoef(mean, result.y)[0, 1] > 0.95
    assert len(model.component_names) == len(optimizer.structure)
    means, _ = model.components(result.X)
    np.testing.assert_allclose(mean - means.sum(axis=1), result.y.mean())
