"""The adapters of the peers; those that are not installed are skipped, by name."""

import ast
import logging
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from boring import registry
from boring.exceptions import DuplicatePointWarning
from boring.parameters import Integer, ParameterSpace, Real
from boring.registry import get_optimizer, optimizer_names, register_optimizer
from boring.testing import OPTIMIZER_CHECKS, check_optimizer
from experiments.peers import (
    PEERS,
    MissingPeerError,
    absence_of,
    register,
    requirement_of,
)
from experiments.peers._containment import contained, reseed
from experiments.peers.base import RebuiltPeer, Requirement, costs_of, unit_of
from experiments.peers.replayed import Engine, ReplayedPeer

ROOT = Path(__file__).resolve().parents[3]
ENGINES = {
    "cma": {"cma_es"},
    "optuna": {"optuna_tpe"},
    "trust_bo": {"trust_region"},
    "nevergrad": {"nevergrad_ngopt"},
    "skopt": {"skopt_gp"},
    "smac": {"smac_bo"},
    "GPyOpt": {"gpyopt_gp"},
    "ConfigSpace": {"smac_bo"},
    "torch": {"_torch", "botorch_gp", "saasbo"},
    "gpytorch": {"_torch", "botorch_gp", "saasbo"},
    "botorch": {"_torch", "botorch_gp", "saasbo"},
}
OWN_DESIGN = {"peer-baxus"}
HERE = Requirement("numpy", ("numpy",))
NOWHERE = Requirement("no-such-engine", ("no_such_engine",))


class GlobalWalk(RebuiltPeer):
    """A step from the best point, made with numpy's and Python's global generators."""

    name = "test-global-walk"
    requirement = HERE

    def _load(self):
        logging.getLogger("engine").warning("loading")

    def _suggest(self, points, costs, seed):
        print("suggesting")
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        os.environ["ENGINE_WAS_HERE"] = "1"
        logging.getLogger("engine").error("suggesting")
        best = points[np.argmin(costs)]
        step = np.random.standard_normal(best.size)  # noqa: NPY002
        return np.clip(best + 0.1 * step + 0.01 * random.random(), -1.0, 1.0)


class CountingEngine(Engine):
    """Walks from the best point it was told; counts its calls."""

    n_started = 0

    def __init__(self, points, costs):
        type(self).n_started += 1
        k = int(np.argmin(costs))
        self.best, self.cost = points[k], costs[k]
        self.asked = []
        self.told, self.others = [], []

    def ask(self):
        step = np.random.standard_normal(self.best.size)  # noqa: NPY002
        self.asked.append(np.clip(self.best + 0.2 * step / (1 + len(self.told)), -1.0, 1.0))
        return self.asked[-1]

    def tell(self, number, cost):
        self.told.append(number)
        self._take(self.asked[number], cost)

    def tell_other(self, x, cost):
        self.others.append(x)
        self._take(x, cost)

    def _take(self, x, cost):
        if cost < self.cost:
            self.best, self.cost = x, cost


class CountingPeer(ReplayedPeer):
    """The adapter of that engine."""

    name = "test-counting"
    requirement = HERE

    def _load(self):
        pass

    def _start(self, points, costs, seed):
        self.engine = CountingEngine(points, costs)
        return self.engine


class StubbornEngine(CountingEngine):
    """Asks for the best point that it was told, and goes on from there once it is told again."""

    def ask(self):
        if not self.told:
            self.asked.append(self.best)
            return self.best
        return super().ask()


class StubbornPeer(CountingPeer):
    """The adapter of that engine."""

    name = "test-stubborn"

    def _start(self, points, costs, seed):
        self.engine = StubbornEngine(points, costs)
        return self.engine


class AbsentPeer(GlobalWalk):
    """A peer whose engine is nowhere."""

    name = "test-absent"
    requirement = NOWHERE


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """Register the peers and the stand-ins for one test: other modules list the registry."""
    monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    register()
    for kind in (GlobalWalk, CountingPeer, StubbornPeer, AbsentPeer):
        register_optimizer(kind.name, kind)


def sphere(x):
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def driven(name, n, seed=0):
    optimizer = get_optimizer(name)([(-1, 1)] * 2, direction="minimize", n_initial=3, seed=seed)
    for _ in range(n):
        x = optimizer.ask()[0]
        optimizer.tell(x, sphere(x))
    return optimizer


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", PEERS)
def test_conformance_of_the_installed_peers(name, check):
    for module in requirement_of(name).modules:
        if not Requirement(module, (module,)).is_installed:
            pytest.skip(f"could not import {module!r}: {absence_of(name)}")
    assert check_optimizer(name, [check]) == (check,)


@pytest.mark.parametrize("name", [name for name in PEERS if name not in OWN_DESIGN])
def test_installed_peers_begin_with_the_shared_design(name):
    if absence_of(name) is not None:
        pytest.skip(absence_of(name))
    sobol = driven("test-counting", 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicatePointWarning)  # NGOpt returns to its best point
        peer = driven(name, 5)
    np.testing.assert_array_equal(peer.result().X[:3], sobol.result().X)
    assert [record.phase for record in peer.result().records][3:] == ["proposal"] * 2


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", [GlobalWalk.name, CountingPeer.name])
def test_the_bases_keep_the_contract(name, check):
    assert check_optimizer(name, [check]) == (check,)


def test_a_contained_engine_leaves_nothing_behind(capsys):
    states = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    threshold, filters = logging.root.manager.disable, list(warnings.filters)
    driven(GlobalWalk.name, 6)
    assert capsys.readouterr() == ("", "")
    assert states == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002
    assert (logging.root.manager.disable, list(warnings.filters)) == (threshold, filters)
    assert "ENGINE_WAS_HERE" not in os.environ


def test_containment_restores_after_an_error():
    states = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002

    def breaks():
        reseed(5)
        assert logging.root.manager.disable == logging.CRITICAL
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"), contained(3):
        breaks()
    assert states == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002
    assert logging.root.manager.disable == 0


def test_a_running_engine_is_carried_on_and_a_resumed_one_replayed():
    CountingEngine.n_started = 0
    optimizer = driven(CountingPeer.name, 9)
    assert CountingEngine.n_started == 1
    assert (optimizer.engine.told, optimizer.engine.others) == ([0, 1, 2, 3, 4], [])
    resumed = type(optimizer).from_state(optimizer.state())
    np.testing.assert_array_equal(resumed.ask(), optimizer.ask())
    assert CountingEngine.n_started == 2
    assert resumed.engine.told == optimizer.engine.told


def test_a_replay_keeps_the_order_of_asks_and_tells():
    optimizer = driven(CountingPeer.name, 4)
    points = optimizer.ask(3)
    optimizer.tell(points[1], sphere(points[1]))
    optimizer.tell([0.1, 0.1], 0.0)
    optimizer.tell(points[0], sphere(points[0]))
    optimizer.ask(2)
    assert optimizer.engine.told == [0, 2, 1]
    np.testing.assert_allclose(optimizer.engine.others, [[0.1, 0.1]])
    resumed = type(optimizer).from_state(optimizer.state())
    np.testing.assert_array_equal(resumed.ask(3), optimizer.ask(3))
    assert (resumed.engine.told, len(resumed.engine.others)) == ([0, 2, 1], 1)


def test_an_engine_that_asks_for_a_known_point_is_told_its_value_and_asked_again():
    optimizer = driven(StubbornPeer.name, 8)
    assert (optimizer.engine.told, optimizer.engine.others) == ([0, 1, 2, 3, 4], [])
    assert len(np.unique(optimizer.data.X, axis=0)) == 8
    resumed = type(optimizer).from_state(optimizer.state())
    np.testing.assert_array_equal(resumed.ask(), optimizer.ask())


def test_a_point_that_is_moved_onto_the_lattice_is_known_again():
    lattice = ParameterSpace([Integer("a", -5, 5), Real("b", -1.0, 1.0)])
    optimizer = get_optimizer(CountingPeer.name)(
        lattice.box, domain=lattice.domain, direction="minimize", n_initial=3, seed=0
    )
    for _ in range(8):
        x = optimizer.ask()[0]
        optimizer.tell(x, sphere(x))
    assert optimizer.engine.others == []
    assert len(optimizer.engine.told) >= 4


def test_a_replay_from_foreign_data_is_not_carried_on():
    one, other = driven(CountingPeer.name, 6, seed=1), driven(CountingPeer.name, 6, seed=2)
    expected = type(other).from_state(other.state()).ask()
    one._history, one._data = other.state().history, other.data
    one._entropy = other._entropy
    np.testing.assert_array_equal(one.ask(), expected)


def test_costs_are_finite_and_in_units_of_their_median():
    y = np.array([-8.0, np.nan, 3.0, np.inf, -np.inf, 5.0])
    assert unit_of(y) == 3
    np.testing.assert_array_equal(costs_of(y, 3), [1.0, 1.0, -0.375, 1.0, 1.0, -0.625])
    assert unit_of(np.zeros(3)) == 0
    huge = costs_of(np.array([1e308, -1e308]), unit_of(np.array([1e-300])))
    assert np.all(np.isfinite(huge))


def test_an_absent_peer_is_named_with_the_command_that_installs_it():
    assert absence_of(AbsentPeer.name) == (
        "no-such-engine is not installed; to install it: pip install -e '.[peers]'"
    )
    with pytest.raises(MissingPeerError, match=r"test-absent: no-such-engine is not installed"):
        driven(AbsentPeer.name, 1)
    assert Requirement("x", ("no_x",), "torch-peers").absence.endswith(
        "to install it: make torch-peers"
    )
    assert absence_of("boring") is None
    assert requirement_of("boring") is None


def test_registering_twice_is_harmless_and_every_name_resolves_without_its_engine():
    register()
    assert set(PEERS) <= set(optimizer_names())
    for name in PEERS:
        assert get_optimizer(name).name == name
        assert requirement_of(name).extra in {"peers", "torch-peers"}


def test_each_engine_is_imported_in_its_own_module_and_only_inside_functions():
    ours = [*(ROOT / "experiments").rglob("*.py"), *(ROOT / "baselines").rglob("*.py")]
    # The tuning tasks drive Optuna's own studies and samplers.
    for path in [path for path in ours if path.parent.name != "tuning"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = set(map(id, tree.body))
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in (name.split(".")[0] for name in names):
                if name in ENGINES:
                    assert path.stem in ENGINES[name], f"{path}:{node.lineno} imports {name}"
                    assert id(node) not in top, f"{path}:{node.lineno} is not lazy"


def test_memory_is_empty_when_rebuilt_and_a_transcript_when_replayed():
    assert dict(driven(GlobalWalk.name, 5).memory) == {}
    assert driven(CountingPeer.name, 5).memory == {"start": 3, "asked_at": [3, 4]}
