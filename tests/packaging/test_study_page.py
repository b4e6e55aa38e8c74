"""Run the blocks of docs/study.md, as a reader would."""

import re
import shlex
from pathlib import Path

import pytest

from boring.study.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_block_of_code_is_run():
    assert len(re.findall(r"^```\w", PAGE, flags=re.MULTILINE)) == 4
    assert (len(blocks("python")), len(blocks("sh"))) == (3, 1)


@pytest.mark.usefixtures("quick_subspaces")
def test_the_python_blocks_run_in_sequence_without_a_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks("python")), "study.md", "exec"), {"__name__": "study"})
    out = capsys.readouterr().out
    assert "Best value" in out
    assert "lamp broke (1)" in out
    assert len((tmp_path / "data.csv").read_text().splitlines()) == 1 + 3 + 1 + 12


@pytest.mark.usefixtures("quick_subspaces")
def test_the_shell_block_runs(tmp_path, monkeypatch, capsys):
    """In this process: `test_wheel.py` has the command of a shell."""
    monkeypatch.chdir(tmp_path)
    for line in "\n".join(blocks("sh")).splitlines():
        command, *arguments = shlex.split(line)
        assert command == "boring"
        assert main(arguments) == 0
    out = capsys.readouterr().out
    assert '"suggestions": [{"number": 0' in out
    assert "0.25\t" in out
    assert (tmp_path / "shell.csv").exists()
    assert (tmp_path / "report.html").exists()
