"""The public door to subspace estimation."""

from __future__ import annotations

from boring.subspace.estimate import SubspaceEstimate, estimate_active_subspace

__all__ = ["SubspaceEstimate", "estimate_active_subspace"]
