import subprocess
import sys
import types
from importlib import import_module
from pathlib import Path

import pytest

import experiments
from experiments.__main__ import build_parser, main
from experiments.config import DEFAULT_METHODS
from experiments.peers import PEERS
from experiments.peers.base import Requirement
from experiments.records import append_record, read_records
from experiments.script import status_of

ROOT = Path(__file__).resolve().parents[2]


def test_help_names_the_commands_and_examples(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    for word in ("run", "report", "list", "demo", "bench", "examples:", "goes on where it was"):
        assert word in text


def test_help_of_run_names_its_options(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    text = capsys.readouterr().out
    for option in ("--seeds", "--budget", "--methods", "--jobs", "--out", "--retry-failed"):
        assert option in text


def test_module_runs_from_the_root_and_its_help_loads_nothing_slow():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "experiments", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "python -m experiments run" in done.stdout
    loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "experiments.arguments" in loaded
    assert not loaded & {"scipy.stats", "scipy.optimize", "boring.plotting", "experiments.thesis"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runn"], "Did you mean 'run'"),
        ([], "COMMAND"),
        (["run", "camelback-2-in-5", "--seeds", "0"], "at least 1"),
        (["run", "camelback-2-in-5", "--jobs", "two"], "at least 1"),
        (["run", "camelback-2-in-5", "--first-seed", "-1"], "at least 0"),
        (["run", "camelback-2-in-5", "--sede", "1"], "unrecognized"),
        (["bench", "--only", "sped"], "invalid choice: 'sped'"),
    ],
)
def test_wrong_usage_is_explained(capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "camelbak-2-in-5"], "Did you mean 'camelback-2-in-5'"),
        (["run", "camelback-2-in-5", "--methods", "borin"], "Did you mean 'boring'"),
        (["run", "camelback-2-in-5", "--budget", "3"], "n_initial"),
        (["report", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_wrong_input_is_explained_without_a_traceback(
    capsys, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert list(tmp_path.iterdir()) == []


def test_list_shows_experiments_and_methods(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert "camelback-2-in-5" in text
    assert "rembo" in text


def test_run_then_report(capsys, tmp_path):
    path = tmp_path / "runs" / "x.jsonl"
    command = ["run", "camelback-2-in-3", "--seeds", "2", "--budget", "7", "--out", str(path)]
    assert main([*command, "--methods", "sobol, random"]) == 0
    text = capsys.readouterr().out
    assert "| sobol" in text
    assert str(path) in text
    assert len(read_records(path)) == 4
    assert main(["report", str(path), "--reference", "sobol"]) == 0
    folder = path.with_suffix("")
    table = (folder / "table.md").read_text()
    assert "Wins are the row's against sobol" in table
    picture = folder / "convergence-camelback-2-in-3.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert table.strip() in capsys.readouterr().out
    assert main(["report", str(path), "--reference", "sobl"]) == 2
    assert "Did you mean 'sobol'" in capsys.readouterr().err


def test_missing_peers_are_named_by_list_and_in_the_report(capsys, tmp_path, monkeypatch):
    absent = Requirement("cma", ("no_such_engine",))
    monkeypatch.setattr("experiments.peers.cma_es.CmaPeer.requirement", absent)
    assert main(["list"]) == 0
    assert "Missing: peer-cma: cma is not installed" in capsys.readouterr().out
    path = tmp_path / "x.jsonl"
    command = ["run", "camelback-2-in-3", "--seeds", "1", "--budget", "6", "--out", str(path)]
    assert main([*command, "--methods", "sobol,peer-cma"]) == 0
    assert main(["report", str(path), "--reference", "sobol"]) == 0
    table = (path.with_suffix("") / "table.md").read_text()
    assert "| peer-cma | missing |" in " ".join(table.split())
    assert "Missing: peer-cma: cma is not installed; to install it: pip install" in table
    assert main([*command[:-1], str(tmp_path / "y.jsonl"), "--methods", "peer-cma"]) == 0
    assert main(["report", str(tmp_path / "y.jsonl")]) == 0
    assert [entry.name for entry in (tmp_path / "y").iterdir()] == ["table.md"]


def test_groups_of_methods():
    arguments = build_parser().parse_args(["run", "x", "--methods", "mine, peers,default"])
    assert arguments.methods == ("mine", *PEERS, *DEFAULT_METHODS)


def test_quiet_prints_nothing(capsys, tmp_path):
    path = tmp_path / "x.jsonl"
    command = ["run", "camelback-2-in-3", "--seeds", "1", "--budget", "6", "--methods", "sobol"]
    assert main([*command, "--out", str(path), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_report_of_unknown_optimum_plots_values(tmp_path, make_record):
    path = tmp_path / "x.jsonl"
    append_record(path, make_record([3.0, 1.0], optimum=None))
    assert main(["report", str(path), "--out", str(tmp_path / "out")]) == 0
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {
        "table.md",
        "convergence-camelback-2-in-5.png",
    }


def test_an_empty_file_has_nothing_to_report(tmp_path, capsys):
    path = tmp_path / "x.jsonl"
    path.touch()
    assert main(["report", str(path)]) == 2
    assert "no records" in capsys.readouterr().err


def test_a_foreign_sibling_is_refused_by_name(monkeypatch):
    experiments.check_siblings()
    intruder = types.ModuleType("baselines")
    intruder.__file__ = "/somewhere/baselines/__init__.py"
    monkeypatch.setitem(sys.modules, "baselines", intruder)
    with pytest.raises(ImportError, match=r"/somewhere/baselines/__init__\.py.*fresh environment"):
        experiments.check_siblings()


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        ("archive", ["absent"], "absent holds no"),
        ("benchmark_page", ["absent"], "absent holds no"),
        ("batches", ["--seeds", "-1"], "at least 0; received '-1'"),
        ("batches", ["--workers", "1,x"], "at least 1; received 'x'"),
        ("failures", ["--seeds", "x"], "at least 0; received 'x'"),
        ("failures", ["--methods", "borng"], "Did you mean 'boring'"),
        ("fuzz", ["--tells", "0"], "at least 1; received '0'"),
        ("gallery.page", [], "arguments are required: path"),
        ("growth", ["--cells", "10"], "such as 10x100,1000x200; received '10'"),
        ("learning_gif", ["--file"], "unrecognized arguments: --file"),
        ("naming", ["--seeds", "-1"], "at least 0; received '-1'"),
        ("notebooks.__main__", ["99"], "no notebook begins with '99'"),
        ("recovery", ["--first-seed", "-1"], "at least 0; received '-1'"),
        ("regression", ["--train", "0"], "at least 1; received '0'"),
        ("see_it", ["--file"], "unrecognized arguments: --file"),
        ("ablations.thesis_preset", ["--seeds", "0"], "at least 1; received '0'"),
    ],
)
def test_modules_that_run_by_themselves_refuse_in_a_line(
    module, arguments, message, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    act = import_module(f"experiments.{module}").main
    try:
        code = status_of(lambda: act(arguments))
    except SystemExit as stopped:  # of argparse
        code = stopped.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_what_a_module_cannot_do_is_no_traceback():
    own = {"__main__.py", "fuzz.py", "defaults.py"}  # these handle errors, or show them, themselves
    for file in (ROOT / "experiments").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' in text and file.name not in own:
            assert text.endswith("    run_script(main)\n"), file


@pytest.mark.parametrize("script", ["batches", "failures", "naming", "recovery", "regression"])
def test_a_script_prints_its_table_alone(script, tmp_path, capsys):
    import_module(f"experiments.{script}").main(["--seeds", "0", "--out", str(tmp_path / "runs")])
    assert capsys.readouterr().out.startswith("|")
