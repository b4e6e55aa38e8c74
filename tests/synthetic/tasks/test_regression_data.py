"""Files of the regression data sets, written here in their published forms."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits

from boring.exceptions import InvalidInputError, UnknownNameError
from synthetic.tasks.regression_data import (
    BUNDLED,
    load_bundled,
    load_communities,
    load_ct_slices,
)


@pytest.fixture
def communities(tmp_path):
    """Write a file like UCI's: identifiers, 122 features, of which 22 mostly missing, target."""
    rng = np.random.default_rng(0)
    n = 300
    values = np.round(rng.random((n, 123)), 2).astype(str)
    for k in range(60, 82):
        values[rng.random(n) < 0.8, k] = "?"
    values[130, 40] = "?"
    identifiers = np.tile(["8", "?", "?", "Lakewoodcity", "1"], (n, 1))
    rows = np.hstack((identifiers, values))
    path = tmp_path / "communities.data"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    return path, rows


@pytest.fixture
def slices(tmp_path):
    rng = np.random.default_rng(1)
    n = 40
    values = rng.random((n, 384))
    values[:, [3, 90]] = -0.25
    rows = np.column_stack((np.repeat([0.0, 1.0, 7.0, 8.0], 10), values, 90.0 * rng.random(n)))
    header = ["patientId", *(f"value{k}" for k in range(384)), "reference"]
    path = tmp_path / "slice_localization_data.csv"
    lines = [",".join(header), *(",".join(map(repr, map(float, row))) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, rows


def test_communities_drops_identifiers_then_columns_then_rows(communities):
    path, rows = communities
    data = load_communities(path)
    assert data.X.shape == (299, 100)
    assert len(data.features) == 100
    assert "column65" not in data.features  # the first about the police
    kept = np.delete(np.arange(300), 130)
    np.testing.assert_array_equal(data.y, rows[kept, -1].astype(float))
    np.testing.assert_array_equal(data.X.min(axis=0), -1.0)
    np.testing.assert_allclose(data.X.max(axis=0), 1.0)
    raw = rows[kept, 5].astype(float)
    np.testing.assert_allclose(data.X[:, 0], 2 * (raw - raw.min()) / np.ptp(raw) - 1)


def test_communities_with_names(communities, tmp_path):
    path, _ = communities
    names = ["state", "county", "community", "communityname", "fold"]
    names += [f"feature{k}" for k in range(122)] + ["ViolentCrimesPerPop"]
    named = tmp_path / "named.csv"
    named.write_text(",".join(names) + "\n" + path.read_text())
    plain, data = load_communities(path), load_communities(named)
    np.testing.assert_array_equal(data.X, plain.X)
    np.testing.assert_array_equal(data.y, plain.y)
    assert data.features[0] == "feature0"


def test_ct_slices_keep_patients_and_drop_constants(slices):
    path, rows = slices
    data = load_ct_slices(path)
    assert data.X.shape == (40, 382)
    assert "value3" not in data.features
    np.testing.assert_array_equal(data.groups, rows[:, 0])
    np.testing.assert_array_equal(data.y, rows[:, -1])


@pytest.mark.parametrize(
    ("load", "words"), [(load_communities, "data set 183"), (load_ct_slices, "data set 206")]
)
def test_a_missing_file_is_named_with_its_source(load, words, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{words}.*UCI.*Nothing is downloaded"):
        load(tmp_path / "nowhere.csv")


def test_files_that_are_something_else_are_refused(communities, slices, tmp_path):
    with pytest.raises(InvalidInputError, match="386 columns"):
        load_ct_slices(communities[0])
    with pytest.raises(InvalidInputError, match="not 128"):
        load_communities(slices[0])
    torn = tmp_path / "torn.csv"
    torn.write_text(slices[0].read_text()[:-2000])
    with pytest.raises(InvalidInputError, match=r"Data row \d+ .* not 386"):
        load_ct_slices(torn)
    wrong = tmp_path / "wrong.data"
    text = communities[0].read_text()
    wrong.write_text(text + ",".join(["1"] * 127 + ["much"]) + "\n")
    with pytest.raises(InvalidInputError, match="text among its numbers"):
        load_communities(wrong)
    short = tmp_path / "short.data"
    short.write_text("1,2\n")
    with pytest.raises(InvalidInputError, match="less than two lines"):
        load_communities(short)


def test_bundled_data_are_scikit_learns():
    sizes = {name: load_bundled(name).X.shape for name in BUNDLED}
    assert sizes == {"diabetes": (442, 10), "breast-cancer": (569, 30), "digits": (1797, 60)}
    raw, target = load_diabetes(return_X_y=True)
    data = load_bundled("diabetes")
    np.testing.assert_array_equal(data.y, target)
    for column, source in zip(data.X.T, raw.T, strict=True):
        assert np.corrcoef(column, source)[0, 1] == pytest.approx(1.0)
    images = load_digits().images
    digits = load_bundled("digits")
    np.testing.assert_array_equal(digits.y, images[:, 4, 4])
    assert "pixel_4_4" not in digits.features
    left = digits.X[:, digits.features.index("pixel_4_3")]
    assert np.corrcoef(left, images[:, 4, 3])[0, 1] == pytest.approx(1.0)
    with pytest.raises(UnknownNameError, match="diabetes"):
        load_bundled("wine")
