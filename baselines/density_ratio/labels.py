r"""Good and bad points, and what the ratio of their densities has to do with improvement.

With :math:`\tau` the :math:`(1 - \gamma)`-quantile of the values (larger is better),
:math:`\ell(x) = p(x \mid y \ge \tau)` and :math:`g(x) = p(x \mid y < \tau)`, the
:math:`\gamma`-relative ratio is

.. math:: r_\gamma = \frac{\ell}{\gamma\ell + (1 - \gamma) g} = \frac{\pi}{\gamma},
   \qquad \pi(x) = P(y \ge \tau \mid x)

[Bergstra et al., NIPS 2011, section 4.1; Tiao et al., "BORE", ICML 2021; Hassen and Rish, arXiv
2108.12461, eq. 3.1]. Expected improvement over :math:`\tau` is proportional to it *if*
p(x | y) is the same for all y on either side of :math:`\tau`. Without that assumption
:math:`\pi` is what it says: the probability of improvement over a quantile.
"""

from __future__ import annotations

import numpy as np

from boring.exceptions import InvalidInputError
from boring.typing import BoolArray, FloatArray
from boring.validation import as_real

__all__ = ["check_share", "quantile_labels", "relative_ratio"]


def check_share(value: float, name: str) -> None:
    """Raise InvalidInputError unless the value lies strictly between 0 and 1."""
    if not 0.0 < as_real(value, name, "a number in (0, 1)") < 1.0:
        raise InvalidInputError(
            f"{name} must lie strictly between 0 and 1; received {value!r}. Choose, say, 1/3."
        )


def quantile_labels(y: FloatArray, good_share: float) -> tuple[BoolArray, float]:
    r"""Return which values are good, and the least of these.

    Parameters
    ----------
    y : ndarray, shape (n,), n >= 1
        Finite; larger is better. Only their order matters.
    good_share : float in (0, 1)
        :math:`\gamma`.

    Returns
    -------
    good : ndarray of bool, shape (n,)
        The best ``round(gamma n)`` values, at least one, and what ties with the last of them,
        unless that would be all of them. Both classes occur, but for equal values, of which none
        is good.
    threshold : float
        The least good value; of equal values that value.
    """
    check_share(good_share, "good_share")
    n = len(y)
    count = int(np.clip(np.rint(good_share * n), 1, max(n - 1, 1)))
    threshold = float(np.sort(y)[n - count])
    good = np.asarray(y >= threshold)
    if good.all():
        good = np.asarray(y > threshold)
    return good, float(y[good].min()) if good.any() else threshold


def relative_ratio(log_good: FloatArray, log_bad: FloatArray, good_share: float) -> FloatArray:
    r"""Return :math:`r_\gamma`, which is at most :math:`1/\gamma`, from two log densities.

    Parameters
    ----------
    log_good, log_bad : ndarray, any shape
        :math:`\log\ell` and :math:`\log g`.
    good_share : float in (0, 1)
    """
    check_share(good_share, "good_share")
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (good_share + (1.0 - good_share) * np.exp(log_bad - log_good)))
