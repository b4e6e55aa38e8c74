"""Regression data of the literature on active subspaces, and stand-ins that are bundled.

Nothing is downloaded: the two data sets of Garnett, Osborne and Hennig (2014) are read from files
that the caller has, the others come with scikit-learn.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.typing import FloatArray

from ._data import scikit_learn

__all__ = [
    "BUNDLED",
    "LOADERS",
    "RegressionData",
    "load_bundled",
    "load_communities",
    "load_ct_slices",
]

COMMUNITIES_SOURCE = (
    "It is file communities.data of data set 183, 'Communities and Crime', of the UCI Machine "
    "Learning Repository (Redmond 2009): 1994 rows, 128 columns with commas between, '?' for what "
    "is missing."
)
CT_SOURCE = (
    "It is file slice_localization_data.csv of data set 206, 'Relative location of CT slices on "
    "axial axis', of the UCI Machine Learning Repository (Graf et al. 2011): a line of names, then "
    "53500 rows of a patient, 384 values and the position."
)

COMMUNITIES_COLUMNS = 128
COMMUNITIES_IDENTIFIERS = ("state", "county", "community", "communityname", "fold")
COMMUNITIES_TARGET = "ViolentCrimesPerPop"
MOST_MISSING = 0.01
"""Share of the rows in which a column may lack its value; one with more is left out, and then the
rows that lack any (chosen here)."""

CT_COLUMNS = 386

TARGET_PIXEL = (4, 4)
"""Row and column of the pixel that is to be told from the others on the bundled images."""


@dataclass(frozen=True, eq=False)
class RegressionData:
    """A regression data set, scaled.

    Parameters
    ----------
    name : str
    X : ndarray, shape (n, D)
        Each column scaled to run from -1 to 1 over the n rows; columns that are constant are left
        out.
    y : ndarray, shape (n,)
        As in the source.
    features : tuple of str
        Names of the columns.
    groups : ndarray of shape (n,), or None
        Rows of the same number belong together and must not be split (patients).
    """

    name: str
    X: FloatArray
    y: FloatArray
    features: tuple[str, ...]
    groups: FloatArray | None = None


def load_communities(path: str | Path) -> RegressionData:
    """Read Communities and Crime: violent crimes by population from what is known of a community.

    Parameters
    ----------
    path : str or Path
        Of the caller's copy, with or without a line of names.

    Returns
    -------
    RegressionData
        Of the whole file: 1993 rows and 100 features.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where to get it.
    InvalidInputError
        If the file is not what it should be.

    Notes
    -----
    The five columns that identify a community are left out, then those missing in more than one
    per cent of the rows (22 about the police), then rows that still lack a value (one). Garnett et
    al. report 96 features and do not say which.
    """
    rows = _rows(path, COMMUNITIES_SOURCE)
    header = [cell.strip() for cell in rows[0]]
    if COMMUNITIES_TARGET in header:
        rows = rows[1:]
        target = header.index(COMMUNITIES_TARGET)
        kept = [
            k
            for k, name in enumerate(header)
            if name not in COMMUNITIES_IDENTIFIERS and k != target
        ]
    else:
        if len(header) != COMMUNITIES_COLUMNS:
            raise InvalidInputError(
                f"{path} has {len(header)} columns in its first line, not {COMMUNITIES_COLUMNS}. "
                + COMMUNITIES_SOURCE
            )
        header = [f"column{k}" for k in range(len(header))]
        target = len(header) - 1
        kept = list(range(len(COMMUNITIES_IDENTIFIERS), target))
    table = _numbers(rows, [*kept, target], len(header), path, COMMUNITIES_SOURCE)
    missing = np.isnan(table)
    columns = np.flatnonzero(missing[:, :-1].mean(axis=0) <= MOST_MISSING)
    complete = ~missing[:, [*columns, -1]].any(axis=1)
    names = [header[kept[k]] for k in columns]
    return _scaled("communities", table[complete][:, columns], table[complete, -1], names)


def load_ct_slices(path: str | Path) -> RegressionData:
    """Read the CT slices: the position along the body from histograms of an image.

    Parameters
    ----------
    path : str or Path
        Of the caller's copy; the first lines of the file will do.

    Returns
    -------
    RegressionData
        With the patient of each row in ``groups``; at most 384 features.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where to get it.
    InvalidInputError
        If the file is not what it should be.

    Notes
    -----
    Garnett et al. report 318 features and do not say which; here those that vary are kept.
    """
    rows = _rows(path, CT_SOURCE)
    header = rows[0]
    if len(header) != CT_COLUMNS or header[0].strip() != "patientId":
        raise InvalidInputError(
            f"The first line of {path} does not name {CT_COLUMNS} columns, 'patientId' first. "
            + CT_SOURCE
        )
    table = _numbers(rows[1:], range(CT_COLUMNS), CT_COLUMNS, path, CT_SOURCE)
    if np.isnan(table).any():
        raise InvalidInputError(f"{path} lacks values. " + CT_SOURCE)
    return _scaled("ct-slices", table[:, 1:-1], table[:, -1], header[1:-1], table[:, 0])


def load_bundled(name: str) -> RegressionData:
    """Return a data set that comes with scikit-learn.

    Parameters
    ----------
    name : {"diabetes", "breast-cancer", "digits"}
        Progression of the disease from 10 measurements of 442 patients; the label, 0 or 1, from 30
        features of 569 biopsies; a pixel in the middle from the other pixels, 60 that vary, of 1797
        images.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    ImportError
        If scikit-learn is not installed.
    """
    if name not in BUNDLED:
        raise UnknownNameError(f"name must be one of {', '.join(BUNDLED)}; received {name!r}.")
    source = getattr(scikit_learn("datasets"), f"load_{name.replace('-', '_')}")()
    X, y = np.asarray(source.data, dtype=np.float64), np.asarray(source.target, dtype=np.float64)
    features = [str(feature) for feature in source.feature_names]
    if name == "digits":
        pixel = 8 * TARGET_PIXEL[0] + TARGET_PIXEL[1]
        y = X[:, pixel]
        X, features = np.delete(X, pixel, axis=1), features[:pixel] + features[pixel + 1 :]
    return _scaled(name, X, y, features)


BUNDLED = ("diabetes", "breast-cancer", "digits")

LOADERS: Mapping[str, Callable[[str | Path], RegressionData]] = {
    "communities": load_communities,
    "ct-slices": load_ct_slices,
}
"""Of files that the caller has, by name."""


def _rows(path: str | Path, source: str) -> list[list[str]]:
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}. {source} Nothing is downloaded here.")
    with file.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines) if row]
    if len(rows) < 2:
        raise InvalidInputError(f"{file} has less than two lines. {source}")
    return rows


def _numbers(
    rows: Sequence[Sequence[str]],
    columns: Sequence[int],
    width: int,
    path: str | Path,
    source: str,
) -> FloatArray:
    """Return some columns as numbers, NaN for '?' and for nothing."""
    for number, row in enumerate(rows):
        if len(row) != width:
            raise InvalidInputError(
                f"Data row {number + 1} of {path} has {len(row)} columns, not {width}. {source}"
            )
    try:
        return np.array(
            [
                [np.nan if row[k].strip() in ("?", "") else float(row[k]) for k in columns]
                for row in rows
            ]
        )
    except ValueError as error:
        raise InvalidInputError(
            f"{path} holds text among its numbers ({error}). {source}"
        ) from error


def _scaled(
    name: str,
    X: FloatArray,
    y: FloatArray,
    features: Sequence[str],
    groups: FloatArray | None = None,
) -> RegressionData:
    low, high = X.min(axis=0), X.max(axis=0)
    varies = np.flatnonzero(high > low)
    scaled = 2.0 * (X[:, varies] - low[varies]) / (high - low)[varies] - 1.0
    return RegressionData(
        name=name,
        X=np.clip(scaled, -1.0, 1.0),
        y=y.copy(),
        features=tuple(features[int(k)].strip() for k in varies),
        groups=groups,
    )
