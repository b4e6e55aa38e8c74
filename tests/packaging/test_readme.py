"""Run the Python blocks of the README one after the other, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
SECONDS = 240


CHECK = """
import numpy as np
from boring.subspace.stiefel import largest_angle
W = np.zeros((10, 2))
W[[0, 3, 7], 0] = 1.0
W[[2, 5, 8], 1] = 1.0, -1.0, 1.0
print("GAP", result.y_best + 0.31)
print("ANGLE", np.degrees(largest_angle(result.subspace.active_basis, W)))
print("TRUSTED", int(result.subspace.trusted))
"""


def test_all_blocks_run_without_a_warning_and_the_first_finds_optimum_and_subspace(tmp_path):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    assert len(BLOCKS) >= 4
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join([BLOCKS[0], CHECK, *BLOCKS[1:]])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "best value" in done.stdout
    assert "15" in done.stdout.splitlines()
    assert "bunches" in done.stdout
    first = done.stdout.split("GAP")[0]
    figures = dict(re.findall(r"^(GAP|ANGLE|TRUSTED) (\S+)$", done.stdout, flags=re.MULTILINE))
    assert 0.0 <= float(figures["GAP"]) < 1e-2
    assert float(figures["ANGLE"]) < 10.0
    # Whether the run trusts it hangs on rounding, hence on the processor: the words must fit.
    assert ("NOT trusted" in first) == (figures["TRUSTED"] == "0")


def test_ten_lines_are_ten_lines():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10


def test_every_relative_link_and_picture_exists():
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert missing == []
