"""The progress bar of a run: on terminals only, and easy to switch off."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

__all__ = ["ENVIRONMENT_VARIABLE", "ProgressBar", "is_wanted"]

ENVIRONMENT_VARIABLE = "BORING_PROGRESS"
"""Set it to 0 to switch every progress bar off."""


def is_wanted(progress: bool | None) -> bool:
    """Say whether a bar is to be shown.

    Parameters
    ----------
    progress : bool or None
        True shows it, False does not, None shows it if standard error is a terminal. The
        environment variable ``BORING_PROGRESS=0`` overrides None.

    Returns
    -------
    bool
    """
    if progress is not None:
        return bool(progress)
    if os.environ.get(ENVIRONMENT_VARIABLE, "").strip().lower() in {"0", "false", "no", "off"}:
        return False
    return sys.stderr is not None and sys.stderr.isatty()


class ProgressBar:
    """A tqdm bar on standard error, or nothing at all.

    Parameters
    ----------
    total : int
        Evaluations of the whole run.
    initial : int
        Evaluations already there.
    label : str
        What is running.
    progress : bool or None
        As in :func:`is_wanted`.
    """

    def __init__(self, total: int, initial: int, label: str, progress: bool | None) -> None:
        self._bar: Any = None
        if is_wanted(progress):
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=initial, desc=label, unit="evaluation")

    def update(self, best: float) -> None:
        """Count one evaluation and show the best value, caller's sign."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"best {best:.10g}", refresh=False)
            self._bar.update(1)

    def __enter__(self) -> ProgressBar:
        """Return the bar."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the bar, whatever happened."""
        if self._bar is not None:
            self._bar.close()
