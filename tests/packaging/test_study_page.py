"""Run the blocks of docs/study.md, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def run(command, directory):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_block_of_code_is_run():
    assert len(re.findall(r"^```\w", PAGE, flags=re.MULTILINE)) == 4
    assert (len(blocks("python")), len(blocks("sh"))) == (3, 1)


def test_the_python_blocks_run_in_sequence_without_a_warning(tmp_path):
    out = run([sys.executable, "-W", "error", "-c", "\n".join(blocks("python"))], tmp_path)
    assert "Best value" in out
    assert "lamp broke (1)" in out
    assert len((tmp_path / "data.csv").read_text().splitlines()) == 1 + 3 + 1 + 12


def test_the_shell_block_runs(tmp_path):
    define = f'set -eu\nboring() {{ "{sys.executable}" -m boring "$@"; }}\n'
    out = run(["sh", "-c", define + "\n".join(blocks("sh"))], tmp_path)
    assert '"suggestions": [{"number": 0' in out
    assert "0.25\t" in out
    assert (tmp_path / "shell.csv").exists()
