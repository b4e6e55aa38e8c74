"""Conditions as text, such as ``"2 * gain + `phase shift` <= 3 or kind == 'a'"``.

The text is parsed to a syntax tree, of which only arithmetic, comparisons, ``and``, ``or``,
``not``, ``in`` and a few functions are understood; nothing is evaluated as Python. The value is a
margin for many configurations at a time, as `boring.parameters.margins` defines and joins them.
"""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn, TypeAlias

import numpy as np

from boring._brief import shortened
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.parameters.base import Parameter, is_number
from boring.parameters.choices import Choice, Fixed
from boring.parameters.margins import (
    Columns,
    Margin,
    both,
    either,
    equals,
    negated,
    strict,
)
from boring.parameters.real import Real
from boring.parameters.rounded import Rounded
from boring.parameters.values import position
from boring.parameters.wholes import Wholes
from boring.typing import FloatArray
from boring.validation import as_float, suggest

__all__ = ["Expression", "parse"]

Number: TypeAlias = Callable[[Columns], Rounded]

MAX_LENGTH = 10_000
MAX_DEPTH = 400  # of the tree: each term of a sum is one level
# Texts, names between backticks, and words with a letter outside ASCII, which Python respells.
TOKENS = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|\w*[^\x00-\x7f](?:\w|[^\x00-\x7f])*"""
)
ARITHMETIC: dict[type, Callable[[Rounded, Rounded], Rounded]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[[Rounded], Rounded]] = {
    "abs": operator.abs,
    "exp": Rounded.exp,
    "log": Rounded.log,
    "sqrt": Rounded.sqrt,
}


@dataclass(frozen=True)
class Expression:
    """A parsed condition.

    ``margin`` takes the values of the parameters in ``names`` (floats where they are numbers,
    else objects) and returns an array that is at most zero where the condition holds; where it
    cannot be computed, such as at ``1 / 0``, it is infinite.
    """

    text: str
    names: tuple[str, ...]
    tree: ast.expr
    margin: Margin


def parse(text: str, parameters: Mapping[str, Parameter]) -> Expression:
    """Parse a condition over the given parameters.

    Parameters
    ----------
    text : str
        Names that are no Python identifiers stand between backticks. Letters outside ASCII are
        those of the name, but where there is one parameter only that looks like it.
    parameters : mapping of name to Parameter

    Returns
    -------
    Expression

    Raises
    ------
    InvalidInputError
        If the text is not a condition of the forms above, or compares what cannot be compared.
    UnknownNameError
        If it names a parameter that is not there.
    """
    return _Parser(text, parameters).result()


class _Parser:
    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.text = text
        self.parameters = parameters
        self.quoted: dict[str, str] = {}
        self.used: dict[str, None] = {}

    def result(self) -> Expression:
        if len(self.text) > MAX_LENGTH:
            self.refuse(f"has {len(self.text)} characters; at most {MAX_LENGTH} are taken")
        prefix = "_"
        while prefix in self.text:
            prefix += "_"

        def replace(match: re.Match[str]) -> str:
            if not (match[0].startswith("`") or match[0].isidentifier()):
                return match[0]
            placeholder = f"{prefix}{len(self.quoted)}"
            self.quoted[placeholder] = self.spelled(match[0].strip("`"))
            return placeholder

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python's opinions on style, such as of "3if"
                tree = ast.parse(TOKENS.sub(replace, self.text).strip(), mode="eval").body
            self.descend(tree)
            truth = self.truth(tree)
            tree = _Rename(self.quoted).visit(tree)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if isinstance(error, InvalidInputError):
                raise
            self.refuse(f"cannot be parsed ({getattr(error, 'msg', error)})")

        def margin(columns: Columns) -> FloatArray:
            with np.errstate(all="ignore"):
                value = truth(columns)
            return np.where(np.isnan(value), np.inf, value)

        if not self.used:
            raise InvalidInputError(
                f"The condition {shortened(self.text, 80)!r} names no parameter. Name at least "
                "one, or drop it."
            )
        return Expression(self.text, tuple(self.used), tree, margin)

    def spelled(self, name: str) -> str:
        """Return a name as the parameters spell it, if one alone looks like it."""
        if name in self.parameters:
            return name
        alike = [known for known in self.parameters if _looks(known) == _looks(name)]
        return alike[0] if len(alike) == 1 else name

    def descend(self, node: ast.expr) -> None:
        """Refuse a node that holds more levels than evaluation can descend."""
        level = [node]
        for _ in range(MAX_DEPTH):
            level = [
                child
                for parent in level
                for child in ast.iter_child_nodes(parent)
                if isinstance(child, ast.expr)
            ]
            if not level:
                return
        self.refuse(f"is nested more than {MAX_DEPTH} levels deep")

    def refuse(self, problem: str) -> NoReturn:
        raise InvalidInputError(
            f"The condition {shortened(self.text, 80)!r} {problem}. Write a comparison such as "
            '"2 * gain + phase <= 3", with + - * / **, abs, exp, log, sqrt, and, or, not, in; '
            "put names that are not plain identifiers between backticks."
        )

    def parameter(self, node: ast.Name) -> Parameter:
        name = self.quoted.get(node.id, node.id)
        if name not in self.parameters:
            raise UnknownNameError(
                f"The condition {shortened(self.text, 80)!r} names {name!r}, which is not a "
                f"parameter. {suggest(name, self.parameters)}"
            )
        self.used[name] = None
        return self.parameters[name]

    def truth(self, node: ast.expr) -> Margin:
        """Return the margin of a node that is true or false."""
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(part) for part in node.values]
            join = both if isinstance(node.op, ast.And) else either
            return lambda columns: reduce(join, [part(columns) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negated(self.truth(node.operand))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = [
                self.comparison(left, op, right)
                for left, op, right in zip(sides[:-1], node.ops, sides[1:], strict=True)
            ]
            return lambda columns: reduce(both, [pair(columns) for pair in pairs])
        if isinstance(node, ast.Name):
            parameter = self.parameter(node)
            values = getattr(parameter, "choices", (getattr(parameter, "value", None),))
            if all(isinstance(value, bool) for value in values):
                return equals(parameter.name, True)
        self.refuse(f"needs something true or false where it has {ast.unparse(node)!r}")

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Margin:
        """Return the margin of one comparison."""
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set):
                self.refuse("needs a list after 'in'")
            parts = [self.comparison(left, ast.Eq(), item) for item in right.elts]
            if not parts:
                self.refuse("has an empty list after 'in'")

            def among(columns: Columns) -> FloatArray:
                return reduce(either, [part(columns) for part in parts])

            return among if isinstance(op, ast.In) else negated(among)
        if isinstance(op, ast.Eq | ast.NotEq):
            equal = self.equality(left, right)
            return equal if isinstance(op, ast.Eq) else negated(equal)
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            if isinstance(op, ast.Gt | ast.GtE):
                left, right = right, left
            difference = self.difference(left, right)
            if isinstance(op, ast.LtE | ast.GtE):
                return difference
            return lambda columns: strict(difference(columns))
        self.refuse("has a comparison other than < <= > >= == != in")

    def choice(self, parameter: Parameter, constant: Any) -> Any:
        """Return the choice that a constant stands for, or refuse what the parameter never is."""
        if isinstance(parameter, Choice):
            choices = parameter.choices
        elif isinstance(parameter, Fixed):
            choices = [parameter.value]
        else:
            self.refuse(f"compares {parameter.name!r}, which takes numbers, with {constant!r}")
        try:
            return choices[position(parameter, choices, constant)]
        except InvalidInputError as error:
            raise type(error)(f"In the condition {shortened(self.text, 80)!r}: {error}") from error

    def equality(self, left: ast.expr, right: ast.expr) -> Margin:
        """Return the margin of ``left == right``."""
        if not isinstance(left, ast.Name):
            left, right = right, left
        if isinstance(left, ast.Name):
            parameter = self.parameter(left)
            constant = _constant(right)
            if constant is not _NOTHING and not (parameter.is_numeric and is_number(constant)):
                return equals(parameter.name, self.choice(parameter, constant))
        for node in (*_names(left), *_names(right)):
            parameter = self.parameter(node)
            if isinstance(parameter, Real) and parameter.step is None:
                self.refuse(
                    f"asks the real parameter {parameter.name!r} for equality, which almost "
                    "no point satisfies: compute that parameter from the others instead"
                )
        difference = self.difference(left, right)
        return lambda columns: np.abs(difference(columns))

    def number(self, node: ast.expr) -> Number:
        """Return the value of a node that is a number."""
        if isinstance(node, ast.Constant) and is_number(node.value):
            value = Rounded.of(as_float(node.value))
            return lambda columns: value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            operand = self.number(node.operand)
            sign = operator.neg if isinstance(node.op, ast.USub) else operator.pos
            return lambda columns: sign(operand(columns))
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            apply = ARITHMETIC[type(node.op)]
            left, right = self.number(node.left), self.number(node.right)
            return lambda columns: apply(left(columns), right(columns))
        if isinstance(node, ast.Call) and not node.keywords and len(node.args) == 1:
            if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
                function, argument = FUNCTIONS[node.func.id], self.number(node.args[0])
                return lambda columns: function(argument(columns))
        if isinstance(node, ast.Name):
            parameter = self.parameter(node)
            if parameter.is_numeric and not parameter.is_exact:
                self.refuse(
                    "computes in float64, which rounds integers beyond 2**53 as "
                    f"{parameter.name!r} may take: count it from another origin, or pass a "
                    "function of a configuration"
                )
            if parameter.is_numeric:
                return lambda columns: Rounded.of(columns[parameter.name])
            self.refuse(f"does arithmetic with {parameter.name!r}, whose values are not numbers")
        self.refuse(f"needs a number where it has {ast.unparse(node)!r}")

    def difference(self, left: ast.expr, right: ast.expr) -> Margin:
        """Return ``left - right``, 0 where rounding alone makes a difference."""
        first, second = self.number(left), self.number(right)
        whole, other = self.wholes(left), self.wholes(right)
        for node, own, beside in ((left, whole, other), (right, other, whole)):
            if own is None or own.is_exact:
                continue
            if _vary(node):
                self.refuse(
                    "computes in float64, which rounds whole numbers beyond 2**53; a sum in it may "
                    "reach them: count from another origin or in a larger unit, or pass a function "
                    "of a configuration"
                )
            if beside is not None and own.largest <= 2 * beside.largest:
                self.refuse(
                    f"computes in float64, which rounds {ast.unparse(node)}: compare with a number "
                    "that it holds, or pass a function of a configuration"
                )
        if whole is not None and other is not None:
            return lambda columns: first(columns).value - second(columns).value
        return lambda columns: (first(columns) - second(columns)).value

    def wholes(self, node: ast.expr) -> Wholes | None:
        """Return what a sum of whole numbers and multiples of them may reach; None of others."""
        match node:
            case ast.Constant(value=int() as value):
                return Wholes.of(value)
            case ast.Name():
                return self.parameter(node).wholes
            case ast.UnaryOp(operand=operand) | ast.Call(ast.Name("abs"), [operand]):
                return self.wholes(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                is_product = isinstance(op, ast.Mult)
                first, second = self.wholes(left), self.wholes(right)
                if first is None or second is None or (is_product and _vary(left) and _vary(right)):
                    return None
                return first * second if is_product else first + second
        return None


_NOTHING = object()  # stands for what is no constant


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return _NOTHING


def _looks(name: str) -> str:
    """Return a name as Python reads it: the same for letters that look the same."""
    return unicodedata.normalize("NFKC", name)


def _names(node: ast.expr) -> list[ast.Name]:
    """Return the names in a number that stand for parameters, and for no function."""
    parts = list(ast.walk(node))
    functions = {id(part.func) for part in parts if isinstance(part, ast.Call)}
    return [part for part in parts if isinstance(part, ast.Name) and id(part) not in functions]


def _vary(node: ast.expr) -> bool:
    return bool(_names(node))


class _Rename(ast.NodeTransformer):
    """Puts the quoted names back into the tree."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)
