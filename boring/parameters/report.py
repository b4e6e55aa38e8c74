"""An active subspace in the words and units of its parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boring._brief import fields_in_brief
from boring.exceptions import InvalidInputError
from boring.parameters.base import Parameter
from boring.parameters.choices import Categorical
from boring.parameters.real import Real
from boring.parameters.whole import Integer
from boring.subspace.rotation import readable_basis
from boring.typing import FloatArray

if TYPE_CHECKING:
    from boring.parameters.space import ParameterSpace
    from boring.subspace.estimate import SubspaceEstimate

__all__ = ["LoadingRow", "SubspaceDescription", "describe_subspace", "readable_directions"]

NAMED = 6  # parameters named for each direction
LEAST_SHARE = 0.03  # of a direction, below which a parameter is not compared with others


@dataclass(frozen=True)
class LoadingRow:
    """How much one parameter moves one direction of the active subspace.

    Attributes
    ----------
    direction : int
        From 1.
    parameter, unit : str
    share : float
        Sum of squares of the direction over the parameter's columns; the shares of a direction
        sum to one.
    loading : float or None
        The direction's entry; None for a category of more than two choices, which has several.
    step : str
        The step that ``effect`` is of, such as ``"+1 dB"``, ``"x 2"`` or ``"a -> b"``: one unit,
        a doubling on a logarithmic scale, one place of an ordinal, and of a category the switch
        with the largest effect.
    effect : float
        What the step adds to ``z = w'x``, in lengthscales of the direction.
    """

    direction: int
    parameter: str
    unit: str
    share: float
    loading: float | None
    step: str
    effect: float


@dataclass(frozen=True)
class SubspaceDescription:
    """Text, the rows that it is made of, and for each direction the exchanges in words.

    A subspace that was checked and is not trusted has no exchanges.
    """

    text: str
    rows: tuple[LoadingRow, ...]
    exchanges: tuple[tuple[str, ...], ...]

    __repr__ = fields_in_brief

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def readable_directions(estimate: SubspaceEstimate) -> tuple[FloatArray, FloatArray]:
    """Return the varimax basis of a subspace, and the lengthscales along its columns.

    Returns
    -------
    basis : ndarray, shape (D, d)
        Orthonormal; the direction along which the model is steepest comes first.
    lengthscales : ndarray, shape (d,)
        1 / l^2 = sum_j (r_j / l_j)^2, with r the column of the rotation.
    """
    scales = np.asarray(estimate.lengthscales, dtype=np.float64)
    basis, rotation = readable_basis(estimate.active_basis, scales)
    return basis, 1.0 / np.sqrt(((rotation / scales[:, None]) ** 2).sum(axis=0))


def describe_subspace(estimate: SubspaceEstimate, space: ParameterSpace) -> SubspaceDescription:
    """Say which parameters make up each direction of an active subspace, in their units.

    Parameters
    ----------
    estimate : SubspaceEstimate
        Of points of this space.
    space : ParameterSpace

    Returns
    -------
    SubspaceDescription
        ``rows`` by direction, then by falling share; every parameter that varies has one.

    Raises
    ------
    InvalidInputError
        If the numbers of columns differ.

    Notes
    -----
    Along one direction all parameters act through one number, z: hence "+1 dB of gain does what
    -3 mm of pos does". With several directions the exchange holds along each of them alone. The
    data identify the span of several directions only: they are turned to the form with the fewest
    large entries (`boring.subspace.rotation`).
    """
    W, lengthscales = readable_directions(estimate)
    if len(W) != space.dim:
        raise InvalidInputError(
            f"The estimate is of {len(W)} columns, the space has {space.dim}. Give the space whose "
            "points it was made from."
        )
    rows: list[LoadingRow] = []
    lines: list[str] = []
    if not estimate.trusted:
        why = "not trusted" if estimate.trust else "not checked"
        lines.append(f"The data do not vouch for this subspace ({why}).")
    exchanges: list[tuple[str, ...]] = []
    for j, lengthscale in enumerate(lengthscales):
        found = [
            _row(j + 1, parameter, W[space.slice_of(name), j], float(lengthscale))
            for name, parameter in space.parameters.items()
            if parameter.n_columns
        ]
        found.sort(key=lambda row: -row.share)
        rows += found
        named = ", ".join(f"{row.parameter} {row.share:.0%}" for row in found[:NAMED])
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        lines.append(f"Direction {j + 1} (lengthscale {lengthscale:.3g}): {named}{more}")
        is_rejected = not estimate.trusted and bool(estimate.trust)
        exchanges.append(() if is_rejected else tuple(_exchanges(found[:NAMED], space)))
        lines += [f"  {line}" for line in exchanges[-1]]
    importance = space.importance_by_parameter(estimate.importance)
    order = sorted(importance, key=lambda name: -importance[name])[: 2 * NAMED]
    lines.append("importance: " + ", ".join(f"{name} {importance[name]:.0%}" for name in order))
    return SubspaceDescription("\n".join(lines), tuple(rows), tuple(exchanges))


def _row(direction: int, parameter: Parameter, w: FloatArray, lengthscale: float) -> LoadingRow:
    step, change = _natural_step(parameter, w)
    return LoadingRow(
        direction=direction,
        parameter=parameter.name,
        unit=parameter.unit,
        share=float(w @ w),
        loading=float(w[0]) if len(w) == 1 else None,
        step=step,
        effect=change / lengthscale,
    )


def _natural_step(parameter: Parameter, w: FloatArray) -> tuple[str, float]:
    """Return the words for a parameter's step, and what it adds to w'x."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    if isinstance(parameter, Categorical):
        choices = parameter.choices
        at = parameter.encode(list(choices)) @ w
        low, high = int(np.argmin(at)), int(np.argmax(at))
        if len(choices) == 2:
            low, high = 0, 1
        return f"{choices[low]!r} -> {choices[high]!r}", float(at[high] - at[low])
    rate = _rate(parameter)
    if getattr(parameter, "log", False):
        return "x 2", float(w[0]) * rate * math.log(2.0)
    if isinstance(parameter, Real | Integer):
        return f"+1{unit}", float(w[0]) * rate
    return "+1 place", float(w[0]) * rate


def _rate(parameter: Parameter) -> float:
    """Return the scaled units for one unit, one place, or one unit of the logarithm."""
    if isinstance(parameter, Real):
        return parameter.rate
    if isinstance(parameter, Integer):
        width = math.log(parameter.high / parameter.low) if parameter.log else None
        return 2.0 / (width or parameter.high - parameter.low)
    return 2.0 / ((parameter.n_values or 2) - 1)


def _exchanges(rows: list[LoadingRow], space: ParameterSpace) -> list[str]:
    """Return how much of each other parameter does what a step of the first one does."""
    first, *others = rows
    lines = []
    for row in others:
        parameter = space.parameters[row.parameter]
        if row.share < LEAST_SHARE or row.effect == 0.0:
            continue
        if isinstance(parameter, Categorical):
            verb = f"{row.effect / first.effect:+.3g} times what"
            lines.append(
                f"{row.step} of {row.parameter} does {verb} {first.step} of {first.parameter} does"
            )
        else:
            amount = _amount(parameter, first.effect / row.effect)
            lines.append(
                f"{first.step} of {first.parameter} does what {amount} of {row.parameter} does"
            )
    return lines


def _amount(parameter: Parameter, steps: float) -> str:
    """Return so many steps of a parameter in words."""
    if getattr(parameter, "log", False):
        exponent = steps * math.log10(2.0)
        return f"x {10.0**exponent:.3g}" if abs(exponent) < 300 else f"x 1e{exponent:+.0f}"
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"{steps:+.3g}" + (unit if isinstance(parameter, Real | Integer) else " places")
