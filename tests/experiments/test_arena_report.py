from pathlib import Path

import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from experiments import small_multiples
from experiments.__main__ import main
from experiments.arena import records_path
from experiments.arena_report import overview_table, state_of, write_arena_report
from experiments.records import append_record
from experiments.small_multiples import STYLES, convergence_panels, method_styles

PNG = b"\x89PNG"


@pytest.fixture
def partial(make_record):
    """Two experiments, one of unknown optimum; a failed run, a missing peer, a run not made."""
    runs = [
        make_record([9.0, value + seed / 10], seed=seed, method=method)
        for method, value in (("boring", 0.5), ("gp", 0.1), ("sobol", 3.0))
        for seed in range(3)
        if (method, seed) != ("sobol", 2)
    ]
    error = "Traceback\nValueError: the grid tore\n"
    runs.append(make_record([5.0], budget=2, seed=3, status="failed", error=error))
    absent = "peer-cma: cma is not installed; to install it: x"
    runs.append(make_record([], budget=2, method="peer-cma", status="missing", error=absent))
    task = {"experiment": "rover-60", "optimum": None, "budget": 2}
    runs += [make_record([v, v - 1.0], method=m, **task) for m, v in (("boring", 4.0), ("gp", 2.0))]
    runs.append(make_record([1.0, 0.5], experiment="my-own", budget=2))
    return runs


def lines_of(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


def test_the_report_has_every_part_and_one_picture_for_each_group(partial, tmp_path):
    plan = [("ackley-20", "boring", 0), ("ackley-20", "boring", 1), ("rover-60", "boring", 0)]
    text, *pictures = write_arena_report(partial, tmp_path / "out", plan=plan)
    assert [path.name for path in pictures] == [
        "convergence-thesis.png",
        "convergence-tasks.png",
        "convergence-other.png",
    ]
    assert all(path.read_bytes().startswith(PNG) for path in pictures)
    report = text.read_text()
    for heading in ("What is not there", "Overview", "Losses of boring", "Stuck runs"):
        assert f"## {heading}" in report
    assert "- Missing: peer-cma: cma is not installed" in report
    assert "- Incomplete: ackley-20: runs not made yet: boring 2" in report
    assert "- Incomplete: camelback-2-in-5: runs not made yet: gp 1, sobol 2" in report
    assert "Failed: camelback-2-in-5, boring, seed 3, after 1 of 2" in report
    assert "the grid tore" in report
    assert "![Experiments: thesis](convergence-thesis.png)" in report
    assert "### rover-60" in report
    assert "the median is worse in 2" in report.replace("\n", " ")


def test_the_overview_marks_the_best_and_what_is_not_told_apart(partial):
    table = overview_table(partial)
    row = lines_of(table, "| rover-60 [tasks]")[0]
    assert "**1 (1)**" in row
    assert "3 (3) ?" in row
    own = lines_of(table, "| my-own [other]")[0]
    assert own.count("–") == 2
    camelback = lines_of(table, "| camelback-2-in-5 [thesis]")[0]
    assert "n=3" in camelback
    assert "n=2" in camelback


def test_a_complete_set_has_nothing_to_name(make_record):
    assert "none failed" in state_of([make_record([1.0]), make_record([1.0], method="gp")])


def test_budgets_are_not_mixed(make_record, tmp_path):
    records = [make_record([1.0]), make_record([1.0, 2.0], method="gp")]
    with pytest.raises(InvalidInputError, match="several budgets"):
        write_arena_report(records, tmp_path)


def test_only_missing_methods_make_a_report_without_pictures(make_record, tmp_path):
    absent = make_record([], budget=1, status="missing", error="boring: x")
    (text,) = write_arena_report([absent], tmp_path)
    assert "0 runs" in text.read_text()
    with pytest.raises(InvalidInputError, match="at least one run"):
        convergence_panels({"a": [absent]}, tmp_path / "x.png", reference="boring")


def test_twelve_methods_have_twelve_looks_and_the_reference_is_thick():
    methods = [f"m{index}" for index in range(12)]
    styles = method_styles(methods, "m5")
    looks = {(style["color"], str(style["linestyle"])) for style in styles.values()}
    assert len(looks) == len(STYLES) == 12
    assert styles["m5"]["color"] == STYLES[0]["color"]
    assert styles["m5"]["linewidth"] > styles["m4"]["linewidth"]


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Return the figure of some panels instead of writing it."""
    figures = []

    def keep(figure, path):
        figures.append(figure)
        return path

    def draw(groups):
        convergence_panels(groups, tmp_path / "x.png", reference="boring")
        figures[-1].canvas.draw()
        return figures[-1]

    monkeypatch.setattr(small_multiples, "save", keep)
    return draw


def test_evaluations_are_counted_in_whole_numbers(drawn, make_record):
    records = [make_record([9.0 / k for k in range(1, 23)], seed=seed) for seed in range(2)]
    ticks = drawn({"forrester-1": records}).axes[0].get_xticks()
    assert len(ticks) > 2
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_panels_say_what_is_drawn_and_the_label_fits_into_one_row(drawn, make_record):
    known = make_record([3.0, 1.0])
    task = make_record([3.0, 1.0], experiment="task", optimum=None)
    figure = drawn({"task": [task]})
    assert "(1 seed, best value)" in figure.axes[0].get_title()
    label = figure._supylabel
    assert label.get_text().startswith("best value")
    box = label.get_window_extent()
    assert 0.0 <= box.y0 < box.y1 <= figure.bbox.height
    assert drawn({"a": [known]})._supylabel.get_text().startswith("simple regret\n")
    both = drawn({"a": [known], "task": [task]})
    assert both._supylabel.get_text().startswith("simple regret, or best value")


def test_report_only_runs_nothing_and_takes_in_other_files(tmp_path, make_record, capsys):
    folder = tmp_path / "arena"
    assert main(["arena", "--report-only", "--out", str(folder)]) == 2
    assert "no records" in capsys.readouterr().err
    path = records_path(folder, "camelback-2-in-5")
    path.parent.mkdir(parents=True)
    append_record(path, make_record([2.0], seed=0))
    before = path.read_bytes()
    old = tmp_path / "old.jsonl"
    append_record(old, make_record([1.0], seed=0, method="gp"))
    command = ["arena", "--report-only", "--out", str(folder), "--records", str(old)]
    assert main(command) == 0
    report = folder / "report" / "report.md"
    assert str(report) in capsys.readouterr().out
    assert "| gp" in report.read_text()
    assert path.read_bytes() == before
    assert [p.name for p in Path(path.parent).iterdir()] == ["camelback-2-in-5.jsonl"]
    assert main([*command, "--reference", "gpp"]) == 2
    assert "Did you mean 'gp'" in capsys.readouterr().err
