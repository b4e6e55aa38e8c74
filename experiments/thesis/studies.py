"""The studies of section 5.3, in the order of the report."""

from __future__ import annotations

from collections.abc import Mapping

from . import features, identification, passive, polynomial, surrogate
from .study import Study

__all__ = ["COMPARISON", "PARTS", "STUDIES"]

STUDIES: Mapping[str, Study] = {
    module.STUDY.name: module.STUDY
    for module in (polynomial, identification, surrogate, features, passive)
}

COMPARISON = "comparison"
"""Section 5.2, which runs as the arena does."""

PARTS = (COMPARISON, *STUDIES)
