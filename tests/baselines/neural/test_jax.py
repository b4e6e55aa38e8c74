import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_first_import_leaves_the_process_as_found():
    code = (
        "import os, sys\n"
        "import numpy as np\n"
        "from baselines.neural._jax import load\n"
        "np.random.seed(1)\n"
        "expected = np.random.RandomState(1).rand()\n"
        "before = dict(os.environ)\n"
        "load('jax')\n"
        "print('jax' in sys.modules, dict(os.environ) == before, np.random.rand() == expected)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True"] * 3
