"""Output warps: monotone transforms of the observed values, refitted at every step.

A warp takes values of which larger is better and returns standardised values of the same
order. Two are kept because they serve two purposes, and no one warp serves both:

- `half_rank_warp` leaves the better half as it is and replaces the worse half by normal
  scores. Bad outliers stop bending the surrogate where it matters; it is the largest
  single gain of the optimisation loop (final regret on the embedded camelback 2-in-10
  5e-6 with it, 1e-2 without). But it destroys smoothness in the worse half, and with it
  the trace of the active subspace.
- `log_warp` stretches the neighbourhood of the incumbent smoothly, so that a subspace can
  still be read off values that crowd near the optimum.

Both work on values of any size that a float can have, through `moderate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boring.typing import FloatArray

# Largest and least magnitudes whose squares, and sums of many of them, are sure to be
# floats: 2^400 = 2.6e120 [chosen here, with room to spare].
LARGEST = 2.0**400
LEAST = 2.0**-400


def moderate(y: FloatArray) -> tuple[FloatArray, int]:
    """Return values of moderate size and the power of two that leads back.

    Parameters
    ----------
    y : ndarray, shape (n,)

    Returns
    -------
    values : ndarray, shape (n,)
        ``y / 2^exponent``, which is exact; outliers beyond `LARGEST` are clipped to it.
    exponent : int
        0, and the values are y itself, unless the largest magnitude lies outside
        [`LEAST`, `LARGEST`]. Then the median of the magnitudes other than 0 comes to lie
        between .5 and 1.
    """
    magnitudes = np.abs(y[y != 0])
    if not magnitudes.size or LEAST <= magnitudes.max() <= LARGEST:
        return y, 0
    exponent = int(np.frexp(np.quantile(magnitudes, 0.5, method="lower"))[1])
    return np.clip(restore(y, -exponent), -LARGEST, LARGEST), exponent


def restore(values: FloatArray, exponent: int) -> FloatArray:
    """Return ``values * 2^exponent``, infinite or 0 beyond the floats."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(values, exponent))


def in_squared_units(variance: ArrayLike, spread: float) -> FloatArray:
    """Return a standardised variance in units of y squared; infinite or 0 beyond the floats.

    The spread is that of plain values, whose square may be no float; `Units.variances` has that of
    moderated ones, whose square is one.
    """
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.square(spread) * np.asarray(variance, dtype=np.float64))


@dataclass(frozen=True)
class Units:
    """The way from standardised values back to the caller's; see `standardized`.

    Attributes
    ----------
    center, spread : float
        Mean and standard deviation of the moderated values; the spread of a constant is 1.
    exponent : int
        Moderated values times 2^exponent are the plain ones.
    sign : {1.0, -1.0}
        -1 if standardised values grow where the caller's fall.
    """

    center: float
    spread: float
    exponent: int = 0
    sign: float = 1.0

    def values(self, standardised: FloatArray) -> FloatArray:
        """Return values, caller's units and sign."""
        return self.sign * restore(self.center + self.spread * standardised, self.exponent)

    def differences(self, standardised: FloatArray) -> FloatArray:
        """Return differences of values, caller's units and sign."""
        return self.sign * restore(self.spread * standardised, self.exponent)

    def deviations(self, standardised: FloatArray) -> FloatArray:
        """Return standard deviations, caller's units, from standardised variances.

        Finite where `variances` may be none that a float holds.
        """
        return restore(self.spread * np.sqrt(standardised), self.exponent)

    def variances(self, standardised: FloatArray) -> FloatArray:
        """Return variances, caller's units squared."""
        return restore(self.spread**2 * standardised, 2 * self.exponent)


def standardized(y: FloatArray, sign: float = 1.0) -> tuple[FloatArray, Units]:
    """Return y with mean 0 and standard deviation 1 (zeros if y is constant), and the way back.

    Parameters
    ----------
    y : ndarray, shape (n,)
    sign : {1.0, -1.0}
        By which y differ from the caller's values.
    """
    y, exponent = moderate(y)
    center, spread = float(y.mean()), float(y.std())
    values = (y - center) / spread if spread > 0 else np.zeros_like(y)
    return values, Units(center, spread or 1.0, exponent, sign)


def standardize(y: FloatArray) -> FloatArray:
    """Return y with mean 0 and standard deviation 1 (zeros if y is constant).

    Parameters
    ----------
    y : ndarray, shape (n,)
    """
    return standardized(y)[0]


def half_rank_warp(y: FloatArray, *, reference: np.ndarray | None = None) -> FloatArray:
    """Replace the worse half of the values by normal scores, then standardise.

    See `half_ranked`, which returns the way back, too.
    """
    return half_ranked(y, reference=reference)[0]


def half_ranked(y: FloatArray, *, reference: np.ndarray | None = None) -> tuple[FloatArray, Units]:
    """Return half-rank warped values, and the way back for the better half and beyond.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Larger is better.
    reference : ndarray of int, shape (k,), optional
        Indices of the values that median, spread, ranks and moments are taken from; all by
        default. A space-filling few keep the scale of the whole function, whereas points
        that crowd near the incumbent zoom in on it.

    Returns
    -------
    values : ndarray, shape (n,)
        With m the median and s the root mean square of y - m over the better half, values
        y >= m are kept and the others become m - s * Phi^-1((rank + .5)/n), ranks counted
        from the best; then mean 0 and standard deviation 1. Between the values of the
        reference, ranks are interpolated.
    units : Units
        Between these values and y from m upwards.
    """
    from scipy.special import ndtri

    y, exponent = moderate(y)
    base = y if reference is None else y[reference]
    median = float(np.median(base))
    better = base >= median
    spread = float(np.sqrt(np.mean((base[better] - median) ** 2)))
    if not spread > 0:
        spread = float(base.std())
    ranks = _ranks_from_best(base)
    if reference is not None:
        costs, first = np.unique(-base, return_index=True)
        ranks = np.interp(-y, costs, ranks[first])
    scores = median - spread * ndtri((ranks + 0.5) / len(base))
    warped = np.where(y >= median, y, np.minimum(scores, median))
    seen = warped if reference is None else warped[reference]
    center, scale = float(seen.mean()), float(seen.std())
    if not scale > 0:
        center, scale = float(warped.mean()), float(warped.std())
    values = (warped - center) / scale if scale > 0 else np.zeros_like(warped)
    return values, Units(center, scale or 1.0, exponent)


def _ranks_from_best(y: FloatArray) -> FloatArray:
    """Return ranks from 0, shape (n,); equal values share the mean of theirs.

    As ``scipy.stats.rankdata(-y) - 1``, which takes long to load.
    """
    _, where, counts = np.unique(-y, return_inverse=True, return_counts=True)
    last = np.cumsum(counts) - 1.0
    return np.asarray((last - 0.5 * (counts - 1))[where])


def moderate_std(noise_std: float | None, exponent: int) -> float | None:
    """Return a known noise in the units of moderated values; None if not known.

    Parameters are those of `moderate_noise`.
    """
    return None if noise_std is None else float(restore(np.asarray(noise_std), -exponent))


def moderate_noise(noise_std: float | None, exponent: int) -> float | None:
    """Return the square of a known noise in the units of moderated values; None if not known.

    Parameters
    ----------
    noise_std : float or None
        Units of the plain values.
    exponent : int
        Of `moderate`.
    """
    known = moderate_std(noise_std, exponent)
    return None if known is None else min(known, LARGEST) ** 2


def warped_noise(noise_variance: float | None, y: FloatArray, warped: FloatArray) -> float | None:
    """Return a known noise variance in the units of warped values.

    A warp bends, and the same noise is of another size at each value; a GP knows one. It gets
    that of the better half, where the search goes: times the square of the mean slope there,
    which for `half_rank_warp` is the slope, since that half is left straight.

    Parameters
    ----------
    noise_variance : float or None
        Units of y squared; None, not known, stays None.
    y, warped : ndarray, shape (n,)
    """
    if noise_variance is None:
        return None
    better = y >= np.median(y)
    rise, run = np.ptp(warped[better]), np.ptp(y[better])
    if not run > 0:
        rise, run = warped.std(), y.std()
    return noise_variance * min(float(rise / run), LARGEST) ** 2 if run > 0 else None


def log_warp(y: FloatArray) -> FloatArray:
    """Stretch the values near the incumbent logarithmically, then standardise.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Larger is better.

    Returns
    -------
    ndarray, shape (n,)
        -log(1 + (max y - y)/(max y - median y)), standardised.
    """
    return stretched(y)[0]


def stretched(y: FloatArray, share: float = 0.5) -> tuple[FloatArray, float]:
    """Return log-warped values, and what the warp adds to a log density of y.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Larger is better.
    share : float, default 0.5
        Of the values that the logarithm's linear part holds: 0.5 is `log_warp`, 1 leaves the
        values nearly as they are.

    Returns
    -------
    values : ndarray, shape (n,)
        -log(1 + gap / s), standardised; gap = max y - y, and s its quantile of that share.
    log_slopes : float
        Sum of the logarithms of the slopes of ``values`` over y, up to a constant of y: a log
        density of the values plus this is one of y, and comparable between shares.
    """
    y, _ = moderate(y)
    gap = y.max() - y
    scale = float(np.quantile(gap, share))
    if not scale > 0:
        scale = float(gap.mean())
    scale = max(scale, float(gap.max()) * LEAST**2)
    if not scale > 0:
        return np.zeros_like(y), 0.0
    values, units = standardized(-np.log1p(gap / scale))
    return values, -float(np.log(gap + scale).sum()) - len(y) * float(np.log(units.spread))
