"""The blocks of docs/parameters.md run, in sequence, and print what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
PRINTED = re.findall(r"^```text\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_all_blocks_run_without_a_warning_and_print_what_the_page_says(tmp_path):
    assert len(BLOCKS) >= 6
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(BLOCKS)],
        cwd=tmp_path,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "{\"'gain * layers <= 20'\": 20.0}" in done.stdout
    assert "Did you mean 'gain'?" in done.stdout
    assert "+1 dB of gain does what -4" in PRINTED[0]
    assert [text for text in PRINTED if text not in done.stdout] == [], done.stdout


def test_importing_the_parameters_loads_no_optional_library():
    code = (
        "import sys, boring.parameters as p\n"
        "s = p.ParameterSpace.of({'x': (0, 1), 'k': ['a', 'b']}, 'x < 0.5')\n"
        "s.decode(s.domain.snap(s.encode({'x': 0.2, 'k': 'a'})))\n"
        "print([m for m in ('ConfigSpace', 'pandas', 'optuna', 'scipy') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
