"""What the optimisers by density ratio share, and that each does better than chance."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
from baselines._scikit import scikit_learn
from baselines.density_ratio.boggn import BoggnOptimizer
from baselines.density_ratio.bore_forest import BoreForestOptimizer
from baselines.density_ratio.bore_mlp import BoreMlpOptimizer
from baselines.density_ratio.bore_svm import BoreSvmOptimizer
from baselines.density_ratio.kde_ratio import KdeRatioOptimizer
from baselines.density_ratio.ratio_loop import Projected
from baselines.density_ratio.tpe import TpeOptimizer
from boring.domain import Domain, GridLattice
from boring.exceptions import InvalidInputError
from boring.registry import get_optimizer
from boring.testing import check_gradient
from synthetic import get_problem

NAMES = ("bore-mlp", "bore-forest", "bore-trees", "bore-svm", "tpe", "kde-ratio", "boggn")
FEWER_TREES = {"bore-forest": {"n_trees": 30}, "bore-trees": {"n_trees": 50}}


def bowl(x):
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def ridge(x):
    return float((x[0] + x[1] - x[4] - 0.5) ** 2)


@pytest.mark.parametrize("name", NAMES)
def test_bowl(name):
    # Uniform points after the design would come so near in a seventh of all runs, for kde-ratio in
    # two of five. A seed whose design is far off; on others the forest needs more evaluations.
    n = 40 if name == "kde-ratio" else 20
    optimizer = get_optimizer(name)(
        [(-1, 1)] * 2, direction="minimize", seed=0, n_initial=10, **FEWER_TREES.get(name, {})
    )
    result = optimizer.run(bowl, n, progress=False)
    assert result.y[:10].min() > 0.08
    assert result.y_best < 0.02


def test_a_tenth_of_the_points_is_random():
    options = {"direction": "minimize", "seed": 0, "n_initial": 5}
    optimizer = BoreSvmOptimizer([(-1, 1)] * 2, **options)
    phases = [record.phase for record in optimizer.run(bowl, 205, progress=False).records]
    count = phases.count("random")
    assert 10 <= count <= 32  # 20 +- 2.8 standard deviations of a binomial
    never = BoreSvmOptimizer([(-1, 1)] * 2, random_share=0.0, **options)
    records = never.run(bowl, 25, progress=False).records
    assert "random" not in [record.phase for record in records]


@pytest.mark.parametrize("name", ["bore-forest", "bore-svm", "tpe"])
def test_no_point_is_proposed_twice(name):
    options = {"direction": "minimize", "seed": 0, "n_initial": 4, **FEWER_TREES.get(name, {})}
    optimizer = get_optimizer(name)([(0, 1)], **options)
    X = optimizer.run(lambda x: float(x[0] ** 2), 25, progress=False).X
    assert np.diff(np.sort(X[:, 0])).min() > 0


def test_points_out_for_evaluation_count_as_bad():
    optimizer = KdeRatioOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, n_initial=8, random_share=0.0
    )
    optimizer.run(bowl, 12, progress=False)
    batch = optimizer.ask(4)
    gaps = np.linalg.norm(batch[:, None] - batch, axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() >= 1e-3


def test_acquisition_search_is_as_good_as_many_random_points():
    optimizer = BoggnOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=3, n_initial=12, random_share=0.0
    )
    optimizer.run(bowl, 14, progress=False)
    kept = []
    original = optimizer.scored

    def fit(*arguments):
        found = original(*arguments)
        kept.append(found)
        return found

    optimizer.scored = fit
    x = optimizer.space.scale(optimizer.ask())
    points = np.random.default_rng(0).uniform(-1, 1, (20000, 2))
    assert kept[0].value(x)[0] >= kept[0].value(points).max() - 1e-3


@pytest.mark.parametrize("name", ["bore-trees", "bore-svm", "tpe"])
def test_a_lattice_is_searched_among_its_points(name):
    levels = np.linspace(-1, 1, 6)
    domain = Domain(2, lattice=GridLattice({0: levels, 1: levels}))
    optimizer = get_optimizer(name)(
        [(-1, 1)] * 2, direction="minimize", seed=0, n_initial=6, domain=domain
    )
    X = optimizer.run(bowl, 14, progress=False).X
    assert np.isin(X.round(9), levels.round(9)).all()
    assert len(np.unique(X.round(9), axis=0)) == 14


def test_labels_are_made_anew_of_all_values(monkeypatch):
    seen = []
    original = KdeRatioOptimizer.scored

    def fit(self, labelled, *arguments):
        seen.append(labelled.good)
        return original(self, labelled, *arguments)

    monkeypatch.setattr(KdeRatioOptimizer, "scored", fit)
    optimizer = KdeRatioOptimizer(
        [(-1, 1)] * 2, direction="minimize", seed=0, n_initial=1, random_share=0.0
    )
    X = np.random.default_rng(0).uniform(-1, 1, (17, 2))
    x = optimizer.tell(X[:9], np.arange(9.0)).ask()
    optimizer.tell(np.vstack([x, X[9:]]), np.arange(9.0) - 20.0).ask()
    assert seen[0].tolist() == [True] * 3 + [False] * 6
    assert seen[-1].tolist() == [False] * 9 + [True] * 6 + [False] * 3


class Wave:
    def value(self, Z):
        return np.sin(Z).sum(axis=1)

    def value_and_gradient(self, Z):
        return self.value(Z), np.cos(Z)


def test_projection_carries_the_gradient_back():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((4, 2)))[0]
    projected = Projected(Wave(), basis)

    def function(x):
        value, slope = projected.value_and_gradient(x[None, :])
        return float(value[0]), slope[0]

    check_gradient(function, rng.uniform(-1, 1, 4), rng)
    x = rng.uniform(-1, 1, (3, 4))
    aside = x + 0.1 * (np.eye(4) - basis @ basis.T)[0]
    assert projected.value(x) == pytest.approx(projected.value(aside), abs=1e-12)


@pytest.mark.parametrize("optimizer_class", [BoreSvmOptimizer, TpeOptimizer])
def test_learned_subspace_is_found_used_and_remembered(optimizer_class):
    optimizer = optimizer_class(
        [(-1, 1)] * 6,
        direction="minimize",
        seed=0,
        n_initial=30,
        subspace="learned",
        effective_dim=1,
        random_share=0.0,
    )
    result = optimizer.run(ridge, 34, progress=False)
    basis = np.array(optimizer.memory["basis"])
    truth = np.array([1, 1, 0, 0, -1, 0]) / np.sqrt(3)
    assert abs(truth @ basis[:, 0]) > 0.99
    assert optimizer.memory["learned_at"] == 30
    assert result.records[-1].info["effective_dim"] == 1
    assert result.y_best < 0.01


@pytest.mark.parametrize(
    "options",
    [
        {"good_share": 1.0},
        {"random_share": 1.0},
        {"random_share": -0.1},
        {"subspace": "random"},
        {"effective_dim": 0},
        {"effective_dim": 3},
    ],
)
def test_bad_options_are_named(options):
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        KdeRatioOptimizer([(-1, 1)] * 2, direction="minimize", **options)


@pytest.mark.parametrize(
    ("optimizer_class", "options"),
    [
        (BoggnOptimizer, {"covariance": "block"}),
        (BoggnOptimizer, {"prior_precision": 0.0}),
        (BoreMlpOptimizer, {"penalty": -1.0}),
        (BoreForestOptimizer, {"n_trees": 0}),
        (TpeOptimizer, {"n_candidates": 0}),
    ],
)
def test_bad_options_of_one_are_named(optimizer_class, options):
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        optimizer_class([(-1, 1)] * 2, direction="minimize", **options)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(ImportError, match=r"boring-bo\[neural\]"):
        scikit_learn("svm")


@pytest.mark.parametrize("covariance", ["kronecker", "diagonal"])
def test_boggn_with_other_covariances_and_a_fixed_precision(covariance):
    optimizer = BoggnOptimizer(
        [(-1, 1)] * 2,
        direction="minimize",
        seed=0,
        n_initial=8,
        covariance=covariance,
        prior_precision=0.1,
        n_units=8,
    )
    optimizer.run(bowl, 14, progress=False)
    assert optimizer.memory == {}


def test_no_classifier_of_a_run_of_boggn_is_constant(monkeypatch):
    """The evidence is largest for a constant one: a fixed point followed on and on ends there."""
    problem, fits = get_problem("hartmann6-6"), []
    points = np.random.default_rng(0).uniform(-1, 1, (100, 6))
    original = BoggnOptimizer.scored

    def fit(self, *arguments):
        fits.append(original(self, *arguments))
        return fits[-1]

    monkeypatch.setattr(BoggnOptimizer, "scored", fit)
    options = {"direction": "minimize", "seed": 3, "n_initial": 10, "random_share": 0.0}
    BoggnOptimizer(problem.space, **options).run(problem, 18, progress=False)
    assert min(np.ptp(found.value(points)) for found in fits) > 1.0
