r"""Laplace approximation over a linear embedding, and predictions that integrate over it.

Model: y = g(M'x) + noise, g a GP with a squared-exponential kernel of unit lengthscale, so that
the scales live in M = R' (D, d); theta = (log s2, M row by row, log n2) with independent normal
priors. Garnett, Osborne & Hennig (2014, "Active learning of linear embeddings for Gaussian
processes"):

- q(theta) = N(MAP, Sigma), Sigma the inverse Hessian of the negative log posterior;
- the marginal GP (MGP): with m, V mean and variance at the MAP,

      mean = m,    V~ = (4/3) V + (dm)' Sigma (dm) + (dV)' Sigma (dV) / (3 V),

  which matches to first order what averaging over q(theta) does to the predictive law;
- the information that y at x gives on theta, H[y] - E H[y | theta], taken to be
  .5 log((V~ + n2)/(V + n2)) (BALD: Houlsby et al. 2011).

Derivatives. K = s2 exp(-r^2/2) without the constant, A = K + c + n2 I, C = A^-1, a = C y,
z = M'x, S_b[i, j] = K_ij (z_ib - z_jb), x_a column a of X, o the entrywise product. Since
dA/dM_ab = S_b diag(x_a) - diag(x_a) S_b, the Hessian needs products of S_b with C alone:

    tr(C A_ab C A_cd)  = 2 x_a' [(C S_b)' o (C S_d) - C o (S_b C S_d)] x_c
    A_ab a             = Q_b x_a,   Q_b = S_b diag(a) - diag(S_b a)

at a cost O(d^2 n^3 + d^2 n D (n + D)) in place of O(D d n^3) for one matrix per parameter.
Derivation our own, checked by differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels.maps import Free
from boring.kernels.profiles import SQUARED_EXPONENTIAL
from boring.models.linalg import inverse, solve, solve_lower
from boring.models.posterior import GaussianProcess, log_normal_density
from boring.models.priors import Gaussian
from boring.typing import FloatArray

__all__ = ["MarginalGP", "log_posterior_hessian"]

MINIMUM_VARIANCE = 1e-12
"""V below this is rounding; relative to the total variance."""

BOUND_TOLERANCE = 1e-9


class _Embedding:
    """Parts of a posterior on one free factor, and the matrices S_b and Q_b."""

    def __init__(self, posterior: GaussianProcess) -> None:
        terms = posterior.terms
        feature_map = terms[0][0].feature_map
        if len(terms) != 1 or not isinstance(feature_map, Free):
            raise InvalidInputError(
                "the Laplace approximation takes a kernel with one term on a free factor M."
            )
        term, self.signal, parameters = terms[0]
        if term.profile is not SQUARED_EXPONENTIAL:
            raise InvalidInputError(
                f"the kernel must be squared-exponential; received {term.profile.name!r}. Second "
                "derivatives of the others do not exist where points coincide."
            )
        self.M: FloatArray = feature_map.factor(parameters)
        self.X = posterior.X
        self.Z = self.X @ self.M
        self.constant = posterior.model.kernel.constant_variance
        self.noise = posterior.noise_variance
        self.alpha = posterior.alpha
        self.C = inverse(posterior.L)
        self.K = self.cross(self.Z)
        gaps = self.Z[:, None, :] - self.Z[None, :, :]
        self.gaps = np.moveaxis(gaps, 2, 0)  # (d, n, n)
        self.S = self.K * self.gaps
        self.Q = self.S * self.alpha - np.eye(len(self.X)) * (self.S @ self.alpha)[:, :, None]

    def cross(self, Z: FloatArray) -> FloatArray:
        """Return K between features Z (t, d) and the data, without the constant, (t, n)."""
        squared = np.sum(Z**2, axis=1)[:, None] + np.sum(self.Z**2, axis=1) - 2.0 * Z @ self.Z.T
        return np.asarray(self.signal * np.exp(-0.5 * np.maximum(squared, 0.0)))


def log_posterior_hessian(posterior: GaussianProcess) -> FloatArray:
    """Return the Hessian of the negative log posterior in theta, shape (D d + 2, D d + 2).

    Parameters
    ----------
    posterior : GaussianProcess
        One squared-exponential term on a `Free` factor, priors all `Gaussian`.

    Raises
    ------
    InvalidInputError
        If the kernel or a prior is of another kind.
    """
    parts = _Embedding(posterior)
    return _likelihood_hessian(parts) + np.diag(_prior_sd(posterior) ** -2.0)


def _prior_sd(posterior: GaussianProcess) -> FloatArray:
    """Return the prior's standard deviations of theta."""
    (term,) = posterior.model.kernel.terms
    sds = []
    for prior, count in (
        (term.variance_prior, 1),
        (term.map_prior, term.feature_map.n_parameters),
        (posterior.model.noise_prior, 1),
    ):
        if not isinstance(prior, Gaussian):
            raise InvalidInputError(
                f"every parameter needs a normal prior; received {type(prior).__name__}."
            )
        sds.append(np.full(count, prior.sd))
    return np.concatenate(sds)


def _likelihood_hessian(parts: _Embedding) -> FloatArray:
    X, C, S, Q, K, alpha = parts.X, parts.C, parts.S, parts.Q, parts.K, parts.alpha
    d, D = len(S), X.shape[1]
    G = C - np.outer(alpha, alpha)
    CS = C @ S
    H = np.zeros((D, d, D, d))
    for b in range(d):
        for e in range(b, d):
            # -tr(C A_ab C A_ce)/2 and a' A_ab C A_ce a, then the second derivatives of A.
            inner = Q[b].T @ C @ Q[e] - CS[b].T * CS[e] + C * (S[b] @ CS[e])
            P = G * K * (parts.gaps[b] * parts.gaps[e] - float(b == e))
            block = X.T @ (inner - P) @ X + (X.T * P.sum(axis=1)) @ X
            H[:, b, :, e] = block
            H[:, e, :, b] = block.T
    count = D * d
    full = np.empty((count + 2, count + 2))
    full[1:-1, 1:-1] = H.reshape(count, count)
    scales = (K, parts.noise * np.eye(len(X)))
    slopes = [A @ alpha for A in scales]
    images = [C @ A @ C for A in scales]
    for q, (A, slope, E, row) in enumerate(zip(scales, slopes, images, (0, -1), strict=True)):
        mixed = np.stack(
            [(E * S_b).sum(axis=1) + Q_b.T @ (C @ slope) for S_b, Q_b in zip(S, Q, strict=True)]
        )
        if q == 0:
            mixed -= np.stack([(G * S_b).sum(axis=1) for S_b in S])
        full[row, 1:-1] = full[1:-1, row] = (X.T @ mixed.T).ravel()
        full[row, row] = slope @ C @ slope - 0.5 * np.vdot(E, A) + 0.5 * np.vdot(G, A)
    full[0, -1] = full[-1, 0] = slopes[0] @ C @ slopes[1] - 0.5 * np.vdot(images[0], scales[1])
    return full


@dataclass(frozen=True, eq=False)
class MarginalGP:
    """Predictions that integrate over the parameters by the MGP approximation.

    Parameters
    ----------
    posterior : GaussianProcess
        At the MAP: one squared-exponential term on a `Free` factor, priors all `Gaussian`.

    Attributes
    ----------
    covariance : ndarray, shape (D d + 2, D d + 2)
        Sigma; zero in parameters at a bound, which are held fixed.

    Notes
    -----
    A rotation of the features changes neither likelihood nor prior, so that the Hessian is
    singular in these directions; predictions do not change along them either. In units of the
    prior's standard deviations, eigenvalues below 1 are raised to it: no direction is wider than
    the prior. **Deviation**: the paper inverts the Hessian as it is.

    Cost of a prediction at t points: O(t (n^2 d + n D d + D^2 d^2)).
    """

    posterior: GaussianProcess
    covariance: FloatArray = field(init=False, repr=False)
    _parts: _Embedding = field(init=False, repr=False)

    def __post_init__(self) -> None:
        posterior = self.posterior
        parts = _Embedding(posterior)
        sd = _prior_sd(posterior)
        H = _likelihood_hessian(parts) * np.outer(sd, sd) + np.eye(len(sd))
        free = np.array(
            [
                (low is None or value > low + BOUND_TOLERANCE)
                and (high is None or value < high - BOUND_TOLERANCE)
                for value, (low, high) in zip(posterior.theta, posterior.model.bounds, strict=True)
            ]
        )
        values, vectors = np.linalg.eigh(H[np.ix_(free, free)])
        covariance = np.zeros_like(H)
        covariance[np.ix_(free, free)] = (vectors / np.maximum(values, 1.0)) @ vectors.T
        covariance *= np.outer(sd, sd)
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "covariance", covariance)

    @property
    def factor(self) -> FloatArray:
        """M = R' at the MAP, shape (D, d)."""
        factor: FloatArray = self._parts.M
        return factor

    @property
    def noise_variance(self) -> float:
        """Noise variance n2 at the MAP."""
        return self.posterior.noise_variance

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and marginal variance V~ of f (without noise), each (m,), at X (m, D)."""
        mean, V, g, h = self._moments(X)
        return mean, self._marginal(V, g, h)

    def log_predictive_density(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return log N(y_i; mean, V~ + noise) at each row of X, shape (m,)."""
        mean, variance = self.predict(X)
        return log_normal_density(y - mean, variance + self.noise_variance)

    def predict_with_gradient(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, V~ (m,) and their gradients (m, D) at X (m, D)."""
        mean, V, mean_slope, V_slope = self.posterior.predict_with_gradient(X)
        V = np.maximum(V, MINIMUM_VARIANCE * (self._parts.signal + self._parts.constant))
        _, _, g, h = self._moments(X)
        along_mean, along_V = g @ self.covariance, h @ self.covariance
        quadratic = np.einsum("ti,ti->t", h, along_V)
        slope = np.empty_like(X)
        for i, x in enumerate(X):
            slope[i] = (
                (4.0 / 3.0 - quadratic[i] / (3.0 * V[i] ** 2)) * V_slope[i]
                + 2.0 * self._slope_along(x, along_mean[i], of_mean=True)
                + 2.0 * self._slope_along(x, along_V[i], of_mean=False) / (3.0 * V[i])
            )
        return mean, self._marginal(V, g, h), mean_slope, slope

    def information(self, X: FloatArray) -> FloatArray:
        """Return .5 log((V~ + n2)/(V + n2)) at X (m, D), in nats, shape (m,)."""
        _, V, g, h = self._moments(X)
        noise = self.noise_variance
        return np.asarray(0.5 * np.log((self._marginal(V, g, h) + noise) / (V + noise)))

    def _marginal(self, V: FloatArray, g: FloatArray, h: FloatArray) -> FloatArray:
        Sigma = self.covariance
        return np.asarray(
            (4.0 / 3.0) * V
            + np.einsum("ti,ti->t", g @ Sigma, g)
            + np.einsum("ti,ti->t", h @ Sigma, h) / (3.0 * V)
        )

    def _weights(self, X: FloatArray) -> tuple[FloatArray, ...]:
        """Return features, kernel rows, w = C k, mean and variance at X."""
        parts = self._parts
        Z = X @ parts.M
        cross = parts.cross(Z)
        full = cross + parts.constant
        # By the factor: products with C would lose a V much smaller than the total variance.
        reduced = solve_lower(self.posterior.L, np.asfortranarray(full.T))
        w = solve(self.posterior.L, np.asfortranarray(full.T)).T
        total = parts.signal + parts.constant
        V = np.maximum(total - np.einsum("nt,nt->t", reduced, reduced), MINIMUM_VARIANCE * total)
        return Z, cross, w, full @ parts.alpha, V

    def _moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return m, V (t,) and their derivatives in theta (t, p)."""
        parts = self._parts
        data, alpha = parts.X, parts.alpha
        Z, cross, w, mean, V = self._weights(X)
        t, (D, d) = len(X), parts.M.shape
        g, h = np.empty((t, D * d + 2)), np.empty((t, D * d + 2))
        Kw = w @ parts.K
        g[:, 0] = cross @ alpha - Kw @ alpha
        h[:, 0] = parts.signal + np.einsum("tn,tn->t", w, Kw - 2.0 * cross)
        g[:, -1] = -parts.noise * (w @ alpha)
        h[:, -1] = parts.noise * np.einsum("tn,tn->t", w, w)
        dM, dV = np.empty((t, D, d)), np.empty((t, D, d))
        for b in range(d):
            slope = cross * (Z[:, [b]] - parts.Z[:, b])  # -dk/dM_ab = slope (x_a - x_ja)
            for target, weights, rest in (
                (dM, alpha, w @ parts.Q[b]),
                (dV, -2.0 * w, 2.0 * w * (w @ parts.S[b].T)),
            ):
                part = slope * weights
                target[:, :, b] = (part - rest) @ data - part.sum(axis=1)[:, None] * X
        g[:, 1:-1], h[:, 1:-1] = dM.reshape(t, D * d), dV.reshape(t, D * d)
        return mean, V, g, h

    def _slope_along(self, x: FloatArray, direction: FloatArray, of_mean: bool) -> FloatArray:
        """Return d/dx of the derivative of m, or of V, along a direction in theta; shape (D,)."""
        parts = self._parts
        C, M = parts.C, parts.M
        a, B, e = direction[0], direction[1:-1].reshape(M.shape), direction[-1]
        z = x @ M
        k = parts.cross(z[None, :])[0]
        dz, du = z - parts.Z, (x - parts.X) @ B
        relative = a - np.einsum("nd,nd->n", dz, du)  # of dk along the direction, to k
        # Rows: gradients in x of k_j, and of its derivative along the direction.
        k_slope = -k[:, None] * (dz @ M.T)
        moved_slope = relative[:, None] * k_slope - k[:, None] * (du @ M.T + dz @ B.T)

        def moved(v: FloatArray) -> FloatArray:
            """Return (dA along the direction) v."""
            U = parts.X @ B
            result = a * (parts.K @ v) + e * parts.noise * v
            for b in range(M.shape[1]):
                result += parts.S[b] @ (U[:, b] * v) - U[:, b] * (parts.S[b] @ v)
            return np.asarray(result)

        if of_mean:
            alpha = parts.alpha
            return np.asarray(alpha @ moved_slope - (C @ moved(alpha)) @ k_slope)
        w = C @ (k + parts.constant)
        moved_k = relative * k
        return np.asarray(-2.0 * w @ moved_slope + 2.0 * (C @ (moved(w) - moved_k)) @ k_slope)
