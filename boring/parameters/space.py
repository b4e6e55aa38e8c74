"""The space of configurations that an optimiser searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boring._brief import in_brief, shortened
from boring.domain import Domain
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.fixing import FixedDomain
from boring.parameters.base import Configuration, Parameter, alike
from boring.parameters.configurations import active_names, checked_configuration
from boring.parameters.constraints import CallableConstraint, KnownConstraint, as_constraint
from boring.parameters.encoding import EncodedDomain, Encoding
from boring.space import Box
from boring.typing import FloatArray
from boring.validation import as_points, suggest

if TYPE_CHECKING:
    import pandas

__all__ = ["ParameterSpace"]


class ParameterSpace:
    """Typed, named parameters with known constraints, and their place in the cube [-1, 1]^D.

    Parameters
    ----------
    parameters : sequence of Parameter
        With different names, at least one of which varies.
    constraints : sequence of str, callable or scipy.optimize.LinearConstraint
        Each must hold for every configuration. Text: ``"gain * layers <= 20"``, see
        `boring.parameters.expressions`. A callable takes a configuration, in which inactive
        parameters are missing, and returns True, or a number that is at most zero, where it is
        allowed. A linear constraint has one column for each `Real` and `Integer`, in their order.
        Text and matrices hold where a parameter that they use is inactive.

    Raises
    ------
    InvalidInputError
        If names repeat, nothing varies, or a condition or constraint is wrong.
    UnknownNameError
        If a condition or constraint names a parameter that is not there.

    Examples
    --------
    >>> from boring.parameters import Categorical, Integer, Real
    >>> space = ParameterSpace(
    ...     [Real("gain", 0.1, 10, log=True, unit="dB"), Integer("layers", 1, 8)],
    ...     constraints=["gain * layers <= 20"],
    ... )
    >>> space.encode({"gain": 1.0, "layers": 8})
    array([[0., 1.]])
    >>> space.decode([[0.0, 1.0]])
    [{'gain': 1.0, 'layers': 8}]
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        constraints: Sequence[Any] = (),
    ) -> None:
        self.parameters: dict[str, Parameter] = {}
        for parameter in parameters:
            if not isinstance(parameter, Parameter):
                raise InvalidInputError(
                    "A ParameterSpace takes a list of Real, Integer, Ordinal, Categorical and "
                    f"Fixed; received {in_brief(parameter)}. Write for example Real('gain', 0.1, "
                    "10), or give ParameterSpace.of or a Study a dict such as {'gain': (0.1, 10)}."
                )
            if parameter.name in self.parameters:
                raise InvalidInputError(
                    f"Names must differ; {parameter.name!r} comes twice. Rename one of the two."
                )
            self.parameters[parameter.name] = parameter
        self._encoding = Encoding(self.parameters)
        if self._encoding.dim == 0:
            raise InvalidInputError(
                f"At least one parameter must vary; received {in_brief(self.names)}. Add a "
                "Real, Integer, Ordinal or Categorical."
            )
        if isinstance(constraints, str) or callable(constraints):
            constraints = [constraints]
        self.constraints: tuple[KnownConstraint, ...] = tuple(
            as_constraint(given, self.parameters) for given in constraints
        )

    @classmethod
    def of(cls, given: Any, constraints: Sequence[Any] = ()) -> ParameterSpace:
        """Return a space from any of the forms that `boring.parameters.forms` lists."""
        from boring.parameters.forms import space_of

        return space_of(given, constraints)

    @property
    def names(self) -> list[str]:
        """Names of all parameters, fixed ones included."""
        return list(self.parameters)

    @property
    def dim(self) -> int:
        """Number of columns D."""
        return self._encoding.dim

    @property
    def box(self) -> Box:
        """The cube [-1, 1]^D: points of a space are scaled already."""
        return Box(-np.ones(self.dim), np.ones(self.dim))

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Parameter and label of each column."""
        return [(p.name, label) for p in self.parameters.values() for label in p.labels]

    @property
    def column_names(self) -> list[str]:
        """Label of each column: what summaries and pictures of a subspace take as names."""
        return [label for _, label in self.columns]

    def slice_of(self, name: str) -> slice:
        """Return where the columns of a parameter are."""
        if name not in self.parameters:
            raise UnknownNameError(
                f"There is no parameter {name!r}. {suggest(name, self.parameters)}"
            )
        return self._encoding.slices[name]

    @property
    def domain(self) -> Domain:
        """What the core needs to know; the plain cube if all is real and unconstrained.

        ``domain.snap`` leaves columns of active reals as they are, where `snap` rounds them to the
        parameter's resolution.
        """
        margins = [partial(self._encoding.margins, constraint) for constraint in self.constraints]
        return EncodedDomain(self._encoding, margins, self)

    def domain_with(self, fixed: Mapping[str, Any]) -> Domain:
        """Return the part of the domain in which some parameters have given values.

        Parameters
        ----------
        fixed : mapping of name to value
            A conditional parameter keeps its value where it is active.

        Raises
        ------
        UnknownNameError, InvalidInputError
            If a name is not known, a value is not the parameter's, or a constraint of fixed
            parameters alone does not hold.
        """
        columns: dict[int, float] = {}
        if not isinstance(fixed, Mapping):
            raise InvalidInputError(
                f"What is fixed must be a dict of name to value; received {in_brief(fixed)}. Pass "
                f"for example {{{self.names[0]!r}: ...}}."
            )
        for name, value in fixed.items():
            place = self.slice_of(name)
            parameter = self.parameters[name]
            checked = parameter.check(value)
            if parameter.n_columns:
                numbers = range(place.start, place.stop)
                columns.update(zip(numbers, parameter.encode([checked])[0].tolist(), strict=True))
        if not columns:
            return self.domain
        part = FixedDomain(self.domain, columns)
        self._check_settled(part, fixed)
        return part

    def _check_settled(self, part: Domain, fixed: Mapping[str, Any]) -> None:
        """Refuse fixed values by which a constraint is broken, whatever the rest may be."""
        settled = {
            name
            for name, parameter in self.parameters.items()
            if parameter.when is None and (name in fixed or not parameter.n_columns)
        }
        U = self.snap(part.snap(np.zeros((1, self.dim))))
        broken = [
            shortened(constraint.describe(), 80)
            for constraint in self.constraints
            if constraint.names is not None
            and settled.issuperset(constraint.names)
            and not self._encoding.margins(constraint, U)[0] <= 0.0
        ]
        if broken:
            raise InvalidInputError(
                f"The fixed values must satisfy {shortened('; '.join(broken), 400)}; received "
                f"{in_brief(dict(fixed))}. Fix other values, or fewer parameters."
            )

    def snap(self, U: ArrayLike) -> FloatArray:
        """Return ``encode(decode(U))``, the nearest points of configurations, shape (n, D)."""
        return self._encoding.round(as_points(U, self.dim, "Points"))

    def encode(
        self, configurations: Mapping[str, Any] | Sequence[Mapping[str, Any]] | pandas.DataFrame
    ) -> FloatArray:
        """Return the points of configurations; the inverse of `decode`.

        Parameters
        ----------
        configurations : dict, list of dict, or pandas.DataFrame
            One configuration, several, or one each row. Fixed values may be left out; inactive
            parameters must be, or be NaN in a data frame.

        Returns
        -------
        ndarray, shape (n, D), scaled units

        Raises
        ------
        InvalidInputError
            As `check` does; the message says which configuration.
        """
        if isinstance(configurations, Mapping):
            configurations = [configurations]
        if hasattr(configurations, "iterrows") and hasattr(configurations, "columns"):
            from boring.parameters.frames import from_frame

            configurations = from_frame(configurations)
        if not isinstance(configurations, Iterable):
            raise InvalidInputError(
                "Configurations must be a dict, a list of dicts or a DataFrame; received "
                f"{in_brief(configurations)}."
            )
        configurations = list(configurations)
        checked = []
        for index, configuration in enumerate(configurations):
            try:
                checked.append(self.check(configuration))
            except InvalidInputError as error:
                if len(configurations) == 1:
                    raise
                raise type(error)(f"Configuration {index}: {error}") from error
        return self.encode_checked(checked)

    def encode_checked(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Return the points of configurations that `check` returned, shape (n, D)."""
        return self._encoding.encode(configurations)

    def decode(self, U: ArrayLike) -> list[Configuration]:
        """Return the configurations nearest to points.

        Parameters
        ----------
        U : array_like, shape (n, D), scaled units

        Returns
        -------
        list of dict
            Name to value, in the order of the parameters, inactive ones left out.
        """
        return self._encoding.decode(as_points(U, self.dim, "Points"))

    def as_given(self, configuration: Mapping[str, Any]) -> Configuration:
        """Return a configuration with tuples where choices or fixed values were declared as such.

        A configuration is JSON, which has lists alone; some functions insist on tuples.
        """
        return {
            name: self.parameters[name].as_given(value) for name, value in configuration.items()
        }

    def to_frame(self, configurations: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
        """Return configurations as a data frame, one column a parameter; inactive is NaN."""
        from boring.parameters.frames import to_frame

        return to_frame(configurations, self)

    def check(
        self, configuration: Mapping[str, Any], *, constraints: bool = False
    ) -> Configuration:
        """Return a configuration as the space holds it, or say what is wrong with it.

        Parameters
        ----------
        configuration : mapping of name to value
            Numpy scalars are taken, and reals are rounded to the parameter's resolution.
        constraints : bool, default False
            Whether the known constraints must hold, too.

        Raises
        ------
        UnknownNameError
            If a name is not known; the message suggests the nearest.
        InvalidInputError
            If a parameter is missing, inactive but given, or has a wrong value; if a constraint
            is broken.
        """
        checked = checked_configuration(configuration, self._encoding)
        if constraints:
            self._check_constraints(checked)
        return checked

    def violations(self, configuration: Mapping[str, Any]) -> dict[str, float]:
        """Return the known constraints that a configuration breaks, with their margins."""
        U = self.encode(configuration)
        margins = [
            (constraint.describe(), float(self._encoding.margins(constraint, U)[0]))
            for constraint in self.constraints
        ]
        return {text: margin for text, margin in margins if not margin <= 0.0}

    def importance_by_parameter(self, importance: ArrayLike) -> dict[str, float]:
        """Return the importance of each parameter that varies, summed over its columns.

        Parameters
        ----------
        importance : array_like, shape (D,)
            Of each column, such as ``SubspaceEstimate.importance``.
        """
        scores = np.asarray(importance, dtype=np.float64)
        if scores.shape != (self.dim,):
            raise InvalidInputError(
                f"importance must hold one number for each of the {self.dim} columns; received "
                f"shape {scores.shape}."
            )
        return {
            name: float(scores[self._encoding.slices[name]].sum())
            for name, parameter in self.parameters.items()
            if parameter.n_columns
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the space as JSON data; of callable constraints the names alone."""
        spec: dict[str, Any] = {
            "parameters": {name: p.to_dict() for name, p in self.parameters.items()}
        }
        if self.constraints:
            spec["constraints"] = [constraint.to_json() for constraint in self.constraints]
        return spec

    @classmethod
    def from_dict(
        cls, spec: Mapping[str, Any], callables: Sequence[Callable[[Configuration], Any]] = ()
    ) -> ParameterSpace:
        """Invert `to_dict`; also takes the parameters alone, name to their form.

        Parameters
        ----------
        spec : mapping
        callables : sequence of callable
            The callable constraints, which JSON cannot hold, in their former order.

        Raises
        ------
        InvalidInputError
            If something in it is not understood, or a callable is not given again.
        """
        from boring.parameters.files import space_from_dict

        return space_from_dict(spec, callables)

    @classmethod
    def from_file(cls, path: str | Path) -> ParameterSpace:
        """Read a space from a JSON or TOML file (``.toml``) of the form of `to_dict`."""
        from boring.parameters.files import read_space

        return read_space(path)

    from_json = from_file

    def __eq__(self, other: object) -> bool:
        """Spaces are equal if their parameters, in order, and constraints are.

        Callables are so by identity, choices as `boring.parameters.base.alike` says.
        """
        if not isinstance(other, ParameterSpace):
            return NotImplemented
        is_same = self.names == other.names and alike(self.to_dict(), other.to_dict())
        return is_same and self.callables == other.callables

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle makes the space again: from what it was made of."""
        constraints = [
            c.function if isinstance(c, CallableConstraint) else c.to_json()
            for c in self.constraints
        ]
        return type(self), (list(self.parameters.values()), constraints)

    def __repr__(self) -> str:
        """Return the parameters."""
        return f"ParameterSpace({in_brief(list(self.parameters.values()))})"

    @property
    def callables(self) -> list[Callable[[Configuration], Any]]:
        """The functions among the constraints, which `from_dict` needs again."""
        return [c.function for c in self.constraints if isinstance(c, CallableConstraint)]

    def active_names(self, configuration: Mapping[str, Any]) -> set[str]:
        """Return the names of the parameters that a configuration must have a value of.

        Parameters
        ----------
        configuration : mapping of name to value
            With a value of every parameter on which conditions depend.
        """
        return active_names(configuration, self._encoding)

    def _check_constraints(self, configuration: Configuration) -> None:
        broken = self.violations(configuration)
        if broken:
            shown = [f"{shortened(text, 80)} (by {margin:.3g})" for text, margin in broken.items()]
            raise InvalidInputError(
                f"The configuration {in_brief(configuration)} breaks "
                f"{shortened('; '.join(shown), 400)}. Change it, or drop the constraint."
            )
