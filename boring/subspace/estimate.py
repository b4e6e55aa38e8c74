"""The account of an active subspace; `boring.subspace.estimation` makes one from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boring.subspace.dimension import DimensionRow
from boring.subspace.trust import CalibratedPredictor
from boring.typing import FloatArray


@dataclass(frozen=True, eq=False)
class SubspaceEstimate:
    """What the data say about the active subspace.

    Attributes
    ----------
    active_basis : ndarray, shape (D, d)
        W, orthonormal columns, the most varied direction first. Only its span is
        identified: compare spans through principal angles.
    singular_values : ndarray, shape (k,)
        Of the full-rank factor, largest first: the gap after the d-th shows how clearly
        d directions stand out. For Tripathy's method 1/lengthscale, k = d.
    lengthscales : ndarray, shape (d,)
        In units of z = W'x.
    noise_variance, signal_variance : float
        In the caller's units of y squared.
    importance : ndarray, shape (D,)
        Activity score of each parameter, sums to 1.
    importance_std : ndarray, shape (D,)
        Jackknife errors; NaN without a trust check.
    importance_interval : ndarray, shape (D, 2)
        Nominally 90 percent; NaN without a trust check.
    trusted : bool
        Whether refitting cross-validation accepts W; False if it was not asked.
    trust : mapping
        Its figures; see `boring.subspace.trust.TrustReport`. Of a run also ``"gate"``, the lead
        in foreseeing the next values (`boring.loop.account`), which then decides with them.
    dimension_table : tuple of DimensionRow
        BIC over d, of the full-rank learner whatever the method; if d was given, one row a kind,
        and none for Tripathy's method.
    log_posterior : float
        At W, y standardised, in nats; for Tripathy's method the log likelihood. Values
        under different profiles or noise floors are not comparable.
    angle_to_previous : float or None
        Largest principal angle to a basis given for comparison, in radians.
    gradient_norm : float
        Norm of the log likelihood's Riemannian gradient at W, in nats. Near zero for a
        critical point; on coordinate axes it is not, as rotations are not refitted.
    method, profile : str
    axis_aligned : bool
        Whether W is spanned by coordinate axes.
    predictor : CalibratedPredictor
        In the caller's units of y: W's GP with inflated variance if the check accepted W,
        else the isotropic GP. Takes scaled inputs.
    fold_bases : tuple of ndarray, each (D, d)
        W as each fold of the trust check found it, from the points outside the fold; empty
        without a check. `boring.subspace.rotation.loading_errors` makes errors of them.

    Notes
    -----
    The estimate of a run, ``result.subspace``, is made of log-warped values, larger being better
    (`boring.loop.account`): y and its units are these values' there, and importance is a
    parameter's share in how they vary, which counts what happens near the optimum for more. Made
    of the objective's own slope, importances of three development runs on the camelback held the
    truth about as often, within intervals up to three times as wide, and a few points decided.
    """

    active_basis: FloatArray
    singular_values: FloatArray
    lengthscales: FloatArray
    noise_variance: float
    signal_variance: float
    importance: FloatArray
    importance_std: FloatArray
    importance_interval: FloatArray
    trusted: bool
    trust: Mapping[str, float]
    dimension_table: tuple[DimensionRow, ...]
    log_posterior: float
    angle_to_previous: float | None
    gradient_norm: float
    method: str
    profile: str
    axis_aligned: bool
    predictor: CalibratedPredictor
    fold_bases: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        for array in (*arrays, *self.fold_bases):
            array.flags.writeable = False

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take the fields of a copy, whose arrays are read-only again."""
        vars(self).update(state)
        self.__post_init__()

    @property
    def effective_dim(self) -> int:
        """Number of columns d of W."""
        return int(self.active_basis.shape[1])

    @property
    def factor(self) -> FloatArray:
        """M = W diag(1/l), shape (D, d): what a later search takes as a warm start."""
        return self.active_basis / self.lengthscales

    def __repr__(self) -> str:
        """Return a line; `summary` has the account."""
        dim, rank = self.active_basis.shape
        trust = "not checked" if not self.trust else "trusted" if self.trusted else "NOT trusted"
        return f"<SubspaceEstimate: {rank} of {dim} dimensions, {trust}; summary() has the account>"

    def summary(self, names: Sequence[str] | None = None, top: int = 10) -> str:
        """Return the account as text.

        Parameters
        ----------
        names : sequence of str, optional
            Of the D parameters.
        top : int, default 10
            Parameters listed, most important first.
        """
        from boring.subspace.summary import summarize

        return summarize(self, names, top)
