import numpy as np
import pytest

from experiments.accounts_table import accounts_table, summarise_accounts
from experiments.arena_report import loss_report, overview_table
from experiments.standings import (
    finals_of,
    losses_of,
    order_methods,
    standings_against,
    stuck_share,
    tied_with_best,
)
from experiments.tables import results_table

SEEDS = range(8)


@pytest.fixture
def ends(make_record):
    """Records of one experiment whose runs end at given regrets, by method."""

    def make(finals, experiment="camelback-2-in-5", **changes):
        return [
            make_record([99.0, value - 1.0], seed=seed, method=m, experiment=experiment, **changes)
            for m, values in finals.items()
            for seed, value in enumerate(values)
        ]

    return make


@pytest.fixture
def mixed(ends):
    """Boring beats gp and sobol in one experiment, and loses to gp in the other."""
    first = {
        "boring": [1.0 + 0.01 * s for s in SEEDS],
        "gp": [2.0 + 0.01 * s for s in SEEDS],
        "sobol": [10.0] * 8,
    }
    second = {
        "boring": [10.0 + s for s in SEEDS],
        "gp": [0.1 + 0.01 * s for s in SEEDS],
        "sobol": [20.0] * 8,
    }
    return [*ends(first), *ends(second, "ackley-20")]


def test_methods_have_a_fixed_order():
    names = ["zeta", "peer-tpe", "gp", "boring[b=1]", "peer-cma", "boring[a=1]", "boring", "alpha"]
    assert order_methods(reversed(names)) == (
        "boring",
        "boring[a=1]",
        "boring[b=1]",
        "gp",
        "peer-cma",
        "peer-tpe",
        "alpha",
        "zeta",
    )


def test_best_and_tied_by_hand(ends):
    records = ends(
        {
            "boring": [1.0 + 0.1 * s for s in SEEDS],
            "gp": [(1.0 + 0.1 * s) * (2.0 if s % 2 else 0.52) for s in SEEDS],
            "sobol": [10.0 + s for s in SEEDS],
            "rembo": [0.001],
        }
    )
    finals = finals_of(records)
    best, tied, undecided = tied_with_best(finals)
    assert best in {"boring", "gp"}  # rembo has one seed only, and cannot be the best
    assert tied == {"boring", "gp"} - {best}
    assert undecided == {"rembo"}
    assert tied_with_best({}) == (None, frozenset(), frozenset())


def test_few_seeds_tell_nothing_apart(ends):
    finals = finals_of(ends({"boring": [1.0, 2.0, 3.0], "sobol": [10.0, 20.0, 30.0]}))
    assert tied_with_best(finals) == ("boring", set(), {"sobol"})


def test_what_no_test_could_decide_is_counted_apart(ends):
    """Six seeds of two rivals: won 6 to 0, and p is .0625 after correction, whatever happens."""
    six = {"boring": [1.0 + 0.1 * s for s in range(6)], "sobol": [9.0 + s for s in range(6)]}
    (alone,) = standings_against(ends(six), "boring")
    assert (alone.tests, alone.undecidable) == ((1, 0, 0), 0)
    both = ends(six | {"gp": [5.0 + s for s in range(6)]})
    assert [(one.tests, one.undecidable) for one in standings_against(both, "boring")] == [
        ((0, 0, 0), 1),
        ((0, 0, 0), 1),
    ]
    assert "0 significant losses among the 0 comparisons" in loss_report(both, "boring")
    assert "7.5 (7.5) ?" in overview_table(both)


def test_losses_are_listed_worst_first_with_their_figures(mixed):
    (loss,) = losses_of(mixed, "boring")
    assert (loss.experiment, loss.peer, loss.n) == ("ackley-20", "gp", 8)
    assert loss.median == pytest.approx(13.5)
    assert loss.peer_median == pytest.approx(0.135)
    assert loss.decades_median == pytest.approx(2.0)
    assert loss.severity == max(loss.decades_median, loss.decades_mean)
    assert loss.is_significant
    assert (loss.comparison.wins, loss.comparison.losses) == (0, 8)
    by_gp = losses_of(mixed, "gp")
    assert [(one.experiment, one.peer) for one in by_gp] == [("camelback-2-in-5", "boring")]
    assert not losses_of(mixed, "absent")
    worst = losses_of(mixed, "sobol")
    assert [one.severity for one in worst] == sorted((one.severity for one in worst), reverse=True)


def test_a_worse_mean_alone_is_a_loss_too(ends):
    records = ends({"boring": [1.0, 1.0, 1.0, 1.0, 90.0], "gp": [1.5] * 5})
    (loss,) = losses_of(records, "boring")
    assert loss.decades_median < 0.0 < loss.decades_mean == loss.severity
    assert not loss.is_significant


def test_wins_ties_and_losses_are_counted_for_each_method(mixed):
    gp, sobol = standings_against(mixed, "boring")
    assert (gp.peer, gp.n_experiments) == ("gp", 2)
    assert gp.medians == gp.means == gp.tests == (1, 0, 1)
    assert gp.seeds == (8, 0, 8)
    assert sobol.medians == (2, 0, 0)
    assert sum(sobol.seeds) == 16


def test_figures_are_of_shared_seeds(ends):
    records = ends({"boring": [1.0, 5.0], "gp": [0.5, 4.0, 0.001, 0.001]})
    (loss,) = losses_of(records, "boring")
    assert (loss.n, loss.median, loss.peer_median) == (2, 3.0, 2.25)
    assert (loss.mean, loss.peer_mean) == (3.0, 2.25)
    records = ends({"boring": [4.0, 8.0, 6.0, *[0.1] * 17], "gp": [2.0, 3.0, 1.0]})
    (loss,) = losses_of(records, "boring")
    assert (loss.n, loss.median, loss.peer_median) == (3, 6.0, 2.0)
    assert (loss.mean, loss.peer_mean) == (6.0, 2.0)
    (standing,) = standings_against(records, "boring")
    assert standing.medians == standing.means == (0, 0, 1)


def test_unknown_optimum_compares_gaps_to_the_best_value_seen(ends):
    records = ends({"boring": [-5.0, -4.0], "gp": [-6.0, -2.0]}, optimum=None)
    finals = finals_of(records)
    assert finals["gp"].shown == {0: -7.0, 1: -3.0}
    floor = 0.01 * 1.5  # median -5.5, best -7
    assert finals["gp"].cost == {0: pytest.approx(floor), 1: pytest.approx(4.0)}
    assert finals["boring"].cost == {0: pytest.approx(1.0), 1: pytest.approx(2.0)}


def test_larger_is_better_when_maximising(ends):
    records = ends({"boring": [105.0], "gp": [106.0]}, optimum=None, direction="maximize")
    finals = finals_of(records)
    assert finals["gp"].median() < finals["boring"].median()


def test_a_run_that_never_had_a_value_is_the_worst(make_record):
    failed = make_record([], budget=2, seed=0, status="failed", error="x")
    other = make_record([2.0, 1.0], method="gp", seed=0)
    (loss,) = losses_of([failed, other], "boring")
    assert loss.severity == np.inf
    both = [failed, make_record([], budget=2, method="gp", status="failed", error="x")]
    assert losses_of(both, "boring") == ()


def test_stuck_runs_end_worse_than_sobols_median(ends):
    finals = finals_of(ends({"boring": [1.0, 1.0, 1.0, 9.0], "sobol": [2.0, 3.0, 4.0, 5.0]}))
    assert stuck_share(finals) == {"boring": 0.25, "sobol": 0.5}
    assert stuck_share(finals, "gp") == {}


def test_accounts_by_hand(make_record):
    angles = ((1.0, True), (30.0, True), (30.0, False), (None, True))
    records = [
        make_record(
            [1.0],
            seed=seed,
            largest_angle_degrees=angle,
            trusted=trusted,
            learned_dim=2 if seed else None,
            importance=(0.5, 0.3, 0.2),
            true_basis=((1.0,), (0.0,), (0.0,)),
            importance_coverage=0.5 if seed == 1 else None,
        )
        for seed, (angle, trusted) in enumerate(angles)
    ]
    bare = make_record([1.0], method="gp", trusted=None, basis=None, largest_angle_degrees=None)
    (summary,) = summarise_accounts([*records, bare])
    assert (summary.method, summary.n, summary.trusted) == ("boring", 4, 0.75)
    assert summary.angle.median == 30.0
    assert summary.close == summary.wrong == pytest.approx(1 / 3)
    assert summary.dimensions == {1: 1, 2: 3}
    assert (summary.n_whole, summary.right_dim) == (0, (1, 0, 3))
    assert summary.coverage == 0.5
    text = accounts_table([*records, bare])
    assert "1 (1x), 2 (3x)" in text
    assert "| gp" not in text
    assert accounts_table([bare]) == ""


def test_a_subspace_of_every_direction_is_neither_near_nor_trusted(make_record):
    """Two of three runs keep all three directions: every plane lies in them, at 0 degrees."""
    plane = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    runs = [
        make_record(
            [1.0],
            seed=seed,
            learned_dim=d,
            largest_angle_degrees=angle,
            trusted=trusted,
            importance=(0.5, 0.3, 0.2),
            true_basis=plane,
        )
        for seed, (d, angle, trusted) in enumerate(
            [(3, 0.0, True), (3, 0.0, False), (2, 30.0, True)]
        )
    ]
    (summary,) = summarise_accounts(runs)
    assert (summary.n, summary.n_whole, summary.dimensions) == (3, 2, {2: 1})
    assert (summary.close, summary.trusted, summary.wrong) == (0.0, 1.0, 1.0)
    assert summary.right_dim == (1, 0, 0)
    text = results_table(runs)
    assert "30.0 [30.0, 30.0] (1 of 3)" in text
    assert "trusts its own subspace in 1 of 1 runs. 2 more keep every direction" in text
    (nothing,) = summarise_accounts(runs[:2])
    assert (nothing.close, nothing.trusted, nothing.right_dim) == (None, None, (0, 0, 0))


@pytest.mark.parametrize("true_basis", [((1.0, 0.0), (0.0, 1.0)), None])
def test_nothing_is_near_a_truth_of_every_direction(make_record, true_basis):
    run = make_record(
        [1.0], problem="ackley-20", largest_angle_degrees=0.0, trusted=True, true_basis=true_basis
    )
    (summary,) = summarise_accounts([run])
    assert (summary.angle, summary.close, summary.wrong, summary.right_dim) == (None,) * 4
    assert summary.trusted == 1.0
