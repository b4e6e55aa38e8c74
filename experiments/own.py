"""Modules of a user's own, whose optimisers and experiments the commands take.

Such a module registers optimisers when it is imported (`boring.register_optimizer`), or adds to
`experiments.config.EXPERIMENTS`. Every process that runs something imports it, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from boring.exceptions import InvalidInputError

__all__ = ["VARIABLE", "import_own", "own_modules"]

VARIABLE = "BORING_EXPERIMENTS_IMPORT"
"""Environment variable with the names, separated by commas; processes inherit it."""


def import_own() -> None:
    """Import the modules that the environment names; doing it again changes nothing.

    Raises
    ------
    InvalidInputError
        If one cannot be imported.
    """
    for name in filter(None, os.environ.get(VARIABLE, "").split(",")):
        try:
            import_module(name)
        except ImportError as error:
            raise InvalidInputError(
                f"A module of yours must be importable; {name!r} is not: {error}. Put its folder "
                "on PYTHONPATH, and name it as an import statement would."
            ) from error


@contextmanager
def own_modules(names: Sequence[str]) -> Iterator[None]:
    """Import modules here, and let the processes that are started inside do so."""
    saved = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = ",".join([*([saved] if saved else []), *names])
    try:
        import_own()
        yield
    finally:
        if saved is None:
            os.environ.pop(VARIABLE)
        else:
            os.environ[VARIABLE] = saved
