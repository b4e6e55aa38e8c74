import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the names)
import boring
from baselines.search.random_search import RandomSearchOptimizer
from baselines.search.sobol_search import SobolSearchOptimizer
from boring.api import maximize, minimize
from boring.exceptions import (
    BoringWarning,
    BudgetWarning,
    EvaluationError,
    InvalidInputError,
    JournalError,
    NonFiniteWarning,
    UnknownNameError,
)
from boring.initial_design import sobol_design
from boring.progress import ProgressBar, is_wanted
from boring.registry import get_optimizer, optimizer_names, register_optimizer
from boring.rng import keyed_generator
from boring.stopping import Target

BOUNDS = [(0.0, 1.0), (-5.0, 5.0)]


def bowl(x):
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)


def in_fresh_process(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# One call.


def test_minimize_is_a_run():
    result = minimize(bowl, BOUNDS, 12, method="sobol", seed=3)
    by_hand = SobolSearchOptimizer(BOUNDS, direction="minimize", seed=3).run(bowl, 12)
    assert result.records == by_hand.records
    assert result.stop_reason == {"n_evaluations": 12.0}
    assert result.direction == "minimize"


def test_maximize_mirrors_minimize():
    down = minimize(bowl, BOUNDS, 12, method="random", seed=3)
    up = maximize(lambda x: -bowl(x), BOUNDS, 12, method="random", seed=3)
    np.testing.assert_array_equal(down.X, up.X)
    assert up.y_best == -down.y_best == max(up.y)


def test_a_result_survives_pickling_and_copying():
    result = minimize(bowl, [(-1, 1)] * 2, 8, seed=0)
    assert result.subspace is not None
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        np.testing.assert_array_equal(twin.X, result.X)
        assert not twin.X.flags.writeable
        assert twin.records == result.records
        assert dict(twin.provenance) == dict(result.provenance)
        assert twin.subspace.summary() == result.subspace.summary()
    with pytest.raises(EvaluationError) as caught:
        minimize(lambda x: "text", [(-1, 1)] * 2, 8, method="random", seed=0)
    assert pickle.loads(pickle.dumps(caught.value)).result.n_evaluations == 0


def test_method_may_be_a_class():
    named = minimize(bowl, BOUNDS, 6, method="random", seed=0)
    given = minimize(bowl, BOUNDS, 6, method=RandomSearchOptimizer, seed=0)
    assert named.records == given.records


def test_keywords_pass_through():
    result = minimize(
        bowl,
        boring.Box([0, -5], [1, 5]),
        50,
        method="sobol",
        seed=0,
        n_initial=2,
        stopping=Target(1e9),
        callback=lambda optimizer, record: True,
        progress=False,
    )
    assert set(result.stop_reason) == {"callback", "target"}
    assert result.options == {"n_initial": 2}


def test_errors_of_the_objective():
    def fun(x):
        raise RuntimeError("no")

    with pytest.raises(EvaluationError, match="RuntimeError: no") as caught:
        minimize(fun, BOUNDS, 6, method="random", seed=0)
    assert caught.value.result.n_evaluations == 0
    with pytest.warns(NonFiniteWarning):
        result = minimize(fun, BOUNDS, 6, method="random", seed=0, on_error="record")
    assert np.isnan(result.y).all()


@pytest.mark.parametrize(
    ("change", "kind", "rule"),
    [
        ({"method": "sobl"}, UnknownNameError, "No optimiser is called 'sobl'.*mean 'sobol'"),
        ({"method": "SOBOL"}, UnknownNameError, "No optimiser is called 'SOBOL'.*mean 'sobol'"),
        ({"direction": "maximize"}, UnknownNameError, "Here boring.maximize seeks the largest"),
        ({"method": 3}, InvalidInputError, "method must be a registered name"),
        ({"method": int}, InvalidInputError, "method must be a registered name"),
        ({"calback": print}, UnknownNameError, "no option 'calback'.*mean 'callback'"),
        ({"verbose": 1}, UnknownNameError, "no option 'verbose'. Here progress=True shows a bar"),
        ({"random_state": 1}, UnknownNameError, "Here seed makes a run repeatable. Known"),
        ({"X": [0, 0]}, UnknownNameError, "Here x0 holds the points to begin with"),
        ({"n_inital": 3}, UnknownNameError, "no option 'n_inital'.*mean 'n_initial'"),
        ({"on_error": "ignore"}, InvalidInputError, "on_error must be"),
        ({"seed": -1}, InvalidInputError, "seed must be an integer of at least 0"),
        ({"n_evaluations": 0}, InvalidInputError, "n_evaluations must be an integer"),
        ({"n_evaluations": 2.5}, InvalidInputError, "n_evaluations must be an integer"),
        ({"bounds": [(1, 0)]}, InvalidInputError, "lower < upper"),
    ],
)
def test_wrong_arguments_cost_no_evaluation(change, kind, rule):
    def fun(x):
        raise AssertionError("an evaluation was paid for")

    arguments = {"bounds": BOUNDS, "n_evaluations": 5, "method": "random", **change}
    with pytest.raises(kind, match=rule):
        minimize(fun, **arguments)


def test_d_equals_1():
    result = minimize(lambda x: float(x[0]), [(0, 1)], 6, method="sobol", seed=0)
    assert result.X.shape == (6, 1)


# Journals.


def test_a_journal_makes_the_budget_a_total(tmp_path):
    path = tmp_path / "run.jsonl"
    whole = minimize(bowl, BOUNDS, 12, method="random", seed=3)
    calls = []

    def fun(x):
        calls.append(x)
        return bowl(x)

    first = minimize(fun, BOUNDS, 5, method="random", seed=3, journal=path)
    assert first.n_evaluations == 5
    second = minimize(fun, BOUNDS, 12, method="random", journal=path)
    third = minimize(fun, BOUNDS, 12, method="random", seed=3, journal=path)
    assert len(calls) == 12
    assert second.records == third.records == whole.records
    assert third.stop_reason == {"n_evaluations": 12.0}


def test_a_paid_value_survives_an_exception(tmp_path):
    path = tmp_path / "run.jsonl"

    def fun(x, count=iter(range(100))):  # noqa: B008 (one counter for all calls)
        if next(count) == 5:
            raise RuntimeError("no")
        return bowl(x)

    with pytest.raises(EvaluationError):
        minimize(fun, BOUNDS, 12, method="random", seed=3, journal=path)
    resumed = minimize(fun, BOUNDS, 12, method="random", journal=path)
    assert resumed.records == minimize(bowl, BOUNDS, 12, method="random", seed=3).records


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"seed": 4}, "has entropy 3, and seed=4 was passed"),
        ({"bounds": [(0.0, 2.0), (-5.0, 5.0)]}, "has space = .* and this run has"),
        ({"bounds": [(0.0, 1.0)]}, "has space = "),
        ({"method": "sobol"}, "has optimizer = random, and this run has sobol"),
        ({"n_initial": 4}, "has n_initial = 0, and this run has 4"),
    ],
)
def test_the_journal_of_another_run_is_refused(tmp_path, change, rule):
    path = tmp_path / "run.jsonl"
    minimize(bowl, BOUNDS, 5, method="random", seed=3, journal=path)
    before = path.read_bytes()
    arguments = {"bounds": BOUNDS, "method": "random", "journal": path, **change}
    with pytest.raises(JournalError, match=rule):
        minimize(bowl, n_evaluations=9, **arguments)
    with pytest.raises(JournalError, match="has direction = minimize, and this run has maximize"):
        maximize(bowl, BOUNDS, 9, method="random", journal=path)
    assert path.read_bytes() == before


def test_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n")
    with pytest.raises(JournalError, match="is not a journal and was left as it is"):
        minimize(bowl, BOUNDS, 5, method="random", journal=path)
    assert path.read_text() == "x,y\n"


# Searches without a model.


def test_sobol_search_is_one_sequence():
    result = minimize(bowl, BOUNDS, 21, method="sobol", seed=3, n_initial=4)
    sequence = sobol_design(21, 2, keyed_generator(3, "initial design"))
    expected = boring.Box.from_bounds(BOUNDS).unscale(sequence)
    np.testing.assert_array_equal(result.X, expected)


def test_sobol_search_repeats_nothing_in_batches():
    optimizer = SobolSearchOptimizer(BOUNDS, direction="minimize", seed=0, n_initial=3)
    X = optimizer.ask(7)
    optimizer.tell(X, [bowl(x) for x in X])
    optimizer.tell([0.5, 0.5], 1.0)
    assert len(np.unique(np.vstack([X, optimizer.ask(9)]), axis=0)) == 16


def test_random_search_is_uniform():
    X = RandomSearchOptimizer([(0, 1)] * 2, direction="minimize", seed=0).ask(400)
    counts = np.histogram2d(*X.T, bins=4, range=[(0, 1), (0, 1)])[0]
    assert np.sum((counts - 25) ** 2 / 25) < 37.7, "chi-squared beyond 0.1 % at 15 degrees"


# Names.


def test_registered_names():
    assert {"boring", "boring-thesis", "gp", "random", "rembo", "sobol"} <= set(optimizer_names())
    assert get_optimizer("random") is RandomSearchOptimizer


def test_a_name_stands_for_one_optimizer():
    register_optimizer("random", "baselines.search.random_search:RandomSearchOptimizer")
    with pytest.raises(InvalidInputError, match="A name stands for one optimiser"):
        register_optimizer("random", SobolSearchOptimizer)
    with pytest.raises(InvalidInputError, match=r"must read 'package.module:attribute'"):
        register_optimizer("new", "no-colon")
    with pytest.raises(InvalidInputError, match="must be an Optimizer class"):
        register_optimizer("new", 3)
    with pytest.raises(InvalidInputError, match=r"its own name.*called 'sobol', received 'new'"):
        register_optimizer("new", SobolSearchOptimizer)
    assert "new" not in optimizer_names()


def test_without_baselines_the_message_says_how_to_get_them():
    code = (
        "import boring\n"
        "try:\n    boring.minimize(len, [(0, 1)], 1, method='sobol')\n"
        "except boring.InvalidInputError as error:\n    print(error)\n"
    )
    assert "`import baselines` registers" in in_fresh_process(code)


# Import.


def test_import_is_light_and_complete():
    heavy = "('scipy', 'GPy', 'pymanopt', 'autograd', 'sklearn', 'matplotlib', 'tqdm')"
    code = f"import sys, boring; print([m for m in {heavy} if m in sys.modules], len(dir(boring)))"
    assert in_fresh_process(code).startswith("[] ")
    code = "import boring; [getattr(boring, name) for name in boring.__all__]; print('done')"
    assert in_fresh_process(code).strip() == "done"


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'Bx'"):
        boring.Bx  # noqa: B018


def test_version_and_listing():
    assert boring.__version__ == "0.1.0"
    assert set(boring.__all__) <= set(dir(boring))
    assert boring.__all__ == sorted(boring.__all__)


# Progress.


def test_progress_is_shown_on_terminals_only(monkeypatch, capsys):
    minimize(bowl, BOUNDS, 3, method="random", seed=0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    monkeypatch.delenv("BORING_PROGRESS", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert is_wanted(None)
    assert not is_wanted(False)
    monkeypatch.setenv("BORING_PROGRESS", "0")
    assert not is_wanted(None)
    assert is_wanted(True)


def test_progress_bar_shows_the_best_value(capsys):
    with ProgressBar(total=2, initial=0, label="random", progress=True) as bar:
        bar.update(0.25)
        bar.update(0.125)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "random" in shown.err
    assert "best 0.125" in shown.err


def test_warnings_point_at_the_callers_line():
    optimizer = boring.BoringOptimizer(BOUNDS, direction="minimize")
    with pytest.warns(NonFiniteWarning) as told:
        optimizer.tell([0.5, 0.0], float("nan"))
    with pytest.warns(BoringWarning) as run:
        minimize(lambda x: float("nan"), BOUNDS, 3, seed=0)
    assert {warning.category for warning in run} == {BudgetWarning, NonFiniteWarning}
    assert {warning.filename for warning in (*told, *run)} == {__file__}
