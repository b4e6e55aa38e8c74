"""The account after a run: what it takes to trust a subspace."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from boring.loop import account
from boring.loop.subspace_turn import factor_start
from boring.study._findings import estimate_of
from boring.subspace.clustered import Stretch
from boring.subspace.estimation import estimate_active_subspace
from boring.subspace.stiefel import random_frame


@cache
def _estimate_of(n: int, low: float, high: float, seed: int, effective_dim: int):
    """Return the estimate of uniform data; the tests differ in what is said of it alone."""
    X = np.random.default_rng(seed).uniform(low, high, (n, 4))
    y = np.sin(2 * X[:, 0] + X[:, 1])
    return estimate_active_subspace(X, y, effective_dim, rng=np.random.default_rng(1), check=False)


def _known_stretch(X, y, effective_dim, *ignored, **options):
    """Stand for the search, whose d and factor these tests do not ask for."""
    return Stretch(0.5, effective_dim, (), np.eye(X.shape[1], effective_dim))


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
        figures |= {"error": 0.1, "isotropic_error": 0.2}
        found = _estimate_of(40, -1, 1, 0, effective_dim)
        unchecked = overlap is None
        return replace(found, trust={} if unchecked else figures, trusted=not unchecked)

    monkeypatch.setattr(account, "most_evident_stretch", _known_stretch)
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
        (0.0, 0.3, True),  # before the gate has scored a value the check decides
        (0.0, None, False),
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


def test_a_subspace_of_all_inputs_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _account(monkeypatch, 50.0, 1.0, 5.0, 4)


def _with_draws(monkeypatch: pytest.MonkeyPatch, gate: float, changes: list[float], along: float):
    """Return the account of a run that ends with draws, each moved along W by so much."""
    rng = np.random.default_rng(3)
    W = np.array([2.0, 1.0, 0.0, 0.0]) / np.sqrt(5)
    X = rng.uniform(-0.5, 0.5, (30, 4))
    y = np.sin(2 * X[:, 0] + X[:, 1])
    best = X[np.argmax(y)]
    offsets = rng.uniform(-0.4, 0.4, (len(changes), 4))
    offsets += np.outer(along - offsets @ W, W)
    draws = best + offsets
    spread = np.median(y.max() - y[:8])
    X = np.vstack([X, draws])
    y = np.append(y, y.max() - np.array(changes) * spread)

    def known(X, y, effective_dim, **options):
        found = _estimate_of(30, -0.5, 0.5, 3, 1)
        return replace(found, trust={"overlap": 0.0}, trusted=False)

    monkeypatch.setattr(account, "most_evident_stretch", _known_stretch)
    monkeypatch.setattr(account, "_estimate", known)
    memory = {"effective_dim": 1, "theta": factor_start(W[:, None]).tolist(), "gate": gate}
    estimate = account.account_of_subspace(
        X, y, 1, 2, memory, np.random.default_rng(1), draws=draws, n_first=8
    )
    return estimate


@pytest.mark.parametrize(
    ("gate", "changes", "along", "trusted"),
    [
        (-1.0, [0.002, 0.0, 0.004], 0.0, True),
        (-1.0, [0.5, 0.002, 0.0, 0.004, 0.0], 0.0, True),  # the last four decide
        (-1.0, [0.002, 0.0], 0.0, False),
        (-1.0, [0.002, 0.05, 0.0], 0.0, False),
        (11.0, [0.002, 0.05, 0.0], 0.0, True),
        (11.0, [0.002, 0.2, 0.0], 0.0, False),
        (-1.0, [0.002, 0.0, 0.004], 0.3, False),  # draws for another W say nothing of this one
        (11.0, [0.2, 0.2, 0.2], 0.3, True),
    ],
)
def test_draws_of_all_else_overrule_the_rest(
    monkeypatch: pytest.MonkeyPatch, gate: float, changes: list[float], along: float, trusted: bool
) -> None:
    estimate = _with_draws(monkeypatch, gate, changes, along)
    assert estimate.trusted is trusted
    counted = along == 0.0 and len(changes) >= 3
    assert ("draws" in estimate.trust) is counted
    if counted:
        largest = estimate.trust["largest_change"]
        assert largest == pytest.approx(max(changes[-4:]), abs=2e-3)  # W is a little off
        assert estimate.trust["draws"] == min(len(changes), 4)


def test_a_report_tells_what_a_draw_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = _with_draws(monkeypatch, 11.0, [0.0, 0.25, 0.0], 0.0)
    optimizer = SimpleNamespace(
        observed=SimpleNamespace(is_informative=True), subspace=estimate, name="boring"
    )
    study = SimpleNamespace(optimizer=optimizer, space=SimpleNamespace(dim=4))
    found, reason = estimate_of(study)
    assert found is estimate
    assert reason.startswith("All else drawn anew, the value changed by 25% of the first values'")


CHECKED = {"error": 0.1, "isotropic_error": 0.2, "inflation": 1.0}
CHECKED |= {"log_density": -0.3, "isotropic_log_density": -0.5}


def test_a_summary_tells_of_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = _with_draws(monkeypatch, -1.0, [0.0, 0.002, 0.0], 0.0)
    text = replace(estimate, trust=CHECKED | estimate.trust).summary()
    assert "trusted: " in text
    assert (
        "all else drawn anew 3 times, changes of the value by 0.20% of the spread at most" in text
    )


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        (-15.96, "NOT trusted: over the run it foresaw the next value worse than without a "),
        (23.4, "trusted: over the run it foresaw the next value better than without a "),
        (0.0, "NOT trusted: held-out squared error 0.1 var(y)"),
    ],
)
def test_a_summary_names_the_lead_over_the_run_that_decided(
    monkeypatch: pytest.MonkeyPatch, gate: float, words: str
) -> None:
    estimate = _with_draws(monkeypatch, gate, [0.0], 0.0)
    text = replace(estimate, trust=CHECKED | estimate.trust).summary()
    assert f"\n{words}" in text
    if gate:
        assert f"subspace, by {abs(gate):.3g} nats (the latest count most); held-out" in text


def test_of_very_many_points_a_sample_names_the_subspace(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def chosen(X, y, *others, **options):
        seen.append((len(X), len(y)))
        return _known_stretch(X, y, *others, **options)

    def judged(X, y, effective_dim, **options):
        seen.append((len(X), len(y)))
        return _estimate_of(40, -1, 1, 0, 1)

    monkeypatch.setattr(account, "most_evident_stretch", chosen)
    monkeypatch.setattr(account, "_estimate", judged)
    for n in (240, 600):
        X = np.random.default_rng(0).uniform(-1, 1, (n, 4))
        account.account_of_subspace(X, X[:, 0], 1, 4, {}, np.random.default_rng(1))
    assert seen == [(240, 240), (240, 240), (250, 250), (500, 500)]
