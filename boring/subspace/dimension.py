"""Choice of the effective dimension d by the Bayesian information criterion.

One full-rank fit is truncated at every d, so that no new search is needed, and

    BIC_d = NLL_d + .5 m_d log n,    m_d = D d - d (d - 1)/2 + 2,

where m_d counts what data can identify: a factor M (D, d) up to the rotations that leave
every distance as it is, and the two variances. **Deviation** from Tripathy et al. (2016),
whose published code counts D d + d + 2, and from the thesis's, which drops log(n)/2 and
has the sign of the penalty reversed.

For d <= 2 the choice was right in nearly all data sets that identify W at all; larger d is
underestimated (Rosenbrock 5-in-10 with 150 points: 2 to 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log

from boring.subspace.factor_fit import (
    FactorFit,
    FactorSettings,
    fit_axes,
    fit_full,
    row_span,
    square_start,
    truncate,
    truncate_axes,
)
from boring.typing import FloatArray

# Largest d tried unless the caller says [chosen here: beyond it, evidence is flat at the
# numbers of points for which one learns a subspace].
MAX_EFFECTIVE_DIM = 6


@dataclass(frozen=True, slots=True)
class DimensionRow:
    """One candidate of the choice.

    Attributes
    ----------
    effective_dim : int
    axis_aligned : bool
        Whether the subspace is spanned by d coordinate axes.
    n_parameters : int
        Identifiable parameters m.
    nll : float
        Negative log marginal likelihood, in nats.
    bic : float
        In nats, half of what is written with -2 log p; lower is better. A difference below 1
        decides nothing; one above 3 is strong evidence (Kass and Raftery 1995, "Bayes factors").
    """

    effective_dim: int
    axis_aligned: bool
    n_parameters: int
    nll: float
    bic: float


def n_free_parameters(dim: int, rank: int) -> int:
    """Return D d - d(d - 1)/2, what can be identified of a factor (D, d)."""
    return dim * rank - rank * (rank - 1) // 2


def rotated_bic(dim: int, n: int, rank: int, nll: float) -> float:
    """Return the BIC of a d-dimensional subspace of any orientation, in nats."""
    return nll + 0.5 * (n_free_parameters(dim, rank) + 2) * log(n)


def rotated_row(dim: int, n: int, rank: int, nll: float) -> DimensionRow:
    """Score a thin factor of any orientation.

    Parameters
    ----------
    dim : int
        D, of the inputs as given: a row span does not make the model simpler.
    n : int
        Number of values.
    rank : int
        Columns of the factor.
    nll : float
        What the fit has reached, in nats.
    """
    count = n_free_parameters(dim, rank) + 2
    return DimensionRow(rank, False, count, nll, rotated_bic(dim, n, rank, nll))


def axes_row(dim: int, n: int, fit: FactorFit) -> DimensionRow:
    """Score a thin factor on coordinate axes.

    Notes
    -----
    d lengthscales and two variances, and log C(D, d) for the choice of the axes.
    """
    rank = fit.rank
    count = rank + 2
    choices = lgamma(dim + 1) - lgamma(rank + 1) - lgamma(dim - rank + 1)
    return DimensionRow(rank, True, count, fit.nll, fit.nll + 0.5 * count * log(n) + choices)


def dimension_candidates(
    X: FloatArray,
    y: FloatArray,
    full: FactorFit,
    axes: FactorFit | None,
    max_effective_dim: int | None,
    coordinates: FloatArray,
    settings: FactorSettings,
) -> list[tuple[DimensionRow, FactorFit]]:
    """Truncate a full-rank fit, and a diagonal one, at every rank and score both.

    Parameters
    ----------
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
        Standardised.
    full : FactorFit
        Square factor of ``coordinates``.
    axes : FactorFit or None
        Diagonal factor of X; None leaves axis-aligned candidates out.
    max_effective_dim : int or None
        Largest d to try; None takes `default_max_effective_dim`.
    coordinates : ndarray, shape (n, min(n, D))
        X, or its coordinates on the row span.
    settings : FactorSettings

    Returns
    -------
    list of (DimensionRow, FactorFit)
        Rotated fits are factors of ``coordinates``, axis-aligned ones of X.
    """
    n, dim = X.shape
    top = max_effective_dim or default_max_effective_dim(dim, n)
    candidates = []
    for rank in range(1, min(top, coordinates.shape[1]) + 1):
        thin = truncate(coordinates, y, full, rank, settings)
        candidates.append((rotated_row(dim, n, thin.rank, thin.nll), thin))
        if axes is not None:
            aligned = truncate_axes(X, y, axes, rank, settings)
            candidates.append((axes_row(dim, n, aligned), aligned))
    return candidates


def score_dimensions(
    X: FloatArray,
    y: FloatArray,
    max_effective_dim: int | None = None,
    settings: FactorSettings | None = None,
) -> tuple[DimensionRow, ...]:
    """Return the BIC table over d from one full-rank and one diagonal fit, y standardised."""
    settings = settings or FactorSettings()
    coordinates, _ = row_span(X)
    full = fit_full(coordinates, y, square_start(coordinates.shape[1], X.shape[1]), settings)
    axes = fit_axes(X, y, settings)
    candidates = dimension_candidates(X, y, full, axes, max_effective_dim, coordinates, settings)
    return tuple(row for row, _ in candidates)


def lowest_bic(table: Sequence[DimensionRow]) -> DimensionRow:
    """Return the candidate of lowest BIC; at a tie, the first."""
    return min(table, key=lambda row: row.bic)


def default_max_effective_dim(dim: int, n: int) -> int:
    """Return the largest d that is tried by default: min(6, D, n - 2)."""
    return max(1, min(MAX_EFFECTIVE_DIM, dim, n - 2))
