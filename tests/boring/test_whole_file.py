"""Files that are written whole or not at all."""

import pytest

from boring import BoringOptimizer
from boring._whole_file import whole_file
from boring.exceptions import InvalidInputError
from boring.state import OptimizerState


def test_the_folder_is_made_and_nothing_else_is_left(tmp_path) -> None:
    path = tmp_path / "new" / "folder" / "text.txt"
    with whole_file(path) as file:
        file.write("ä\n")
    assert path.read_bytes().decode("utf-8").splitlines() == ["ä"]
    assert list(path.parent.iterdir()) == [path]


def _write_half(file) -> None:
    file.write("half of the new")
    raise InvalidInputError("the other half cannot be written")


def test_an_error_leaves_the_old_file(tmp_path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")
    with pytest.raises(InvalidInputError), whole_file(path) as file:
        _write_half(file)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_until_all_is_written_a_reader_sees_the_old_file(tmp_path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")
    with whole_file(path) as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_a_state_goes_into_a_new_folder(tmp_path) -> None:
    optimizer = BoringOptimizer([(0, 1)] * 2, direction="minimize", seed=0)
    path = tmp_path / "states" / "first.json"
    optimizer.state().save(path)
    assert OptimizerState.load(path) == optimizer.state()
