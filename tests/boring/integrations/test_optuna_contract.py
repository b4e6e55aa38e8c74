"""Optuna's own checks of samplers."""

import optuna
import pytest

import baselines  # noqa: F401 (registers sobol)
from boring.integrations.optuna_sampler import BoringSampler

samplers = pytest.importorskip("optuna.testing.pytest_samplers", reason="newer than Optuna 4.0")


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


class TestBoringSampler(
    samplers.BasicSamplerTestCase,
    samplers.RelativeSamplerTestCase,
    samplers.SingleOnlySamplerTestCase,
):
    # Optuna draws several times for one trial that is never finished; a space of nine points
    # would be used up.
    @pytest.fixture
    def sampler(self):
        return lambda: BoringSampler(optimizer="sobol", repeats=True)
