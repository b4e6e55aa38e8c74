"""Variants of a method: ``boring[subspace_every=0]`` is ``boring`` with one option changed.

A variant is accepted wherever a method is, and recorded under its full name, so that what a part
contributes stands in the same table as the method itself. Options are checked by the optimiser's
own dataclass of options. Beside options a variant may replace constants of modules, during its own
runs only; that is what ablations are made of.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

from boring.exceptions import BoringError, InvalidInputError, UnknownNameError
from boring.optimizer import Optimizer, optimizer_class
from boring.registry import get_optimizer
from boring.validation import as_positive_int, check_options, suggest

from .config import Experiment
from .records import to_jsonable

__all__ = [
    "Method",
    "Variant",
    "as_variant",
    "base_of",
    "check_variant",
    "constants_in_place",
    "describe",
    "given_options",
    "parse_variant",
    "split_names",
]

NOTATION = "a method's name, or NAME[option=value,...] such as boring[subspace_every=0]"

_VARIANT = re.compile(r"\s*([^\[\]\s]+)\s*\[(.*)\]\s*")
_WORD = re.compile(r"[A-Za-z][\w.+-]*")


@dataclass(frozen=True)
class Variant:
    """A method with changes.

    Parameters
    ----------
    name : str
        Full name, under which runs are recorded.
    method : str
        Registered name of the optimiser.
    options : mapping of str to object
        On top of the experiment's own options for the method, and stronger.
    constants : mapping of str to object
        Full names of attributes of modules, such as ``"boring.loop.portfolio.MAX_SPEAKERS"``, and
        what they are during a run. Must be picklable.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)


Method: TypeAlias = str | Variant
"""A method by its name in the notation of :func:`parse_variant`, or as it is."""


def split_names(text: str) -> tuple[str, ...]:
    """Split a list at its commas, but not at those inside brackets.

    Examples
    --------
    >>> split_names("gp, boring[subspace_every=0,max_effective_dim=3]")
    ('gp', 'boring[subspace_every=0,max_effective_dim=3]')
    """
    parts = re.split(r",(?![^\[]*\])", text)
    return tuple(part.strip() for part in parts if part.strip())


def base_of(method: Method) -> str:
    """Return the registered name that a method or variant starts from.

    Examples
    --------
    >>> base_of("boring[subspace_every=0]")
    'boring'
    """
    if isinstance(method, Variant):
        return method.method
    match = _VARIANT.fullmatch(method)
    return match.group(1) if match else method.strip()


def parse_variant(text: str) -> Variant:
    """Read a method with or without options.

    Parameters
    ----------
    text : str
        ``NAME`` or ``NAME[option=value,...]``. A value is a number, ``True``, ``False``, ``None``,
        or a word.

    Returns
    -------
    Variant
        Its name has the options in alphabetical order, so that one variant has one name.

    Raises
    ------
    InvalidInputError
        If the text reads otherwise, or names an option twice.

    Examples
    --------
    >>> parse_variant("boring[ subspace_every = 0 ]").name
    'boring[subspace_every=0]'
    """
    if "[" not in text and "]" not in text:
        return Variant(text.strip(), text.strip())
    match = _VARIANT.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"A method must read as {NOTATION}; received {text!r}.")
    method, inside = match.groups()
    options: dict[str, Any] = {}
    for entry in inside.split(","):
        key, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or not key.isidentifier() or not value:
            raise InvalidInputError(
                f"An option must read as option=value; received {entry.strip()!r} in {text!r}. "
                f"Write {NOTATION}."
            )
        if key in options:
            raise InvalidInputError(f"An option may stand once; {key!r} is twice in {text!r}.")
        options[key] = _value(value, text)
    ordered = dict(sorted(options.items()))
    listing = ",".join(f"{key}={value}" for key, value in ordered.items())
    return Variant(f"{method}[{listing}]", method, ordered)


def _value(text: str, whole: str) -> int | float | str | bool | None:
    """Return a number, True, False, None, or else the word itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text if _WORD.fullmatch(text) else ()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidInputError(
        f"A value must be a number, True, False, None or a word; received {text!r} in {whole!r}."
    )


def as_variant(method: Method) -> Variant:
    """Return a method, given by name or as it is, as a variant."""
    return method if isinstance(method, Variant) else parse_variant(method)


def check_variant(method: Method) -> Variant:
    """Return a method as a variant, and raise if it could not be run.

    Raises
    ------
    UnknownNameError
        If the method, an option or a constant is unknown; the message suggests the nearest.
    InvalidInputError
        If the notation is wrong, or the optimiser refuses a value.
    """
    variant = as_variant(method)
    kind = optimizer_class(get_optimizer(variant.method))
    options = dict(variant.options)
    if "n_initial" in options and options["n_initial"] is not None:
        as_positive_int(options["n_initial"], f"{variant.name}: n_initial")
    options.pop("n_initial", None)
    if options and kind is not None:
        _check_values(variant.name, kind, options)
    for path in variant.constants:
        _find(path)
    return variant


def _check_values(name: str, kind: type[Optimizer], options: Mapping[str, Any]) -> None:
    """Let the optimiser's own dataclass of options check the values."""
    check_options(options, (*kind.option_names(), "n_initial"), f"Method {name!r}")
    try:
        kind.options_type(**options)
    except (BoringError, TypeError, ValueError) as error:
        raise InvalidInputError(f"{name}: {error}") from error


def given_options(experiment: Experiment, method: Method) -> dict[str, Any]:
    """Return the options that an experiment gives to a method, with the variant's own on top."""
    variant = as_variant(method)
    return {**experiment.options_of(variant.method), **variant.options}


def describe(value: object) -> Any:
    """Return a constant in JSON's types; functions by their name.

    Raises
    ------
    InvalidInputError
        If the value is something else that has no lasting text.
    """
    if isinstance(value, type) or callable(value):
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if module is None or name is None:
            raise InvalidInputError(
                f"A function among the constants needs a name; received {value!r}. "
                "Define it at the top of a module."
            )
        return f"{module}.{name}"
    return to_jsonable(value)


def _find(path: str) -> tuple[Any, str]:
    """Return the module and the name of the attribute, which must exist already."""
    module_name, _, attribute = path.rpartition(".")
    try:
        module = import_module(module_name)
    except (ImportError, ValueError) as error:
        raise UnknownNameError(
            f"There is no module {module_name!r} to hold the constant {path!r} ({error})."
        ) from error
    if not hasattr(module, attribute):
        raise UnknownNameError(
            f"Module {module_name!r} has no attribute {attribute!r}. "
            f"{suggest(attribute, [name for name in vars(module) if not name.startswith('__')])}"
        )
    function = _default_of(module, attribute)
    if function is not None:
        raise InvalidInputError(
            f"{path} is the default of an argument of {function}, taken when the module is loaded; "
            "changing it would change nothing. Replace the function where it is called."
        )
    return module, attribute


def _default_of(module: ModuleType, attribute: str) -> str | None:
    """Return the function of a module that has one of its names as the default of an argument."""
    if not getattr(module, "__file__", None):
        return None
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            defaults = [*node.args.defaults, *node.args.kw_defaults]
            if any(isinstance(one, ast.Name) and one.id == attribute for one in defaults):
                return getattr(node, "name", "a lambda")
    return None


@contextlib.contextmanager
def constants_in_place(constants: Mapping[str, Any]) -> Iterator[None]:
    """Replace attributes of modules, and put the former ones back.

    Parameters
    ----------
    constants : mapping of str to object
        By full name. A name that another module imported *from* that module is a name of its own.

    Raises
    ------
    UnknownNameError
        If one does not exist; nothing has been replaced then.
    InvalidInputError
        If replacing it would change nothing, because it is the default of an argument.
    """
    places = {path: _find(path) for path in constants}
    with contextlib.ExitStack() as former:
        for path, (module, attribute) in places.items():
            restore: Callable[..., None] = setattr
            former.callback(restore, module, attribute, getattr(module, attribute))
            setattr(module, attribute, constants[path])
        yield


def check_variants(methods: Sequence[Method]) -> tuple[Variant, ...]:
    """Return the methods as variants, and raise if one is wrong or two have one name."""
    variants = tuple(as_variant(method) for method in methods)
    names = [variant.name for variant in variants]
    if not names or len(set(names)) != len(names):
        raise InvalidInputError(f"methods must be distinct, at least one; received {names}.")
    return tuple(check_variant(variant) for variant in variants)
