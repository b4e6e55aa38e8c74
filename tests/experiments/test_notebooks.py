"""The notebooks run at the smallest budget, and what is on file agrees with their Markdown."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

import baselines  # noqa: F401 - its names belong in the real registry, not in a test's copy
from boring import registry
from boring.exceptions import InvalidInputError
from experiments.notebooks.__main__ import HERE, ROOT, sources

BUDGET = "13"  # one more than the most parameters, hence past every initial design
LARGEST_IMAGE, LARGEST_FOLDER = 60_000, 1_500_000
CELL = re.compile(r"^```python[^\n]*\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
NOTEBOOKS = sources()


def cells(source):
    return [code.strip() for code in CELL.findall(source.read_text(encoding="utf-8"))]


@pytest.fixture(autouse=True)
def apart(quick_subspaces, monkeypatch, tmp_path):
    monkeypatch.setenv("BORING_NOTEBOOK_BUDGET", BUDGET)
    monkeypatch.setenv("BORING_PROGRESS", "0")
    monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run_at_the_smallest_budget(source):
    namespace = {"__name__": "notebook"}
    for code in cells(source):
        exec(compile(code, source.name, "exec"), namespace)


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_on_file_are_of_these_cells_and_small(source):
    notebook = json.loads(source.with_suffix(".ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]).strip() for cell in code] == cells(source)
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    images = 0
    for output in (output for cell in code for output in cell["outputs"]):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr", output
        picture = output.get("data", {}).get("image/png")
        if picture:
            images += 1
            assert len(base64.b64decode(picture)) < LARGEST_IMAGE
    assert images >= 1


def test_the_folder_is_small():
    assert sum(path.stat().st_size for path in HERE.iterdir() if path.is_file()) < LARGEST_FOLDER


def test_names_choose_notebooks():
    assert [path.stem[:2] for path in sources(["03", "05"])] == ["03", "05"]
    with pytest.raises(InvalidInputError, match="no notebook begins with 'tune'"):
        sources(["tune"])


@pytest.mark.slow
def test_a_kernel_runs_one(tmp_path):
    for package in ("jupytext", "nbclient", "ipykernel"):
        pytest.importorskip(package)
    subprocess.run(
        [sys.executable, "-m", "experiments.notebooks", "04", "--out", tmp_path],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=True,
        timeout=280,
    )
    (written,) = Path(tmp_path).glob("04-*.ipynb")
    notebook = json.loads(written.read_text(encoding="utf-8"))
    assert any(
        "image/png" in o.get("data", {}) for c in notebook["cells"] for o in c.get("outputs", [])
    )
