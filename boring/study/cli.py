"""The command ``boring``: a study from a shell, one command at a time.

Each command opens the file, acts and closes it; commands that write take their turn. Results go to
standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from boring.exceptions import BoringError, BoringWarning

from ._command_input import UsageError, plain
from ._command_line import parsed
from ._commands import NothingYetError
from ._lock import StudyLockedError

__all__ = ["main"]

OK, FAILED, USAGE, LOCKED, NOTHING_YET, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes; the help explains them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        None takes those of the process.

    Returns
    -------
    int
        The exit code.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    with suppress(ImportError):
        import_module("baselines")  # Registers names alone.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", BoringWarning)
            warnings.showwarning = partial(_show_warning, as_json)
            command = parsed(words)
            text, values = command.act(command)
    except UsageError as error:
        return _complain(error, USAGE, as_json)
    except StudyLockedError as error:
        return _complain(error, LOCKED, as_json)
    except NothingYetError as error:
        return _complain(error, NOTHING_YET, as_json)
    except KeyboardInterrupt as error:
        return _complain(error, INTERRUPTED, as_json, "Interrupted.")
    except OSError as error:
        remedy = "Check that the folder exists and may be used."
        return _complain(error, FAILED, as_json, f"{error}. {remedy}")
    except (BoringError, ImportError) as error:
        return _complain(error, FAILED, as_json)
    except Exception as error:
        message = f"{type(error).__name__}: {error}. This is a defect of the command: report it."
        return _complain(error, FAILED, as_json, message)
    try:
        sys.stdout.write(
            json.dumps(plain(values), allow_nan=False) if as_json else _as_encoded(text)
        )
        sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:  # Of a reader such as head, which has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _as_encoded(text: str) -> str:
    """Return text with what the encoding of standard output does not know escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _complain(error: BaseException, code: int, as_json: bool, message: str = "") -> int:
    message = message or str(error) or type(error).__name__
    kind = type(error).__name__.lstrip("_")
    shown = (
        json.dumps({"error": {"type": kind, "message": message, "exit_code": code}})
        if as_json
        else f"boring: {message}"
    )
    sys.stderr.write(shown + "\n")
    return code


def _show_warning(as_json: bool, message: Warning | str, *details: Any) -> None:
    shown = json.dumps({"note": str(message)}) if as_json else f"boring: note: {message}"
    sys.stderr.write(shown + "\n")
