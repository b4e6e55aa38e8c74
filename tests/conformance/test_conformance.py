"""Every registered optimiser keeps the contract of the base, check by check."""

from functools import cache, partial

import pytest

import baselines  # noqa: F401 (registers the names)
from boring._conformance import RunOnce
from boring.registry import get_optimizer, optimizer_names
from boring.testing import OPTIMIZER_CHECKS, check_optimizer

#: Networks are compiled for each number of inputs; where tests of their own have compiled them
#: for one input, the check is run there (``test_works_in_one_dimension``).
ONE_INPUT_ELSEWHERE = ("bnn-hmc", "bnn-nuts", "bnn-vi", "bohamiann", "ivbnn")
PAIRS = [
    (name, check)
    for name in optimizer_names()
    for check in OPTIMIZER_CHECKS
    if check != "works_in_one_dimension" or name not in ONE_INPUT_ELSEWHERE
]
#: With the few steps of the others ivbnn learns nothing that a surrogate could be judged by.
TRAINED_OPTIONS = {"ivbnn": {"steps": 200}}


@pytest.fixture(scope="module")
def maker(light_options):
    """Return the factory of a name, the same one for all checks: they share a run."""
    return cache(lambda name: RunOnce(partial(get_optimizer(name), **light_options.get(name, {}))))


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize(("name", "check"), PAIRS)
def test_conformance(name, check, maker):
    make = maker(name)
    if check == "surrogate_is_of_the_objective" and name in TRAINED_OPTIONS:
        make = partial(make, **TRAINED_OPTIONS[name])
    assert check_optimizer(make, [check]) == (check,)
