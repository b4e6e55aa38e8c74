"""The file of a study: a journal whose header names the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from boring._json import canonical, dumps
from boring.exceptions import JournalError
from boring.journal import JournalContents, journal_exists, read_journal
from boring.optimizer import Optimizer
from boring.parameters import ParameterSpace
from boring.parameters.base import alike
from boring.validation import as_float

__all__ = ["check_may_be_study", "space_of_file", "start_file"]


def check_may_be_study(target: Path, *, is_new: bool) -> None:
    """Refuse a folder, and a file of something else, before a lock is left beside it.

    What is empty may be about to be written by another process, which the lock waits for.
    """
    if target.is_file():
        with target.open("rb") as file:
            if file.read(1) in (b"", b"{"):
                return
    if is_new:
        _check_is_free(target)
    elif target.exists():
        read_journal(target)


def start_file(target: Path, optimizer: Optimizer, space: ParameterSpace) -> None:
    """Begin the file of a new study, which must not hold anything yet."""
    _check_is_free(target)
    described = canonical(space.to_dict(), "space")
    study = {"space": described, "digest": _digest(described)}
    optimizer.start_journal(target, {"study": study})


def _check_is_free(target: Path) -> None:
    if journal_exists(target):
        raise JournalError(
            f"A new study must not overwrite a file; {target} holds something. Carry on "
            "with it (Study.open, or 'boring ask' in a shell), or choose another path."
        )


def space_of_file(contents: JournalContents, given: Any) -> ParameterSpace:
    """Return the space of a file, or the one given if it is the same."""
    study = contents.header.get("study")
    if not isinstance(study, Mapping) or "space" not in study:
        raise JournalError(
            f"Line 1 of a study must hold its parameters; {contents.path} is the journal of an "
            "optimiser without names. Use Optimizer.resume, or start a new study and add its data."
        )
    if study.get("digest", _digest(study["space"])) != _digest(study["space"]):
        raise JournalError(
            f"A study keeps its parameters, which give all its points their meaning; in line 1 of "
            f"{contents.path} they were edited. Put the line back as it was, and for other "
            "parameters make a new study and add this one to it (Study.add, or 'boring import' in "
            "a shell)."
        )
    space = ParameterSpace.from_dict(study["space"]) if given is None else ParameterSpace.of(given)
    if given is not None and not _is_described(space, study["space"]):
        raise JournalError(
            f"A study keeps its parameters; line 1 of {contents.path} has others than the space "
            "that was passed, or another order of them. Pass the same space, or none."
        )
    if contents.space != space.box:
        raise JournalError(
            f"The points of a study lie in the cube [-1, 1]^{space.dim}; the bounds in line 1 of "
            f"{contents.path} are others. Put the line back as it was."
        )
    return space


def _is_described(space: ParameterSpace, stored: Any) -> bool:
    """Say whether a space is the stored one; the order of its parameters is that of the columns."""
    described = canonical(space.to_dict(), "space")
    return alike(described, stored) and space.names == list(stored["parameters"])


def _digest(described: Any) -> str:
    """Return what changes with the parameters of a file, however 1.0 is written there."""
    return sha256(dumps(_floats(described)).encode()).hexdigest()[:16]


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return as_float(value) if type(value) is int else value
