"""Settings shared by all tests."""

from __future__ import annotations

import os
from contextlib import contextmanager

import hypothesis
import pytest

# Deadlines measure the machine's load, not the code.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("project")


def pytest_configure(config):
    """Keep what JAX compiles, which takes some seconds a program, for the next run.

    It is found again by program, options and version alone; ``--cache-clear`` removes it.
    """
    cache = getattr(config, "cache", None)
    if cache is not None:
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache.mkdir("jax")))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


#: Options of methods whose defaults take seconds for a fit, for tests of the loop around them.
LIGHT_OPTIONS = {
    "bnn-hmc": {
        "hidden": [4],
        "n_chains": 2,
        "n_burn_in": 4,
        "n_draws": 4,
        "thin": 2,
        "n_climb": 20,
        "n_leapfrog": 4,
    },
    "bnn-nuts": {"hidden": [3], "n_burn_in": 60, "n_draws": 8, "thin": 1, "tree_depth": 5},
    "bohamiann": {"hidden": [4], "n_burn_in": 500, "n_draws": 8, "thin": 10},
    "ivbnn": {"steps": 5, "batch": 8, "n_members": 5},
    "bnn-vi": {"hidden": [4], "components": 1, "n_members": 8, "n_steps": 40},
    "boggn": {"n_units": 8},
    "bore-forest": {"n_trees": 20},
    "bore-trees": {"n_trees": 20},
    "elastic-gp": {"n_starts": 3},
    "elm": {"n_members": 100},
    "gmr": {"n_folds": 3, "n_restarts": 1},
    "partition-sampling": {"n_models": 2, "burn_in": 20},
    "random-projections": {"n_projections": 5},
    "rvfl-ensemble": {"n_hidden": 100, "n_members": 10},
    "spn": {"n_channels": 2, "n_folds": 2, "n_restarts": 1},
    "tripathy": {"n_restarts": 3},
}


@pytest.fixture(scope="session")
def light_options():
    """Return options by method's name; those that need none are not there."""
    return LIGHT_OPTIONS


@pytest.fixture(autouse=True, scope="session")
def _no_progress_bars():
    before = os.environ.get("BORING_PROGRESS")
    os.environ["BORING_PROGRESS"] = "0"
    yield
    if before is None:
        del os.environ["BORING_PROGRESS"]
    else:
        os.environ["BORING_PROGRESS"] = before


@pytest.fixture
def quick_subspaces(in_haste):
    """Let subspaces be learned in haste; see `tests.haste.learn_in_haste`."""
    with in_haste():
        yield


@pytest.fixture(scope="session")
def in_haste():
    """Return the context of `quick_subspaces`, for fixtures that several tests share."""

    @contextmanager
    def context():
        # Here, lest a test of what is imported find more than it imports.
        from tests.haste import learn_in_haste

        with pytest.MonkeyPatch.context() as patch:
            learn_in_haste(patch.setattr)
            yield

    return context
