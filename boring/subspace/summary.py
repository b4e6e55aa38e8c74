"""A subspace estimate in words and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from boring.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boring.subspace.estimate import SubspaceEstimate


def summarize(estimate: SubspaceEstimate, names: Sequence[str] | None = None, top: int = 10) -> str:
    """Return the account of an estimate as text.

    Parameters
    ----------
    estimate : SubspaceEstimate
    names : sequence of str, optional
        Of the D parameters.
    top : int, default 10
        Parameters listed, most important first.
    """
    dim, rank = estimate.active_basis.shape
    labels = [f"x{i}" for i in range(dim)] if names is None else [str(name) for name in names]
    if len(labels) != dim:
        raise InvalidInputError(
            f"names must hold one name for each of the {dim} parameters; received {len(labels)}. "
            "Leave names out for x0, x1, ..."
        )
    where = "on coordinate axes" if estimate.axis_aligned else "rotated"
    shown = ", ".join(f"{value:.3g}" for value in estimate.singular_values[: rank + 3])
    lengths = ", ".join(f"{value:.3g}" for value in estimate.lengthscales)
    lines = [
        f"Active subspace: {rank} of {dim} dimensions, {where} "
        f"({estimate.method}, {estimate.profile})",
        _trust_line(estimate),
        f"lengthscales {lengths}; signal variance {estimate.signal_variance:.3g}, noise "
        f"variance {estimate.noise_variance:.3g}",
        f"leading singular values of the metric's factor: {shown}",
        f"log posterior {estimate.log_posterior:.2f}; Riemannian gradient "
        f"{estimate.gradient_norm:.2g}",
    ]
    if estimate.angle_to_previous is not None:
        lines.append(
            f"largest angle to the previous basis {np.degrees(estimate.angle_to_previous):.1f}°"
        )
    if estimate.dimension_table:
        lines.append("d    BIC      kind")
        lines += [
            f"{row.effective_dim:<3d}{row.bic:9.1f}  {'axes' if row.axis_aligned else 'rotated'}"
            for row in estimate.dimension_table
        ]
    lines.append("importance of parameters (90 % interval)")
    order = np.argsort(-estimate.importance, kind="stable")[:top]
    width = max(12, *(len(labels[index]) for index in order))
    for index in order:
        low, high = estimate.importance_interval[index]
        interval = "" if np.isnan(low) else f"  [{low:.3f}, {high:.3f}]"
        lines.append(f"  {labels[index]:<{width}} {estimate.importance[index]:.3f}{interval}")
    return "\n".join(lines)


def _trust_line(estimate: SubspaceEstimate) -> str:
    if not estimate.trust:
        return "not checked by cross-validation"
    dim, rank = estimate.active_basis.shape
    verdict = "trusted" if estimate.trusted else "NOT trusted"
    if rank == dim:
        verdict += ", every direction is kept"
    if "points_needed" in estimate.trust and not estimate.trusted:
        needed = math.ceil(estimate.trust["points_needed"])
        verdict += f", fewer points than the {needed} that tell so many axes from chance"
    drawn = ""
    if "draws" in estimate.trust:
        drawn = (
            f"; all else drawn anew {estimate.trust['draws']:.0f} times, changes of the value by "
            f"{estimate.trust['largest_change']:.2%} of the spread at most are left unexplained"
        )
    figures = estimate.trust
    lead, density = "", figures["log_density"]
    if figures.get("gate"):
        ahead = "better" if figures["gate"] > 0 else "worse"
        lead = (
            f"over the run it foresaw the next value {ahead} than without a subspace, by "
            f"{abs(figures['gate']):.3g} nats (the latest count most); "
        )
    return (
        f"{verdict}: {lead}held-out squared error {figures['error']:.3g} var(y), without a "
        f"subspace {figures['isotropic_error']:.3g}; log density {density:.3g}, without "
        f"{figures['isotropic_log_density']:.3g}; folds found {figures['overlap']:.0%} of it "
        f"again; variance inflated {figures['inflation']:.3g} times{drawn}"
    )
