"""Files that are written whole or not at all."""

import os
import stat

import pytest

from boring import BoringOptimizer
from boring._whole_file import whole_file
from boring.exceptions import InvalidInputError, JournalError
from boring.state import OptimizerState


def test_the_folder_is_made_and_nothing_else_is_left(tmp_path) -> None:
    path = tmp_path / "new" / "folder" / "text.txt"
    with whole_file(path) as file:
        file.write("ä\n")
    assert path.read_bytes().decode("utf-8").splitlines() == ["ä"]
    assert list(path.parent.iterdir()) == [path]


def test_an_error_names_the_file_that_was_asked_for(tmp_path) -> None:
    path = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="name too long") as caught, whole_file(path):
        pass
    assert caught.value.filename == str(path)


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


def test_of_two_writers_at_once_each_writes_a_whole_file(tmp_path) -> None:
    path = tmp_path / "text.txt"
    with whole_file(path) as late:
        late.write("begun first, ")
        with whole_file(path) as early:
            early.write("done first")
        assert path.read_text() == "done first"
        late.write("done last")
    assert path.read_text() == "begun first, done last"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_open_or_of_the_old_file(tmp_path) -> None:
    plain, path = tmp_path / "plain.txt", tmp_path / "text.txt"
    plain.write_text("by open")
    with whole_file(path) as file:
        file.write("new")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    with whole_file(path) as file:
        file.write("newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_state_goes_into_a_new_folder(tmp_path) -> None:
    optimizer = BoringOptimizer([(0, 1)] * 2, direction="minimize", seed=0)
    path = tmp_path / "states" / "first.json"
    optimizer.state().save(path)
    assert OptimizerState.load(path) == optimizer.state()


def test_a_journal_is_never_overwritten(tmp_path) -> None:
    optimizer = BoringOptimizer([(0, 1)] * 2, direction="minimize", seed=0)
    path = tmp_path / "run.json"
    optimizer.start_journal(path).tell([0.5, 0.5], 1.0)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"run\.json is the journal.*Choose another name"):
        optimizer.state().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
