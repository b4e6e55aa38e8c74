"""Regions where evaluations fail, and the count of what was wasted on them."""

import numpy as np
import pytest

from experiments.failures import KINDS, FailureRun, main, region, run_with_failures
from synthetic import get_problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["camelback-2-in-5", "branin-2-in-10", "hartmann6-6"])
def test_a_part_of_the_box_fails_and_a_best_point_only_where_it_is_cut_off(name, kind):
    problem = get_problem(name, 3)
    fails = region(problem, kind, 3)
    U = np.random.default_rng(0).uniform(-1.0, 1.0, (4000, problem.space.dim))
    share = np.mean(fails(U) > 0)
    assert 0.005 < share < 0.9 if kind == "balls" else 0.45 < share < 0.55
    assert (fails(problem.space.scale(problem.optimizers))[0] > 0) == (kind == "cut")


def test_what_is_known_is_not_proposed_and_what_is_told_alone_is_counted():
    known = run_with_failures(FailureRun("camelback-2-in-5", "sobol", "half", "known", 0, 24))
    assert not any(known["failed"])
    told = run_with_failures(FailureRun("camelback-2-in-5", "sobol", "half", "told", 0, 24))
    assert any(told["failed"][20:])
    assert not all(told["failed"])
    n_failed, n = np.sum([counts for counts in told["wasted by phase"].values()], axis=0)
    assert (n_failed, n) == (sum(told["failed"][20:]), 4)
    assert told["regret"] == sorted(told["regret"], reverse=True)


def test_a_run_is_made_once_and_the_table_counts_it(tmp_path, capsys):
    out = tmp_path / "failures.jsonl"
    words = ["--seeds", "1", "--problems", "camelback-2-in-5", "--kinds", "half"]
    words += ["--knowledge", "told", "--methods", "sobol", "--budget", "22", "--out", str(out)]
    assert main(words) == main(words) == 0
    assert len(out.read_text().splitlines()) == 1
    assert "camelback-2-in-5 (22)" in capsys.readouterr().out
