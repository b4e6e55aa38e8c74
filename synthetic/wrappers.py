"""Problems made from problems: embedded, perturbed, shifted, noisy, negated.

Wrappers compose: each is a :class:`TestProblem` and takes one. What is known of the inner problem
(optimum, bases) is carried over exactly where it still holds, and is None where it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boring.exceptions import InvalidInputError
from boring.space import Box
from boring.subspace.stiefel import is_orthonormal, orthonormalize, random_frame
from boring.typing import FloatArray, SeedLike

from ._formulas import AffineInput, Negative, ShiftedInput, WithPassiveTerms
from .base import TestProblem, check_problem
from .passive_terms import PassiveTerm, decreasing_ripples
from .placement import REACH, reachable_points

__all__ = ["Embedded", "Negated", "Noisy", "Perturbed", "Shifted"]

MAX_DRAWS = 200
"""Draws of a basis before a placement is given up; one nearly always suffices."""


class Embedded(TestProblem):
    """A function of d variables hidden in the cube [-1, 1]^D: ``f(x) = g(u)``, ``z = W'x``.

    Parameters
    ----------
    inner : TestProblem
        g, on a box of d variables.
    dim : int, D >= d
    seed : int, SeedSequence or None
        Draws W uniformly (Haar) when neither ``basis`` nor ``axes`` is given.
    basis : array_like of shape (D, d), optional
        W itself, with orthonormal columns.
    axes : sequence of d distinct indices, optional
        W as columns of the identity: ``z_i = x[axes[i]]``.
    center, half_width : array_like of shape (d,) or float, default 0 and 1
        The box of g is mapped onto ``|z_i - center_i| <= half_width_i``.
    name : str, optional

    Raises
    ------
    InvalidInputError
        If the dimensions or W do not fit, more than one of ``seed``, ``basis`` and ``axes`` is
        given, or no draw of W makes the optimum reachable.

    Notes
    -----
    **Placement.** W is the Q of a seeded Gaussian matrix; g's box is mapped to ``|z_i| <= 1``, and
    g is *not* clipped outside it: the formula continues, since ``|z|`` reaches sqrt(D). A drawn W
    is rejected and drawn again unless a linear program finds a point x with ``|x|_inf <= 0.95`` and
    ``W'x = z*`` for an optimiser z* of g, so that the optimum is always reachable, well inside the
    cube. Given ``basis`` or ``axes`` are taken as they are, with the whole cube to reach.

    **Optimum.** It is g's, if that holds outside g's box as well (``inner.holds_outside``) or if no
    point of the cube leaves g's box. Otherwise, or if no optimiser can be reached, it is unknown
    and None. ``optimizers`` has one point for each reachable optimiser of g, out of an affine set
    of D - d dimensions.
    """

    inner: TestProblem
    formula: AffineInput

    def __init__(
        self,
        inner: TestProblem,
        dim: int,
        *,
        seed: SeedLike = None,
        basis: ArrayLike | None = None,
        axes: Sequence[int] | None = None,
        center: ArrayLike = 0.0,
        half_width: ArrayLike = 1.0,
        name: str | None = None,
    ) -> None:
        _check_inner(inner)
        middle, half = _placement(inner.dim, center, half_width)
        if sum(given is not None for given in (seed, basis, axes)) > 1:
            raise InvalidInputError("Give only one of seed, basis and axes.")
        targets = np.empty((0, inner.dim))
        if inner.optimizers is not None:
            targets = middle + half * inner.space.scale(inner.optimizers)
        if basis is None and axes is None:
            W, points = _draw_basis(dim, inner.dim, targets, np.random.default_rng(seed))
        else:
            W = _given_basis(dim, inner.dim, basis, axes)
            points = reachable_points(W, targets, 1.0)
        stays_inside = np.all(np.abs(W).sum(axis=0) + np.abs(middle) <= half * (1.0 + 1e-12))
        known = len(points) > 0 and bool(inner.holds_outside or stays_inside)
        stretch = inner.space.width / (2.0 * half)
        origin = 0.5 * (inner.space.lower + inner.space.upper) - stretch * middle
        super().__init__(
            name=name or f"{inner.name}-in-{dim}",
            space=Box(-np.ones(dim), np.ones(dim)),
            formula=AffineInput(inner.formula, W, origin, stretch),
            direction=inner.direction,
            optimum=inner.optimum if known else None,
            optimizers=points if known else None,
            holds_outside=known and inner.holds_outside,
            true_basis=_lifted_basis(W, half, inner),
            effective_dim=inner.effective_dim,
            passive_basis=None if inner.passive_basis is None else W @ inner.passive_basis,
            noise_std=inner.noise_std,
        )
        object.__setattr__(self, "inner", inner)

    def reduce(self, X: ArrayLike) -> FloatArray:
        """Return the reduced inputs ``Z = X W``, shape (n, d), of points of shape (n, D)."""
        points, _ = self._points(X, "X")
        reduced: FloatArray = points @ self.formula.basis
        return reduced

    def reduced_value(self, Z: ArrayLike) -> FloatArray:
        """Return g at reduced inputs: ``reduced_value(reduce(X)) = f(X)``.

        Parameters
        ----------
        Z : array_like, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
        """
        return self.formula.inner.value(self.formula.lift(np.asarray(Z, dtype=np.float64)))


class Perturbed(TestProblem):
    """A problem with a small term of one variable added along passive directions.

    Parameters
    ----------
    inner : TestProblem
        With a ``true_basis`` W of fewer than D columns, and no passive terms yet.
    terms : sequence of PassiveTerm, optional
        q <= D - d of them. By default a sinusoid along *every* passive direction, each of half the
        amplitude of the one before (thesis 3.2.1).
    seed : int, SeedSequence or None
        Draws the orthonormal directions v_j uniformly in the complement of W.
    name : str, optional

    Raises
    ------
    InvalidInputError
        If the inner problem has no passive directions to spare.

    Notes
    -----
    ``f(x) = g(W's) +- sum_j h_j(v_j's)``, s the scaled x, with the sign that makes the terms worsen
    the objective. Each is best, 0, at its offset, so the optimum stays g's if a point s of the cube
    has ``W's = z*`` and every ``v_j's`` at its offset. Directions for which none has
    ``|s|_inf <= 0.95`` are drawn again; if that keeps failing the optimum is unknown and None.
    """

    inner: TestProblem
    formula: WithPassiveTerms

    def __init__(
        self,
        inner: TestProblem,
        terms: Sequence[PassiveTerm] | None = None,
        *,
        seed: SeedLike = None,
        name: str | None = None,
    ) -> None:
        _check_inner(inner)
        W = inner.true_basis
        if W is None or inner.passive_basis is not None:
            raise InvalidInputError(
                f"{inner.name} must have a true basis and no passive terms to be perturbed."
            )
        free = inner.dim - W.shape[1]
        chosen = decreasing_ripples(free) if terms is None else tuple(terms)
        if not 1 <= len(chosen) <= free:
            raise InvalidInputError(
                f"{inner.name} has {free} passive directions; received {len(chosen)} terms."
            )
        V, points = _draw_passive(inner, W, chosen, np.random.default_rng(seed))
        known = len(points) > 0
        super().__init__(
            **_known(
                inner,
                name=name or f"{inner.name}-perturbed",
                formula=WithPassiveTerms(inner.formula, inner.space, V, chosen, -float(inner.sign)),
                optimum=inner.optimum if known else None,
                optimizers=inner.space.unscale(points) if known else None,
                holds_outside=known and inner.holds_outside,
                passive_basis=V,
            )
        )
        object.__setattr__(self, "inner", inner)

    @property
    def terms(self) -> tuple[PassiveTerm, ...]:
        """The passive terms, in the order of the columns of ``passive_basis``."""
        return self.formula.terms


class Shifted(TestProblem):
    """A problem whose function is moved inside its box: ``f(x) = g(x - shift)``.

    Parameters
    ----------
    inner : TestProblem
    shift : array_like of shape (D,) or float, raw units
    name : str, optional

    Notes
    -----
    The box stays, and the formula continues into the part of it that g's box has left. The optimum
    stays known if it holds outside g's box (``inner.holds_outside``) and an optimiser stays inside.
    """

    inner: TestProblem

    def __init__(self, inner: TestProblem, shift: ArrayLike, *, name: str | None = None) -> None:
        _check_inner(inner)
        step = np.array(np.broadcast_to(np.asarray(shift, dtype=np.float64), (inner.dim,)))
        moved = np.empty((0, inner.dim))
        if inner.optimizers is not None and inner.holds_outside:
            moved = inner.optimizers + step
            moved = moved[inner.space.contains(moved)]
        known = len(moved) > 0
        super().__init__(
            **_known(
                inner,
                name=name or f"{inner.name}-shifted",
                formula=ShiftedInput(inner.formula, step),
                optimum=inner.optimum if known else None,
                optimizers=moved if known else None,
                holds_outside=known,
            )
        )
        object.__setattr__(self, "inner", inner)


class Noisy(TestProblem):
    """A problem observed with independent normal noise; calling it stays noiseless.

    Parameters
    ----------
    inner : TestProblem
    noise_std : float, units of y
        In place of any noise that the inner problem had.
    name : str, optional
    """

    inner: TestProblem

    def __init__(self, inner: TestProblem, noise_std: float, *, name: str | None = None) -> None:
        _check_inner(inner)
        super().__init__(
            **_known(inner, name=name or f"{inner.name}-noisy", noise_std=float(noise_std))
        )
        object.__setattr__(self, "inner", inner)


class Negated(TestProblem):
    """The same problem upside down: the negative function, with the other direction.

    Parameters
    ----------
    inner : TestProblem
    name : str, optional
    """

    inner: TestProblem

    def __init__(self, inner: TestProblem, *, name: str | None = None) -> None:
        _check_inner(inner)
        super().__init__(
            **_known(
                inner,
                name=name or f"{inner.name}-negated",
                formula=Negative(inner.formula),
                direction="minimize" if inner.direction == "maximize" else "maximize",
                optimum=None if inner.optimum is None else -inner.optimum,
            )
        )
        object.__setattr__(self, "inner", inner)


def _known(inner: TestProblem, **changes: Any) -> dict[str, Any]:
    """Return the fields of a problem, some of them changed."""
    return {field.name: getattr(inner, field.name) for field in fields(TestProblem)} | changes


def _check_inner(inner: TestProblem) -> None:
    """Raise for what is no problem, or has noise that a wrapper would lose."""
    check_problem(inner)
    if type(inner).noise_at is not TestProblem.noise_at:
        raise InvalidInputError(
            f"{inner.name} has noise that depends on x, which a wrapper would lose. Use it on its "
            "own box, as it is."
        )


def _placement(d: int, center: ArrayLike, half_width: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return center and half-width as arrays of shape (d,), checked."""
    try:
        middle = np.array(np.broadcast_to(np.asarray(center, dtype=np.float64), (d,)))
        half = np.array(np.broadcast_to(np.asarray(half_width, dtype=np.float64), (d,)))
    except ValueError as error:
        raise InvalidInputError(
            f"center and half_width must be numbers or have shape ({d},); received shapes "
            f"{np.shape(center)} and {np.shape(half_width)}."
        ) from error
    if not (np.all(np.isfinite(middle)) and np.all(np.isfinite(half)) and np.all(half > 0.0)):
        raise InvalidInputError(
            "center must be finite and half_width finite and positive; received "
            f"{middle.tolist()} and {half.tolist()}."
        )
    return middle, half


def _draw_basis(
    dim: int, d: int, targets: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw W until one of the targets z (k, d), if there are any, can be reached."""
    for _ in range(MAX_DRAWS):
        W = random_frame(dim, d, rng)
        points = reachable_points(W, targets, REACH)
        if len(points) or not len(targets):
            return W, points
    raise InvalidInputError(
        f"No basis of {MAX_DRAWS} drawn lets a point with |x|_inf <= {REACH} reach the optimum. "
        "Choose a center and half_width that bring it nearer to the origin."
    )


def _given_basis(
    dim: int, d: int, basis: ArrayLike | None, axes: Sequence[int] | None
) -> FloatArray:
    """Return W from the caller's basis or axes, checked."""
    if axes is not None:
        indices = np.asarray(axes)
        distinct = indices.dtype.kind == "i" and len(np.unique(indices)) == indices.size
        if indices.shape != (d,) or not distinct or np.any((indices < 0) | (indices >= dim)):
            raise InvalidInputError(
                f"axes must be {d} distinct indices from 0 to {dim - 1}; received {list(axes)}."
            )
        return np.ascontiguousarray(np.eye(dim)[:, indices])
    W = np.array(basis, dtype=np.float64)
    if W.shape != (dim, d) or not is_orthonormal(W):
        raise InvalidInputError(
            f"basis must have shape ({dim}, {d}) and orthonormal columns; received shape "
            f"{W.shape}. Pass boring.subspace.stiefel.orthonormalize(basis)."
        )
    return W


def _lifted_basis(W: FloatArray, half: FloatArray, inner: TestProblem) -> FloatArray | None:
    """Return the active basis in the cube, from that of g in scaled units of its own box."""
    B = inner.true_basis
    if B is None:
        return None
    if B.shape[0] == B.shape[1]:
        return W
    if np.all(half == half[0]):
        return np.ascontiguousarray(W @ B)
    if inner.passive_basis is not None:
        raise InvalidInputError(
            f"{inner.name} has passive terms: half_width must be the same in every direction, or "
            "its directions would not stay orthogonal."
        )
    return orthonormalize((W / half) @ B)


def _draw_passive(
    inner: TestProblem,
    W: FloatArray,
    terms: tuple[PassiveTerm, ...],
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draw V in the complement of W until an optimiser, in scaled units, can be reached."""
    D, d = W.shape
    complement = np.linalg.qr(W, mode="complete")[0][:, d:]
    offsets = np.array([term.offset for term in terms])
    targets = np.empty((0, d + len(terms)))
    if inner.optimizers is not None:
        Z = inner.space.scale(inner.optimizers) @ W
        targets = np.hstack((Z, np.tile(offsets, (len(Z), 1))))
    V, points = complement, np.empty((0, D))
    for _ in range(MAX_DRAWS):
        V = np.ascontiguousarray(complement @ random_frame(D - d, len(terms), rng))
        points = reachable_points(np.hstack((W, V)), targets, REACH)
        if len(points) or not len(targets):
            break
    return V, points
