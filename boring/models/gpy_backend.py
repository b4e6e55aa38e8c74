"""GPy behind a fence: oracle, alternative backend, a kernel for GPy users, and a way out.

This is the only module that imports GPy, and it does so on first use: inside
``warnings.catch_warnings`` and with numpy's global random state put back afterwards.

* :func:`gpy_log_likelihood` evaluates a native model's likelihood and gradient by GPy's own
  kernels and inference, for comparison with :mod:`boring.models.gp`.
* :class:`GPyAdditiveGP` is a drop-in for
  :class:`~boring.models.gp.GaussianProcessModel` (``backend="gpy"``).
* ``ProjectedKernel`` is a ``GPy.kern.Kern`` on Z = X W with dK/dW, for any GPy model.
* :func:`to_gpy` turns a fitted native posterior into a ``GPy.models.GPRegression``.

GPy is not thread-safe, and adds 1e-8 to the noise variance it is given; that constant is
subtracted here, so that both sides of a comparison hold the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from boring.exceptions import FitError, InvalidInputError
from boring.kernels.additive import KernelTerm, cross_squared_distances, squared_distances
from boring.kernels.maps import Ard, FeatureMap, Free, Isotropic, Projected, ProjectedArd
from boring.kernels.profiles import get_profile
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess, log_normal_density
from boring.rng import isolated_environment, isolated_global_random_state
from boring.typing import FloatArray

__all__ = [
    "GPyAdditiveGP",
    "GPyPosterior",
    "ProjectedKernel",  # noqa: F822 - by __getattr__
    "gpy_log_likelihood",
    "to_gpy",
]

#: What ``GPy.inference...ExactGaussianInference`` adds to the noise variance.
GPY_JITTER = 1e-8
#: Least noise variance handed to GPy, whose parameters are strictly positive.
_MINIMUM_NOISE = 1e-12
#: Singular values of a free factor below this count as this (lengthscale 1e9).
_MINIMUM_SINGULAR_VALUE = 1e-9
#: Seed of the global random state inside the fence; nothing here depends on it.
_FENCE_SEED = 0


def __getattr__(name: str) -> Any:
    """Build ``ProjectedKernel`` when it is first asked for (PEP 562)."""
    if name == "ProjectedKernel":
        return _projected_kernel_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@contextmanager
def _fenced() -> Iterator[Any]:
    """Yield GPy with its warnings silenced and numpy's global random state put back."""
    with (
        warnings.catch_warnings(),
        isolated_environment(),
        isolated_global_random_state(_FENCE_SEED),
    ):
        warnings.simplefilter("ignore")
        import GPy

        yield GPy


# -- native terms in GPy's own kernels -------------------------------------------------


def _projection(term: KernelTerm, parameters: FloatArray) -> FloatArray | None:
    """Return T with which the term's GPy inputs are X T; None stands for the identity."""
    match term.feature_map:
        case Projected(basis=basis) | ProjectedArd(basis=basis):
            return basis
        case Free() as free:
            return free.factor(parameters)
        case Isotropic() | Ard():
            return None
    raise InvalidInputError(
        f"GPy has no counterpart of the feature map {type(term.feature_map).__name__}; use one "
        "of Isotropic, Ard, Projected, ProjectedArd and Free"
    )


def _gpy_inputs(term: KernelTerm, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return what the term's GPy kernel sees, from the map's fixed inputs."""
    free = isinstance(term.feature_map, Free)
    return inputs @ term.feature_map.factor(parameters) if free else inputs  # type: ignore[attr-defined]


def _lengthscales(feature_map: FeatureMap, parameters: FloatArray) -> FloatArray:
    """Return the lengthscales of the term's GPy kernel."""
    return np.ones(1) if isinstance(feature_map, Free) else np.exp(parameters)


def _stationary(
    gpy: Any, term: KernelTerm, variance: float, scales: FloatArray, **where: Any
) -> Any:
    """Return GPy's own kernel of the term's profile."""
    kinds = {
        "matern32": gpy.kern.Matern32,
        "matern52": gpy.kern.Matern52,
        "squared-exponential": gpy.kern.RBF,
    }
    if term.profile.name not in kinds:
        raise InvalidInputError(
            f"GPy has no counterpart of the profile {term.profile.name!r}; use one of {[*kinds]}"
        )
    ard = isinstance(term.feature_map, Ard | ProjectedArd)
    return kinds[term.profile.name](
        variance=variance, lengthscale=scales if ard else scales[0], ARD=ard, **where
    )


def _gpy_terms(
    gpy: Any, model: GaussianProcessModel, theta: FloatArray, widths: Sequence[int]
) -> list[Any]:
    """Return one GPy kernel a term, each active on its own block of columns."""
    parts, first = [], 0
    for (term, variance, parameters), width in zip(model.kernel.split(theta), widths, strict=True):
        scales = _lengthscales(term.feature_map, parameters)
        where = {"input_dim": width, "active_dims": list(range(first, first + width))}
        parts.append(_stationary(gpy, term, variance, scales, **where))
        first += width
    if model.kernel.constant_variance > 0:
        parts.append(gpy.kern.Bias(first, variance=model.kernel.constant_variance))
        parts[-1].fix()
    return parts


def _gpy_noise(noise_variance: float) -> float:
    return max(noise_variance - GPY_JITTER, _MINIMUM_NOISE)


def gpy_log_likelihood(
    model: GaussianProcessModel, theta: FloatArray, X: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    """Return the log marginal likelihood and its gradient, as GPy computes them.

    Kernels, inference and kernel gradients are GPy's own (on the terms' projected inputs);
    only the chain rule to the native parameters is done here.

    Parameters
    ----------
    model : GaussianProcessModel
    theta : ndarray, shape (n_parameters,)
        In the native layout; noise variance above 1e-8.
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)

    Returns
    -------
    value : float
        Log marginal likelihood, without priors.
    gradient : ndarray, shape (n_parameters,)

    Raises
    ------
    InvalidInputError
        If GPy has no counterpart of a profile or a feature map.
    FitError
        If GPy finds the kernel matrix not positive definite.
    """
    return _log_likelihood(model, theta, model.inputs(X), y)


def _log_likelihood(
    model: GaussianProcessModel, theta: FloatArray, inputs: Sequence[FloatArray], y: FloatArray
) -> tuple[float, FloatArray]:
    split = model.kernel.split(theta)
    blocks = [_gpy_inputs(t, p, base) for (t, _, p), base in zip(split, inputs, strict=True)]
    U = np.hstack(blocks)
    gradient = np.empty_like(theta)
    with _fenced() as gpy:
        parts = _gpy_terms(gpy, model, theta, [block.shape[1] for block in blocks])
        K = sum(part.K(U) for part in parts)  # GPy's Add would copy its parts, which is slow
        likelihood = gpy.likelihoods.Gaussian(variance=_gpy_noise(float(np.exp(theta[-1]))))
        inference = gpy.inference.latent_function_inference.ExactGaussianInference()
        try:
            _, value, slopes = inference.inference(None, U, likelihood, y[:, None], K=K)
        except np.linalg.LinAlgError as error:
            raise FitError(f"GPy: the kernel matrix is not positive definite ({error})") from error
        for part, (term, variance, parameters), place, base, block in zip(
            parts[: len(split)], split, model.kernel.slices, inputs, blocks, strict=True
        ):
            part.update_gradients_full(slopes["dL_dK"], U)
            gradient[place.start] = variance * float(part.variance.gradient[0])
            scales = slice(place.start + 1, place.stop)
            if isinstance(term.feature_map, Free):
                alone = _stationary(gpy, term, variance, np.ones(1), input_dim=block.shape[1])
                dZ = alone.gradients_X(slopes["dL_dK"], block)
                gradient[scales] = (base.T @ dZ).ravel()
            else:
                gradient[scales] = np.asarray(part.lengthscale.gradient) * np.exp(parameters)
    gradient[-1] = float(np.exp(theta[-1])) * float(np.sum(slopes["dL_dthetaL"]))
    return float(value), gradient


# -- the backend -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GPyAdditiveGP(GaussianProcessModel):
    """The native model's surface with GPy doing the arithmetic.

    Parameters, priors, bounds and the optimiser are those of
    :class:`~boring.models.gp.GaussianProcessModel`, of which this is a drop-in; likelihood,
    its gradients and all predictions come from GPy. For BORING's additive surrogate build
    the kernel with :func:`boring.kernels.additive.boring_kernel`.

    Notes
    -----
    About 15 ms a likelihood at n = 50, most of it spent on building GPy's objects, where the
    native engine takes half a millisecond. It is there to check that engine, or for those who
    would rather trust GPy. Made for one thread.

    Examples
    --------
    >>> import numpy as np
    >>> from boring.kernels import MATERN32
    >>> from boring.kernels.additive import boring_kernel
    >>> basis = np.eye(3)
    >>> model = GPyAdditiveGP(boring_kernel(basis[:, :2], basis[:, 2:], MATERN32))
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    >>> fit = model.fit(X, np.sin(X[:, 0]), np.zeros(model.n_parameters))
    >>> mean, variance = model.condition(fit.theta, X, np.sin(X[:, 0])).predict(X)
    >>> bool(np.max(np.abs(mean - np.sin(X[:, 0]))) < 0.01)
    True
    """

    def _evidence(
        self, X: FloatArray, y: FloatArray
    ) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        inputs = self.inputs(X)

        def evidence(theta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = _log_likelihood(self, theta, inputs, y)
            return -value, -gradient

        return evidence

    def condition(  # type: ignore[override]
        self, theta: FloatArray, X: FloatArray, y: FloatArray
    ) -> GPyPosterior:
        """Return GPy's posterior given data and parameters.

        Parameters
        ----------
        theta : ndarray, shape (n_parameters,)
        X : ndarray, shape (n, D)
        y : ndarray, shape (n,)
        """
        return GPyPosterior(self, theta, X, y)


@dataclass(frozen=True, eq=False)
class GPyPosterior:
    """A posterior computed by GPy, with the surface of the native one.

    Attributes
    ----------
    model : GaussianProcessModel
    theta : ndarray, shape (n_parameters,)
    X : ndarray, shape (n, D)
    y : ndarray, shape (n,)
    gpy_model : GPy.core.GP
        On the terms' projected inputs, side by side; see :func:`to_gpy` for one on X.
    """

    model: GaussianProcessModel
    theta: FloatArray
    X: FloatArray
    y: FloatArray
    gpy_model: Any = field(init=False, repr=False)
    _parts: list[Any] = field(init=False, repr=False)
    _columns: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = []
        for term, _, parameters in self.model.kernel.split(self.theta):
            block = _projection(term, parameters)
            columns.append(np.eye(self.X.shape[1]) if block is None else block)
        object.__setattr__(self, "_columns", np.hstack(columns))
        with _fenced() as gpy:
            widths = [block.shape[1] for block in columns]
            parts = _gpy_terms(gpy, self.model, self.theta, widths)
            regression = gpy.models.GPRegression(
                self.X @ self._columns,
                self.y[:, None],
                kernel=gpy.kern.Add(list(parts)),
                noise_var=_gpy_noise(self.noise_variance),
            )
            object.__setattr__(self, "_parts", list(regression.kern.parts))
        object.__setattr__(self, "gpy_model", regression)

    @property
    def noise_variance(self) -> float:
        """Noise variance, in units of y squared."""
        return float(np.exp(self.theta[-1]))

    @property
    def log_marginal_likelihood(self) -> float:
        """Log density of y under the model."""
        return float(self.gpy_model.log_likelihood())

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f (without noise), each (m,), at X (m, D)."""
        with _fenced():
            mean, variance = self.gpy_model.predict_noiseless(X @ self._columns)
        return np.asarray(mean)[:, 0], np.asarray(variance)[:, 0]

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, variance (m,) and their gradients (m, D) at X (m, D)."""
        mean, variance = self.predict(X)
        return mean, variance, *self._gradients(X, self.gpy_model.kern)

    def components(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return component means and variances, each (m, J) [thesis eq. 4.4, 4.5].

        In the order of ``model.kernel.component_names``.
        """
        U = X @ self._columns
        with _fenced():
            pairs = [self.gpy_model.predict_noiseless(U, kern=part) for part in self._parts]
        means, variances = (np.hstack([np.asarray(pair[k]) for pair in pairs]) for k in (0, 1))
        return means, variances

    def components_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return component means, variances (m, J) and their gradients (m, J, D)."""
        means, variances = self.components(X)
        slopes = [self._gradients(X, part) for part in self._parts]
        mean_slopes, variance_slopes = (np.stack([s[k] for s in slopes], axis=1) for k in (0, 1))
        return means, variances, mean_slopes, variance_slopes

    def append(self, x: FloatArray, y: float) -> GPyPosterior:
        """Condition on one more observation ``(D,)``; GPy factors anew, in O(n^3)."""
        return GPyPosterior(self.model, self.theta, np.vstack([self.X, x]), np.append(self.y, y))

    def with_values(self, y: FloatArray) -> GPyPosterior:
        """Return the posterior for other values at the same inputs."""
        return GPyPosterior(self.model, self.theta, self.X, y)

    def log_predictive_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return log N(y_i; mean, variance + noise) at each row of X, shape (m,)."""
        mean, variance = self.predict(X)
        total = variance + self.noise_variance
        return log_normal_density(y - mean, total)

    def _gradients(self, X: FloatArray, kernel: Any) -> tuple[FloatArray, FloatArray]:
        """Return gradients in x of mean and variance under one kernel, each (m, D)."""
        with _fenced():
            mean, variance = self.gpy_model.predictive_gradients(X @ self._columns, kern=kernel)
        return np.asarray(mean)[:, :, 0] @ self._columns.T, variance @ self._columns.T


# -- for GPy users ---------------------------------------------------------------------


@cache
def _projected_kernel_class() -> Any:
    """Return the class ``ProjectedKernel``, built on first use."""
    with _fenced() as gpy:
        Param, Logexp = gpy.core.parameterization.Param, gpy.core.parameterization.transformations
        Logexp = Logexp.Logexp

    class ProjectedKernel(gpy.kern.Kern):  # type: ignore[name-defined]
        r"""Radial kernel of the ARD distance on Z = X W, with gradients in W.

        :math:`k(x, x') = s^2 k_0(r)`, :math:`r^2 = \sum_i (w_i'(x - x'))^2 / l_i^2`.

        Parameters
        ----------
        input_dim : int
            D.
        basis : array_like, shape (D, d)
            W. A free parameter named ``W``: ``kernel.W.fix()`` holds it. Nothing keeps its
            columns orthonormal while GPy optimises; scale and rotation are then shared
            between W and the lengthscales, and only W diag(1/l) is identified.
        variance : float, default 1
        lengthscale : float or array_like, shape (d,), default 1
        ARD : bool, default True
            One lengthscale per column of W, otherwise one for all.
        profile : {"matern32", "matern52", "squared-exponential"}, default "matern32"
        active_dims, name
            As for every GPy kernel.

        Raises
        ------
        InvalidInputError
            If shapes disagree.

        Notes
        -----
        With :math:`s(r) = -k_0'(r)/r`, P = s^2 dL/dK o s and A = W diag(1/l):
        :math:`dL/dZ = P Z_2 - diag(P 1) Z`, dL/dW = (X' dL/dZ + X_2' dL/dZ_2) diag(1/l).
        For Matern-3/2 this is the form of Tripathy, Bilionis and Gonzalez (2016), without a
        division by r.
        """

        def __init__(
            self,
            input_dim: int,
            basis: Any,
            variance: float = 1.0,
            lengthscale: Any = 1.0,
            ARD: bool = True,
            profile: str = "matern32",
            active_dims: Any = None,
            name: str = "projected",
        ) -> None:
            super().__init__(input_dim, active_dims, name)
            basis = np.array(basis, dtype=np.float64)
            if basis.ndim != 2 or basis.shape[0] != self.input_dim:
                raise InvalidInputError(
                    f"basis must be ({self.input_dim}, d), received shape {basis.shape}"
                )
            count = basis.shape[1] if ARD else 1
            scales = np.array(lengthscale, dtype=np.float64).ravel()
            if scales.size not in (1, count):
                raise InvalidInputError(
                    f"lengthscale must be one number or {count}, received {scales.size}"
                )
            self.ARD = bool(ARD)
            self.profile = get_profile(profile).name
            self.variance = Param("variance", variance, Logexp())
            self.lengthscale = Param("lengthscale", np.broadcast_to(scales, count), Logexp())
            self.W = Param("W", basis)
            self.link_parameters(self.variance, self.lengthscale, self.W)

        def _factor(self) -> FloatArray:
            return np.asarray(self.W.values / self.lengthscale.values)

        def _value_and_slope(self, Z: FloatArray, Z2: FloatArray) -> tuple[FloatArray, FloatArray]:
            squared = squared_distances(Z) if Z2 is Z else cross_squared_distances(Z, Z2)
            return get_profile(self.profile).value_and_slope(squared)

        def _feature_gradients(
            self, dL_dK: FloatArray, X: FloatArray, X2: FloatArray | None
        ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
            """Return Z, Z2, the profile's values, and the gradients in Z and in Z2."""
            Z = X @ self._factor()
            Z2 = Z if X2 is None else X2 @ self._factor()
            value, slope = self._value_and_slope(Z, Z2)
            P = float(self.variance[0]) * dL_dK * slope
            left = P @ Z2 - P.sum(axis=1)[:, None] * Z
            right = P.T @ Z - P.sum(axis=0)[:, None] * Z2
            return Z, Z2, value, left, right

        def K(self, X: FloatArray, X2: FloatArray | None = None) -> FloatArray:
            """Return the kernel matrix (n, m)."""
            Z = X @ self._factor()
            value, _ = self._value_and_slope(Z, Z if X2 is None else X2 @ self._factor())
            return float(self.variance[0]) * value

        def Kdiag(self, X: FloatArray) -> FloatArray:
            """Return k(x, x) for every row of X."""
            return np.full(len(X), float(self.variance[0]))

        def update_gradients_full(
            self, dL_dK: FloatArray, X: FloatArray, X2: FloatArray | None = None
        ) -> None:
            """Set the gradients of variance, lengthscales and W from dL/dK."""
            Z, Z2, value, left, right = self._feature_gradients(dL_dK, X, X2)
            scales = self.lengthscale.values
            self.variance.gradient = float(np.sum(dL_dK * value))
            per_column = -np.sum(left * Z, axis=0) - np.sum(right * Z2, axis=0)
            self.lengthscale.gradient = (per_column if self.ARD else per_column.sum()) / scales
            self.W.gradient = (X.T @ left + (X if X2 is None else X2).T @ right) / scales

        def update_gradients_diag(self, dL_dKdiag: FloatArray, X: FloatArray) -> None:
            """Set the gradients from those in the diagonal, which is the variance."""
            self.variance.gradient = float(np.sum(dL_dKdiag))
            self.lengthscale.gradient = np.zeros_like(self.lengthscale.values)
            self.W.gradient = np.zeros_like(self.W.values)

        def gradients_X(
            self, dL_dK: FloatArray, X: FloatArray, X2: FloatArray | None = None
        ) -> FloatArray:
            """Return the gradient in X (n, D); both sides of K if `X2` is None."""
            _, _, _, left, right = self._feature_gradients(dL_dK, X, X2)
            return np.asarray((left + right if X2 is None else left) @ self._factor().T)

        def gradients_X_diag(self, dL_dKdiag: FloatArray, X: FloatArray) -> FloatArray:
            """Return zeros: the diagonal does not depend on X."""
            return np.zeros(X.shape)

    ProjectedKernel.__module__ = __name__
    ProjectedKernel.__qualname__ = "ProjectedKernel"
    return ProjectedKernel


def to_gpy(posterior: GaussianProcess) -> Any:
    """Return a GPy model of X that predicts as a fitted native posterior does.

    Parameters
    ----------
    posterior : GaussianProcess
        With any number of terms; the model's priors are not carried over.

    Returns
    -------
    GPy.models.GPRegression
        Terms on a basis become ``ProjectedKernel`` (for a free factor M: W and l are its
        left singular vectors and inverse singular values), the others GPy's own kernels,
        named after the terms. It predicts y in the units the posterior was fitted in.

    Raises
    ------
    InvalidInputError
        If GPy has no counterpart of a profile or a feature map.

    Notes
    -----
    Means and variances agree to 1e-6. The likelihood's variance is the native one less the
    1e-8 that GPy adds, plus any jitter that the native factor needed.
    """
    dim = posterior.X.shape[1]
    with _fenced() as gpy:
        parts = []
        for term, variance, parameters in posterior.model.kernel.split(posterior.theta):
            columns = _projection(term, parameters)
            name = term.name.replace(" ", "_")
            if columns is None:
                scales = _lengthscales(term.feature_map, parameters)
                parts.append(_stationary(gpy, term, variance, scales, input_dim=dim, name=name))
                continue
            basis, scales = columns, np.exp(parameters)
            if isinstance(term.feature_map, Free):
                basis, singular, _ = np.linalg.svd(columns, full_matrices=False)
                scales = 1.0 / np.maximum(singular, _MINIMUM_SINGULAR_VALUE)
            parts.append(
                _projected_kernel_class()(
                    dim,
                    basis,
                    variance,
                    scales,
                    ARD=not isinstance(term.feature_map, Projected),
                    profile=term.profile.name,
                    name=name,
                )
            )
        if posterior.model.kernel.constant_variance > 0:
            bias = gpy.kern.Bias(dim, variance=posterior.model.kernel.constant_variance)
            parts.append(bias)
        return gpy.models.GPRegression(
            posterior.X,
            posterior.y[:, None],
            kernel=parts[0] if len(parts) == 1 else gpy.kern.Add(parts),
            noise_var=_gpy_noise(posterior.noise_variance + posterior.jitter),
        )
