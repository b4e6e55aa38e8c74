"""Known constraints of configurations: text, callables, and scipy's linear ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boring._brief import in_brief
from boring.evaluation import in_words
from boring.exceptions import InvalidInputError
from boring.parameters.base import Configuration, Parameter, is_number, plain
from boring.parameters.expressions import parse
from boring.parameters.real import Real
from boring.parameters.rounded import Rounded
from boring.parameters.whole import Integer
from boring.parameters.wholes import Wholes
from boring.typing import FloatArray

__all__ = ["KnownConstraint", "as_constraint"]


class KnownConstraint(ABC):
    """A cheap condition that every configuration must satisfy.

    A constraint by text or matrix holds where a parameter that it uses is inactive.
    """

    names: tuple[str, ...] | None
    """Parameters that it uses; None if it takes whole configurations."""
    holds_where_inactive = True
    """Whether it holds as a whole where one of them is inactive, without a look at the margin."""

    @abstractmethod
    def margin(
        self, columns: Mapping[str, NDArray[Any]], configurations: Sequence[Configuration]
    ) -> FloatArray:
        """Return how far each configuration is from satisfying it, at most zero where it does."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return what `as_constraint` makes it from again."""

    @abstractmethod
    def describe(self) -> str:
        """Return the constraint for a message."""


class TextConstraint(KnownConstraint):
    """A condition as text; see `boring.parameters.expressions`."""

    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.expression = parse(text, parameters)
        self.names = self.expression.names

    def margin(
        self, columns: Mapping[str, NDArray[Any]], configurations: Sequence[Configuration]
    ) -> FloatArray:
        """Return the margin of the comparison."""
        return self.expression.margin(columns)

    def to_json(self) -> str:
        """Return the text."""
        return self.expression.text

    def describe(self) -> str:
        """Return the text."""
        return repr(self.expression.text)


class LinearInequalities(KnownConstraint):
    """``lower <= A x <= upper`` for the values x of the real and integer parameters.

    A row holds where a parameter with a coefficient other than zero is inactive.
    """

    holds_where_inactive = False

    def __init__(
        self,
        A: Any,
        lower: Any,
        upper: Any,
        parameters: Mapping[str, Parameter],
    ) -> None:
        numeric = [p for p in parameters.values() if isinstance(p, Real | Integer)]
        matrix = np.atleast_2d(np.asarray(A.toarray() if hasattr(A, "toarray") else A, float))
        if matrix.shape[1] != len(numeric):
            raise InvalidInputError(
                "A linear constraint needs one column for each real or integer parameter, in "
                f"their order: {in_brief([p.name for p in numeric])}; received shape "
                f"{matrix.shape}. Put zeros where a parameter does not enter."
            )
        self.A = matrix
        self.lower = np.broadcast_to(np.asarray(lower, float), matrix.shape[:1])
        self.upper = np.broadcast_to(np.asarray(upper, float), matrix.shape[:1])
        bad = np.isnan(self.lower) | np.isnan(self.upper) | ~np.isfinite(matrix).all(axis=1)
        if bad.any() or (self.lower > self.upper).any():
            raise InvalidInputError(
                "A linear constraint needs a finite matrix and bounds lb <= ub that are not NaN; "
                f"received A = {in_brief(matrix)}, lb = {in_brief(self.lower)}, "
                f"ub = {in_brief(self.upper)}."
            )
        used = [p for p, column in zip(numeric, matrix.T, strict=True) if column.any()]
        rounded = [p.name for p in used if not p.is_exact]
        if rounded:
            raise InvalidInputError(
                "A linear constraint is computed in float64, which rounds integers beyond 2**53; "
                f"{rounded[0]!r} may take them. Count it from another origin, or pass a function "
                "of a configuration."
            )
        for i, row in enumerate(matrix):
            terms = [(c, p.wholes) for p, c in zip(numeric, row.tolist(), strict=True) if c]
            whole = [Wholes.of(int(c)) * wholes for c, wholes in terms if wholes and c % 1 == 0]
            if len(whole) == len(terms) and not sum(whole, Wholes.of(0)).is_exact:
                raise InvalidInputError(
                    "A linear constraint is computed in float64, which rounds whole numbers beyond "
                    f"2**53; the sum of row {i} may reach them. Count from another origin or in a "
                    "larger unit, or pass a function of a configuration."
                )
        is_real = np.array([isinstance(p, Real) and p.step is None for p in numeric])
        equal = (self.lower == self.upper) & (matrix[:, is_real] != 0.0).any(axis=1)
        if equal.any():
            raise InvalidInputError(
                f"Row {int(np.flatnonzero(equal)[0])} of a linear constraint asks real parameters "
                "for equality, which almost no point satisfies. Compute one of them from the "
                "others instead."
            )
        self.names = tuple(p.name for p in numeric)

    def margin(
        self, columns: Mapping[str, NDArray[Any]], configurations: Sequence[Configuration]
    ) -> FloatArray:
        """Return the largest violation over the rows."""
        X = np.stack([columns[name] for name in self.names or ()], axis=1)
        inactive = np.isnan(X)
        values = Rounded.sums(np.where(inactive, 0.0, X), self.A)
        upper, lower = Rounded.of(self.upper), Rounded.of(self.lower)
        left_out = (inactive[:, None, :] & (self.A != 0.0)).any(axis=2)
        margin = np.maximum((values - upper).value, (lower - values).value)
        return np.asarray(np.where(left_out, np.minimum(margin, 0.0), margin).max(axis=1))

    def to_json(self) -> dict[str, Any]:
        """Return matrix and bounds, null for an infinite bound."""
        bounds = {
            key: [value if math.isfinite(value) else None for value in bound.tolist()]
            for key, bound in (("lower", self.lower), ("upper", self.upper))
        }
        return {"matrix": self.A.tolist(), **bounds}

    def describe(self) -> str:
        """Return the shape."""
        return f"a linear constraint of {len(self.A)} rows"


class CallableConstraint(KnownConstraint):
    """A function of a configuration: true or a number at most zero where it is allowed."""

    names = None

    def __init__(self, function: Callable[[Configuration], Any]) -> None:
        self.function = function

    def margin(
        self, columns: Mapping[str, NDArray[Any]], configurations: Sequence[Configuration]
    ) -> FloatArray:
        """Call the function once for each configuration."""
        return np.array([self._one(configuration) for configuration in configurations], float)

    def to_json(self) -> dict[str, str]:
        """Return the function's name: it must be given again."""
        return {"callable": self.describe()}

    def describe(self) -> str:
        """Return the function's name."""
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def _one(self, configuration: Configuration) -> float:
        try:
            answer = plain(self.function(configuration))
        except Exception as error:
            raise InvalidInputError(
                f"The constraint {self.describe()} raised {in_words(error)}, for "
                f"{in_brief(configuration)}. It takes a dict of name to value, in which inactive "
                "parameters are missing: return True where it does not apply."
            ) from error
        if isinstance(answer, bool):
            return 0.0 if answer else 1.0
        if is_number(answer):
            return math.inf if math.isnan(answer) else float(answer)
        raise InvalidInputError(
            f"The constraint {self.describe()} must return True, False or a number (at most 0 "
            f"where allowed); it returned {in_brief(answer)} for {in_brief(configuration)}."
        )


def as_constraint(given: Any, parameters: Mapping[str, Parameter]) -> KnownConstraint:
    """Return a known constraint from any of its forms.

    Parameters
    ----------
    given : str, scipy.optimize.LinearConstraint, callable, or what ``to_json`` returned
    parameters : mapping of name to Parameter

    Raises
    ------
    InvalidInputError
        If it is of no known form, or wrong in itself.
    """
    if isinstance(given, KnownConstraint):
        given = given.function if isinstance(given, CallableConstraint) else given.to_json()
    if isinstance(given, str):
        return TextConstraint(given, parameters)
    if isinstance(given, Mapping) and set(given) == {"matrix", "lower", "upper"}:
        lower = [-math.inf if value is None else value for value in given["lower"]]
        upper = [math.inf if value is None else value for value in given["upper"]]
        return LinearInequalities(given["matrix"], lower, upper, parameters)
    if all(hasattr(given, name) for name in ("A", "lb", "ub")):
        return LinearInequalities(given.A, given.lb, given.ub, parameters)
    if callable(given):
        return CallableConstraint(given)
    raise InvalidInputError(
        "A constraint must be a text such as 'gain * layers <= 20', a function of a "
        f"configuration, or a scipy.optimize.LinearConstraint; received {in_brief(given)}."
    )
