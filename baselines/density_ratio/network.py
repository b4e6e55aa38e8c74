r"""A small network with one output, differentiated by hand.

.. math:: a_0 = x, \quad h_l = [a_{l-1}, 1]\,\Theta_l, \quad a_l = \tanh h_l, \quad
   f = [a_{L}, 1]\,\Theta_{L+1}.

Parameters are one vector, layer after layer, each (inputs + 1, outputs) by rows, the biases in
the last row. What is here and not in scikit-learn are the derivatives that a Laplace
approximation asks for: of f in every parameter at every point (J), of f in x, and of J v in x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boring.typing import FloatArray

__all__ = ["Network"]


@dataclass(frozen=True)
class Network:
    """The shape of a network.

    Parameters
    ----------
    sizes : tuple of int
        Units of each layer, the input first and the single output last: (k, 32, 32, 1).
    """

    sizes: tuple[int, ...]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of the layers' matrices, biases included."""
        return [(a + 1, b) for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True)]

    @property
    def n_parameters(self) -> int:
        """P."""
        return sum(a * b for a, b in self.shapes)

    def split(self, flat: FloatArray) -> list[FloatArray]:
        """Return the layers' matrices, each (..., inputs + 1, outputs), of vectors (..., P)."""
        ends = np.cumsum([a * b for a, b in self.shapes])[:-1]
        parts = np.split(flat, ends, axis=-1)
        pairs = zip(parts, self.shapes, strict=True)
        return [part.reshape(*flat.shape[:-1], *shape) for part, shape in pairs]

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw a start: weights N(0, 1/inputs), first biases uniform on (-1, 1), the others 0.

        Parameters
        ----------
        rng : numpy.random.Generator
            Consumed.
        """
        layers = []
        for index, (rows, columns) in enumerate(self.shapes):
            layer = rng.standard_normal((rows, columns)) / np.sqrt(rows - 1)
            layer[-1] = rng.uniform(-1.0, 1.0, columns) if index == 0 else 0.0
            layers.append(layer.ravel())
        return np.concatenate(layers)

    def layers(self, theta: FloatArray, X: FloatArray) -> tuple[list[FloatArray], FloatArray]:
        """Return each layer's inputs, (m, units), and the output f, (m,), at X (m, k)."""
        inputs = [X]
        *hidden, last = self.split(theta)
        for layer in hidden:
            inputs.append(np.tanh(inputs[-1] @ layer[:-1] + layer[-1]))
        return inputs, inputs[-1] @ last[:-1, 0] + last[-1, 0]

    def value(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return f, shape (m,), at X (m, k)."""
        return self.layers(theta, X)[1]

    def factors(
        self, theta: FloatArray, X: FloatArray
    ) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
        """Return the two factors of J layer by layer, and f.

        Returns
        -------
        inputs : list of ndarray, shape (m, inputs + 1)
            What each layer takes in, a column of ones last.
        slopes : list of ndarray, shape (m, outputs)
            Derivative of f in what each layer puts out, before its tanh. The derivative of f in
            the layer's matrix is the outer product of the two.
        value : ndarray, shape (m,)
        """
        inputs, value = self.layers(theta, X)
        matrices = self.split(theta)
        slope = np.ones((len(X), 1))
        slopes = [slope]
        for matrix, a in zip(matrices[:0:-1], inputs[:0:-1], strict=True):
            slope = (slope @ matrix[:-1].T) * (1.0 - a * a)
            slopes.append(slope)
        ones = np.ones((len(X), 1))
        return [np.hstack([a, ones]) for a in inputs], slopes[::-1], value

    def jacobian(self, theta: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return J = df/dtheta, shape (m, P), and f, shape (m,), at X (m, k)."""
        inputs, slopes, value = self.factors(theta, X)
        blocks = [
            (a[:, :, None] * s[:, None, :]).reshape(len(X), -1)
            for a, s in zip(inputs, slopes, strict=True)
        ]
        return np.hstack(blocks), value

    def pull_back(self, theta: FloatArray, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return sum_n w_n df(x_n)/dtheta, shape (P,), without forming J; weights (m,)."""
        inputs, slopes, _ = self.factors(theta, X)
        return np.concatenate(
            [(a.T @ (weights[:, None] * s)).ravel() for a, s in zip(inputs, slopes, strict=True)]
        )

    def input_gradient(self, theta: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return f, shape (m,), and df/dx, shape (m, k), at X (m, k)."""
        _, slopes, value = self.factors(theta, X)
        return value, slopes[0] @ self.split(theta)[0][:-1].T

    def tangent_gradient(
        self, theta: FloatArray, X: FloatArray, V: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return J(x) v and its derivative in x, v held fixed.

        Parameters
        ----------
        theta : ndarray, shape (P,)
        X : ndarray, shape (m, k)
        V : ndarray, shape (m, P)
            A direction for each point.

        Returns
        -------
        ndarray, shape (m,); ndarray, shape (m, k)

        Notes
        -----
        A forward pass carries dots (derivatives along v), and a backward pass carries the
        derivatives of the last dot in each layer's dots and in its values; tanh'' = -2 a (1 - a^2).
        """
        inputs, _ = self.layers(theta, X)
        matrices, directions = self.split(theta), self.split(V)
        dot = np.zeros_like(X)
        dots_before = []
        last = len(matrices) - 1
        for index, (matrix, direction) in enumerate(zip(matrices, directions, strict=True)):
            a = inputs[index]
            before = dot @ matrix[:-1] + direction[:, -1]
            before += np.einsum("mi,mij->mj", a, direction[:, :-1])
            dots_before.append(before)
            if index < last:
                dot = (1.0 - inputs[index + 1] ** 2) * before
        by_dot, by_value = np.ones((len(X), 1)), np.zeros((len(X), 1))
        for index in range(last, -1, -1):
            matrix, direction = matrices[index], directions[index]
            if index < last:
                a = inputs[index + 1]
                slope = 1.0 - a * a
                by_value = slope * by_value - 2.0 * a * slope * dots_before[index] * by_dot
                by_dot = slope * by_dot
            by_value = by_value @ matrix[:-1].T
            by_value += np.einsum("mj,mij->mi", by_dot, direction[:, :-1])
            by_dot = by_dot @ matrix[:-1].T
        return dots_before[-1][:, 0], by_value
