"""Rankings: hand-made lists, scipy's tests, records."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from boring.exceptions import InvalidInputError
from experiments import ranking as module
from experiments.ranking import (
    Ranking,
    aggregate,
    friedman,
    least_p_value,
    partial_ranking,
    ranking_of_records,
    ranking_table,
)


def separate(n=12):
    """Three methods: a is better than b and c, which share their finals but not their areas."""
    base = np.linspace(0.0, 1.0, n)
    finals = {"a": base, "b": base + 5.0, "c": base + 5.0}
    areas = {"a": base, "b": base + 9.0, "c": base + 3.0}
    return finals, areas


def test_area_breaks_the_tie_and_counts_are_those_by_hand():
    finals, areas = separate()
    alone = partial_ranking(finals)
    assert alone.borda == {"a": 2, "b": 0, "c": 0}
    assert alone.first == ("a",)
    both = partial_ranking(finals, areas)
    assert both.borda == {"a": 2, "b": 0, "c": 1}
    assert both.first == ("a",)
    # The area does not overrule the final value.
    reversed_areas = {"a": areas["b"] + 9.0, "b": areas["a"], "c": areas["a"]}
    assert partial_ranking(finals, reversed_areas).borda == {"a": 2, "b": 0, "c": 0}


def test_nothing_is_ordered_that_the_test_does_not_tell_apart(rng):
    noise = rng.standard_normal((3, 30))
    assert not partial_ranking(dict(zip("abc", noise, strict=True))).beats.any()
    same = {name: np.ones(20) for name in "ab"}
    assert partial_ranking(same, same).first == ("a", "b")
    few = {"a": np.zeros(5), "b": np.ones(5) + np.arange(5)}
    assert least_p_value(5, 5) == pytest.approx(2.0 / 252.0)
    assert not partial_ranking(few).beats.any()  # .0079 is not below .0005
    assert partial_ranking(few, alpha=0.02).borda == {"a": 1, "b": 0}


def test_pairs_are_decided_by_scipy_s_test(rng):
    samples = {name: rng.standard_normal(15) + 0.8 * k for k, name in enumerate("abcd")}
    ranking = partial_ranking(samples, alpha=0.05)
    for i, first in enumerate("abcd"):
        for j, second in enumerate("abcd"):
            less = stats.mannwhitneyu(samples[first], samples[second], alternative="two-sided")
            smaller = np.median(samples[first]) < np.median(samples[second])
            assert ranking.beats[i, j] == (less.pvalue < 0.05 and smaller)
    assert ranking.beats.any()


def test_lists_add_up():
    chain = Ranking(("a", "b", "c"), np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    tie = Ranking(("c", "a", "b"), np.zeros((3, 3), dtype=bool))
    back = Ranking(("c", "a"), np.array([[0, 1], [0, 0]], dtype=bool))
    total = aggregate([chain, tie, back])
    assert total.n_rankings == 3
    assert total.borda == {"a": 2, "c": 1, "b": 1}
    assert total.first == {"a": 2, "c": 2, "b": 1}
    assert list(total.borda) == ["a", "c", "b"]


def test_friedman_is_scipy_s(rng):
    table = np.round(rng.standard_normal((12, 4)) + np.arange(4) * 0.7, 1)  # with ties
    test = friedman(dict(zip("abcd", table.T, strict=True)))
    expected = stats.friedmanchisquare(*table.T)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    means = stats.rankdata(table, axis=1).mean(axis=0)
    assert list(test.mean_ranks.values()) == pytest.approx(means)
    by_hand = friedman({"a": [1, 1, 2], "b": [2, 2, 1], "c": [3, 3, 3]})
    assert by_hand.mean_ranks == pytest.approx({"a": 4 / 3, "b": 5 / 3, "c": 3.0})
    assert by_hand.ranking().borda == {"a": 2, "b": 1, "c": 0}


def test_friedman_without_anything_to_test_has_no_p_value():
    assert friedman({"a": [1.0, 2.0], "b": [2.0, 3.0]}).p_value is None
    tied = friedman({name: [1.0, 2.0] for name in "abc"})
    assert (tied.statistic, tied.mean_ranks) == (None, {"a": 2.0, "b": 2.0, "c": 2.0})
    assert tied.ranking().first == ("a", "b", "c")


@pytest.mark.parametrize("costs", [{"a": [1.0, 2.0], "b": [1.0]}, {"a": [np.nan]}, {"a": []}, {}])
def test_incomplete_blocks_are_refused(costs):
    with pytest.raises(InvalidInputError):
        friedman(costs)


def test_areas_of_other_methods_are_refused():
    finals, areas = separate()
    with pytest.raises(InvalidInputError, match="differ in"):
        partial_ranking(finals, {"a": areas["a"]})


def records_of(record, finals):
    return [
        replace(record, method=m, seed=s, value=(9.0, 9.0, v, v), y=(9.0, 9.0, v, v))
        for m, values in finals.items()
        for s, v in enumerate(values)
    ]


def test_records_are_ranked_and_tabled(record):
    finals, _ = separate()
    runs = records_of(record, finals)
    # The same end, reached earlier: c has the smaller area.
    runs = [
        replace(r, value=(9.0, *r.value[2:], r.value[3])) if r.method == "c" else r for r in runs
    ]
    ranking, test = ranking_of_records(runs)
    assert ranking.borda == {"a": 2, "b": 0, "c": 1}
    assert test.mean_ranks == {"a": 1.0, "b": 2.5, "c": 2.5}
    text = ranking_table(runs)
    assert text.splitlines()[2].split() == "| a | 2 | 1 | 2 | 1 | 1 |".split()
    assert "finds a difference (p < .05) in 1 of 1" in text
    assert "say nothing yet" not in text
    assert "over the seeds that all methods have (12 an experiment)" in text
    assert "With 3 seeds no such test" in ranking_table([r for r in runs if r.seed < 3])
    assert "With 1 seed no such test" in ranking_table([r for r in runs if r.seed < 1])


def test_the_table_says_how_many_seeds_all_methods_share(record):
    finals, _ = separate()
    runs = records_of(record, finals)
    other = [replace(r, experiment="other") for r in runs if r.method != "b" or r.seed in (1, 4)]
    assert "all methods have (2 to 12 an experiment)" in ranking_table([*runs, *other])


def test_a_maximised_and_a_failed_run_count_as_they_should(record):
    runs = records_of(record, {"a": [2.0] * 9, "b": [1.0] * 9})
    best = [replace(r, direction="maximize", value=(0.0, *r.value[2:])) for r in runs]
    ranking, _ = ranking_of_records(best, alpha=0.01)
    assert ranking.first == ("a",)
    lost = [replace(r, value=(), y=(), status="failed") if r.method == "b" else r for r in runs]
    assert ranking_of_records(lost, alpha=0.01)[0].first == ("a",)
    assert module.ALPHA == 0.0005
