"""The command ``boring``."""

import csv
import io
import json
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from boring.study import Study
from boring.study._command_input import space_argument
from boring.study._command_line import KINDS
from boring.study.cli import main

ROOT = Path(__file__).resolve().parents[3]
SPACE = '{"gain": [0.1, 10], "angle": [-90, 90]}'


@pytest.fixture
def boring(capsys):
    """Run a command in this process; return its exit code, its output and its errors."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def file(tmp_path, boring):
    path = tmp_path / "run.jsonl"
    code, _, err = boring(
        "init", path, "--space", SPACE, "--direction", "minimize", "--seed", 3, "--n-initial", 20
    )
    assert (code, err) == (0, "")
    return path


def test_ask_and_tell_by_number(boring, file):
    code, out, _ = boring("ask", file, "-n", 2)
    assert code == 0
    numbers, shown = zip(*(line.split("\t") for line in out.splitlines()), strict=True)
    assert numbers == ("0", "1")
    assert set(json.loads(shown[0])) == {"gain", "angle"}
    assert boring("tell", file, 1, 2.5)[0] == 0
    assert boring("tell", file, 0, "--failed", "the bulb broke")[0] == 0
    code, out, _ = boring("status", file, "--json")
    status = json.loads(out)
    assert (status["n_told"], status["n_failed"], status["outstanding"]) == (2, 1, [])
    value, parameters = boring("best", file)[1].split("\t")
    assert float(value) == 2.5
    assert json.loads(parameters) == json.loads(shown[1])


@pytest.mark.parametrize("value", ["-1e-5", "-2", "-0.5", "-.5E3", "1e300"])
def test_numbers_of_any_form_are_values_and_no_options(boring, file, value):
    boring("ask", file)
    assert boring("tell", file, 0, value)[0] == 0
    assert json.loads(boring("best", file, "--json")[1])["value"] == float(value)
    shown = json.dumps({"gain": 1.0, "angle": -3})
    assert boring("tell", file, "--parameters", shown, value)[0] == 0
    assert json.loads(boring("status", "--json", file)[1])["n_told"] == 2


@pytest.mark.usefixtures("undrawn")
def test_words_like_negative_numbers_stay_as_they_are(boring, file, tmp_path):
    boring("ask", file, "-n", 2)
    assert boring("tell", file, 0, "--failed", "-1")[0] == 0
    assert boring("tell", file, 1, "--failed", "-1e-5 V")[0] == 0
    with Study.open(file, read_only=True) as study:
        assert [row["error"] for row in study.rows()] == ["-1", "-1e-5 V"]
    (tmp_path / "data.csv").write_text("gain,angle,-1\n1,2,3\n")
    assert boring("import", file, tmp_path / "data.csv", "--value", "-1")[0] == 0
    page = tmp_path / "page.html"
    assert boring("report", file, "-o", page, "--title", "-5", "--value-label", "-inf")[0] == 0
    assert "<title>-5</title>" in page.read_text()
    settings = '{"gain": 1, "angle": 2}'
    assert boring("tell", file, "--parameters", settings, "-1_0")[0] == 2
    code, _, err = boring("ask", file, "-n", "-2")
    assert code == 1
    assert "received -2" in err


@pytest.mark.parametrize(
    "words", ["status FILE --js", "--js status FILE", "ask FILE --wai 1", "tell FILE 0 -v"]
)
def test_options_cut_short_are_not_understood(boring, file, words):
    code, out, err = boring(*words.replace("FILE", str(file)).split())
    assert (code, out) == (2, "")
    assert "unrecognized" in err


def test_what_is_not_finite_is_strict_json(boring, file):
    boring("ask", file)
    assert boring("tell", file, 0, "-inf")[0] == 0
    boring("export", file, "-o", file.with_suffix(".json"))
    rows = json.loads(
        file.with_suffix(".json").read_text(), parse_constant=lambda name: pytest.fail(name)
    )["evaluations"]
    assert rows[0]["value"] == "-inf"


def test_constraints_come_last(boring, tmp_path):
    path = tmp_path / "run.jsonl"
    boring(
        *("init", path, "--space", SPACE, "--direction", "maximize"),
        *("--n-constraints", 2, "--optimizer", "sobol"),
    )
    boring("ask", path, "-n", 2)
    assert boring("tell", path, 0, 9.0, "--constraints", "-1", "2e-3")[0] == 0
    assert boring("best", path)[0] == 4
    assert boring("tell", path, 1, 3.0, "--constraints", "-1", "-2e-3")[0] == 0
    assert json.loads(boring("best", path, "--json")[1])["value"] == 3.0
    assert json.loads(boring("status", path, "--json")[1])["optimizer"] == "sobol"


def test_withdraw(boring, file):
    boring("ask", file, "-n", 2)
    assert json.loads(boring("withdraw", file, 0, "--json")[1]) == {"outstanding": [1]}
    assert boring("withdraw", file, 0)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("best", "FILE"), 4, "NothingYetError"),
        (("subspace", "FILE"), 4, "NothingYetError"),
        (("plot", "FILE", "--kind", "loadings", "-o", "x.png"), 4, "NothingYetError"),
        (("tell", "FILE", "7", "1.0"), 1, "InvalidInputError"),
        (("tell", "FILE", "--parameters", "{gain}", "1.0"), 1, "InvalidInputError"),
        (("tell", "FILE", "--parameters", '{"gain": 1}', "1.0"), 1, "InvalidInputError"),
        (("export", "FILE", "-o", "data.xls"), 1, "InvalidInputError"),
        (("import", "FILE", "absent.csv"), 1, "InvalidInputError"),
        (("ask", "absent.jsonl"), 1, "JournalError"),
        (("tell", "FILE", "0"), 2, "UsageError"),
        (("tell", "FILE", "0", "fast"), 2, "UsageError"),
        (("tell", "FILE", "0", "1", "2"), 2, "UsageError"),
        (("tell", "FILE", "0", "1", "--loud"), 2, "UsageError"),
        (("ask", "FILE", "extra"), 2, "UsageError"),
        (("fly", "FILE"), 2, "UsageError"),
        ((), 2, "UsageError"),
    ],
)
def test_what_is_refused_says_so_in_words_and_in_json(boring, file, arguments, code, kind):
    words = [str(file) if word == "FILE" else word for word in arguments]
    before = file.read_bytes()
    found, out, err = boring(*words)
    assert (found, out) == (code, "")
    assert err.startswith("boring: ")
    found, out, err = boring(*words, "--json")
    assert (found, out) == (code, "")
    error = json.loads(err)["error"]
    assert error["type"] == kind
    assert error["exit_code"] == code
    assert error["message"]
    assert file.read_bytes() == before


def test_init_refuses_what_exists_and_what_is_no_space(boring, file, tmp_path):
    words = ("--direction", "minimize", "--space")
    assert boring("init", file, *words, SPACE)[0] == 1
    new = tmp_path / "new.jsonl"
    for space in ("{", "absent.json", '{"a": [1, 1]}'):
        assert boring("init", new, *words, space)[0] == 1
        assert not new.exists()
    assert boring("init", new, *words, SPACE, "--optimizer", "borng")[0] == 1
    (tmp_path / "space.json").write_text(SPACE)
    assert boring("init", new, *words, tmp_path / "space.json")[0] == 0


def test_a_study_that_another_has_open_is_waited_for(boring, file):
    with Study.open(file):
        code, _, err = boring("ask", file, "--wait", 0.1)
        assert code == 3
        assert re.search(r"open for writing by this very process on .*, since", err)
        assert boring("status", file)[0] == 0
    assert boring("ask", file, "--wait", 0.1)[0] == 0


@pytest.mark.usefixtures("quick_subspaces")
def test_export_import_report_and_pictures(boring, file, tmp_path):
    boring("ask", file, "-n", 14)
    for number in range(14):
        row = Study.open(file, read_only=True).outstanding[0].parameters
        boring("tell", file, number, (row["gain"] - 3) ** 2 + 0.001 * row["angle"])
    assert boring("export", file, "-o", tmp_path / "data.csv")[0] == 0
    with (tmp_path / "data.csv").open() as lines:
        assert len(list(csv.DictReader(lines))) == 14
    other = tmp_path / "other.jsonl"
    boring("init", other, "--space", SPACE, "--direction", "minimize", "--n-initial", 14)
    assert boring("import", other, tmp_path / "data.csv")[:2] == (0, "Added: 14 rows.\n")
    best = json.loads(boring("best", other, "--json")[1])
    assert best["parameters"] == json.loads(boring("best", file, "--json")[1])["parameters"]
    report = json.loads(boring("report", file, "--json")[1])
    assert report["n_told"] == 14
    subspace = json.loads(boring("subspace", file, "--json")[1])
    assert subspace["columns"] == ["gain", "angle"]
    assert math.isclose(sum(subspace["importance"].values()), 1.0)
    picture = tmp_path / "picture.png"
    for kind in ("convergence", "parallel", "slices", "loadings"):
        words = ("--kind", kind, "--value-label", "loss (m)")
        assert boring("plot", file, "-o", picture, *words)[0] == 0
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_help_names_every_command_and_exit_code(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for word in ("init", "ask", "tell", "withdraw", "status", "best", "subspace", "plot"):
        assert re.search(rf"^ +{word} ", text, re.MULTILINE)
    for code in (0, 1, 2, 3, 4, 130):
        assert re.search(rf"^ +{code}  \w", text, re.MULTILINE)
    assert "for i in $(seq 30); do" in text


def test_the_help_of_init_and_plot_says_what_is_true(capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["init", "--help"])
    spaces = re.findall(r"^  (\{.*?\})(?: |$)", capsys.readouterr().out, re.MULTILINE)
    assert len(spaces) == 6
    read = [space_argument(space) for space in spaces]
    kinds = [next(iter(space.parameters.values())).kind for space in read]
    assert kinds == ["real", "real", "integer", "categorical", "real", "real"]
    assert [len(space.constraints) for space in read] == [0, 0, 0, 0, 0, 1]
    with pytest.raises(SystemExit):
        main(["plot", "--help"])
    text = capsys.readouterr().out
    for kind in KINDS:
        assert re.search(rf"^  {kind}  +\w", text, re.MULTILINE)


LOOP = r"""
set -eu
boring() { "$PYTHON" -m boring "$@"; }
part() { "$PYTHON" -c '
import json, sys
suggestion = json.load(sys.stdin)["suggestions"][0]
print(json.dumps(suggestion[sys.argv[1]]))' "$1"; }
evaluate() { "$PYTHON" -c '
import json, sys
print((json.loads(sys.argv[1])["gain"] - 3) ** 2 - 1)' "$1"; }

boring init run.jsonl --direction minimize --space '{"gain": [0.1, 10], "angle": [-90, 90]}' \
  --seed 1 --n-initial 2
for i in $(seq 2); do
  asked=$(boring ask run.jsonl --json)
  number=$(echo "$asked" | part number)
  parameters=$(echo "$asked" | part parameters)
  value=$(evaluate "$parameters")
  boring tell run.jsonl "$number" "$value"
done
boring best run.jsonl --json > best.json
if boring tell run.jsonl 0 1.0 --json 2> error.json; then exit 1; else echo $? > code; fi
"""


def shell(script, folder):
    environment = {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_a_shell_loop_drives_a_whole_optimisation(tmp_path):
    done = shell(LOOP, tmp_path)
    assert done.returncode == 0, done.stderr
    best = json.loads((tmp_path / "best.json").read_text())
    rows = Study.open(tmp_path / "run.jsonl", read_only=True).rows()
    assert [row["number"] for row in rows] == [0, 1]
    assert best["value"] == min((row["gain"] - 3) ** 2 - 1 for row in rows)
    assert (tmp_path / "code").read_text().strip() == "1"
    assert json.loads((tmp_path / "error.json").read_text())["error"]["type"] == "InvalidInputError"


WORKER = """
import contextlib, io, json, sys
from boring.study.cli import main
for _ in range(6):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["ask", "run.jsonl", "--json"]) == 0
    asked = json.loads(out.getvalue())["suggestions"][0]
    assert main(["tell", "run.jsonl", str(asked["number"]), str(asked["parameters"]["gain"])]) == 0
    print("mine", asked["number"], repr(asked["parameters"]["gain"]), file=sys.stderr)
"""


def test_two_processes_work_on_one_study_at_once(boring, file):
    working = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=file.parent,
            env={"PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in working]
    assert [process.returncode for process in working] == [0, 0], said
    mine = [line.split()[1:] for text in said for line in text.splitlines() if "mine" in line]
    rows = Study.open(file, read_only=True).rows()
    assert sorted(int(number) for number, _ in mine) == list(range(12))
    told = {(row["number"], row["value"]) for row in rows}
    assert told == {(int(number), float(gain)) for number, gain in mine}
    assert all(row["value"] == row["gain"] for row in rows)


def test_init_says_how_it_understood_the_space(boring, tmp_path):
    space = {
        "parameters": {
            "gain": {"type": "real", "low": 0.1, "high": 10, "log": True, "unit": "µA"},
            "optics": {"type": "categorical", "choices": ["old", "new"]},
        },
        "constraints": ["gain <= 5 or optics == 'old'"],
    }
    path = tmp_path / "new.jsonl"
    out = boring("init", path, "--direction", "minimize", "--space", json.dumps(space))[1]
    assert out.splitlines() == [
        f"New study {path}: 2 parameters, boring.",
        '  gain: real, low 0.1, high 10.0, log true, unit "µA"',
        '  optics: categorical, choices ["old", "new"]',
        "  always \"gain <= 5 or optics == 'old'\"",
    ]


def test_a_terminal_that_lacks_a_letter_gets_it_escaped(monkeypatch, tmp_path):
    space = '{"flow": {"type": "real", "low": 0, "high": 1, "unit": "m³/s"}}'
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    new = ("init", str(tmp_path / "new.jsonl"), "--direction", "minimize", "--space", space)
    assert main(new) == 0
    assert written.getvalue().splitlines()[-1].endswith(rb'unit "m\xb3/s"')


def test_letters_of_names_and_choices_are_printed_where_the_terminal_has_them(
    monkeypatch, tmp_path
):
    path = str(tmp_path / "study.jsonl")
    study = Study({"who": ["Böhler", "Novák"], "a": (0.0, 1.0)}, direction="minimize", path=path)
    study.tell({"who": "Böhler", "a": 0.5}, 1.0)
    study.close()
    for encoding, shown in (("utf-8", "Böhler"), ("ascii", "B\\u00f6hler"), ("latin-1", "Böhler")):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
        assert main(["best", path]) == 0
        line = written.getvalue().decode(encoding)
        assert shown in line
        assert json.loads(line.split("\t")[1])["who"] == "Böhler"


def test_status_has_the_settings_that_are_outstanding(boring, file):
    asked = boring("ask", file, "-n", 2)[1]
    assert boring("status", file)[1].endswith(f"outstanding: 0, 1\n{asked}")
    status = json.loads(boring("status", file, "--json")[1])
    assert status["outstanding"] == [0, 1]
    shown = [json.loads(line.split("\t")[1]) for line in asked.splitlines()]
    assert [s["parameters"] for s in status["suggestions"]] == shown


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("command", "name"),
    [("export", "run.json"), ("export", "run.csv"), ("plot", "run.svg"), ("report", "run.html")],
)
def test_what_is_written_never_takes_the_place_of_a_study(boring, file, tmp_path, command, name):
    boring("tell", file, "--parameters", '{"gain": 1, "angle": 2}', 3)
    study = file.rename(tmp_path / name)
    before = study.read_bytes()
    code, _, err = boring(command, study, "-o", study)
    assert (code, study.read_bytes()) == (1, before)
    assert name in err
    assert "another name" in err
    older = tmp_path / f"older{study.suffix}"
    older.write_text("older")
    assert boring(command, study, "-o", older)[0] == 0
    assert older.read_text() != "older"


@pytest.mark.parametrize("name", ["data.csv", "data.json", "page.html"])
def test_the_folder_of_what_is_written_is_made(boring, file, tmp_path, name):
    out = tmp_path / "none" / "yet" / name
    command = "report" if name == "page.html" else "export"
    assert boring(command, file, "-o", out)[0] == 0
    assert [path.name for path in out.parent.iterdir()] == [name]


@pytest.mark.parametrize("command", ["export", "report"])
def test_what_stands_in_the_way_of_a_folder_is_named_with_a_remedy(boring, file, tmp_path, command):
    (tmp_path / "none").write_text("a file")
    out = tmp_path / "none" / ("data.csv" if command == "export" else "page.html")
    code, _, err = boring(command, file, "-o", out)
    assert code == 1
    assert "none" in err
    assert "Check that the folder exists" in err


@pytest.mark.parametrize("space", ['[["gain", 0, 1]]', "", "  "])
def test_a_space_that_is_no_object_is_refused_as_such(boring, tmp_path, space):
    path = tmp_path / "new.jsonl"
    code, _, err = boring("init", path, "--direction", "minimize", "--space", space)
    assert code == 1
    assert "--space must be" in err
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"gain": [0, 1}', "cannot be parsed as JSON"),
        (b"", "it is empty"),
        ("{}".encode("utf-16"), "must be JSON in UTF-8"),
        (b"[1, 2]", "must be a JSON object"),
        (None, "--space must be JSON, or the path of a JSON or TOML file"),
    ],
)
def test_the_file_of_a_space_is_named_where_it_cannot_be_read(boring, tmp_path, content, message):
    file = tmp_path / "space.json"
    if content is not None:
        file.write_bytes(content)
    arguments = ("--space", str(file), "--direction", "minimize")
    code, _, error = boring("init", str(tmp_path / "a.jsonl"), *arguments)
    assert code == 1
    assert message in error
    assert "space.json" in error
    assert "quotation marks" not in error


@pytest.mark.parametrize(
    "text",
    [
        'gain = [0.1, 10]\noptics = ["old", "new"]\nn = {type = "integer", low = 1, high = 8}\n',
        'constraints = ["gain <= n"]\n[parameters]\ngain = [0.1, 10]\noptics = ["old", "new"]\n'
        'n = {type = "integer", low = 1, high = 8}\n',
    ],
)
def test_a_toml_file_has_the_same_forms_as_json(boring, tmp_path, text):
    for name, written in (("a.toml", text), ("a.json", json.dumps(tomllib.loads(text)))):
        (tmp_path / name).write_text(written)
        arguments = ("--space", tmp_path / name, "--direction", "minimize")
        code, _, err = boring("init", tmp_path / f"{name}.jsonl", *arguments)
        assert code == 0, err
    read = [Study.open(path, read_only=True) for path in tmp_path.glob("*.jsonl")]
    assert read[0].space == read[1].space


def test_a_name_that_comes_twice_is_refused_and_no_study_made(boring, tmp_path):
    path, space = tmp_path / "run.jsonl", '{"gain": [0.1, 10], "gain": [1, 2]}'
    code, _, err = boring("init", path, "--space", space, "--direction", "minimize")
    assert code == 1
    assert "'gain'" in err
    assert "come twice" in err
    (tmp_path / "space.json").write_text(space)
    again = boring("init", path, "--space", tmp_path / "space.json", "--direction", "minimize")
    assert again[0] == 1
    assert not path.exists()


def test_settings_with_a_name_twice_are_not_told(boring, file):
    code, _, err = boring("tell", file, "--parameters", '{"gain": 1, "angle": 3, "gain": 2}', 4)
    assert code == 1
    assert "come twice" in err
    assert json.loads(boring("status", file, "--json")[1])["n_told"] == 0


def test_digits_in_groups_are_no_value(file, boring):
    code, _, err = boring("tell", file, "0", "1_5")
    assert code == 2
    assert "received '1_5'" in err


@pytest.mark.parametrize("text", ["", "a,b,value\n", "a,b,value\n\n"])
def test_a_table_without_rows_is_said_to_have_none(boring, file, tmp_path, text):
    (tmp_path / "none.csv").write_text(text)
    code, out, err = boring("import", file, tmp_path / "none.csv")
    assert (code, out) == (0, "Added: 0 rows.\n")
    assert "none.csv has none below its first line" in err
