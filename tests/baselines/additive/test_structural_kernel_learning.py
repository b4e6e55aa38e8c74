from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from baselines.additive.groups import (
    StructureEvidence,
    as_structure,
    prior_mode,
    singletons,
    tied_model,
)
from baselines.additive.structural_kernel_learning import (
    StructuralKernelOptimizer,
    gibbs_sweep,
    log_prior,
)
from boring.exceptions import InvalidInputError


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("dim", [1, 3, 5])
def test_prior_of_partitions_sums_to_one(partitions, dim, alpha):
    structures = [as_structure(p) for p in partitions(list(range(dim)))]
    total = sum(np.exp(log_prior(structure, dim, alpha)) for structure in structures)
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("alpha", "max_group_size"), [(1.0, 4), (0.4, 2)])
def test_sweeps_visit_partitions_as_often_as_the_exact_posterior_says(
    partitions, alpha, max_group_size
):
    dim, rng = 4, np.random.default_rng(1)
    X = rng.uniform(-1, 1, (10, dim))
    y = np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] + 0.3 * rng.standard_normal(10)
    tied = prior_mode(dim, per_input=False) + np.array([0.0, 0.0, 5.0])
    evidence = StructureEvidence(X, y, tied)
    exact = {}
    for partition in partitions(list(range(dim))):
        structure = as_structure(partition)
        if max(len(group) for group in structure) <= max_group_size:
            exact[structure] = np.exp(evidence(structure) + log_prior(structure, dim, alpha))
    norm = sum(exact.values())
    state, n = singletons(dim), 1500
    seen = Counter()
    for _ in range(n):
        state = gibbs_sweep(
            state, evidence, dim, alpha=alpha, max_group_size=max_group_size, rng=rng
        )
        seen[state] += 1
    assert set(seen) <= set(exact)
    assert 0.5 * sum(abs(seen[s] / n - exact[s] / norm) for s in exact) < 0.06


@pytest.mark.statistical
def test_recovers_a_planted_partition_in_most_seeds(planted):
    structure, dim = ((0, 1), (2, 3, 4), (5,)), 6
    found = 0
    for seed in range(3):
        X, y = planted(structure, dim, 100, seed)
        rng = np.random.default_rng(seed)
        state = singletons(dim)
        u = prior_mode(dim, per_input=True)
        for _ in range(4):
            u = tied_model(state, dim, per_input=True).fit(X, y, u).theta
            evidence = StructureEvidence(X, y, u)
            for _ in range(4):
                state = gibbs_sweep(state, evidence, dim, alpha=1.0, max_group_size=3, rng=rng)
        found += state == structure
    assert found >= 2


def test_optimiser_updates_on_schedule_and_respects_the_largest_group():
    optimizer = StructuralKernelOptimizer(
        [(-1, 1)] * 4, direction="minimize", seed=0, max_group_size=2, n_sweeps=2, update_every=5
    )
    result = optimizer.run(
        lambda x: x[0] * x[1] + x[0] ** 2 + x[1] ** 2 + (x[2:] ** 2).sum(), 40, progress=False
    )
    assert result.y_best < 0.1
    assert max(len(group) for group in optimizer.structure) <= 2
    assert (optimizer.memory["updated_at"] - optimizer.n_initial) % 5 == 0


def test_bad_options_are_rejected():
    with pytest.raises(InvalidInputError, match="alpha"):
        StructuralKernelOptimizer([(-1, 1)], direction="minimize", alpha=0.0)
    with pytest.raises(InvalidInputError, match="n_sweeps"):
        StructuralKernelOptimizer([(-1, 1)], direction="minimize", n_sweeps=0)
