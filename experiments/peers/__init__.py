"""Other projects' optimisers, driven by the same runner as our own.

One engine to a module, imported when an optimiser is made and only there. :func:`register` makes
the names known whether or not the engines are installed; a run of one that is not is recorded as
missing and named in the report, with the command that installs it.

Rebuilt from the data at every proposal: scikit-optimize, SMAC, GPyOpt, BoTorch, SAASBO. Replayed,
because their state is no function of the data: CMA-ES, TPE, trust-bo, NGOpt. TuRBO and BAxUS are
written anew on BoTorch's Gaussian process; their trust regions are computed from the values in
their order. Either way a proposal is a function of the options and the context, as the base class
demands.
"""

from __future__ import annotations

from boring.registry import get_optimizer, register_optimizer

from .base import MissingPeerError, PeerOptimizer, Requirement

__all__ = [
    "PEERS",
    "MissingPeerError",
    "PeerOptimizer",
    "Requirement",
    "absence_of",
    "register",
    "requirement_of",
]

_TARGETS = {
    "peer-cma": "experiments.peers.cma_es:CmaPeer",
    "peer-tpe": "experiments.peers.optuna_tpe:TpePeer",
    "peer-trust-bo": "experiments.peers.trust_region:TrustRegionPeer",
    "peer-skopt": "experiments.peers.skopt_gp:SkoptPeer",
    "peer-nevergrad": "experiments.peers.nevergrad_ngopt:NevergradPeer",
    "peer-smac": "experiments.peers.smac_bo:SmacPeer",
    "peer-botorch": "experiments.peers.botorch_gp:BotorchPeer",
    "peer-saasbo": "experiments.peers.saasbo:SaasboPeer",
    "peer-turbo": "experiments.peers.turbo:TurboPeer",
    "peer-baxus": "experiments.peers.baxus:BaxusPeer",
    "peer-gpyopt": "experiments.peers.gpyopt_gp:GPyOptPeer",
}

PEERS = tuple(_TARGETS)
"""Registered names of the peers."""


def register() -> None:
    """Register the names of the peers; nothing is imported, and doing it again changes nothing."""
    for name, target in _TARGETS.items():
        register_optimizer(name, target)


def requirement_of(method: str) -> Requirement | None:
    """Return what a registered method needs to be installed; None for our own methods."""
    requirement: Requirement | None = getattr(get_optimizer(method), "requirement", None)
    return requirement


def absence_of(method: str) -> str | None:
    """Return what to say of a registered method that is not installed; None if it can run."""
    requirement = requirement_of(method)
    return None if requirement is None or requirement.is_installed else requirement.absence
