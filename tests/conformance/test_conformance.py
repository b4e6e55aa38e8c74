"""Every registered optimiser keeps the contract of the base, check by check."""

from functools import partial

import pytest

import baselines  # noqa: F401 (registers the names)
from boring.registry import get_optimizer, optimizer_names
from boring.testing import OPTIMIZER_CHECKS, check_optimizer


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", optimizer_names())
def test_conformance(name, check, light_options):
    make = partial(get_optimizer(name), **light_options.get(name, {}))
    assert check_optimizer(make, [check]) == (check,)
