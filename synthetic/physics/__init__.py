"""Problems of physics: an equation, a chain of beads, supernovae, an alloy, a beam of electrons.

Each is computed from published formulas; what is synthetic about its data is said in its docstring.
No optimum and no exact active subspace is known of any of them.
"""

from __future__ import annotations

from .accelerator import accelerator
from .alloy import alloy
from .elliptic import elliptic
from .granular import granular
from .supernovae import supernovae

__all__ = ["accelerator", "alloy", "elliptic", "granular", "supernovae"]
