"""The report: what it says, and that it says only what is there."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import baselines  # noqa: F401 (registers random and sobol)
from boring.parameters import Categorical, ParameterSpace, Real
from boring.parameters.report import describe_subspace
from boring.report import html_report
from boring.report._prose import findings
from boring.report._source import Source
from boring.study import Study
from boring.study._findings import _unknown_of_subspace, directions_of, importances_of
from boring.study.cli import main
from boring.study.report import (
    DirectionReport,
    ImportanceReport,
    OutlookReport,
    RestReport,
    StudyReport,
    make_report,
)
from boring.subspace.dimension import DimensionRow

SPACE = {"gain": (0.0, 4.0), "offset": (-1.0, 1.0), "idle": (10.0, 20.0)}


@pytest.fixture(scope="module")
def study():
    study = Study(SPACE, direction="minimize", seed=0, n_initial=30)
    for i, suggestion in enumerate(study.ask(30)):
        parameters = suggestion.parameters
        if i % 10 == 9:
            study.tell_failed(suggestion.number, "lamp broke")
        else:
            z = parameters["gain"] / 2.0 - 1.0 + parameters["offset"]
            study.tell(suggestion.number, z**2)
    study.ask()
    return study


@pytest.fixture(scope="module")
def report(study):
    return study.report()


def test_numbers_of_a_narrow_range_have_the_digits_that_tell_them_apart():
    study = Study(
        [Real("frequency", 499.654e6, 499.6545e6, unit="Hz"), Real("gain", 0.0, 1.0)],
        direction="minimize",
        optimizer="random",
        seed=0,
    )
    for suggestion in study.ask(12):
        share = (suggestion.parameters["frequency"] - 499.654e6) / 500.0
        study.tell(suggestion, -76.41 + 1e-3 * share**2)
    words = str(make_report(study, with_subspace=False))
    value, frequency, gain = re.findall(r"(?:Best value|frequency =|gain =) ([-\d.]+)", words)
    best = study.best
    assert float(value) == pytest.approx(best["value"], abs=1e-3 * 1e-4)
    assert float(frequency) == pytest.approx(best["parameters"]["frequency"], abs=500.0 * 1e-4)
    assert gain == f"{best['parameters']['gain']:.6g}"


def test_the_report_has_the_figures_of_the_study(study, report):
    assert report.best == study.best
    assert (report.n_told, report.n_failed, report.n_outstanding) == (30, 3, 1)
    assert report.failures == {"lamp broke": 3}
    assert report.effective_dim == 1
    (direction,) = report.directions
    weights = np.array([direction.loadings[name] for name in ("gain", "offset")])
    np.testing.assert_allclose(np.abs(weights), np.sqrt(0.5), atol=0.02)
    assert weights[0] * weights[1] > 0
    assert "idle" not in direction.loadings
    scores = {row.parameter: row for row in report.importances}
    assert sum(row.importance for row in report.importances) == pytest.approx(1.0)
    assert scores["gain"].low <= 0.5 <= scores["gain"].high
    assert report.outlook.n_recent == 10
    assert report.outlook.expected_improvement >= 0.0


def test_the_text_says_it_in_words(report):
    text = str(report)
    for words in (
        "30 evaluations by boring; wanted: the smallest value. Failed: 3.",
        "without a value yet: 1",
        "lamp broke (3)",
        "Best value ",
        "  offset = ",
        "1 direction decides",
        "Importance of the parameters",
        "Outlook: ",
    ):
        assert words in text


def test_the_report_is_json(report):
    values = json.loads(json.dumps(report.to_dict()))
    assert values["directions"][0]["loadings"].keys() == report.directions[0].loadings.keys()


def test_a_study_without_values_says_why_there_is_nothing():
    text = str(Study(SPACE, direction="maximize", seed=0).report())
    assert "no best value yet" in text
    assert "Active subspace: none. There are no two different values" in text
    assert "the largest value" in text


def test_an_optimiser_that_learns_no_subspace_is_named():
    study = Study(SPACE, direction="minimize", seed=0, optimizer="sobol")
    for suggestion in study.ask(8):
        study.tell(suggestion.number, suggestion.parameters["gain"])
    report = study.report()
    assert report.why_no_subspace == "The optimiser 'sobol' learns none."
    assert report.outlook.expected_improvement is not None


@pytest.mark.usefixtures("quick_subspaces")
def test_infeasible_points_are_not_best_and_are_counted():
    study = Study(SPACE, direction="minimize", seed=0, n_initial=20, n_constraints=1)
    for suggestion in study.ask(8):
        study.tell(suggestion.number, suggestion.parameters["gain"], [1.0])
    report = study.report()
    assert report.best is None
    assert report.n_infeasible == 8
    assert "More than half of the evaluations broke a constraint." in report.unknown
    assert "no evaluation succeeded within the constraints." in str(report)
    study.tell_failed(study.ask()[0], "no beam")
    assert (
        "More than half of the evaluations failed or broke a constraint." in study.report().unknown
    )


def test_without_constraints_nothing_is_said_of_them(tmp_path, capsys):
    with Study(SPACE, direction="minimize", seed=0, path=tmp_path / "a.jsonl") as study:
        for suggestion in study.ask(3):
            study.tell_failed(suggestion, "no beam")
        report = study.report()
        page = html_report(study)
        study.tell(study.ask()[0], 1.0)
        later = html_report(study)
    assert report.unknown == ("More than half of the evaluations failed.",)
    assert main(["best", str(tmp_path / "a.jsonl")]) == 0
    for text in (str(report), page, later):
        assert "constraint" not in re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL)
    Study(SPACE, direction="minimize", path=tmp_path / "b.jsonl").close()
    assert main(["best", str(tmp_path / "b.jsonl")]) == 4
    assert "constraint" not in capsys.readouterr().err


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_values_whose_squares_are_no_floats_have_a_spread(size):
    study = Study(SPACE, direction="maximize", seed=0, n_initial=12)
    for suggestion in study.ask(12):
        study.tell(suggestion, size * (suggestion.parameters["gain"] - 2.0))
    report = study.report()
    assert 0.1 * size < report.outlook.spread < 10.0 * size
    assert report.rest is None or np.isfinite(report.rest.std)
    assert "inf" not in str(report)


def test_units_and_doubts_are_in_the_text():
    report = StudyReport(
        direction="minimize",
        optimizer="boring",
        n_told=1,
        n_failed=0,
        n_infeasible=2,
        n_outstanding=0,
        failures={},
        best={"parameters": {"gain": 1.5, "kind": "b"}, "value": 2.0, "number": 0},
        units={"gain": "dB"},
        directions=(DirectionReport({"gain": 1.0}, 2.0), DirectionReport({"kind": -1.0}, 1.0)),
        effective_dim=2,
        subspace_trusted=False,
        why_no_subspace="Too few.",
        importances=(ImportanceReport("gain", 1.0, None, None),),
        noise_std=None,
        unknown=("The number of directions is uncertain.",),
        outlook=OutlookReport(0.5, 0.25, 1, 2.0),
    )
    text = str(report)
    assert "gain = 1.5 dB" in text
    assert "kind = b" in text
    assert "Against a constraint: 2." in text
    assert "NOT to be trusted yet; as a guess, 2 directions decide.\nToo few." in text
    assert "direction 2" not in text
    assert "interval), a guess as the subspace is:" in text
    trusted = str(replace(report, subspace_trusted=True, why_no_subspace=None))
    assert "2 directions decide, it can be trusted." in trusted
    assert "direction 2: -1.00 kind" in trusted
    assert "- The number of directions is uncertain." in text
    assert "The last 1 evaluation improved the best value by 0.25." in text
    assert "Outlook" not in str(replace(report, outlook=OutlookReport(None, None, 10, None)))


def test_where_values_are_noisy_the_best_on_average_is_named_beside_the_luckiest(monkeypatch):
    study = Study(SPACE, direction="maximize", seed=0, n_initial=20)
    for suggestion in study.ask(8):
        study.tell(suggestion, suggestion.parameters["gain"])
    plain = make_report(study, with_subspace=False)
    assert plain.best_by_mean is None
    cells = {name: study.rows()[3][name] for name in study.space.names}
    found = {"parameters": cells, "mean": 12.3456, "sd": 0.0567}
    monkeypatch.setattr(Study, "best_by_mean", found)
    noisy = make_report(study, with_subspace=False)
    assert noisy.to_dict()["best_by_mean"] == found
    for report in (plain, noisy):
        for text in (str(report), findings(Source(study, report, None, None, "value"))):
            named = "is 12.35 (standard deviation 0.057), with gain = " in text
            assert named is (report is noisy)


def test_what_is_not_trusted_is_a_guess_without_figures(make):
    estimate = replace(make.estimate(8, 2)[0], trusted=False, trust={"overlap": 0.2})
    space = ParameterSpace([Real(f"p{i}", 0.0, 1.0) for i in range(8)])
    described = describe_subspace(estimate, space)
    assert described.text.startswith("The data do not vouch for this subspace")
    assert described.exchanges == ((), ())
    assert "does what" not in described.text
    report = replace(
        Study(space, direction="minimize", seed=0).report(),
        directions=directions_of(space, estimate),
        effective_dim=2,
        importances=importances_of(space, estimate),
        why_no_subspace="Too few.",
    )
    sentence = str(report).split("\n\n")[2]
    assert sentence.startswith("Active subspace: NOT to be trusted yet; as a guess, 2 directions")
    assert f"made mostly of {report.importances[0].parameter}, " in sentence
    assert sentence.endswith(" others.\nToo few.")
    assert "does what" not in str(report)


@pytest.mark.parametrize(("difference", "doubts"), [(2.9, 1), (3.1, 0)])
def test_evidence_beyond_three_nats_settles_the_number_of_directions(make, difference, doubts):
    estimate = make.estimate(4, 1)[0]
    rows = tuple(DimensionRow(d, False, 3, 0.0, difference * (d - 1)) for d in (1, 2))
    lines = _unknown_of_subspace(replace(estimate, dimension_table=rows))
    assert sum("number of directions is uncertain" in line for line in lines) == doubts


def test_noise_is_reported_where_there_is_some():
    study = Study({"a": (-1.0, 1.0)}, direction="minimize", seed=0, n_initial=60)
    rng = np.random.default_rng(0)
    for suggestion in study.ask(60):
        study.tell(suggestion.number, suggestion.parameters["a"] + rng.normal(0.0, 0.3))
    report = make_report(study)
    assert report.noise_std == pytest.approx(0.3, rel=0.3)
    assert any("Repeat it" in line for line in report.unknown)
    assert report.why_no_subspace == "There is one parameter alone."


def test_of_many_parameters_those_that_matter_are_named_and_the_rest_is_summed():
    rng = np.random.default_rng(0)
    names = ["gain", "phase", "tilt", "offset", *(f"knob {i}" for i in range(10))]
    space = [Real(name, 0.0, 10.0, unit="V" if "knob" in name else "dB") for name in names]
    study = Study(space, direction="minimize", seed=0, n_initial=90, effective_dim=2)
    for suggestion in study.ask(90):
        u = {name: value / 5.0 - 1.0 for name, value in suggestion.parameters.items()}
        first, second = u["gain"] - u["phase"], u["tilt"] + u["offset"]
        noise = 0.02 * rng.standard_normal()
        study.tell(suggestion.number, first**2 + 1.5 * np.sin(second) + noise)
    report = study.report()
    assert {frozenset(direction.parameters) for direction in report.directions} == {
        frozenset({"gain", "phase"}),
        frozenset({"tilt", "offset"}),
    }
    assert report.rest.parameters == tuple(names[4:])
    assert report.rest.std < 0.5 * report.outlook.spread, "nothing in truth"
    text = str(report)
    assert "act together" in text
    assert "+1 dB of gain does what -" in text or "+1 dB of phase does what -" in text
    assert "The other 10 parameters together change the result by about" in text
    assert "and 10 others, which `best` of the study has." in text
    assert "10 others, together" in text
    assert "knob" not in text


def test_few_values_do_not_tell_axes_from_chance_and_what_is_left_out_is_summed():
    space = {str(i): (0.0, 1.0) for i in range(300)}
    study = Study(space, direction="maximize", seed=0, n_initial=20, effective_dim=4)
    for suggestion in study.ask(20):
        study.tell(suggestion.number, -((suggestion.parameters["0"] - 0.3) ** 2))
    report = study.report()
    assert report.subspace_trusted is False
    text = str(report)
    assert "It takes 46 values to tell 4 of 300 axes from chance" in text
    assert re.search(r"2\d\d others, together \S+, each 0\.\d\d at most", text)


def test_the_rest_is_held_against_the_noise_or_the_spread():
    report = Study(SPACE, direction="maximize", seed=0).report()
    outlook = OutlookReport(None, 0.0, 5, 2.0)
    direction = DirectionReport({"gain": 1.0}, 1.0, ("gain",))
    known = replace(
        report,
        directions=(direction,),
        effective_dim=1,
        subspace_trusted=True,
        why_no_subspace=None,
        outlook=outlook,
        rest=RestReport(("offset",), 0.01),
    )
    assert "direction 1: gain alone, +1.00 gain" in str(known)
    assert "The other one changes the result by about 0.01" in str(known)
    assert "all values so far have one of 2." in str(known)
    assert "less than the noise of one evaluation, 0.5" in str(replace(known, noise_std=0.5))
    assert "The last 5 evaluations did not improve the best value." in str(known)


@pytest.mark.usefixtures("quick_subspaces")
def test_names_with_line_ends_and_tabs_leave_the_tables_in_one_line_each():
    study = Study({"ga\nin": (0.0, 1.0), "b\tc": (0.0, 1.0)}, direction="minimize", seed=0)
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(0.0, 1.0, (20, 2)):
        study.tell({"ga\nin": a, "b\tc": b}, (a + b) ** 2)
    text = str(study.report())
    assert "\t" not in text
    assert "  ga in = " in text
    assert re.search(r"\n  ga in +\d", text)
    assert re.search(r"\n  b c   +\d", text)


def test_line_ends_in_units_choices_and_reasons_end_no_line_and_join_no_others():
    space = [Real("a", 0.0, 1.0, unit="\n"), Categorical("k", ["x\ny", "z"])]
    study = Study(space, direction="minimize", seed=0)
    study.tell({"a": 0.25, "k": "x\ny"}, 1.0)
    study.tell_failed({"a": 0.5, "k": "z"}, "first line\nsecond line")
    lines = str(study.report()).split("\n")
    assert lines[1] == "Reasons of failure: first line second line (1)."
    assert lines[2:7] == ["", "Best value 1, with", "  a = 0.25  ", "  k = x y", ""]
