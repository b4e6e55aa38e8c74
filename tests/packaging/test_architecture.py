"""Dependencies point one way, third-party code stays behind its fence, imports stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("boring", "baselines", "synthetic")
OURS = {*PACKAGES, "experiments", "tests"}

MAY_IMPORT = {
    "boring": {"boring"},
    "synthetic": {"synthetic", "boring"},
    "baselines": {"baselines", "boring"},
}
SYNTHETIC_MAY_TAKE = {
    "boring.exceptions",
    "boring.extras",
    "boring.space",
    "boring.subspace.stiefel",
    "boring.typing",
}
FENCES = {
    "GPy": {"boring/models/_gpy.py"},
    "paramz": {"boring/models/_gpy.py"},
    "pymanopt": {"boring/subspace/_riemannian.py"},
    "sklearn": {
        "baselines/_scikit.py",
        "boring/integrations/search_cv.py",
        "synthetic/tasks/_data.py",
    },
    "optuna": {"boring/integrations/optuna_sampler.py"},
    "networkx": {"baselines/additive/junction_tree.py"},
    "highspy": {"synthetic/tasks/mip.py"},
    "matplotlib": {"boring/plotting/_canvas.py"},
    "ConfigSpace": {"boring/parameters/exchange.py"},
    "jax": {"baselines/neural/_jax.py"},
    "blackjax": {"baselines/neural/_jax.py"},
    "optax": {"baselines/neural/_jax.py"},
    "ioh": {"synthetic/bbob.py"},
}
# Loaded only by the module that needs them, never by `import boring`.
HEAVY = (
    "ConfigSpace",
    "GPy",
    "autograd",
    "blackjax",
    "distributed",
    "filelock",
    "ioh",
    "jax",
    "matplotlib",
    "networkx",
    "optuna",
    "pandas",
    "pymanopt",
    "scipy",
    "sklearn",
    "tqdm",
)
IMPORT_SECONDS = 0.5


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def imported(path):
    """Return the absolute names of the modules that a file imports, by `require` too."""
    names = set()
    parts = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            names.add(".".join(part for part in (base, node.module) if part))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
            names.add(ast.unparse(node.args[0]).lstrip("f").strip("'"))
    return names


def violations(path, package):
    """Return the imports of one file that break a rule."""
    relative = path.relative_to(ROOT).as_posix()
    broken = set()
    for name in imported(path):
        top = name.split(".")[0]
        foreign = top in OURS and top not in MAY_IMPORT[package]
        fenced = top in FENCES and relative not in FENCES[top]
        too_much = package == "synthetic" and top == "boring" and name not in SYNTHETIC_MAY_TAKE
        if foreign or fenced or too_much:
            broken.add(name)
    return broken


@pytest.mark.parametrize("package", PACKAGES)
def test_dependencies_point_one_way_and_fences_hold(package):
    broken = {str(path): violations(path, package) for path in modules(package)}
    assert {path: names for path, names in broken.items() if names} == {}


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("boring", "from synthetic import get_problem"),
        ("boring", "import GPy.kern"),
        ("synthetic", "from boring.models import gp"),
        ("synthetic", "import boring"),
        ("baselines", "from experiments.runner import run_experiment"),
        ("baselines", "def late():\n    import pymanopt"),
        ("synthetic", "from sklearn.datasets import load_digits"),
        ("synthetic", "def late():\n    import highspy"),
        ("boring", "def late():\n    from matplotlib.figure import Figure"),
        ("baselines", "sampler = require('blackjax', 'neural', 'A network')"),
        ("baselines", "part = require(f'sklearn.{module}', 'neural', 'A forest')"),
    ],
)
def test_the_check_sees_a_broken_rule(package, line, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / package / "module.py"
    path.parent.mkdir()
    path.write_text(line)
    assert violations(path, package)


def test_models_know_nothing_of_what_asks_them():
    above = ("boring.acquisition", "boring.loop", "boring.optimizer")
    names = {name for path in modules("boring/models") for name in imported(path)}
    assert [name for name in names if name.startswith(above)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_library_never_prints(package):
    for path in modules(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{path}:{node.lineno}"


def test_scikit_learn_is_loaded_by_the_first_problem_that_needs_it_and_no_earlier():
    code = (
        "import sys\n"
        "import synthetic.tasks, experiments.config\n"
        "synthetic.problem_names(), synthetic.get_problem('rover-60')\n"
        "print('sklearn' in sys.modules)\n"
        "synthetic.get_problem('lasso-breast-cancer-30')\n"
        "print('sklearn' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


def test_importing_boring_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time\n"
        "start = time.process_time()\n"
        "import boring\n"
        "print(time.process_time() - start)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seconds, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert float(seconds) < IMPORT_SECONDS


def test_importing_baselines_loads_no_scikit_learn_and_mixtures_of_other_kinds_need_none():
    code = (
        "import sys\n"
        "import boring, baselines\n"
        "from boring.registry import get_optimizer\n"
        "names = ('gmr', 'kde', 'spn', 'elm', 'rvfl-bayesian', 'rvfl-ensemble')\n"
        "for name in names: get_optimizer(name)\n"
        "boring.minimize(lambda x: float(x @ x), [(-1, 1)], 7, method='kde', progress=False)\n"
        "print('sklearn' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]
