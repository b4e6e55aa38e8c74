"""BoringSampler: one run, whatever the storage, the interruptions and the number of workers."""

import json
import pickle
import threading
import time
from contextlib import nullcontext

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import baselines  # noqa: F401 (registers random and sobol)
from boring import get_optimizer
from boring.exceptions import InvalidInputError, SpaceExhaustedError, UnknownNameError
from boring.history import Ask
from boring.integrations import _optuna_turns
from boring.integrations._optuna_history import history_of
from boring.integrations._optuna_record import MAX_LENGTH, read_ask, write_ask
from boring.integrations.optuna_sampler import BoringSampler
from boring.parameters import ParameterSpace
from tests.boring.integrations._optuna_worker import N_CONSTRAINTS

MIXED = {
    "kind": CategoricalDistribution(["a", "b", "c"]),
    "layers": IntDistribution(1, 8),
    "rate": FloatDistribution(1e-4, 1e2, log=True),
    "step": FloatDistribution(0.0, 1.0, step=0.25),
    "width": IntDistribution(4, 512, log=True),
    "x": FloatDistribution(-1.0, 2.0),
}
LATTICE = {"i": IntDistribution(0, 5), "j": IntDistribution(0, 5)}
trials_tell = pytest.mark.skipif(not N_CONSTRAINTS, reason="set_constraint is of Optuna 5")
pytestmark = pytest.mark.usefixtures("quiet_optuna")


def constrained(constraints_func):
    """Return a sampler of constraints_func, which Optuna 5 takes for out of date."""
    said = pytest.warns(FutureWarning, match="set_constraint") if N_CONSTRAINTS else nullcontext()
    with said:
        return sampler(search_space=LATTICE, constraints_func=constraints_func)


def suggest(trial, distributions):
    return {name: trial._suggest(name, d) for name, d in distributions.items()}


def mixed(trial):
    p = suggest(trial, MIXED)
    return (
        (p["x"] - 0.5) ** 2
        + (p["layers"] - 3) ** 2 / 10
        + (p["kind"] != "b")
        + np.log10(p["rate"]) ** 2
        + p["step"]
        + p["width"] / 512
    )


def lattice(trial):
    p = suggest(trial, LATTICE)
    return (p["i"] - 2) ** 2 + p["j"]


def named(storage, sampler, name="run"):
    return optuna.create_study(
        storage=storage, study_name=name, sampler=sampler, load_if_exists=True
    )


def parameters(study):
    return [trial.params for trial in study.get_trials()]


def sampler(name="sobol", **options):
    return BoringSampler(seed=0, optimizer=name, warn_independent_sampling=False, **options)


def test_a_study_proposes_what_the_optimizer_would():
    space = ParameterSpace.of(MIXED)
    optimizer = get_optimizer("boring")(
        space.box, direction="minimize", seed=3, n_initial=5, domain=space.domain
    )
    study = optuna.create_study(sampler=BoringSampler(seed=3, search_space=MIXED, n_initial=5))
    for _ in range(9):
        x = optimizer.ask(1)
        configuration = space.decode(x)[0]
        trial = study.ask()
        value = mixed(trial)
        assert trial.params == configuration
        assert value == mixed(optuna.trial.FixedTrial(configuration))
        # The sampler tells the point of the configuration, which is rounded.
        optimizer.tell(x, value)
        study.tell(trial, value)
    assert len(optimizer.memory) > 0


@pytest.fixture(scope="module")
def uninterrupted():
    study = optuna.create_study(sampler=sampler("boring", n_initial=4))
    study.optimize(mixed, n_trials=8)
    return study


def test_a_resumed_study_equals_an_uninterrupted_one(storage, uninterrupted):
    for n in (3, 3, 2):
        study = named(storage(), sampler("boring", n_initial=4))
        study.optimize(mixed, n_trials=n)
    assert parameters(study) == parameters(uninterrupted)


def test_suggestions_are_values_of_their_distributions():
    study = optuna.create_study(sampler=sampler("random", search_space=MIXED))
    study.optimize(mixed, n_trials=40)
    for trial in study.get_trials():
        for name, distribution in MIXED.items():
            value = trial.params[name]
            assert distribution._contains(distribution.to_internal_repr(value))
            assert isinstance(value, int) == isinstance(distribution, IntDistribution)
    assert {trial.params["kind"] for trial in study.get_trials()} == {"a", "b", "c"}
    assert {trial.params["step"] for trial in study.get_trials()} == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert {trial.params["layers"] for trial in study.get_trials()} == set(range(1, 9))


def test_threads_share_one_run_without_repeats():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    study.optimize(lattice, n_trials=30, n_jobs=2)
    assert len({tuple(p.items()) for p in parameters(study)}) == 30


def test_without_turns_two_workers_propose_the_same(monkeypatch):
    # What the turns are for: both read the same history.
    together = threading.Barrier(2)

    def take_turn(study, trial):
        together.wait(timeout=30)
        return 1, []

    monkeypatch.setattr("boring.integrations.optuna_sampler.take_turn", take_turn)
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    trials = [study.ask(), study.ask()]
    threads = [threading.Thread(target=suggest, args=(t, LATTICE)) for t in trials]
    original = BoringSampler._next_ask

    def slow(*arguments):
        found = original(*arguments)
        together.wait(timeout=30)
        return found

    monkeypatch.setattr(BoringSampler, "_next_ask", slow)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trials[0].params == trials[1].params


def history(study, distributions, pruned="last"):
    space = ParameterSpace.of(distributions)
    run = study.sampler._run_name(distributions)
    return history_of(study.get_trials(), space, run, pruned)


def test_what_others_evaluate_is_pending():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    first, second = study.ask(), study.ask()
    suggest(second, LATTICE)
    suggest(first, LATTICE)
    assert first.params != second.params
    found, _ = history(study, LATTICE)
    assert found.pending == (0, 1)
    space = ParameterSpace.of(LATTICE)
    assert space.decode(found.pending_X) == [second.params, first.params]
    study.tell(first, 1.0)
    found, _ = history(study, LATTICE)
    assert found.pending == (0,)
    assert found.tells[0].ask == 1


def test_an_ask_follows_the_outcomes_that_it_knew():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    trials = [study.ask() for _ in range(3)]
    suggest(trials[0], LATTICE)
    suggest(trials[1], LATTICE)
    study.tell(trials[1], 1.0)
    suggest(trials[2], LATTICE)
    study.tell(trials[0], 2.0)
    study.tell(trials[2], 3.0)
    found, _ = history(study, LATTICE)
    kinds = [type(event).__name__ for event in found.events]
    assert kinds == ["Ask", "Ask", "Tell", "Ask", "Tell", "Tell"]
    assert found.y.tolist() == [1.0, 2.0, 3.0]


@trials_tell
def test_constraints_reach_the_optimizer_by_name():
    study = optuna.create_study(sampler=sampler("boring", search_space=MIXED, n_initial=3))

    def objective(trial):
        value = mixed(trial)
        trial.set_constraint("size", trial.params["width"] - 100.0)
        if trial.number != 1:
            trial.set_constraint("depth", trial.params["layers"] - 6.0)
        return value

    study.optimize(objective, n_trials=6)
    found, n_constraints = history(study, MIXED)
    assert n_constraints == 2
    for trial, tell in zip(study.get_trials(), found.tells, strict=True):
        depth, size = tell.constraints
        assert size == trial.params["width"] - 100.0
        if trial.number == 1:
            assert np.isnan(depth)
        else:
            assert depth == trial.params["layers"] - 6.0


def test_constraints_func_is_taken_and_said_to_be_out_of_date():
    study = optuna.create_study(sampler=constrained(lambda t: [t.params["i"] - 2.0]))
    study.optimize(lattice, n_trials=5)
    found, n_constraints = history(study, LATTICE)
    assert n_constraints == 1
    expected = [(trial.params["i"] - 2.0,) for trial in study.get_trials()]
    assert [tell.constraints for tell in found.tells] == expected


def test_constraints_func_must_return_numbers():
    study = optuna.create_study(sampler=constrained(lambda t: [float("nan")]))
    with pytest.raises(InvalidInputError, match="must return numbers"):
        study.optimize(lattice, n_trials=1)


@trials_tell
def test_constraints_steer_the_search():
    # The minimum of the objective, x = -1, is forbidden; that of the feasible points is x = 0.3.
    distributions = {"x": FloatDistribution(-1.0, 1.0), "y": FloatDistribution(-1.0, 1.0)}
    study = optuna.create_study(sampler=sampler("boring", search_space=distributions, n_initial=5))

    def objective(trial):
        p = suggest(trial, distributions)
        trial.set_constraint("c", 0.3 - p["x"])
        return p["x"] + p["y"] ** 2

    study.optimize(objective, n_trials=16)
    proposed = [trial.params["x"] for trial in study.get_trials()[8:]]
    assert sum(x >= 0.25 for x in proposed) >= 5
    assert 0.3 <= study.best_params["x"] < 0.6


def test_failures_are_told_and_retried_ones_are_not():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))

    def objective(trial):
        lattice(trial)
        if trial.number in (1, 2):
            raise ArithmeticError
        return 0.0

    study.optimize(objective, n_trials=4, catch=ArithmeticError)
    study.add_trial(
        optuna.trial.create_trial(
            params=study.get_trials()[2].params,
            distributions=LATTICE,
            value=1.0,
            system_attrs={"retry_history": [2]},
        )
    )
    found, _ = history(study, LATTICE)
    assert [tell.ask for tell in found.tells] == [0, 1, 3, None]
    assert np.isnan(found.y[1])
    assert found.tells[1].error == "trial 1: FAIL"
    assert found.pending == ()


def test_a_failure_before_all_parameters_are_suggested_is_told_where_it_was_asked():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    trial = study.ask()
    trial.suggest_int("i", 0, 5)
    study.tell(trial, state=optuna.trial.TrialState.FAIL)
    found, _ = history(study, LATTICE)
    assert len(found.tells) == 1
    assert found.tells[0].ask == 0


@pytest.mark.parametrize(("pruned", "values"), [("last", [7.0, np.nan]), ("failed", [np.nan] * 2)])
def test_pruned_trials_count_as_told(pruned, values):
    study = optuna.create_study(sampler=sampler(search_space=LATTICE, pruned=pruned))
    for reports in ([9.0, 7.0], []):
        trial = study.ask()
        suggest(trial, LATTICE)
        for step, value in enumerate(reports):
            trial.report(value, step)
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    found, _ = history(study, LATTICE, pruned)
    np.testing.assert_array_equal(found.y, values)


def test_enqueued_trials_are_told_wholly_or_in_part():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    study.enqueue_trial({"i": 3, "j": 4})
    study.enqueue_trial({"i": 2})
    waiting = study.ask()
    suggest(waiting, LATTICE)
    found, _ = history(study, LATTICE)
    space = ParameterSpace.of(LATTICE)
    assert space.decode(found.pending_X) == [{"i": 3, "j": 4}]
    study.tell(waiting, 1.0)
    study.optimize(lattice, n_trials=3)
    found, _ = history(study, LATTICE)
    assert [tell.ask for tell in found.tells] == [None, 0, 1, 2]
    assert study.get_trials()[1].params["i"] == 2
    assert space.decode(found.X) == parameters(study)


def test_values_outside_the_space_are_left_out():
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    study.enqueue_trial({"i": 77, "j": 0})
    study.enqueue_trial({"i": 77})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(lattice, n_trials=2)
    study.optimize(lattice, n_trials=1)
    found, _ = history(study, LATTICE)
    assert found.n_told == 1
    assert found.pending == ()


def test_a_dynamic_space_is_searched_where_trials_agree(caplog):
    study = optuna.create_study(sampler=BoringSampler(seed=0, optimizer="sobol"))

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("deep", [True, False]):
            return x + trial.suggest_int("n", 1, 9)
        return x

    optuna.logging.enable_propagation()
    try:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study.optimize(objective, n_trials=8)
    finally:
        optuna.logging.disable_propagation()
    found, _ = history(study, {n: study.get_trials()[0].distributions[n] for n in ("deep", "x")})
    assert found.n_told == 8
    assert sum("'n'" in record.getMessage() for record in caplog.records) >= 1
    # A range that changes begins a run to which the old trials are told.
    study.optimize(lambda trial: trial.suggest_float("x", 0, 2), n_trials=1)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 2), n_trials=1)
    assert study.get_trials()[-1].state.name == "COMPLETE"


def branches(trial):
    if trial.suggest_categorical("classifier", ["svc", "forest"]) == "svc":
        return abs(trial.suggest_float("c", 1e-10, 1e10, log=True) - 1.0)
    depth = trial.suggest_int("depth", 2, 32)
    if depth > 25:
        raise ArithmeticError("too deep")
    return abs(depth - 9.0)


def test_branches_may_be_taken_again_by_each_worker_and_after_a_resumption():
    # What they have in common, the classifier, has two values.
    uninterrupted = optuna.create_study(sampler=sampler(search_space=None))
    uninterrupted.optimize(branches, n_trials=9, catch=ArithmeticError)
    storage = optuna.storages.InMemoryStorage()
    for n in (3, 4, 2):
        study = named(storage, sampler(search_space=None))
        study.optimize(branches, n_trials=n, catch=ArithmeticError)
    assert parameters(study) == parameters(uninterrupted)
    study.optimize(branches, n_trials=4, n_jobs=2, catch=ArithmeticError)
    assert len(study.trials) == 13
    assert {"c", "classifier", "depth"} == {name for p in parameters(study) for name in p}
    study.sampler = sampler(search_space=None, repeats=False)
    with pytest.raises(SpaceExhaustedError, match="all 2 points"):
        study.optimize(branches, n_trials=1)


def test_a_failed_trial_shows_that_a_given_space_is_a_part():
    study = optuna.create_study(
        sampler=sampler(search_space={"flag": CategoricalDistribution([False, True])})
    )

    def objective(trial):
        if trial.suggest_categorical("flag", [False, True]):
            raise ArithmeticError(trial.suggest_int("n", 1, 9))
        return 0.0

    study.optimize(objective, n_trials=6, catch=ArithmeticError)
    assert len(study.trials) == 6


def test_independent_values_do_not_repeat_after_a_resumption():
    first = optuna.create_study(sampler=sampler())
    first.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    second = optuna.create_study(sampler=sampler())
    second.add_trials(first.get_trials())
    trial = second.ask()
    value = second.sampler.sample_independent(second, trial, "x", FloatDistribution(0, 1))
    assert value != first.get_trials()[0].params["x"]


def test_without_a_seed_workers_share_the_entropy_of_the_study():
    study = optuna.create_study()
    samplers = [BoringSampler(optimizer="sobol", search_space=LATTICE) for _ in range(2)]
    entropies = {each._entropy_of(study) for each in samplers}
    assert len(entropies) == 1
    assert BoringSampler()._entropy_of(optuna.create_study()) not in entropies


def test_a_dead_worker_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(_optuna_turns, "PATIENCE", 0.4)
    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    dead = study.ask()
    study._storage.set_trial_system_attr(dead._trial_id, _optuna_turns.TURN, 1)
    start = time.monotonic()
    suggest(study.ask(), LATTICE)
    assert time.monotonic() - start >= 0.4
    monkeypatch.setattr(_optuna_turns, "PATIENCE", 1e6)
    suggest(study.ask(), LATTICE)  # does not wait any more


def test_a_failed_decision_ends_the_turn(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("broken")

    study = optuna.create_study(sampler=sampler(search_space=LATTICE))
    trial = study.ask()
    with monkeypatch.context() as patch:
        patch.setattr(BoringSampler, "_next_ask", broken)
        with pytest.raises(RuntimeError, match="broken"):
            suggest(trial, LATTICE)
    assert _optuna_turns.turns_ahead(study.get_trials(), 9, 9) == []
    suggest(study.ask(), LATTICE)


def test_long_asks_survive_in_pieces(storage):
    study = named(storage(), None, "pieces")
    trial = study.ask()
    rng = np.random.default_rng(0)
    ask = Ask(
        0,
        rng.uniform(-1, 1, 300),
        "proposal",
        {"a": float("nan")},
        {"W": [0.1] * 2000, "q": ['"'] * 900},
        1.0,
    )
    write_ask(study, study.get_trials()[0], "run", 4, 2, ask)
    stored = named(storage(), None, "pieces").get_trials()[0]
    assert max(len(json.dumps(value)) for value in stored.system_attrs.values()) <= MAX_LENGTH
    assert len(stored.system_attrs) > 6
    read = read_ask(stored, "run")
    assert read is not None
    again = read.as_ask(0, with_memory=True)
    np.testing.assert_array_equal(again.x, ask.x)
    assert again.memory == ask.memory
    assert np.isnan(again.info["a"])
    assert (read.turn, read.n_told, again.phase) == (4, 2, "proposal")
    assert read_ask(study.get_trials()[0], "another") is None
    study.tell(trial, 0.0)


def test_an_exhausted_space_is_an_error_unless_repeats_are_allowed():
    small = {"i": IntDistribution(0, 2)}
    study = optuna.create_study(sampler=sampler(search_space=small))
    study.optimize(lambda trial: trial.suggest_int("i", 0, 2), n_trials=3)
    with pytest.raises(SpaceExhaustedError):
        study.optimize(lambda trial: trial.suggest_int("i", 0, 2), n_trials=1)
    study.sampler = sampler(search_space=small, repeats=True)
    study.optimize(lambda trial: trial.suggest_int("i", 0, 2), n_trials=2)
    assert study.get_trials()[-1].state.name == "COMPLETE"


def test_a_maximum_is_found_as_such():
    distributions = {"x": FloatDistribution(-1.0, 1.0), "y": FloatDistribution(-1.0, 1.0)}
    study = optuna.create_study(
        direction="maximize", sampler=sampler("boring", search_space=distributions, n_initial=5)
    )
    study.optimize(
        lambda t: -((suggest(t, distributions)["x"] - 0.4) ** 2) - t.params["y"] ** 2, n_trials=14
    )
    assert study.best_value > -0.02


def test_a_pruner_that_splits_the_study_has_a_run_for_each_part():
    study = optuna.create_study(
        sampler=sampler(search_space=LATTICE),
        pruner=optuna.pruners.HyperbandPruner(max_resource=4, reduction_factor=2),
    )
    study.optimize(lattice, n_trials=8)
    assert {trial.state.name for trial in study.get_trials()} == {"COMPLETE"}


def test_a_sampler_survives_pickling():
    again = pickle.loads(pickle.dumps(sampler("boring", search_space=LATTICE, n_initial=3)))
    study = optuna.create_study(sampler=again)
    study.optimize(lattice, n_trials=2)


def test_what_cannot_be_done_is_said():
    with pytest.raises(UnknownNameError, match="n_initial"):
        BoringSampler(n_inital=4)
    with pytest.raises(UnknownNameError, match="Here n_initial is the length of the initial"):
        BoringSampler(n_startup_trials=3)
    with pytest.raises(UnknownNameError, match="Here noise_std=0 says"):
        BoringSampler(deterministic_objective=True)
    for name in ("direction", "domain", "n_constraints"):
        with pytest.raises(UnknownNameError, match=f"'{name}'. Here (the study|trial.set_const)"):
            BoringSampler(**{name: None})
    with pytest.raises(UnknownNameError, match="mean 'search_space'"):
        BoringSampler(serch_space={})
    with pytest.raises(UnknownNameError, match="boring"):
        BoringSampler(optimizer="borin")
    with pytest.raises(InvalidInputError, match="'last' or 'failed'"):
        BoringSampler(pruned="ignored")
    for given, received in (({"x": (0, 1)}, r"'x' has \(0, 1\)"), ([("x", 1)], "received list")):
        with pytest.raises(InvalidInputError, match=f"distributions of Optuna; {received}.*Pass"):
            BoringSampler(search_space=given)
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler())
    with pytest.raises(InvalidInputError, match="one objective; the study has 2"):
        suggest(study.ask(), LATTICE)


@pytest.mark.filterwarnings("ignore:Choices for a categorical:UserWarning")
def test_choices_that_are_tuples_are_sampled_as_tuples():
    def objective(trial):
        pair = trial.suggest_categorical("pair", ((1, 2), (1, (2, 3)), "none"))
        return trial.suggest_float("x", 0.0, 1.0) + (pair == (1, (2, 3)))

    study = optuna.create_study(sampler=BoringSampler(seed=0, n_initial=2))
    study.enqueue_trial({"pair": (1, (2, 3)), "x": 0.5})
    study.optimize(objective, 8)
    assert not any(isinstance(trial.params["pair"], list) for trial in study.trials)
    assert study.best_params["x"] < 0.5
