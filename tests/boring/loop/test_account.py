"""The account after a run: what it takes to trust a subspace."""

from dataclasses import replace

import numpy as np
import pytest

from boring.loop import account
from boring.loop.subspace_turn import factor_start
from boring.subspace.estimate import estimate_active_subspace
from boring.subspace.stiefel import random_frame


def _account(
    monkeypatch: pytest.MonkeyPatch,
    gate: float,
    overlap: float | None,
    lead: float = 0.0,
    effective_dim: int = 1,
) -> bool:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 4))
    y = np.sin(2 * X[:, 0] + X[:, 1])

    def judged(X, y, effective_dim, **options):
        figures = {"log_density": lead, "isotropic_log_density": 0.0, "overlap": overlap}
        found = estimate_active_subspace(X, y, effective_dim, rng=options["rng"], check=False)
        unchecked = overlap is None
        return replace(found, trust={} if unchecked else figures, trusted=not unchecked)

    monkeypatch.setattr(account, "_estimate", judged)
    memory = {
        "effective_dim": effective_dim,
        "theta": factor_start(random_frame(4, effective_dim, rng)).tolist(),
        "gate": gate,
    }
    estimate = account.account_of_subspace(X, y, effective_dim, 4, memory, np.random.default_rng(1))
    assert estimate.trust["gate"] == gate
    return estimate.trusted


@pytest.mark.parametrize(
    ("gate", "overlap", "trusted"),
    [
        (1.0, 0.9, True),
        (1.0, 0.3, False),
        (1.0, None, False),
        (-1.0, 1.0, False),
        (11.0, 0.3, True),
        (11.0, None, True),
    ],
)
def test_trust_takes_a_lead_and_folds_that_agree_or_a_long_lead(
    monkeypatch: pytest.MonkeyPatch, gate: float, overlap: float | None, trusted: bool
) -> None:
    assert _account(monkeypatch, gate, overlap) is trusted


@pytest.mark.parametrize(
    ("overlap", "lead", "effective_dim", "trusted"),
    [(1.0, 1.0, 1, True), (1.0, 0.2, 1, False), (0.9, 1.0, 1, False), (1.0, 1.0, 4, False)],
)
def test_without_a_lead_over_the_run_folds_vouch_if_all_find_the_same_and_foresee_plainly_better(
    monkeypatch: pytest.MonkeyPatch, overlap: float, lead: float, effective_dim: int, trusted: bool
) -> None:
    assert _account(monkeypatch, -1.0, overlap, lead, effective_dim) is trusted
