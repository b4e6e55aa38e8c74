"""Run the Python blocks of the README one after the other, as a reader would.

The fast tier runs them with smaller budgets, the slow tier as printed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
SECONDS = 240

# As printed, and in the fast tier: enough to pass the initial design, and for the optimum.
BUDGETS = (
    ("n_evaluations=100", "n_evaluations=30"),
    ("space, 12,", "space, 11,"),
    ("space, 15,", "space, 12,"),
)

# For all blocks but the first.
HASTE = "from tests.haste import learn_in_haste\nlearn_in_haste()"

CHECK = """
import numpy as np
from boring.subspace.stiefel import largest_angle
W = np.zeros((10, 2))
W[[0, 3, 7], 0] = 1.0
W[[2, 5, 8], 1] = 1.0, -1.0, 1.0
for name, found in (("RUN", result.subspace), ("DATA", estimate)):
    print(f"{name}-ANGLE", np.degrees(largest_angle(found.active_basis, W)))
print("GAP", result.y_best + 0.31)
print("TRUSTED", int(result.subspace.trusted))
"""


def run(blocks, directory):
    """Run the blocks without a warning; return what they and `CHECK` printed, and its figures."""
    assert len(blocks) >= 4
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join([*blocks, CHECK])],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = dict(re.findall(r"^([A-Z-]+) (\S+)$", done.stdout, flags=re.MULTILINE))
    return done.stdout, {name: float(value) for name, value in figures.items()}


def check(out, figures, last):
    assert "best value" in out
    assert str(last) in out.splitlines()
    assert "bunches" in out
    assert 0.0 <= figures["GAP"] < 1e-2
    assert figures["DATA-ANGLE"] < 10.0
    # Whether the run trusts it hangs on rounding, hence on the processor: the words must fit.
    assert ("NOT trusted" in out) == (figures["TRUSTED"] == 0.0)


def test_all_blocks_run_without_a_warning_and_the_first_finds_the_optimum(tmp_path):
    code = "\0".join(BLOCKS)
    for printed, fewer in BUDGETS:
        assert code.count(printed) == 1
        code = code.replace(printed, fewer)
    first, *others = code.split("\0")
    check(*run([first, HASTE, *others], tmp_path), 12)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 20)
def test_blocks_as_printed_find_optimum_and_subspace(tmp_path):
    out, figures = run(BLOCKS, tmp_path)
    check(out, figures, 15)
    assert figures["RUN-ANGLE"] < 10.0


def test_ten_lines_are_ten_lines():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10


def test_every_relative_link_and_picture_exists():
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert missing == []
