"""The experiments of the thesis: data, scores, records, report, command, and the page of claims."""

import gzip
import json
import re
import shlex
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import baselines
from boring.exceptions import InvalidInputError, UnknownNameError
from boring.registry import optimizer_names
from experiments.__main__ import build_parser, main
from experiments.archive import ARCHIVE
from experiments.arena import fits
from experiments.thesis import features, identification, passive, polynomial, surrogate
from experiments.thesis.command import part_names, thesis_methods
from experiments.thesis.report import study_section
from experiments.thesis.settings import RELATED, SETTINGS, setting_experiments
from experiments.thesis.studies import PARTS, STUDIES
from experiments.thesis.study import Study, run_study, study_keys
from experiments.variants import Variant
from synthetic import get_problem

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "thesis.md").read_text(encoding="utf-8")
COMPANION = (ROOT / "docs" / "companion-papers.md").read_text(encoding="utf-8")


# Section 5.2.


def test_the_five_settings_have_the_dimensions_of_the_thesis():
    experiments = dict(zip(SETTINGS, setting_experiments(), strict=True))
    shapes = {n: (e.problem(0).dim, e.problem(0).effective_dim) for n, e in experiments.items()}
    assert shapes == {1: (3, 2), 2: (10, 2), 3: (25, 5), 4: (5, 2), 5: (5, None)}
    assert [e.name for e in setting_experiments((5, 1))] == [SETTINGS[1], SETTINGS[5]]


def test_every_method_runs_in_every_setting_and_the_accelerator_tells_a_dimension():
    for experiment in setting_experiments():
        for method in ("rembo", "boring-thesis"):
            assert fits(experiment, Variant(method, method))
            told = experiment.options_of(method)["effective_dim"]
            assert told == (experiment.problem(0).effective_dim or 2)


def test_related_methods_are_baselines():
    assert set(RELATED) <= set(optimizer_names())
    assert thesis_methods(("gp", "related", "gp")) == ("gp", *RELATED)


@pytest.mark.parametrize("numbers", [(6,), (), (0, 1)])
def test_other_settings_are_refused(numbers):
    with pytest.raises(InvalidInputError, match="settings are numbered 1, 2, 3, 4, 5"):
        setting_experiments(numbers)


# Section 5.3.1.


@pytest.mark.parametrize("n_inputs", [2, 5])
def test_values_depend_on_the_features_through_the_true_direction_alone(n_inputs):
    cell = polynomial.PolynomialCell(n_inputs, 40, constant=True)
    Phi, y, truth = polynomial.polynomial_data(cell, 3)
    assert Phi.shape == (40, 2 * n_inputs + 1)
    assert np.linalg.norm(truth) == pytest.approx(1.0)
    t = Phi @ truth
    scale = np.sqrt(-y[0]) / t[0]
    np.testing.assert_allclose(-((scale * t) ** 2), y, atol=1e-12)
    without = polynomial.polynomial_data(replace(cell, constant=False), 3)
    np.testing.assert_array_equal(without[0], Phi[:, :-1])
    assert polynomial.cosine(without[2], truth[:-1]) == pytest.approx(1.0)


def test_cosine_knows_neither_length_nor_sign_and_is_the_textbook_one(rng):
    u, v = rng.standard_normal((2, 6))
    assert polynomial.cosine(-3.0 * u, 0.1 * v) == pytest.approx(polynomial.cosine(u, v))
    assert polynomial.cosine(u, 7.0 * u) == 1.0
    assert polynomial.cosine(np.array([1.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(0.5**0.5)


def test_the_author_s_case_is_found_and_a_wrong_direction_is_seen(monkeypatch):
    record = polynomial.run("2-inputs-50", 0, "full-rank")
    assert record["cosine"] > 0.999  # thesis code: .984; .9989 without its constant
    assert record["angle"] < 2.0
    assert "cosine_with_constant" not in record

    class Wrong:
        active_basis = np.array([[0.0], [0.0], [0.6], [0.8]])

    monkeypatch.setattr(polynomial, "estimate_active_subspace", lambda *a, **k: Wrong)
    assert polynomial.run("2-inputs-50", 0, "full-rank")["angle"] > 60.0


# Section 5.3.2 and the figures.


def test_cells_are_the_thesis_s_functions():
    assert {(c.problem, c.dim) for c in identification.CELLS.values()} == {
        ("parabola", 2),
        ("camelback", 5),
        ("sinexp", 5),
        ("rosenbrock", 10),
    }
    assert list(surrogate.FIGURES.values()) == ["5.1", "5.2", "5.3", "5.4"]


def test_identification_tables_and_draws_what_it_measured(tmp_path):
    key = ("parabola-2-25", 0, "full-rank")
    record = {"cell": key[0], "seed": 0, "method": key[2]} | identification.run(*key)
    assert record["angle"] < 5.0
    text = identification.table([record])
    assert re.search(r"\| parabola in 2 \| +25 \| +full-rank \| +1 \| +1/1 \|", text)
    (picture,) = identification.draw([record], tmp_path)
    assert picture.stat().st_size > 10_000
    assert identification.draw([], tmp_path) == []


def test_surrogate_record_holds_its_points_and_is_drawn(tmp_path):
    record = {"cell": "parabola-1-in-2", "seed": 0, "method": "full-rank"}
    record |= surrogate.run("parabola-1-in-2", 0, "full-rank")
    real, mean = np.array(record["real"]), np.array(record["mean"])
    error = np.sqrt(np.mean((real - mean) ** 2)) / real.std()
    assert record["error"] == pytest.approx(error, rel=1e-2, abs=1e-4)
    assert error < 0.05
    assert np.shape(record["Z"]) == (len(real), 1)
    (picture,) = surrogate.draw([record], tmp_path)
    assert picture.name == "surrogate-parabola-1-in-2-full-rank.png"
    assert "| parabola-1-in-2 |    5.1 |" in surrogate.table([record])


# Feature selection.


def test_area_under_curve_is_scikit_learn_s(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    scores = np.round(rng.standard_normal(30), 1)  # with ties
    labels = np.arange(30) < 12
    expected = metrics.roc_auc_score(labels, scores)
    assert features.area_under_curve(scores, 12) == pytest.approx(expected)
    assert features.area_under_curve(np.array([2.0, 3.0, 0.0, 1.0]), 2) == 1.0


def test_copies_have_the_distribution_of_their_columns_and_not_their_order(rng):
    data = features.load_bundled("diabetes")
    X, y = features.with_copies(data, 60, rng)
    assert X.shape == (60, 20)
    np.testing.assert_array_equal(np.sort(X[:, :10], axis=0), np.sort(X[:, 10:], axis=0))
    assert not np.array_equal(X[:, :10], X[:, 10:])
    row = np.flatnonzero((data.X == X[7, :10]).all(axis=1))
    assert y[7] in data.y[row]


def test_feature_table_and_picture_come_from_the_records(tmp_path):
    areas = {"matrix weight": 0.6, "importance": 0.7, "correlation": 0.8}
    kept = dict.fromkeys(areas, 4)
    record = {"cell": "diabetes", "seed": 0, "method": "full-rank", "columns": 20, "d": 2}
    record |= {"area": areas, "kept real": kept}
    text = features.table([record])
    assert "0.700 (0.700, 0.700)" in text
    assert "4.0 of 5" in text
    (picture,) = features.draw([record], tmp_path)
    assert picture.exists()


# Equation 4.1.


def test_points_lie_inside_and_passive_terms_help_where_the_function_has_them(rng):
    problem = get_problem("exact-structure-2-in-5", 1)
    X = passive.points_inside(problem, 50, rng)
    assert X.shape == (50, 5)
    assert np.abs(X @ problem.true_basis).max() <= 1.0
    assert np.abs(X).max() > 0.9
    records = [
        {"cell": "exact-structure-2-in-5, 100", "seed": 1, "method": method}
        | passive.run("exact-structure-2-in-5, 100", 1, method)
        for method in passive.METHODS
    ]
    assert len({record["angle"] for record in records}) == 1
    alone, _, every, true = (record["log_density"] for record in records)
    assert true > max(alone, every)
    text = passive.table(records)
    assert ("1/1" if every > alone else "0/1") in text.splitlines()[-2]
    assert "1/1" in text.splitlines()[-1]


# Records and report.


def _run(cell, seed, method):
    if cell == "bad":
        raise ValueError("no such luck")
    return {"seconds": 0.0, "figure": seed}


def _study(**changes):
    def table(records):
        return f"{len(records)} records"

    return Study("toy", "A toy", "about", ("good", "bad"), ("m",), _run, table, _draw, ("good",))


def _draw(records, folder):
    return []


def test_a_study_goes_on_records_failures_and_repeats_them_when_asked(tmp_path):
    study, path = _study(), tmp_path / "s" / "toy.jsonl"
    first = run_study(study, path, range(1))
    assert (first.n_made, first.n_held, first.left) == (2, 0, ())
    before = path.read_text()
    seen = []
    second = run_study(study, path, range(2), progress=lambda *a: seen.append(a[1:]))
    assert (second.n_made, second.n_held) == (2, 2)
    assert seen == [(1, 2), (2, 2)]
    assert path.read_text().startswith(before)
    assert "no such luck" in before
    assert run_study(study, path, range(2), retry_failed=True).n_made == 2
    text, _ = study_section(study, [{"cell": "bad", "seed": 0, "method": "m"}], tmp_path)
    assert "1 records" in text


def test_failures_stand_in_the_report(tmp_path):
    error = "Traceback\nValueError: no such luck\n"
    record = {"cell": "2-inputs-50", "seed": 4, "method": "tripathy", "status": "failed"}
    text, _ = study_section(polynomial.STUDY, [record | {"error": error}], tmp_path)
    assert "1, 1 failed" in text
    assert "Failed: 2-inputs-50, tripathy, seed 4: ValueError: no such luck" in text
    text, _ = study_section(polynomial.STUDY, [], tmp_path)
    assert "Nothing on file yet" in text


def test_no_run_starts_after_the_deadline(tmp_path):
    outcome = run_study(_study(), tmp_path / "t.jsonl", range(2), deadline=time.monotonic() - 1.0)
    assert outcome.n_made == 0
    assert outcome.left == study_keys(_study(), range(2))
    assert study_keys(_study(), range(1), quick=True) == (("good", 0, "m"),)


# The command.


def test_command_runs_goes_on_and_reports(tmp_path, capsys, monkeypatch):
    quick = replace(polynomial.STUDY, methods=("full-rank",))  # Tripathy's path takes seconds
    monkeypatch.setitem(STUDIES, "polynomial", quick)
    call = ["thesis", "--quick", "--only", "polynomial,comparison", "--settings", "1,5"]
    call += ["--methods", "sobol,rembo", "--out", str(tmp_path)]
    assert main(call) == 0
    text = (tmp_path / "report.md").read_text()
    assert text in capsys.readouterr().out.split("\n\nWritten:")[0] + "\n"
    assert "the figures mean nothing" not in text
    assert "shows that the commands work, and nothing else" in text
    assert text.index("## 5.2") < text.index("## 5.3.1")
    assert "### camelback-2-in-3: 16 evaluations" in text
    assert "SwissFEL's data were never published" in text
    assert text.count("Nothing on file yet") == 3  # the other settings
    for name in ("camelback-2-in-3", "accelerator-5"):
        assert (tmp_path / f"convergence-{name}.png").exists()
    files = sorted(tmp_path.rglob("*.jsonl"))
    before = [file.read_text() for file in files]
    assert len(files) == 3
    assert main([*call, "--quiet"]) == 0
    assert [file.read_text() for file in files] == before
    assert capsys.readouterr().out == ""
    assert main([*call, "--report-only"]) == 0


def test_command_says_what_it_had_no_time_for(tmp_path, capsys):
    call = ["thesis", "--only", "features", "--time-limit", "1e-9", "--seeds", "2"]
    assert main([*call, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Incomplete: 6 runs not started in time (features 6)" in out
    assert "Nothing on file yet" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "polinomial"], "Did you mean 'polynomial'"),
        (["--only", "comparison", "--settings", "7"], "settings are numbered 1, 2, 3, 4, 5"),
        (["--only", "comparison", "--methods", "remboo"], "Did you mean 'rembo'"),
    ],
)
def test_wrong_names_are_explained(arguments, message, tmp_path, capsys):
    assert main(["thesis", *arguments, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_parts_are_ordered_and_unknown_ones_refused():
    assert part_names(("surrogate", "comparison")) == ("comparison", "surrogate")
    assert tuple(STUDIES) == PARTS[1:]
    with pytest.raises(UnknownNameError, match="no part 'x'"):
        part_names(("x",))


# The page of claims.


def test_the_pages_have_every_baseline_and_its_commands_are_understood():
    table = PAGE.split("## Every algorithm")[1] + COMPANION
    for name in baselines._OPTIMIZERS:
        assert f"| `{name}` |" in table
    commands = re.findall(r"python -m experiments (thesis[^`\n]*)", PAGE)
    assert commands
    for command in commands:
        build_parser().parse_args(shlex.split(command, comments=True))


def arena_regrets(wanted):
    """Return final regrets by method and problem, of the records that the README is made from."""
    regrets = defaultdict(list)
    with gzip.open(ARCHIVE, "rt", encoding="utf-8") as lines:
        for line in lines:
            if any(f'"problem":"{problem}"' in line for problem in wanted):
                run = json.loads(line)
                regrets[run["method"], run["problem"]].append(abs(run["y_best"] - run["optimum"]))
    return regrets


def test_figures_of_the_arena_on_the_page_are_those_of_its_records():
    problems = ("camelback-2-in-5", "camelback-2-in-10", "rosenbrock-5-in-10")
    regrets = arena_regrets(problems)
    (row,) = (line for line in PAGE.splitlines() if "competitive with the state of the art" in line)
    assert "(arena)" in row
    named = {"`boring-thesis`": "boring-thesis", "REMBO": "rembo", "plain GP": "gp"}
    for words, method in {**named, "Sobol": "sobol", "`boring`": "boring"}.items():
        found = re.search(rf"{words} (\S+) / (\S+) / ([\d.]+\d)", row)
        printed = [float(figure) for figure in found.groups()]
        medians = [np.median(regrets[method, problem]) for problem in problems]
        np.testing.assert_allclose(printed, medians, rtol=0.1)
