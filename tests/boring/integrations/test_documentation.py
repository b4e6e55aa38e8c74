"""The blocks of docs/integrations.md run; `import boring` loads no library that they need."""

import re
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

import boring

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("index", range(3))
def test_blocks_run(index):
    before = optuna.logging.get_verbosity()
    assert len(BLOCKS) == 3
    try:
        exec(compile(BLOCKS[index], "integrations.md", "exec"), {"__name__": "integrations"})
    finally:
        optuna.logging.set_verbosity(before)


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("optuna_sampler", "optuna", "boring-bo[optuna]"),
        ("search_cv", "sklearn", "boring-bo[sklearn]"),
    ],
)
def test_a_library_that_is_absent_is_named_with_its_extra(module, library, extra):
    code = (
        f"import sys\nsys.modules[{library!r}] = None\nfrom boring.integrations import {module}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(boring.__file__).parents[1],
    )
    assert done.returncode != 0
    assert f"pip install '{extra}'" in done.stderr.replace("\n", " ")
