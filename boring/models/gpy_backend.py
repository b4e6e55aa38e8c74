"""What GPy is good for here: oracle, alternative backend, a kernel for GPy users, and a way out.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boring.exceptions import FitError
from boring.kernels.maps import Free, Projected
from boring.models._gpy import (
    fenced,
    gpy_inputs,
    gpy_noise,
    gpy_terms,
    lengthscales,
    projection,
    stationary,
)
from boring.models._gpy_kernel import projected_kernel_class
from boring.models.gp import GaussianProcessModel
from boring.models.posterior import GaussianProcess, log_normal_density
from boring.typing import FloatArray

__all__ = [
    "GPyAdditiveGP",
    "GPyPosterior",
    "ProjectedKernel",  # noqa: F822 - by __getattr__
    "gpy_log_likelihood",
    "to_gpy",
]

#: Singular values of a free factor below this count as this (lengthscale 1e9).
_MINIMUM_SINGULAR_VALUE = 1e-9


def __getattr__(name: str) -> Any:
    """Build ``ProjectedKernel`` when it is first asked for (PEP 562)."""
    if name == "ProjectedKernel":
        return projected_kernel_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    blocks = [gpy_inputs(t, p, base) for (t, _, p), base in zip(split, inputs, strict=True)]
    U = np.hstack(blocks)
    gradient = np.empty_like(theta)
    with fenced() as gpy:
        parts = gpy_terms(gpy, model, theta, [block.shape[1] for block in blocks])
        K = sum(part.K(U) for part in parts)  # GPy's Add would copy its parts, which is slow
        likelihood = gpy.likelihoods.Gaussian(variance=gpy_noise(float(np.exp(theta[-1]))))
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
                alone = stationary(gpy, term, variance, np.ones(1), input_dim=block.shape[1])
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
            block = projection(term, parameters)
            columns.append(np.eye(self.X.shape[1]) if block is None else block)
        object.__setattr__(self, "_columns", np.hstack(columns))
        with fenced() as gpy:
            widths = [block.shape[1] for block in columns]
            parts = gpy_terms(gpy, self.model, self.theta, widths)
            regression = gpy.models.GPRegression(
                self.X @ self._columns,
                self.y[:, None],
                kernel=gpy.kern.Add(list(parts)),
                noise_var=gpy_noise(self.noise_variance),
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
        with fenced():
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
        with fenced():
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

    def log_predictive_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return log N(y_i; mean, variance + noise) at each row of X, shape (m,)."""
        mean, variance = self.predict(X)
        total = variance + self.noise_variance
        return log_normal_density(y - mean, total)

    def _gradients(self, X: FloatArray, kernel: Any) -> tuple[FloatArray, FloatArray]:
        """Return gradients in x of mean and variance under one kernel, each (m, D)."""
        with fenced():
            mean, variance = self.gpy_model.predictive_gradients(X @ self._columns, kern=kernel)
        return np.asarray(mean)[:, :, 0] @ self._columns.T, variance @ self._columns.T


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
    with fenced() as gpy:
        parts = []
        for term, variance, parameters in posterior.model.kernel.split(posterior.theta):
            columns = projection(term, parameters)
            name = term.name.replace(" ", "_")
            if columns is None:
                scales = lengthscales(term.feature_map, parameters)
                parts.append(stationary(gpy, term, variance, scales, input_dim=dim, name=name))
                continue
            basis, scales = columns, np.exp(parameters)
            if isinstance(term.feature_map, Free):
                basis, singular, _ = np.linalg.svd(columns, full_matrices=False)
                scales = 1.0 / np.maximum(singular, _MINIMUM_SINGULAR_VALUE)
            parts.append(
                projected_kernel_class()(
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
            noise_var=gpy_noise(posterior.noise_variance + posterior.jitter),
        )
