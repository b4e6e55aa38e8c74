"""The account of an active subspace, and the function that gives it.

`estimate_active_subspace` learns W, checks it, and says how far each statement goes:
singular values, a BIC table over d, a refitting cross-validation, the importance of each
parameter with an interval, and the Riemannian gradient at W as a certificate that the
likelihood has a critical point there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from boring._warn import warn
from boring.exceptions import InvalidInputError, SubspaceWarning, UnknownNameError
from boring.kernels.profiles import RadialProfile, get_profile
from boring.rng import as_generator, single_blas_thread
from boring.space import Box
from boring.subspace.checks import (
    MIN_POINTS,
    checked_data,
    checked_dim,
    checked_frame,
    checked_matrix,
    standardized,
    warn_of_cliff,
)
from boring.subspace.dimension import DimensionRow
from boring.subspace.factor_fit import FactorFit, FactorSettings, factor_posterior
from boring.subspace.full_rank import N_HOPS
from boring.subspace.importance import N_POINTS, Importance, activity_scores, jackknife_interval
from boring.subspace.learners import (
    LearnedSubspace,
    certify,
    frame_of,
    learn_full_rank,
    learn_tripathy,
    search_settings,
)
from boring.subspace.stiefel import largest_angle, sign_fix
from boring.subspace.trust import (
    CalibratedPredictor,
    TrustReport,
    cautious_noise,
    check_trust,
    default_folds,
    isotropic_posterior,
    training_values,
)
from boring.typing import FloatArray
from boring.validation import as_positive_int, suggest
from boring.warping import in_squared_units

Method = Literal["full-rank", "tripathy"]


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


def estimate_active_subspace(
    X: ArrayLike,
    y: ArrayLike,
    effective_dim: int | None = None,
    *,
    rng: np.random.Generator,
    method: str = "full-rank",
    max_effective_dim: int | None = None,
    space: Box | ArrayLike | None = None,
    kernel: str | RadialProfile | None = None,
    noise_floor: float | None = None,
    n_hops: int = N_HOPS,
    n_restarts: int | None = None,
    starts: Iterable[ArrayLike] = (),
    previous_basis: ArrayLike | None = None,
    check: bool = True,
    n_folds: int | None = None,
    polish: bool = False,
    cpu_budget: float | None = None,
) -> SubspaceEstimate:
    """Estimate the subspace along which a function varies.

    Parameters
    ----------
    X : array_like, shape (n, D)
        Scaled to [-1, 1], or in the units of ``space``.
    y : array_like, shape (n,)
        Values in any unit; non-finite ones are left out with a warning.
    effective_dim : int, 1 <= d <= D, optional
        None chooses d by BIC.
    rng : numpy.random.Generator
        Consumed; numpy's global state is left as found.
    method : {"full-rank", "tripathy"}
        The library's learner (`boring.subspace.full_rank`), or the alternation of
        Tripathy et al. (2016) with random restarts.
    max_effective_dim : int, optional
        Largest d to try; default min(6, D, n - 2).
    space : Box or array_like of shape (D, 2), optional
        Of raw X.
    kernel : str or RadialProfile, optional
        Default: Matern-3/2 for the search, then the smoothness of largest evidence.
    noise_floor : float, optional
        Least noise variance of the search, in units of var(y); the last fits lower it where
        the data are plainly free of noise. Default .01; 1e-6 suits data that cluster around
        an optimum. For Tripathy's method its own default.
    n_hops : int, default 6
        Most further searches while the first ones disagree.
    n_restarts : int, optional
        Of Tripathy's method; default 30.
    starts : iterable of array_like, shape (D, k)
        Warm starts, such as ``factor`` of a former estimate. Full-rank method only.
    previous_basis : array_like, shape (D, k), optional
        To report the angle to.
    check : bool, default True
        Whether to run the trust check, and with it the intervals of the importance.
    n_folds : int, optional
        Of the trust check. Default 5, or 10 where there are less than three points for each
        free parameter of W: there a fold that lacks a fifth of the points may miss a W
        that all points find.
    polish : bool, default False
        Whether pymanopt's trust regions continue from W on the Stiefel manifold, scales
        fixed, until the certificate is below 1e-6. Never on coordinate axes.
    cpu_budget : float, optional
        Seconds for the restarts of Tripathy's method.

    Returns
    -------
    SubspaceEstimate
        ``active_basis`` orthonormal to 1e-10.

    Raises
    ------
    InvalidInputError
        If shapes disagree, X is not finite or outside [-1, 1], d > D, y is constant,
        fewer than max(3, d + 1) finite values remain, or an option belongs to the other
        method.
    UnknownNameError
        If the method or kernel is not known.
    FitError
        If no fit succeeded.

    Warns
    -----
    NonFiniteWarning
        If values were left out.
    SubspaceWarning
        If the points hardly leave a few directions, or the check rejects W.

    Notes
    -----
    Source of the trust check and of the search: measured here, see their modules.
    Importance: Constantine & Diaz (2017), jackknife in `boring.subspace.importance`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (40, 4))
    >>> y = (X[:, 0] + X[:, 1]) ** 2
    >>> estimate = estimate_active_subspace(X, y, 1, rng=rng)
    >>> bool(abs(estimate.active_basis[:2, 0]).min() > 0.7)
    True
    """
    rng = as_generator(rng)
    starts = list(starts)
    inputs, values = checked_data(X, y, None if space is None else Box.from_bounds(space))
    n, dim = inputs.shape
    d = checked_dim(effective_dim, "effective_dim", n, dim)
    top = checked_dim(max_effective_dim, "max_effective_dim", n, dim)
    if method not in get_args(Method):
        raise UnknownNameError(
            f"method must be one of {get_args(Method)}, got {method!r}. "
            f"{suggest(method, get_args(Method))}"
        )
    if n_folds is not None:
        as_positive_int(n_folds, "n_folds", 2)
    given = {"n_restarts": n_restarts, "cpu_budget": cpu_budget, "starts": starts or None}
    _refuse_options_of_the_other(method, given)
    previous = None if previous_basis is None else checked_frame(previous_basis, dim)
    warm = [checked_matrix(start, dim) for start in starts]
    profile = None if kernel is None else get_profile(kernel)
    warn_of_cliff(inputs)
    standard, center, spread = standardized(values)
    with single_blas_thread():
        if method == "full-rank":
            settings = search_settings(profile, noise_floor, n_hops)
            learned = learn_full_rank(inputs, standard, d, top, rng, settings, warm)
        else:
            learned = learn_tripathy(
                inputs, standard, d, top, rng, profile, noise_floor, n_restarts, cpu_budget
            )
        learned, gradient_norm = certify(inputs, standard, learned, polish)
        report = None
        if check and n >= 2 * MIN_POINTS:
            report = check_trust(
                inputs,
                standard,
                learned.refit,
                rng=rng,
                factor=learned.fit.factor,
                axis_aligned=learned.axis_aligned,
                finish=learned.finish,
                n_folds=n_folds or default_folds(n, learned.fit),
            )
        importance = _importance(inputs, standard, learned, report, rng)
        predictor = _predictor(inputs, standard, learned, report, center, spread)
    if report is not None and not report.trusted:
        warn(
            f"the data do not support the active subspace found (n = {n}, D = {dim}, "
            f"d = {learned.fit.rank}): in cross-validation its squared error is "
            f"{report.error:.2f} var(y) against {report.isotropic_error:.2f} without a "
            f"subspace, its log density {report.log_density:.2f} against "
            f"{report.isotropic_log_density:.2f}, and folds found {report.overlap:.0%} of it "
            f"again{_lacking(report)}. Predictions use no subspace; evaluate more points, best of "
            "all spread over the whole box.",
            SubspaceWarning,
        )
    return _assemble(method, learned, report, importance, predictor, previous, gradient_norm)


def _lacking(report: TrustReport) -> str:
    if report.points_needed is None:
        return ""
    return f"; it takes {math.ceil(report.points_needed)} points to tell these axes from chance"


def _refuse_options_of_the_other(method: str, given: Mapping[str, object]) -> None:
    """Raise for an option that the method would pass over."""
    for option in ("starts",) if method == "tripathy" else ("n_restarts", "cpu_budget"):
        if given[option] is not None:
            raise InvalidInputError(
                f"{option} belongs to the other method; received it with method={method!r}. "
                "Leave it out, or change the method."
            )


def _importance(
    X: FloatArray,
    y: FloatArray,
    learned: LearnedSubspace,
    report: TrustReport | None,
    rng: np.random.Generator,
) -> Importance:
    dim = X.shape[1]
    points = rng.uniform(-1.0, 1.0, (N_POINTS, dim))
    profile = learned.finish.profile

    def scores(X: FloatArray, y: FloatArray, fit: FactorFit) -> FloatArray:
        return activity_scores(factor_posterior(X, y, fit, profile, fit.noise), points)

    full = scores(X, y, learned.fit)
    if report is None:
        nothing = np.full(dim, np.nan)
        return Importance(full, nothing, np.stack([nothing, nothing], axis=1))
    replicates = []
    for held, fit in zip(report.folds, report.fold_fits, strict=True):
        kept, values, _, _ = training_values(y, held)
        replicates.append(scores(X[kept], values, fit))
    return jackknife_interval(full, np.array(replicates), 1.0 - report.overlap)


def _predictor(
    X: FloatArray,
    y: FloatArray,
    learned: LearnedSubspace,
    report: TrustReport | None,
    center: float,
    spread: float,
) -> CalibratedPredictor:
    if report is not None and not report.trusted:
        posterior = isotropic_posterior(X, y, (FactorSettings(), learned.finish))
        return CalibratedPredictor(posterior, center, spread, 1.0)
    noise = cautious_noise(len(y), learned.fit, learned.axis_aligned, learned.finish)
    posterior = factor_posterior(X, y, learned.fit, learned.finish.profile, noise)
    return CalibratedPredictor(
        posterior, center, spread, 1.0 if report is None else report.inflation
    )


def _assemble(
    method: str,
    learned: LearnedSubspace,
    report: TrustReport | None,
    importance: Importance,
    predictor: CalibratedPredictor,
    previous: FloatArray | None,
    gradient_norm: float,
) -> SubspaceEstimate:
    W = sign_fix(frame_of(learned.fit.factor))
    variance = float(in_squared_units(1.0, predictor.spread))
    estimate: dict[str, Any] = {
        "active_basis": W,
        "singular_values": learned.singular_values,
        "lengthscales": 1.0 / np.linalg.norm(learned.fit.factor, axis=0),
        "importance": importance.scores,
        "importance_std": importance.std,
        "importance_interval": importance.interval,
    }
    return SubspaceEstimate(
        **estimate,
        noise_variance=variance * learned.fit.noise,
        signal_variance=variance * learned.fit.variance,
        trusted=report is not None and report.trusted,
        trust={} if report is None else report.figures(),
        dimension_table=learned.table,
        log_posterior=learned.log_posterior,
        angle_to_previous=None if previous is None else largest_angle(W, previous),
        gradient_norm=gradient_norm,
        method=method,
        profile=learned.finish.profile.name,
        axis_aligned=learned.axis_aligned,
        predictor=predictor,
        fold_bases=tuple(frame_of(fit.factor) for fit in report.fold_fits) if report else (),
    )
