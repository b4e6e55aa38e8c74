"""Every registered optimiser keeps the contract of the base, check by check."""

import pytest

import baselines  # noqa: F401 (registers the names)
from boring.registry import get_optimizer, optimizer_names
from boring.testing import OPTIMIZER_CHECKS, check_optimizer


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", optimizer_names())
def test_conformance(name, check):
    assert check_optimizer(get_optimizer(name), [check]) == (check,)
