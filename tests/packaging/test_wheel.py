"""Build the wheel, install it away from the checkout, and run the README's example there.

The fresh environment holds the wheel and nothing else of ours. Its dependencies come from the
environment running this test, through a ``.pth`` file that names that site-packages directory:
no network, no second download of NumPy. A directory named in a ``.pth`` file does not have its own
``.pth`` files read, so an editable install of the checkout stays invisible.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"boring", "baselines", "synthetic"}
FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")
SECONDS = 280

pytestmark = pytest.mark.timeout(SECONDS + 20)


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command apart from this checkout and return what it printed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build from a copy, with the packages that must stay out of the wheel lying beside."""
    source = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy2(ROOT / name, source)
    ignore = shutil.ignore_patterns("__pycache__", "results", ".*")
    for name in (*PACKAGES, "experiments", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=ignore)
    out = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--quiet", "--wheel-dir", out, source),
        cwd=out,
    )
    (built,) = out.glob("boring_bo-*.whl")
    return built


@pytest.fixture(scope="module")
def fresh_python(wheel, tmp_path_factory):
    """Return the interpreter of a new environment with the wheel installed."""
    home = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", home / "venv", cwd=home)
    python = home / "venv" / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install"),
        *("--quiet", "--no-deps", "--no-index", "--no-compile", wheel),
        cwd=home,
    )
    # Only now: pip must not see the development environment's own boring-bo.
    own = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(own.strip()) / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return python


def test_the_wheel_brings_the_command(fresh_python, tmp_path):
    command = fresh_python.parent / "boring"
    assert run(command, "--version", cwd=tmp_path).startswith("boring ")
    init = (command, "init", "run.jsonl", "--direction", "minimize")
    run(*init, "--space", '{"a": [0, 1]}', cwd=tmp_path)
    assert run(command, "ask", "run.jsonl", cwd=tmp_path).startswith("0\t")


def metadata_of(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_wheel_holds_exactly_the_three_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    top_level = {name.split("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    modules = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    in_checkout = {path.relative_to(ROOT).as_posix() for path in modules}
    assert {name for name in names if name.endswith(".py")} == in_checkout


@pytest.mark.parametrize(
    ("extra", "files"),
    [
        ("dev", ["constraints.txt"]),
        ("docs", ["constraints.txt", "constraints-docs.txt"]),
        ("notebooks", ["constraints.txt", "constraints-docs.txt"]),
        ("peers", ["constraints.txt", "constraints-peers.txt"]),
        (
            "torch-peers",
            ["constraints.txt", "constraints-peers.txt", "constraints-torch-peers.txt"],
        ),
    ],
)
def test_constraints_pin_every_requirement_once(wheel, extra, files):
    pins = {}
    for file in files:
        for line in (ROOT / file).read_text().splitlines():
            if line and not line.startswith("#"):
                match = re.fullmatch(r"([a-z0-9-]+)==([0-9][0-9a-z.]*)", line)
                assert match, f"{file} holds more than plain pins: {line!r}"
                assert match[1] not in pins, f"{file} pins {match[1]} again"
                pins[match[1]] = match[2]
    for requirement in metadata_of(wheel).get_all("Requires-Dist", []):
        specifier, _, marker = requirement.partition(";")
        if marker and f'extra == "{extra}"' not in marker:
            continue
        name = re.match(r"[A-Za-z0-9._-]+", specifier)[0]
        assert re.sub(r"[-_.]+", "-", name).lower() in pins


def test_installed_packages_are_imported_from_the_fresh_environment(wheel, fresh_python, tmp_path):
    code = (
        "import importlib.metadata, importlib.util, boring, baselines, synthetic\n"
        "print(boring.__file__); print(baselines.__file__); print(synthetic.__file__)\n"
        "print(importlib.util.find_spec('experiments') is None)\n"
        "print(boring.__version__ == importlib.metadata.version('boring-bo'))\n"
    )
    *files, no_experiments, same_version = run(fresh_python, "-c", code, cwd=tmp_path).split()
    home = fresh_python.parents[1]
    assert all(Path(file).is_relative_to(home) for file in files)
    assert no_experiments == "True"
    assert same_version == "True"


def test_readme_example_runs_from_the_wheel(fresh_python, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"^```python\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    assert example, "README.md has no ```python block"
    code, n_changed = re.subn(r"n_evaluations=\d+", "n_evaluations=12", example[1])
    assert n_changed == 1  # a few are asked for; test_readme.py has the budgets
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    run(fresh_python, "-W", "error", script, cwd=tmp_path)
