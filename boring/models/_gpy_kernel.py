"""``ProjectedKernel``, a kernel of GPy's kind on Z = X W: its class is built on first use."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from boring.exceptions import InvalidInputError
from boring.kernels.additive import cross_squared_distances, squared_distances
from boring.kernels.profiles import get_profile
from boring.models._gpy import fenced
from boring.typing import FloatArray

__all__ = ["projected_kernel_class"]

_HOME = "boring.models.gpy_backend"
"""Where users import the class from, and pickle looks for it."""


@cache
def projected_kernel_class() -> Any:
    """Return the class ``ProjectedKernel``, built on first use."""
    with fenced() as gpy:
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

    ProjectedKernel.__module__ = _HOME
    ProjectedKernel.__qualname__ = "ProjectedKernel"
    return ProjectedKernel
