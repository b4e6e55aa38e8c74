"""Progress of an experiment on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from .records import RunRecord

__all__ = ["RunProgress"]


class RunProgress:
    """A progress bar on standard error: shown only on a terminal, silent when not wanted.

    Parameters
    ----------
    label : str
        What is running.
    enabled : bool, default True
        False never shows anything.
    """

    def __init__(self, label: str, enabled: bool = True) -> None:
        self._label = label
        self._enabled = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, record: RunRecord | None, finished: int, total: int) -> None:
        """Show how many runs have finished; no record means that none has yet."""
        if not self._enabled:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=self._label, unit="run", leave=True)
        if record is None:
            return
        self._failed += record.status == "failed"
        failed = f", {self._failed} failed" if self._failed else ""
        self._bar.set_postfix_str(f"{record.method}, seed {record.seed}{failed}", refresh=False)
        self._bar.update(finished - self._bar.n)
