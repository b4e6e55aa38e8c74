"""BORING: Bayesian optimisation with a learned active subspace, in high dimensions.

Public names load on first use, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import maximize as maximize
    from .api import minimize as minimize
    from .data import Observations as Observations
    from .domain import Domain as Domain
    from .domain import GridLattice as GridLattice
    from .domain import Lattice as Lattice
    from .exceptions import BoringError as BoringError
    from .exceptions import BoringWarning as BoringWarning
    from .exceptions import EvaluationError as EvaluationError
    from .exceptions import FitError as FitError
    from .exceptions import InvalidInputError as InvalidInputError
    from .exceptions import JournalError as JournalError
    from .exceptions import SpaceExhaustedError as SpaceExhaustedError
    from .loop.algorithm import BoringOptimizer as BoringOptimizer
    from .optimizer import Optimizer as Optimizer
    from .proposal import Proposal as Proposal
    from .proposal import ProposalContext as ProposalContext
    from .registry import get_optimizer as get_optimizer
    from .registry import optimizer_names as optimizer_names
    from .registry import register_optimizer as register_optimizer
    from .result import IterationRecord as IterationRecord
    from .result import OptimizationResult as OptimizationResult
    from .space import Box as Box
    from .state import OptimizerState as OptimizerState
    from .subspace.estimate import SubspaceEstimate as SubspaceEstimate
    from .subspace.estimation import estimate_active_subspace as estimate_active_subspace

__version__ = "0.1.0"

_HOMES = {
    "BoringError": "exceptions",
    "BoringOptimizer": "loop.algorithm",
    "BoringWarning": "exceptions",
    "Box": "space",
    "Domain": "domain",
    "EvaluationError": "exceptions",
    "FitError": "exceptions",
    "GridLattice": "domain",
    "InvalidInputError": "exceptions",
    "IterationRecord": "result",
    "JournalError": "exceptions",
    "Lattice": "domain",
    "Observations": "data",
    "OptimizationResult": "result",
    "Optimizer": "optimizer",
    "OptimizerState": "state",
    "Proposal": "proposal",
    "ProposalContext": "proposal",
    "SpaceExhaustedError": "exceptions",
    "SubspaceEstimate": "subspace.estimate",
    "estimate_active_subspace": "subspace.estimation",
    "get_optimizer": "registry",
    "maximize": "api",
    "minimize": "api",
    "optimizer_names": "registry",
    "register_optimizer": "registry",
}

__all__ = [
    "BoringError",
    "BoringOptimizer",
    "BoringWarning",
    "Box",
    "Domain",
    "EvaluationError",
    "FitError",
    "GridLattice",
    "InvalidInputError",
    "IterationRecord",
    "JournalError",
    "Lattice",
    "Observations",
    "OptimizationResult",
    "Optimizer",
    "OptimizerState",
    "Proposal",
    "ProposalContext",
    "SpaceExhaustedError",
    "SubspaceEstimate",
    "__version__",
    "estimate_active_subspace",
    "get_optimizer",
    "maximize",
    "minimize",
    "optimizer_names",
    "register_optimizer",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
