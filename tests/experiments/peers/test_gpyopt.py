"""What is particular to GPyOpt; skipped where it is not installed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from boring.exceptions import FitError, InvalidInputError
from experiments.peers.gpyopt_gp import GPyOptOptions, GPyOptPeer

ROOT = Path(__file__).resolve().parents[3]
needs_gpyopt = pytest.mark.skipif(
    not GPyOptPeer.requirement.is_installed, reason=GPyOptPeer.requirement.absence
)
X = np.random.default_rng(0).uniform(-1, 1, (8, 2))
Y = np.sum((X - 0.3) ** 2, axis=1)


def told(**options):
    return GPyOptPeer([(-1, 1)] * 2, direction="minimize", seed=0, n_initial=3, **options).tell(
        X, Y
    )


def test_unknown_acquisitions_are_refused():
    with pytest.raises(InvalidInputError, match="EI, LCB, MPI; received 'ES'"):
        GPyOptOptions("ES")


@needs_gpyopt
def test_its_import_does_not_mute_the_warnings_of_the_process():
    code = (
        "import sys, warnings\n"
        "from experiments.peers.gpyopt_gp import GPyOptPeer\n"
        "before = list(warnings.filters)\n"
        "GPyOptPeer([(-1, 1)] * 2, direction='minimize')\n"
        "print('GPyOpt' in sys.modules, warnings.filters == before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]
    assert not done.stderr


@needs_gpyopt
def test_a_kernel_matrix_that_cannot_be_factored_is_named(monkeypatch):
    import GPyOpt.methods

    def fail(*arguments, **named):
        raise np.linalg.LinAlgError("not positive definite, even with jitter.")

    monkeypatch.setattr(GPyOpt.methods, "BayesianOptimization", fail)
    with pytest.raises(FitError, match="GPyOpt could not factor its kernel matrix at 8 points"):
        told().ask()


@needs_gpyopt
def test_expected_improvement_looks_near_the_bottom_and_the_others_elsewhere():
    points = {name: told(acquisition=name).ask()[0] for name in ("EI", "LCB", "MPI")}
    assert np.linalg.norm(points["EI"] - 0.3) < 0.6
    assert np.all(np.abs(list(points.values())) <= 1)
    assert len({tuple(x) for x in points.values()}) == 3
