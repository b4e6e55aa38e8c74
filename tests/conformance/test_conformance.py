"""Every registered optimiser keeps the contract of the base, check by check."""

from functools import partial

import pytest

import baselines  # noqa: F401 (registers the names)
from boring.registry import get_optimizer, optimizer_names
from boring.testing import OPTIMIZER_CHECKS, check_optimizer

#: Options that leave the contract alone and make a slow method quick.
QUICK = {"ivbnn": {"steps": 5, "batch": 8, "n_members": 5}}


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", optimizer_names())
def test_conformance(name, check):
    make = partial(get_optimizer(name), **QUICK.get(name, {}))
    assert check_optimizer(make, [check]) == (check,)
