"""The account after a run: what it takes to trust a subspace."""

import numpy as np
import pytest

from boring.loop import account
from boring.loop.subspace_turn import factor_start
from boring.subspace.stiefel import random_frame


def _account(monkeypatch: pytest.MonkeyPatch, gate: float, overlap: float | None) -> bool:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 4))
    y = np.sin(2 * X[:, 0] + X[:, 1])
    genuine = account._estimate

    def with_overlap(*arguments, **options):
        from dataclasses import replace

        estimate = genuine(*arguments, **options)
        figures = {} if overlap is None else {"overlap": overlap}
        return replace(estimate, trust=figures, trusted=True)

    monkeypatch.setattr(account, "_estimate", with_overlap)
    memory = {
        "effective_dim": 1,
        "theta": factor_start(random_frame(4, 1, rng)).tolist(),
        "gate": gate,
    }
    estimate = account.account_of_subspace(X, y, 1, 2, memory, np.random.default_rng(1))
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
