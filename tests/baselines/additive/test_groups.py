from __future__ import annotations

import numpy as np
import pytest

from baselines.additive.groups import (
    StructureEvidence,
    as_structure,
    distinct,
    group_posteriors,
    maximize_by_groups,
    prior_mode,
    tied_model,
)
from boring.acquisition import AdditiveUpperConfidenceBound, UpperConfidenceBound
from boring.testing import check_gradient

DISJOINT = ((0, 3), (1,), (2, 4))
OVERLAPPING = ((0, 1), (1, 2, 4), (3,))


def data(n=25, dim=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, dim)), rng.standard_normal(n)


def parameters(per_input, seed=1):
    rng = np.random.default_rng(seed)
    found = prior_mode(5, per_input=per_input) + 0.3 * rng.standard_normal(7 if per_input else 3)
    found[-1] = -2.0  # noise enough for differences of the likelihood to be exact
    return found


@pytest.mark.parametrize("structure", [DISJOINT, OVERLAPPING])
@pytest.mark.parametrize("per_input", [False, True])
def test_gradient_of_tied_parameters(structure, per_input):
    X, y = data()
    model = tied_model(structure, 5, per_input=per_input)
    check_gradient(
        lambda u: model.negative_log_posterior(u, X, y),
        parameters(per_input),
        np.random.default_rng(2),
    )


@pytest.mark.parametrize("structure", [DISJOINT, OVERLAPPING])
@pytest.mark.parametrize("per_input", [False, True])
def test_evidence_is_the_likelihood_of_the_model_and_of_the_written_out_kernel(
    structure, per_input
):
    X, y = data()
    u = parameters(per_input)
    found = StructureEvidence(X, y, u)(structure)
    expected, _ = tied_model(structure, 5, per_input=per_input).negative_log_likelihood(u, X, y)
    assert found == pytest.approx(-expected, abs=1e-9)
    K = np.exp(u[-1]) * np.eye(len(y))
    scales = np.broadcast_to(np.exp(u[1:-1]), 5)
    for group in structure:
        index = list(group)
        difference = (X[:, None, index] - X[None, :, index]) / scales[index]
        K += np.exp(u[0]) / len(structure) * np.exp(-0.5 * (difference**2).sum(axis=2))
    by_hand = -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(2 * np.pi * K)[1])
    assert found == pytest.approx(by_hand, abs=1e-8)


@pytest.mark.parametrize("structure", [DISJOINT, OVERLAPPING])
@pytest.mark.parametrize("per_input", [False, True])
def test_group_posteriors_are_the_components_and_their_means_sum(structure, per_input):
    X, y = data()
    posterior = tied_model(structure, 5, per_input=per_input).condition(parameters(per_input), X, y)
    points = np.random.default_rng(3).uniform(-1, 1, (7, 5))
    means, variances = posterior.components(points)
    parts = group_posteriors(posterior, structure)
    for j, (part, group) in enumerate(zip(parts, structure, strict=True)):
        mean, variance = part.predict(points[:, list(group)])
        np.testing.assert_allclose(mean, means[:, j], atol=1e-10)
        np.testing.assert_allclose(variance, variances[:, j], atol=1e-10)
    np.testing.assert_allclose(means.sum(axis=1), posterior.predict(points)[0], atol=1e-10)


def test_group_by_group_is_the_maximum_over_the_whole_box():
    X, y = data()
    posterior = tied_model(DISJOINT, 5, per_input=True).condition(parameters(True), X, y)
    bounds = [UpperConfidenceBound(part, 1.5) for part in group_posteriors(posterior, DISJOINT)]
    x, value = maximize_by_groups(bounds, DISJOINT, incumbent=X[0], rng=np.random.default_rng(4))
    whole = AdditiveUpperConfidenceBound(posterior, 1.5)
    assert whole.value(x[None, :])[0] == pytest.approx(value, abs=1e-9)
    # No point of a fine grid of any group is better: the sum is largest where each part is.
    axis = np.linspace(-1, 1, 41)
    for bound, group in zip(bounds, DISJOINT, strict=True):
        grid = np.stack(np.meshgrid(*[axis] * len(group)), axis=-1).reshape(-1, len(group))
        assert bound.value(grid).max() <= bound.value(x[None, list(group)])[0] + 1e-6


def test_a_repeated_point_is_moved_in_whole_groups():
    X = np.zeros((1, 5))
    rng = np.random.default_rng(0)
    x, replaced = distinct(np.zeros(5), DISJOINT, X, rng)
    assert replaced
    moved = set(np.flatnonzero(x).tolist())
    assert moved in [set(group) for group in DISJOINT]
    kept, replaced = distinct(x, DISJOINT, X, rng)
    assert kept is x
    assert not replaced


def test_structures_are_in_one_order():
    assert as_structure([[4, 2], [], (0,), np.array([3, 1])]) == ((0,), (1, 3), (2, 4))
