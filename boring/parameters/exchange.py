"""Spaces of ConfigSpace, and distributions of Optuna.

ConfigSpace is what other tools describe their spaces with, conditions and forbidden clauses
included: `from_configspace` and `to_configspace` go there and back. It is not what this package
computes with. Version 1.2 takes the choices 1 and true for one, refuses logarithmic ranges such as
1e-100 to 1e100, has no steps, loses neighbouring integers of wide ranges, gives categories one
column, and knows no inequality such as ``2 * a + b <= 3``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from boring.exceptions import InvalidInputError
from boring.extras import require
from boring.parameters.base import Parameter
from boring.parameters.choices import Categorical, Fixed
from boring.parameters.expressions import parse
from boring.parameters.real import Real
from boring.parameters.whole import Integer, Ordinal

if TYPE_CHECKING:
    from boring.parameters.space import ParameterSpace

__all__ = ["from_configspace", "from_distribution", "from_hyperparameter", "to_configspace"]

RELATIONS = {
    "EqualsCondition": "==",
    "NotEqualsCondition": "!=",
    "LessThanCondition": "<",
    "GreaterThanCondition": ">",
    "ForbiddenEqualsClause": "==",
    "ForbiddenGreaterThanClause": ">",
    "ForbiddenGreaterThanEqualsClause": ">=",
    "ForbiddenLessThanClause": "<",
    "ForbiddenLessThanEqualsClause": "<=",
    "ForbiddenEqualsRelation": "==",
    "ForbiddenGreaterThanRelation": ">",
    "ForbiddenGreaterThanEqualsRelation": ">=",
    "ForbiddenLessThanRelation": "<",
    "ForbiddenLessThanEqualsRelation": "<=",
}


def from_distribution(name: str, distribution: Any) -> Parameter:
    """Return the parameter that an Optuna distribution describes."""
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        choices = tuple(distribution.choices)
        return Categorical(name, choices) if len(choices) > 1 else Fixed(name, *choices)
    if kind not in ("FloatDistribution", "IntDistribution"):
        raise InvalidInputError(
            f"Parameter {name!r}: Optuna's {kind} is out of date. Use FloatDistribution, "
            "IntDistribution or CategoricalDistribution."
        )
    low, high, step = distribution.low, distribution.high, distribution.step
    # Optuna allows ranges of one value, and of less than a step.
    if high - low < (step or 0) or low == high:
        return Fixed(name, low)
    if kind == "IntDistribution":
        return Integer(name, low, high, log=distribution.log, step=step)
    return Real(name, low, high, log=distribution.log, step=step)


def from_hyperparameter(hyperparameter: Any, when: str | None = None) -> Parameter:
    """Return the parameter that a ConfigSpace hyperparameter describes.

    The unit is ``meta["unit"]``. Defaults, weights, and the shape of normal and beta
    distributions are left out: they say where to look first, not what is allowed.
    """
    kind, name = type(hyperparameter).__name__, hyperparameter.name
    meta = hyperparameter.meta or {}
    shared: dict[str, Any] = {"unit": str(meta.get("unit", "")), "when": when}
    if kind in ("CategoricalHyperparameter", "OrdinalHyperparameter"):
        is_ordinal = kind == "OrdinalHyperparameter"
        values = tuple(hyperparameter.sequence if is_ordinal else hyperparameter.choices)
        if len(values) == 1:
            return Fixed(name, values[0], **shared)
        return (Ordinal if is_ordinal else Categorical)(name, values, **shared)
    if kind in ("Constant", "UnParametrizedHyperparameter"):
        return Fixed(name, hyperparameter.value, **shared)
    if kind.endswith(("FloatHyperparameter", "IntegerHyperparameter")):
        low, high = hyperparameter.lower, hyperparameter.upper
        is_log = bool(getattr(hyperparameter, "log", False))
        if "Integer" in kind:
            return Integer(name, int(low), int(high), log=is_log, **shared)
        return Real(name, float(low), float(high), log=is_log, **shared)
    raise InvalidInputError(
        f"Parameter {name!r}: {kind} is not known here. Use one of ConfigSpace's own "
        "hyperparameters."
    )


def from_configspace(given: Any) -> ParameterSpace:
    """Return a ``ConfigSpace.ConfigurationSpace`` as a space, with conditions and clauses.

    Raises
    ------
    InvalidInputError
        If a hyperparameter, condition or clause has no counterpart.
    """
    from boring.parameters.space import ParameterSpace

    conditions: dict[str, list[str]] = {}
    for condition in given.conditions:
        child = condition.child if hasattr(condition, "child") else condition.components[0].child
        conditions.setdefault(child.name, []).append(_text(condition))
    parameters = []
    for name, hyperparameter in given.items():
        texts = conditions.get(name)
        parameters.append(
            from_hyperparameter(hyperparameter, " and ".join(texts) if texts else None)
        )
    constraints = []
    for clause in given.forbidden_clauses:
        # Each part of an "or" forbids by itself, inactive parameters of the others or not.
        is_or = type(clause).__name__ == "ForbiddenOrConjunction"
        parts = clause.components if is_or else [clause]
        constraints += [f"not {_text(part)}" for part in parts]
    return ParameterSpace(parameters, constraints)


def _text(condition: Any) -> str:
    """Return a condition or forbidden clause as text in parentheses."""
    kind = type(condition).__name__
    if hasattr(condition, "components"):
        word = " and " if "And" in kind else " or "
        return f"({word.join(_text(part) for part in condition.components)})"
    if hasattr(condition, "left") and kind in RELATIONS:
        return f"(`{condition.left.name}` {RELATIONS[kind]} `{condition.right.name}`)"
    subject = getattr(condition, "parent", None) or condition.hyperparameter
    if kind in ("InCondition", "ForbiddenInClause"):
        values = list(condition.values)
    elif kind in RELATIONS:
        values = [condition.value]
        if type(subject).__name__ == "OrdinalHyperparameter" and kind[0:2] != "Eq":
            return _ordinal(subject, RELATIONS[kind], condition.value)
    else:
        raise InvalidInputError(
            f"{kind} of ConfigSpace has no counterpart here. Write it as a constraint by text."
        )
    shown = [repr(_plain(value)) for value in values]
    if kind in ("InCondition", "ForbiddenInClause"):
        return f"(`{subject.name}` in [{', '.join(shown)}])"
    return f"(`{subject.name}` {RELATIONS[kind]} {shown[0]})"


def _ordinal(subject: Any, relation: str, value: Any) -> str:
    """Return a comparison by rank as a list of the values for which it holds."""
    place = list(subject.sequence).index(value)
    holds: dict[str, Callable[[int], bool]] = {
        "==": lambda i: i == place,
        "!=": lambda i: i != place,
        "<": lambda i: i < place,
        "<=": lambda i: i <= place,
        ">": lambda i: i > place,
        ">=": lambda i: i >= place,
    }
    values = [_plain(item) for i, item in enumerate(subject.sequence) if holds[relation](i)]
    return f"(`{subject.name}` in [{', '.join(map(repr, values))}])"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def to_configspace(space: ParameterSpace) -> Any:
    """Return the space as a ``ConfigSpace.ConfigurationSpace``; its ``meta`` holds the units.

    Raises
    ------
    MissingExtraError
        If ConfigSpace is not installed.
    InvalidInputError
        If ConfigSpace has no counterpart: steps, constraints other than none, conditions that
        compare anything but one parameter with a constant.
    """
    ConfigSpace = require("ConfigSpace", "study", "to_configspace")
    if space.constraints:
        raise InvalidInputError(
            "ConfigSpace cannot hold known constraints of this kind; the space has "
            f"{len(space.constraints)}. Leave them out of the space that you convert."
        )
    made = ConfigSpace.ConfigurationSpace()
    items = {name: _hyperparameter(ConfigSpace, p) for name, p in space.parameters.items()}
    made.add(list(items.values()))
    for name, parameter in space.parameters.items():
        if parameter.when is not None:
            tree = parse(parameter.when, space.parameters).tree
            made.add(_condition(ConfigSpace, tree, items[name], items, parameter.when))
    return made


def _hyperparameter(library: Any, parameter: Parameter) -> Any:
    meta = {"unit": parameter.unit} if parameter.unit else None
    name = parameter.name
    try:
        if isinstance(parameter, Real) and parameter.step is None:
            low, high = parameter.low, parameter.high
            return library.UniformFloatHyperparameter(name, low, high, log=parameter.log, meta=meta)
        if isinstance(parameter, Integer) and parameter.step == 1:
            low, high = parameter.low, parameter.high
            return library.UniformIntegerHyperparameter(
                name, low, high, log=parameter.log, meta=meta
            )
        if isinstance(parameter, Ordinal):
            return library.OrdinalHyperparameter(name, list(parameter.choices), meta=meta)
        if isinstance(parameter, Categorical):
            return library.CategoricalHyperparameter(name, list(parameter.choices), meta=meta)
        if isinstance(parameter, Fixed):
            return library.Constant(name, parameter.value, meta=meta)
    except ValueError as error:
        raise InvalidInputError(f"ConfigSpace refuses {parameter!r}: {error}") from error
    raise InvalidInputError(
        f"ConfigSpace has no steps; received {parameter!r}. Use an Ordinal of the values."
    )


def _condition(library: Any, tree: ast.expr, child: Any, items: Any, text: str) -> Any:
    if isinstance(tree, ast.BoolOp):
        parts = [_condition(library, part, child, items, text) for part in tree.values]
        is_and = isinstance(tree.op, ast.And)
        return (library.AndConjunction if is_and else library.OrConjunction)(*parts)
    kinds: dict[type, Any] = {
        ast.Eq: library.EqualsCondition,
        ast.NotEq: library.NotEqualsCondition,
        ast.Lt: library.LessThanCondition,
        ast.Gt: library.GreaterThanCondition,
        ast.In: library.InCondition,
    }
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in kinds:
        if isinstance(tree.left, ast.Name):
            try:
                value = ast.literal_eval(tree.comparators[0])
                return kinds[type(tree.ops[0])](child, items[tree.left.id], value)
            except ValueError as error:
                raise InvalidInputError(f"ConfigSpace refuses {text!r}: {error}") from error
    raise InvalidInputError(
        f"ConfigSpace has no counterpart of the condition {text!r}. Use comparisons of one "
        "parameter with a constant (== != < > in), joined by and / or."
    )
