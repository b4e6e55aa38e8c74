"""Studies: parameters with names, an optimiser, and one file that survives crashes.

`Study` asks and tells by number, runs on threads, processes or Dask, takes earlier data, and says
what it found (`StudyReport`). The command ``boring`` does the same from a shell.
"""

from boring.extras import MissingExtraError

from ._lock import StudyLockedError
from .report import StudyReport
from .study import Study, StudyStatus, Suggestion

__all__ = [
    "MissingExtraError",
    "Study",
    "StudyLockedError",
    "StudyReport",
    "StudyStatus",
    "Suggestion",
]
