"""Every registered optimiser keeps the contract of the base, check by check."""

from functools import partial

import pytest

import baselines  # noqa: F401 (registers the names)
from boring.registry import get_optimizer, optimizer_names
from boring.testing import OPTIMIZER_CHECKS, check_optimizer

#: Options that let a surrogate learn something where the quick ones do not.
TRAINED_OPTIONS = {
    "bnn-nuts": {"n_burn_in": 60, "tree_depth": 5},
    "bohamiann": {"n_burn_in": 500},
    "ivbnn": {"steps": 200},
}


@pytest.mark.parametrize("check", OPTIMIZER_CHECKS)
@pytest.mark.parametrize("name", optimizer_names())
def test_conformance(name, check, light_options):
    options = light_options.get(name, {})
    if check == "surrogate_is_of_the_objective":
        options = options | TRAINED_OPTIONS.get(name, {})
    make = partial(get_optimizer(name), **options)
    assert check_optimizer(make, [check]) == (check,)
