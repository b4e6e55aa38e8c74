import pytest

from boring.exceptions import InvalidInputError
from experiments.standings import finals_of
from experiments.tables import format_number, markdown, results_table, summarise


@pytest.fixture
def runs(make_record):
    """Regrets at the end, by hand: boring 1, 2, 3, 4, 5; sobol 2, 2, 6, 8, 10."""
    ours = [
        make_record([5.0, final - 1.0], seed=seed) for seed, final in enumerate((1, 2, 3, 4, 5))
    ]
    others = [
        make_record(
            [5.0, final - 1.0] if final < 6 else [20.0, final - 1.0],
            seed=seed,
            method="sobol",
            basis=None,
            largest_angle_degrees=None,
            seconds_per_ask=(0.001, 0.003),
        )
        for seed, final in enumerate((2, 2, 6, 8, 10))
    ]
    return [*ours, *others]


def test_figures_against_hand_values(runs):
    boring, sobol = summarise(runs)
    assert (boring.method, boring.n_runs, boring.n_failed) == ("boring", 5, 0)
    regret = boring.simple_regret
    assert (regret.lower, regret.median, regret.upper, regret.mean) == (2.0, 3.0, 4.0, 3.0)
    assert boring.best_value.median == 2.0
    assert boring.largest_angle_degrees.median == 90.0
    assert boring.seconds_per_ask.median == pytest.approx(0.25)
    assert boring.against_reference is None
    assert sobol.simple_regret.mean == pytest.approx(5.6)
    assert sobol.largest_angle_degrees is None
    assert sobol.seconds_per_ask.median == pytest.approx(0.002)
    against = sobol.against_reference
    assert (against.wins, against.ties, against.losses) == (0, 1, 4)


def test_pairs_are_matched_by_seed_not_by_order(runs):
    shuffled = [*runs[5:][::-1], *runs[:5]]
    sobol = next(entry for entry in summarise(shuffled) if entry.method == "sobol")
    assert (sobol.against_reference.ties, sobol.against_reference.losses) == (1, 4)


def test_methods_have_a_fixed_order_whatever_finished_first(make_record):
    records = [make_record([1.0], method=name) for name in ("mine", "sobol", "gp", "boring")]
    assert [entry.method for entry in summarise(records)] == ["boring", "gp", "sobol", "mine"]


def test_the_table_shows_the_figures(runs):
    text = results_table(runs)
    row = next(line for line in text.splitlines() if line.startswith("| boring"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "boring",
        "5",
        "2",
        "3 [2, 4] 3",
        "90.0 [90.0, 90.0]",
        "0.25",
        "–",
        "–",
    ]
    assert "0:1:4 (" in text
    assert "Wins are the row's against boring" in text
    assert "boring trusts its own subspace in 0 of 5 runs." in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert max(len(line) for line in lines) <= 110
    assert len({len(line) for line in lines}) == 1


def test_a_failed_run_is_shown_with_its_reason(runs, make_record):
    failed = make_record(
        [5.0], budget=2, seed=5, status="failed", error="Traceback\nValueError: the grid tore\n"
    )
    text = results_table([*runs, failed])
    assert "6, 1 failed" in text
    assert "Failed: boring, seed 5, after 1 of 2 evaluations: ValueError: the grid tore" in text
    assert summarise([*runs, failed])[0].simple_regret.n == 6


def test_a_run_that_failed_before_any_value_counts_as_infinite(make_record):
    good = [make_record([1.0, 0.0], seed=seed) for seed in (0, 1)]
    failed = make_record([], budget=2, seed=2, status="failed", error="x")
    (summary,) = summarise([*good, failed])
    assert summary.simple_regret.median == 1.0
    assert summary.simple_regret.mean == float("inf")
    assert "inf" in results_table([*good, failed])


def test_partly_missing_angles_are_counted(make_record):
    text = results_table(
        [make_record([1.0]), make_record([1.0], seed=1, basis=None, largest_angle_degrees=None)]
    )
    assert "90.0 [90.0, 90.0] (1 of 2)" in text


def test_beating_the_optimum_is_reported(make_record):
    assert "must then be wrong: camelback" in results_table([make_record([-2.0])])


def test_unknown_optimum_compares_values(make_record):
    ours = [make_record([v], seed=i, optimum=None) for i, v in enumerate((-5.0, -4.0, -3.0))]
    others = [
        make_record([v], seed=i, optimum=None, method="gp") for i, v in enumerate((-6.0, -1.0, 0.0))
    ]
    against = summarise([*ours, *others])[1].against_reference
    assert (against.wins, against.losses) == (1, 2)
    assert summarise(ours)[0].simple_regret is None


def test_every_table_compares_values_by_the_same_test(make_record):
    """The best run is ahead by a hair: a gap of nothing must not be an infinite ratio."""
    finals = {"boring": [-9.0, *[-1.0 + 0.1 * s for s in range(7)]], "gp": [-8.999] + [-2.0] * 7}
    records = [
        make_record([value], seed=seed, method=method, optimum=None)
        for method, values in finals.items()
        for seed, value in enumerate(values)
    ]
    ends = finals_of(records)
    assert summarise(records)[1].against_reference == ends["gp"].against(ends["boring"])


def test_missing_reference_is_said(make_record):
    assert "'boring' is not among the methods" in results_table([make_record([1.0], method="gp")])


def test_one_experiment_at_a_time(make_record):
    with pytest.raises(InvalidInputError, match="one experiment"):
        summarise([make_record([1.0]), make_record([1.0], experiment="other")])


def test_markdown_aligns_and_escapes():
    assert markdown(["a", "b"], [["x|y", "10"]]) == "| a    |  b |\n|:-----|---:|\n| x\\|y | 10 |"


def test_numbers():
    assert format_number(None) == "–"
    assert format_number(123456.0) == "1.23e+05"


def test_p_values_are_corrected_for_the_number_of_comparisons(make_record):
    finals = {
        "boring": (1, 2, 3, 4, 5, 6, 7),
        "gp": (2, 4, 6, 8, 10, 12, 14),
        "sobol": (9, 8, 7, 6, 5, 7, 8),
    }
    records = [
        make_record([99.0, value - 1.0], seed=seed, method=method)
        for method, values in finals.items()
        for seed, value in enumerate(values)
    ]
    boring, gp, sobol = summarise(records)
    assert boring.verdict is None
    assert gp.verdict.p_value == pytest.approx(2 * gp.against_reference.p_value)
    assert sobol.verdict.p_value == sobol.against_reference.p_value
    assert sobol.verdict.p_value > gp.against_reference.p_value
    text = results_table(records)
    assert f"({gp.verdict.p_value:.2g})" in text
    six = results_table([record for record in records if record.seed < 6])
    assert six.count("(?)") == 2
    assert "cannot decide" in six
    assert "Holm-corrected" in text


def test_a_missing_peer_has_its_row_and_its_command(runs, make_record):
    missing = [
        make_record(
            [], seed=seed, budget=2, method="peer-cma", status="missing", error="cma: pip install x"
        )
        for seed in range(5)
    ]
    text = results_table([*runs, *missing])
    row = next(line for line in text.splitlines() if line.startswith("| peer-cma"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["peer-cma", "missing", "–", "–", "–", "–", "–", "–"]
    assert text.count("Missing: cma: pip install x") == 1
    assert "Failed" not in text
    summary = summarise([*runs, *missing])[-1]
    assert (summary.n_runs, summary.n_missing, summary.simple_regret) == (0, 5, None)


def test_runs_made_after_an_installation_count_alone(runs, make_record):
    made = make_record([5.0, 0.0], seed=0, method="peer-cma", peak_memory_mib=120.0)
    missing = make_record([], seed=1, budget=2, method="peer-cma", status="missing", error="x")
    summary = summarise([*runs, made, missing])[-1]
    assert (summary.n_runs, summary.n_missing) == (1, 1)
    assert summary.simple_regret.median == 1.0
    assert summary.peak_memory_mib.median == 120.0


def test_a_missing_reference_is_no_reference(make_record):
    absent = make_record([], budget=1, status="missing", error="x")
    other = make_record([1.0], method="gp")
    assert all(entry.against_reference is None for entry in summarise([absent, other]))
