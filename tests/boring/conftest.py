"""Estimates of known W and results made by hand: no search, hence quick and exact."""

from types import SimpleNamespace

import numpy as np
import pytest

from boring.kernels.profiles import MATERN52
from boring.result import IterationRecord, OptimizationResult
from boring.space import Box
from boring.subspace.dimension import DimensionRow
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.factor_fit import FactorFit, factor_posterior
from boring.subspace.importance import activity_scores
from boring.subspace.stiefel import orthonormalize, random_frame
from boring.subspace.trust import CalibratedPredictor


def value(Z):
    """An inner function of one or more coordinates."""
    return np.sin(2.0 * Z[:, 0]) + (Z**2).sum(axis=1)


def truth(dim, rank):
    """Disjoint groups of parameters of falling weight, so that the readable basis is known."""
    W = np.zeros((dim, rank))
    index = np.arange(dim)
    W[index, index % rank] = 1.0 / (1.0 + index // rank)
    return W / np.linalg.norm(W, axis=0)


def made(dim, rank, n=40):
    """Return an estimate whose W is the truth, turned, with the data behind it."""
    rng = np.random.default_rng(dim + rank)
    W = truth(dim, rank)
    X = rng.uniform(-1, 1, (n, dim))
    y = value(X @ W)
    center, spread = float(y.mean()), float(y.std())
    basis = W @ random_frame(rank, rank, rng)
    fit = FactorFit(basis / 0.8, 1.0, 1e-4, 0.0, 0.0)
    posterior = factor_posterior(X, (y - center) / spread, fit, MATERN52, 1e-4)
    scores = activity_scores(posterior, X)
    noisy = [basis + 0.02 * rng.standard_normal(basis.shape) for _ in range(5)]
    estimate = SubspaceEstimate(
        active_basis=basis,
        singular_values=np.r_[np.full(rank, 1.25), np.full(dim - rank, 0.01)],
        lengthscales=np.full(rank, 0.8),
        noise_variance=1e-4,
        signal_variance=1.0,
        importance=scores,
        importance_std=0.1 * scores,
        importance_interval=np.stack([0.5 * scores, np.minimum(2.0 * scores, 1.0)], axis=1),
        trusted=True,
        trust={"error": 0.1},
        dimension_table=tuple(
            DimensionRow(d, aligned, 3, 1.0, 10.0 * abs(d - rank) + 3.0 * aligned)
            for d in range(1, 5)
            for aligned in (False, True)
        ),
        log_posterior=0.0,
        angle_to_previous=None,
        gradient_norm=0.0,
        method="full-rank",
        profile=MATERN52.name,
        axis_aligned=False,
        predictor=CalibratedPredictor(posterior, center, spread, 1.0),
        fold_bases=tuple(orthonormalize(replicate) for replicate in noisy),
    )
    return estimate, X, y


def run_of(dim, n=30, seed=0, subspace=None, direction="minimize", y=None):
    """Return a result in a box that is not the cube."""
    space = Box(np.full(dim, 10.0), np.full(dim, 30.0))
    X = space.sample(n, np.random.default_rng(seed))
    y = value(space.scale(X)[:, :1]) + 5.0 if y is None else np.asarray(y)
    best = np.nanargmin(y) if direction == "minimize" else np.nanargmax(y)
    angles = [0.01 * i if i >= 20 else None for i in range(n)]
    records = tuple(
        IterationRecord(i, "proposal", X[i], float(y[i]), 0.0, {"angle to previous": angles[i]})
        for i in range(n)
    )
    return OptimizationResult(
        X[best], y[best], X, y, direction, {}, lambda: subspace, records, {}, {}, space
    )


@pytest.fixture
def undrawn(monkeypatch):
    """Let the pages of reports do without their figures, which take most of their time."""
    monkeypatch.setattr("boring.report._page.draw", lambda picture: "left out by a test")


@pytest.fixture(scope="session")
def make():
    """The makers above: tests are imported without a package, so they come by fixture."""
    return SimpleNamespace(value=value, truth=truth, estimate=made, run=run_of)
