from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from baselines.additive.groups import StructureEvidence, as_structure, prior_mode, singletons
from baselines.additive.partition_sampling import (
    PartitionEvidence,
    PartitionSamplingOptimizer,
    log_move_probability,
    metropolis_hastings,
    partition_model,
    propose_move,
)


@pytest.mark.parametrize("dim", [2, 3, 4, 5])
def test_moves_from_every_partition_have_probabilities_that_sum_to_one(partitions, dim):
    structures = [as_structure(p) for p in partitions(list(range(dim)))]
    assert len(structures) == {2: 2, 3: 5, 4: 15, 5: 52}[dim]  # Bell numbers
    for structure in structures:
        total = sum(np.exp(log_move_probability(structure, target)) for target in structures)
        assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("start", [[[0, 1, 2], [3, 4]], [[0, 1, 2, 3, 4]], [[0], [1], [2], [3, 4]]])
def test_moves_are_drawn_with_the_probabilities_that_are_counted(start):
    rng = np.random.default_rng(0)
    start = as_structure(start)
    n = 6000
    seen = Counter(propose_move(start, rng) for _ in range(n))
    for target, count in seen.items():
        p = np.exp(log_move_probability(start, target))
        assert abs(count / n - p) < 5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("dim", [3, 4])
def test_chain_visits_partitions_as_often_as_the_exact_posterior_says(partitions, dim):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (12, dim))
    y = np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] + 0.3 * rng.standard_normal(12)
    tied = prior_mode(dim, per_input=False) + np.array([0.0, 0.0, 5.0])
    evidence = StructureEvidence(X, y, tied)
    scores = {s: evidence(s) for s in (as_structure(p) for p in partitions(list(range(dim))))}
    peak = max(scores.values())
    exact = {s: np.exp(v - peak) for s, v in scores.items()}
    norm = sum(exact.values())
    assert max(exact.values()) / norm < 0.8  # nothing to learn from a posterior on one partition
    n = 12_000
    seen = Counter(metropolis_hastings(singletons(dim), scores.__getitem__, n, rng))
    distance = 0.5 * sum(abs(seen[s] / n - exact[s] / norm) for s in scores)
    assert distance < 0.03
    # The same chain without the count of reverse moves is plainly off: the test can fail.
    wrong = {s: exact[s] * _symmetric_error(s) for s in scores}
    wrong_norm = sum(wrong.values())
    assert 0.5 * sum(abs(wrong[s] / wrong_norm - exact[s] / norm) for s in scores) > 0.04


def _symmetric_error(structure):
    """Return what a partition's weight is off by when all moves count as symmetric."""
    return len(structure)


def test_evidence_does_not_depend_on_the_order_of_the_chain(planted):
    structure = ((0, 1), (2,))
    X, y = planted(structure, 3, 30, seed=0)
    reference = PartitionEvidence.prior_reference(3)
    first, second = (PartitionEvidence(X, y, reference, 8) for _ in range(2))
    second(((0,), (1,), (2,)))
    second(((0, 1, 2),))
    assert first(structure) == second(structure)
    theta = first.theta(structure)
    nll, _ = partition_model(structure, 3).negative_log_likelihood(theta, X, y)
    assert first(structure) == pytest.approx(-nll, abs=1e-8)
    spread = first.reference_of(structure)
    assert np.logaddexp.reduce(spread["variance"][:2]) == pytest.approx(theta[0])
    assert spread["noise"] == theta[-1]


def _recovers(planted, structure, dim, seed, n_steps=300):
    X, y = planted(structure, dim, 100, seed)
    start = singletons(dim)
    prior = PartitionEvidence(X, y, PartitionEvidence.prior_reference(dim), 30)
    evidence = PartitionEvidence(X, y, prior.reference_of(start), 8)
    states = metropolis_hastings(start, evidence, n_steps, np.random.default_rng(seed))
    return Counter(states[n_steps // 2 :]).most_common(1)[0][0] == structure


def test_recovers_a_planted_partition_of_five(planted):
    assert _recovers(planted, ((0, 3), (1, 2), (4,)), 5, seed=0, n_steps=150)


@pytest.mark.slow
@pytest.mark.statistical
def test_recovers_a_planted_partition_of_eight_in_most_seeds(planted):
    structure = ((0, 1), (2, 3, 4), (5,), (6, 7))
    assert sum(_recovers(planted, structure, 8, seed) for seed in range(10)) >= 8


def test_optimiser_averages_models_and_carries_the_chain_on():
    optimizer = PartitionSamplingOptimizer(
        [(-1, 1)] * 3, direction="minimize", seed=0, burn_in=5, n_models=3, steps_per_model=2
    )

    def bowl(x):
        return float(np.sum((x - 0.3) ** 2))

    result = optimizer.run(bowl, 18, progress=False)
    assert result.y_best < 1e-2
    assert sum(count for _, count in optimizer.structures) == 3
    assert as_structure(optimizer.memory["chain"]) in [s for s, _ in optimizer.structures]
    mean, _ = optimizer.surrogate.predict(result.X)
    np.testing.assert_allclose(mean, result.y, atol=0.1 * result.y.std())
