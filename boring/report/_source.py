"""What a page is made from: a study, its report, and what was learned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from boring.plotting._labels import combination
from boring.study.report import StudyReport
from boring.study.study import Study
from boring.subspace.estimate import SubspaceEstimate
from boring.subspace.rotation import readable_basis
from boring.surrogate import ObjectiveProcess
from boring.typing import FloatArray

from ._text import plain

__all__ = ["Source", "combinations"]


@dataclass(frozen=True)
class Source:
    """What the parts of a page are made from.

    Parameters
    ----------
    study : Study
    report : StudyReport
    estimate : SubspaceEstimate or None
    model : ObjectiveProcess or None
    label : str
        Of the values, with their unit; text.
    """

    study: Study
    report: StudyReport
    estimate: SubspaceEstimate | None
    model: ObjectiveProcess | None
    label: str

    @cached_property
    def names(self) -> list[str]:
        """Labels of the columns, for matplotlib."""
        return [plain(label) for label in self.study.space.column_names]

    @property
    def ylabel(self) -> str:
        """Label of the values, for matplotlib."""
        return plain(self.label)

    @cached_property
    def basis(self) -> FloatArray | None:
        """Active basis as figures show it, shape (D, d)."""
        if self.estimate is None:
            return None
        return readable_basis(self.estimate.active_basis, self.estimate.lengthscales)[0]


def combinations(source: Source) -> list[str]:
    """Return each direction as a sum of its largest terms, text."""
    assert source.basis is not None
    labels = source.study.space.column_names
    return [
        f"z{j} = {combination(column, labels)}" for j, column in enumerate(source.basis.T, start=1)
    ]
