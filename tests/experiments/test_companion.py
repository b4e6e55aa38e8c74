"""The experiments of the companion papers: problems, methods, tables, command."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.registry import get_optimizer
from boring.rng import keyed_generator
from experiments.__main__ import build_parser, main
from experiments.companion import ratio, regression, seconds
from experiments.companion.fits import central_region, draw_fits
from experiments.companion.groups import group_tables
from experiments.companion.methods import registered, usable
from experiments.companion.runs import RUNS, get_run
from experiments.companion.tables import (
    against_random_table,
    learned,
    observed_table,
    subspace_table,
)
from experiments.lines import read_cells
from synthetic import get_problem

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "companion-papers.md").read_text(encoding="utf-8")


# What there is.


def test_every_companion_method_is_found_and_nothing_else():
    names = set(registered())
    assert {"kde", "elm", "bore-mlp", "conditional-map", "goal-seeking", "rvfl-bayesian"} <= names
    assert not {"gp", "random", "boring", "tripathy"} & names


def test_initial_points_are_the_same_for_every_method():
    designs = [
        get_optimizer(name)([(-1, 1)] * 2, direction="minimize", seed=3, n_initial=5).ask(5)
        for name in registered()
    ]
    assert len(designs) >= 20
    for design in designs:
        np.testing.assert_array_equal(design, designs[0])


def test_what_is_not_registered_is_left_out_with_its_reason_or_refused():
    wanted = ("gp", "no-such", "elm[wings=2]", learned("elm"))
    chosen, reasons = usable(wanted)
    assert chosen == ("gp", "elm[subspace=learned]")
    assert reasons["no-such"] == "not registered"
    assert "wings" in reasons["elm[wings=2]"]
    with pytest.raises(UnknownNameError):
        usable(("no-such",), forgiving=False)
    with pytest.raises(InvalidInputError):
        usable(("elm[skip]",), forgiving=False)


@pytest.mark.parametrize("name", RUNS)
def test_runs_are_of_one_piece(name):
    run = get_run(name)
    chosen, _ = usable(run.methods())
    assert chosen
    names = [experiment.name for experiment in run.experiments]
    assert len(set(names)) == len(names)
    assert set(run.quick) <= set(names)
    assert bool(run.quick) == bool(names)
    for study in run.studies(chosen):
        assert study.quick
        assert set(study.quick) <= set(study.cells)


def test_problems_have_the_protocol_of_the_papers():
    pytest.importorskip("ioh")
    boxes = {e.name: e for run in RUNS.values() for e in run.experiments}
    assert boxes["bbob-f3-5"].problem(3).name == "bbob-f3-5"
    trial = boxes["bbob-f21-3-trials"]
    assert (trial.budget, trial.n_initial) == (100, 2)
    assert [trial.problem(seed).name for seed in (0, 1)] == ["bbob-f21-3", "bbob-f21-i2-3"]
    assert boxes["levy-wide-5"].problem(0).space.lower[0] == -15.0
    assert len(get_run("bbob").experiments) == 96
    assert len(get_run("random-features").methods()) == 3 + 16


# Aryan 2020, tables 4.2 to 4.5: regret of random search after 200 evaluations, mean of 30 runs.
RANDOM_SEARCH = {
    "bohachevsky-2": 96.8,
    "branin-2": 0.228,
    "camelback-wide-2": 0.0918,
    "goldstein-price-2": 12.6,
    "hartmann3-3": 0.149,
    "hartmann6-6": 1.01,
    "levy-wide-10": 43.4,
    "levy-wide-2": 0.207,
    "levy-wide-5": 7.90,
    "rosenbrock-2": 3.05,
    "rosenbrock-5": 3050.0,
    "sine-product-2": 0.00747,
}


@pytest.mark.parametrize("name", RANDOM_SEARCH)
def test_random_search_has_the_published_regret(name):
    problem = get_problem(name)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (400 * 200, problem.dim))
    best = problem(problem.space.unscale(X)).reshape(400, 200).min(axis=1)
    regret = best - problem.optimum
    error = regret.std() * np.sqrt(1 / 30 + 1 / 400)
    assert abs(regret.mean() - RANDOM_SEARCH[name]) < 2.0 * error


# Regression.


def test_baseline_has_the_anchors_of_the_specification():
    # Expected mean relative error and density over draws: T1 .302 at n = 36, T2 .330 at n = 10.
    found = [regression.run_function("smooth-t1-1, 36", s, regression.BASELINE) for s in range(5)]
    assert np.mean([r["relative_error"] for r in found]) == pytest.approx(0.302, abs=0.02)
    assert np.mean([r["density"] for r in found]) == pytest.approx(0.0064, abs=0.0005)
    steps = regression.run_function("steps-t2-1, 316", 0, regression.BASELINE)
    assert steps["relative_error"] == pytest.approx(0.325, abs=0.02)
    branches = regression.run_function("branches-t3-1, 316", 0, regression.BASELINE)
    assert branches["relative_error"] == pytest.approx(0.533, abs=0.03)
    # T4 at n = 316: .131 and .0092.
    found = [
        regression.run_function("anisotropic-t4-1, 316", s, regression.BASELINE) for s in (0, 1)
    ]
    assert np.mean([r["relative_error"] for r in found]) == pytest.approx(0.131, abs=0.006)
    assert np.mean([r["density"] for r in found]) == pytest.approx(0.0092, abs=0.0003)


def test_process_learns_t1_and_the_density_is_in_units_of_y():
    record = regression.run_function("smooth-t1-1, 23", 0, "gp")
    assert record["relative_error"] < 0.1
    assert record["density"] > 0.02
    y = np.random.default_rng(0).standard_normal(4000)
    X = np.zeros((4000, 1))
    unit = regression.predict(regression.BASELINE, X, y, X, 0)
    logs = -0.5 * ((unit.mean - y) ** 2 / unit.variance + np.log(2.0 * np.pi * unit.variance))
    assert np.exp(np.mean(logs)) == pytest.approx(np.exp(-0.5 - 0.5 * np.log(2 * np.pi)), rel=0.02)


def test_error_and_density_by_hand(monkeypatch):
    def halves(method, X, y, X_test, seed):
        n = len(X_test)
        return regression.Prediction(np.full(n, 100.0), np.full(n, 400.0), {})

    monkeypatch.setattr(regression, "predict", halves)
    monkeypatch.setattr(regression, "N_TEST", 3)
    found = regression.run_function("smooth-t1-1, 10", 0, "gp")
    Z = keyed_generator(0, "companion", "smooth-t1-1", "test").uniform(-1.0, 1.0, (3, 1))
    x = 100.0 * Z[:, 0]
    y = x * np.sin(np.pi * x / 50.0) + 150.0 + x / 10.0 + np.sin(x)
    assert found["relative_error"] == pytest.approx(sum(abs(100.0 - y) / y) / 3)
    logs = -((y - 100.0) ** 2) / 800.0 - np.log(20.0 * np.sqrt(2.0 * np.pi))
    assert found["density"] == pytest.approx(np.exp(sum(logs) / 3))


def test_the_fit_to_36_points_is_kept_in_raw_units_and_drawn(tmp_path):
    record = regression.run_function("smooth-t1-1, 36", 0, "gp")
    fit = record["fit"]
    grid, mean, truth = (np.array(fit[key]) for key in ("grid", "mean", "values"))
    assert len(fit["x"]) == len(fit["y"]) == 36
    assert np.all(np.diff(grid) > 0)
    assert grid[0] < -95.0 < 95.0 < grid[-1]
    exact = grid * np.sin(np.pi * grid / 50.0) + 150.0 + grid / 10.0 + np.sin(grid)
    np.testing.assert_allclose(truth, exact, rtol=1e-4)
    assert np.mean(np.abs(mean - truth) / truth) == pytest.approx(record["relative_error"], rel=0.3)
    inside = (np.array(fit["low"]) <= truth) & (truth <= np.array(fit["high"]))
    assert 0.8 < inside.mean() < 1.0
    assert "fit" not in regression.run_function("smooth-t1-1, 10", 0, regression.BASELINE)
    made = {"cell": "smooth-t1-1, 36", "seed": 0, "method": "gp"} | record
    (picture,) = draw_fits([made], tmp_path)
    assert picture.stat().st_size > 10_000
    assert draw_fits([], tmp_path) == []


def test_the_region_of_a_density_is_between_its_quantiles():
    y = np.random.default_rng(0).normal(5.0, 2.0, 30)
    means = np.array([4.0, 5.0, 7.0])

    def two_normals(values):  # weights .9 and .1, the second above
        low = np.log(0.9) + norm.logpdf(values, means, 0.5)
        return np.logaddexp(low, np.log(0.1) + norm.logpdf(values, means + 3.0, 0.1))

    low, high = central_region(two_normals, 3, y)
    np.testing.assert_allclose(low, norm.ppf(0.025 / 0.9, means, 0.5), atol=0.01)
    np.testing.assert_allclose(high, norm.ppf(0.75, means + 3.0, 0.1), atol=0.01)
    record = regression.run_function("branches-t3-1, 36", 0, "kde")["fit"]
    truth, low, high = (np.array(record[key]) for key in ("values", "low", "high"))
    assert 0.8 < np.mean((low <= truth) & (truth <= high)) < 1.0


def test_the_report_says_how_many_seeds_stand_behind_its_medians():
    made = [
        {"cell": cell, "seed": seed, "method": "gp", "relative_error": 0.1, "density": 1.0}
        for cell, seeds in (("smooth-t1-1, 10", 3), ("smooth-t1-1, 15", 2))
        for seed in range(seeds)
    ]
    assert regression.functions_table(made).endswith("Medians over 2 to 3 seeds.")


def test_a_mixture_is_scored_by_its_own_density():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (40, 1))
    y = 100.0 + np.where(rng.random(40) < 0.5, 10.0, -10.0)  # two branches
    prediction = regression.predict("kde", X, y, X, 0)
    exact = prediction.log_density(y).mean()
    squares = (prediction.mean - y) ** 2 / prediction.variance
    normal = -0.5 * (squares + np.log(2.0 * np.pi * prediction.variance)).mean()
    assert exact > normal + 0.3
    wide = regression.predict("kde", X, 1000.0 * y, X, 0)
    assert wide.log_density(1000.0 * y).mean() == pytest.approx(exact - np.log(1000.0), abs=1e-6)


def test_a_variant_has_a_surrogate_with_its_options():
    X = np.linspace(-1.0, 1.0, 30)[:, None]
    y = np.sin(3.0 * X[:, 0])
    grid = np.linspace(-0.95, 0.95, 50)[:, None]
    few, usual = (
        regression.predict(method, X, y, grid, 0).mean
        for method in ("elm[n_hidden=2,n_members=20]", "elm")
    )
    truth = np.sin(3.0 * grid[:, 0])
    assert np.abs(usual - truth).max() < 0.1 < np.abs(few - truth).max()


@pytest.mark.parametrize(
    ("method", "share"),  # of the variance of the values
    [
        ("bnn-vi[n_members=10,n_steps=5,noise_sd=0.3]", 0.09),
        ("rvfl-bayesian[noise_precision=20]", 0.05),
        ("rvfl-ensemble[noise_precision=20]", 0.05),
    ],
)
def test_networks_are_scored_with_their_noise(method, share):
    pytest.importorskip("optax")
    X = np.linspace(-1.0, 1.0, 12)[:, None]
    y = 5.0 * X[:, 0]
    noisy, function = (
        regression.predict(method, X, y, X, 0, noise=noise).variance for noise in (True, False)
    )
    np.testing.assert_allclose(noisy - function, share * y.var(), rtol=1e-6)


def test_methods_without_such_a_surrogate_are_refused():
    X = np.linspace(-1.0, 1.0, 8)[:, None]
    with pytest.raises(InvalidInputError, match="no surrogate that predicts"):
        regression.predict("tpe", X, X[:, 0], X, 0)


def test_waves_are_fitted_tabled_and_drawn(tmp_path):
    study = regression.waves_study((20,), ("gp",))
    (cell,) = study.cells
    record = {"cell": cell, "seed": 0, "method": "gp"} | study.run(cell, 0, "gp")
    assert record["training_error"] < 0.3
    assert record["far"] > record["near"]
    assert "two-waves-1, 20: gp" in study.table([record])
    assert [path.name for path in study.draw([record], tmp_path)] == ["waves.png"]


# Density ratios.


def test_exact_ratio_is_bounded_and_its_study_draws_what_it_measured(tmp_path):
    values = ratio.exact_ratio(ratio.GRID)
    assert 1.5 < values.max() < 2.0  # at most one over the share of good points
    assert ratio.GRID[values.argmax()] == pytest.approx(-3.2, abs=0.3)
    assert values[np.isclose(ratio.GRID, 0.0)][0] < 0.2
    study = ratio.ratio_study(("kde-ratio", "bore-svm"))
    made = [
        {"cell": "200", "seed": 0, "method": method} | study.run("200", 0, method)
        for method in study.methods
    ]
    assert all(record["order"] > 0.3 and record["mode_error"] < 2.0 for record in made)
    assert "| 200: bore-svm " in study.table(made)
    assert study.draw(made, tmp_path)[0].exists()
    with pytest.raises(InvalidInputError, match="no score"):
        study.run("30", 0, "kde")


# Tables.


def runs(make_record, experiment, method, finals, **changes):
    return [
        make_record(
            [9.0, 9.0, 5.0 + final, final],
            experiment=experiment,
            method=method,
            seed=seed,
            optimum=0.0,
            **changes,
        )
        for seed, final in enumerate(finals)
    ]


def test_table_against_random_search_has_a_verdict_at_each_count(make_record):
    chance = runs(make_record, "branin-2", "random", [1.0] * 8)
    good = runs(make_record, "branin-2", "good", np.linspace(0.1, 0.2, 8))
    bad = runs(make_record, "branin-2", "bad", [2.0] * 8)
    text = against_random_table([*chance, *good, *bad], (3, 4))
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line[:1] == "|"}
    assert re.search(r"0.15 \| +8:0:0 \| 0.0078 \| +yes", rows["good"])
    assert re.search(r" 2 \| +0:0:8 \| .* no \|", rows["bad"])
    assert rows["good"].index("5.15") < rows["good"].index("0.15 ")


def test_subspaces_are_compared_in_pairs(make_record):
    raw = runs(make_record, "b", "elm", [1.0] * 6)
    hidden = runs(make_record, "b", learned("elm"), [0.1, 0.2, 0.3, 0.4, 1.0, 5.0])
    lonely = runs(make_record, "b", "gp", [1.0] * 6)
    text = subspace_table([*raw, *hidden, *lonely])
    assert re.search(r"\| elm +\| +6 \| +1 \| +0.35 \| +4:1:1 \|", text)
    assert "gp" not in text


def test_lucky_observations_stand_beside_what_could_be_observed(make_record):
    record = replace(make_record([3.0, 2.0]), experiment="t3", y=(3.0, 7.0), y_best=2.0)
    assert re.search(r"\| boring \| +3 \| +2 \|", observed_table([record]))


def test_functions_are_grouped_by_kind_and_dimension(make_record):
    records = [
        *runs(make_record, "bbob-f1-2-trials", "gp", [1.0, 2.0]),
        *runs(make_record, "bbob-f21-5-trials", "gp", [1.0, 2.0]),
    ]
    titles = re.findall(r"### (.*)", group_tables(records))
    assert titles[:2] == ["2 variables", "5 variables"]
    assert [title.split(":")[0] for title in titles[2:]] == ["f1 to f5", "f20 to f24", "All"]


def test_seconds_keep_the_first_suggestion_apart():
    record = {"cell": "20", "seed": 0, "method": "random"} | seconds.run("20", 0, "random")
    assert len(record["later"]) == seconds.REPEATS
    assert seconds.run("20", 0, "elm[n_hidden=2]")["later"]
    made = [
        {"cell": n, "seed": 0, "method": m, "first": 9.0, "later": [t, 2 * t], "seconds": t}
        for n in ("20", "100")
        for m, t in (("gp", 0.5), ("slow", 2.0))
    ]
    text = seconds.seconds_table(made)
    assert re.search(r"\| slow +\| +2 \| +2 \| +7 \| +2 \| +4 \|", text)
    assert text.index("| gp ") < text.index("| slow ")


# The command.


def test_command_runs_goes_on_and_reports(tmp_path, capsys):
    call = ["companion", "density-ratio", "--quick", "--seeds", "2", "--methods", "random,tpe"]
    call += ["--out", str(tmp_path)]
    assert main(call) == 0
    folder = tmp_path / "density-ratio"
    text = (folder / "report.md").read_text()
    assert text.strip() in capsys.readouterr().out
    assert "shows that the command works, and nothing else" in text
    assert "| tpe " in text
    assert (folder / "convergence-1.png").stat().st_size > 10_000
    lines = (folder / "records" / "branin-2.jsonl").read_text()
    assert lines.count("\n") == 4
    assert main([*call, "--quiet"]) == 0
    assert (folder / "records" / "branin-2.jsonl").read_text() == lines
    assert main([*call, "--report-only"]) == 0


def test_command_runs_a_study_and_says_what_it_left_out(tmp_path, capsys, monkeypatch):
    wanted = replace(get_run("mixtures-regression"), methods=lambda: ("gp", "no-such"))
    monkeypatch.setitem(RUNS, "mixtures-regression", wanted)
    call = ["companion", "mixtures-regression", "--quick", "--seeds", "1", "--out", str(tmp_path)]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "Left out: `no-such`: not registered." in out
    assert "smooth-t1-1: mean relative error (MRE)" in out
    assert "Medians over 1 seed." in out
    pictures = {path.name for path in (tmp_path / "mixtures-regression").glob("*.png")}
    assert pictures == {"regression-relative_error.png", "regression-density.png", "fits.png"}


def test_a_pattern_chooses_what_is_run_and_the_report_is_of_all_on_file(tmp_path, capsys):
    call = ["companion", "mixtures-regression", "--seeds", "1", "--methods", "gp", "--quiet"]
    call += ["--out", str(tmp_path)]
    assert main([*call, "--only", "smooth-t1-1, 1?", "--only", "*-t3-1, 10"]) == 0
    assert main([*call, "--only", "smooth-t1-1, 23"]) == 0
    held = read_cells(tmp_path / "mixtures-regression" / "studies" / "functions.jsonl")
    assert {record["cell"] for record in held.values()} == {
        "smooth-t1-1, 10",
        "smooth-t1-1, 15",
        "smooth-t1-1, 23",
        "branches-t3-1, 10",
    }
    report = (tmp_path / "mixtures-regression" / "report.md").read_text()
    assert "branches-t3-1: mean relative error" in report
    call = ["companion", "bnn", "--quick", "--methods", "random", "--out", str(tmp_path), "--quiet"]
    assert main([*call, "--only", "forrester*"]) == 0
    assert [path.stem for path in (tmp_path / "bnn" / "records").iterdir()] == ["forrester-1"]
    assert main([*call, "--only", "forester*"]) == 2
    assert "there is none such in the quick version" in capsys.readouterr().err
    assert main([*call, "--only", "branin-2"]) == 2


def test_wrong_names_are_explained(tmp_path, capsys):
    assert main(["companion", "mixture-bo", "--out", str(tmp_path)]) == 2
    assert "Did you mean 'mixtures-bo'" in capsys.readouterr().err


def test_page_names_every_run_and_its_commands_are_understood():
    section = PAGE.split("## Run it again")[1]
    for name in RUNS:
        assert f"| `{name}` |" in section
    commands = re.findall(r"python -m experiments (companion[^`\n]*)", section)
    assert commands
    for command in commands:
        build_parser().parse_args(shlex.split(command, comments=True))
