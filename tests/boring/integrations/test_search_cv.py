"""BoringSearchCV: scikit-learn's contract, and the search behind it."""

import pickle
import re
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import baselines  # noqa: F401 (registers sobol)
from boring import plotting
from boring.exceptions import BudgetWarning, InvalidInputError, NonFiniteWarning, UnknownNameError
from boring.integrations.search_cv import BoringSearchCV
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real

X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
PIPELINE = make_pipeline(StandardScaler(), SVC())
SPACE = [
    Real("svc__C", 1e-2, 1e2, log=True),
    Categorical("svc__kernel", ["rbf", "linear"]),
    Real("svc__gamma", 1e-3, 1e1, log=True, when="svc__kernel == 'rbf'"),
]


class Moody(ClassifierMixin, BaseEstimator):
    """Scores best at level 6 and cannot be fitted at levels in ``bad``."""

    def __init__(self, level=0, bad=()):
        self.level = level
        self.bad = bad

    def fit(self, X, y):
        if self.level in self.bad:
            raise ArithmeticError("moody")
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return -abs(self.level - 6.0)

    def predict(self, X):
        return np.zeros(len(X))


def search(**arguments):
    given = {"n_iter": 6, "optimizer": "sobol", "cv": 3, "random_state": 0, **arguments}
    return BoringSearchCV(given.pop("estimator", PIPELINE), given.pop("parameters", SPACE), **given)


def checked(estimator, **parameters):
    # Each check fits several times; two configurations and folds keep them quick. A failed fit of
    # a broken input is what the checks look for.
    return search(estimator=estimator, parameters=parameters, n_iter=2, cv=2, error_score="raise")


# scikit-learn's own searches fail this one as well: the warning of the estimator does not come out.
FAILS = {"check_supervised_y_2d": "DataConversionWarning not caught"}


@parametrize_with_checks(
    [checked(LogisticRegression(), C=(0.1, 10.0)), checked(Ridge(), alpha=(0.1, 10.0))],
    expected_failed_checks=lambda search: FAILS if isinstance(search.estimator, Ridge) else {},
)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_a_pipeline_is_searched_and_refitted():
    fitted = search(n_iter=8).fit(X, Y)
    results = fitted.cv_results_
    assert len(results["params"]) == 8
    assert results["mean_test_score"].max() == fitted.best_score_ > 0.7
    assert fitted.best_params_ == results["params"][fitted.best_index_]
    assert fitted.best_estimator_.get_params()["svc__C"] == fitted.best_params_["svc__C"]
    assert fitted.predict(X).shape == Y.shape
    for configuration in results["params"]:
        assert ("svc__gamma" in configuration) == (configuration["svc__kernel"] == "rbf")
    masked = results["param_svc__gamma"].mask
    np.testing.assert_array_equal(masked, results["param_svc__kernel"].data != "rbf")


def test_the_optimizer_was_told_the_mean_scores():
    fitted = search().fit(X, Y)
    data = fitted.optimizer_.result()
    np.testing.assert_array_equal(data.y, fitted.cv_results_["mean_test_score"])
    assert fitted.space_.decode(data.X) == fitted.cv_results_["params"]
    assert data.direction == "maximize"


def test_the_same_seed_gives_the_same_search_however_many_jobs():
    alone = search(n_points=2, n_iter=5).fit(X, Y)
    with parallel_config(backend="threading"):
        together = search(n_points=2, n_iter=5, n_jobs=2).fit(X, Y)
    assert alone.cv_results_["params"] == together.cv_results_["params"]
    assert len(alone.cv_results_["params"]) == 5
    other = search(n_iter=5, random_state=1).fit(X, Y)
    assert other.cv_results_["params"] != alone.cv_results_["params"]
    state = np.random.RandomState(5)
    search(n_iter=2, random_state=state, refit=False).fit(X, Y)


def test_of_several_metrics_the_one_that_refit_names_is_searched_by():
    scoring = {"loss": "neg_log_loss", "hits": "accuracy"}
    fitted = search(
        estimator=LogisticRegression(),
        parameters={"C": Real("C", 1e-3, 1e3, log=True)},
        scoring=scoring,
        refit="loss",
    ).fit(X, Y)
    np.testing.assert_array_equal(
        fitted.optimizer_.result().y, fitted.cv_results_["mean_test_loss"]
    )
    assert fitted.multimetric_
    for refit in (False, lambda results: 0):
        with pytest.raises(InvalidInputError, match=r"refit must name.*'hits'"):
            search(scoring=scoring, refit=refit).fit(X, Y)

    def both(estimator, X, y):
        return {"a": 1.0, "b": estimator.score(X, y)}

    fitted = search(scoring=both, refit="b", n_iter=2).fit(X, Y)
    np.testing.assert_array_equal(fitted.optimizer_.result().y, fitted.cv_results_["mean_test_b"])
    with pytest.raises(InvalidInputError, match=r"\['a', 'b'\]"):
        search(scoring=both, refit=False, n_iter=2).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_warning_of_a_failed_fit_has_the_parameters_in_their_units():
    moody = search(
        estimator=Moody(bad=(2,)), parameters=[Integer("level", 2, 3)], n_iter=2, n_points=2
    )
    wanted = r"1 of 2 told are not, the first is nan at \{'level': 2\} \(score nan\)"
    with pytest.warns(NonFiniteWarning, match=wanted):
        moody.fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
@pytest.mark.parametrize("n_points", [1, 3])
def test_failed_fits_are_told_as_failures_and_have_their_rows(n_points):
    fitted = search(
        estimator=Moody(bad=(2, 3, 7)),
        parameters=[Integer("level", 0, 9)],
        n_iter=10,
        n_points=n_points,
    ).fit(X, Y)
    results = fitted.cv_results_
    assert len(results["params"]) == 10
    assert {p["level"] for p in results["params"]} == set(range(10))
    for p, score, rank, split, time_, column in zip(
        results["params"],
        results["mean_test_score"],
        results["rank_test_score"],
        results["split0_test_score"],
        results["mean_fit_time"],
        results["param_level"],
        strict=True,
    ):
        assert np.isnan(score) == np.isnan(split) == (p["level"] in (2, 3, 7))
        assert column == p["level"]
        assert (rank == 8) == np.isnan(score)
        assert np.isfinite(time_) or np.isnan(score)
    assert fitted.best_params_ == {"level": 6}
    data = fitted.optimizer_.result()
    failed = sorted(
        fitted.space_.decode(data.X)[i]["level"] for i in np.flatnonzero(np.isnan(data.y))
    )
    assert failed == [2, 3, 7]
    lengths = {key: len(column) for key, column in results.items()}
    assert set(lengths.values()) == {10}, lengths


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("error_score", [0.0, -2.5, -100.0])
def test_a_number_for_failed_fits_counts_as_scikit_learn_counts_it(error_score):
    given = {
        "estimator": Moody(bad=(2, 3, 7)),
        "parameters": [Integer("level", 0, 9)],
        "n_iter": 10,
        "error_score": error_score,
        "return_train_score": True,
        "refit": False,
    }
    searches = [search(n_points=n, **given).fit(X, Y) for n in (1, 10)]
    tables = []
    for fitted in searches:
        results = fitted.cv_results_
        order = np.argsort([p["level"] for p in results["params"]])
        assert list(order) != sorted(order)
        tables.append({k: column[order] for k, column in results.items() if "_score" in k})
        told = fitted.optimizer_.result().y
        np.testing.assert_array_equal(np.sort(told), np.sort(results["mean_test_score"]))
    one_by_one, together = tables  # where all are one round, the table is scikit-learn's alone
    assert {"split0_test_score", "std_train_score", "rank_test_score"} <= together.keys()
    for key in together.keys() - {"mean_score_time", "std_score_time"}:
        np.testing.assert_array_equal(one_by_one[key], together[key], err_msg=key)
    assert (one_by_one["mean_test_score"][[2, 3, 7]] == error_score).all()


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_if_every_fit_fails_the_error_of_scikit_learn_is_raised():
    with pytest.raises(ValueError, match="fits failed"):
        search(estimator=Moody(bad=range(10)), parameters=[Integer("level", 0, 9)]).fit(X, Y)


def test_errors_are_raised_where_that_is_asked_for():
    with pytest.raises(ArithmeticError, match="moody"):
        search(
            estimator=Moody(bad=range(10)),
            parameters=[Integer("level", 0, 9)],
            error_score="raise",
        ).fit(X, Y)
    with pytest.raises(ValueError, match="Invalid parameter"):
        search(parameters={"svc__c": (0.1, 1.0)}).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_numeric_error_score_is_a_value():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        fitted = search(
            estimator=Moody(bad=(2,)),
            parameters=[Integer("level", 0, 3)],
            error_score=-50.0,
            n_points=4,
            n_iter=4,
        ).fit(X, Y)
    assert sorted(fitted.optimizer_.result().y.tolist()) == [-50.0, -6.0, -5.0, -3.0]


def test_clone_and_parameters():
    original = search(options={"n_initial": 3}, optimizer="boring")
    copy = clone(original)
    assert copy.get_params(deep=False).keys() == original.get_params(deep=False).keys()
    assert copy.get_params()["estimator__svc__C"] == 1.0
    copy.set_params(n_iter=2, estimator__svc__C=3.0)
    assert (copy.n_iter, copy.estimator.named_steps["svc"].C) == (2, 3.0)
    for name, value in (("n_iter", 0), ("n_points", 0), ("optimizer", 3), ("options", 3)):
        with pytest.raises(ValueError, match=name):
            search(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"direction": "minimize"}, "'direction'. Here a search seeks the largest score"),
        ({"seed": 3}, "'seed'. Here random_state makes a search repeatable"),
        ({"domain": None}, "'domain'. Here ParameterSpace holds known constraints"),
        ({"n_constraints": 1}, "'n_constraints'. Here a score is all"),
        ({"space": [(0, 1)]}, "'space'. Here parameters is the space"),
        ({"n_iter": 3}, "'n_iter'. Here n_iter stands beside options"),
        ({"random_state": 3}, "'random_state'. Here random_state stands beside options"),
        ({"n_init": 3}, "'n_init'. Did you mean 'n_initial'"),
    ],
)
def test_options_that_the_search_sets_itself_are_refused_and_not_listed(options, remedy):
    with pytest.raises(UnknownNameError, match=re.escape(remedy)) as caught:
        search(options=options).fit(X, Y)
    listed = str(caught.value).partition("Known: ")[2].rstrip(".").split(", ")
    assert listed == ["n_initial", "noise_std", "repeats"]


def test_a_fitted_search_survives_pickling_and_goes_on_alike():
    fitted = search(options={"n_initial": 3}, optimizer="boring", n_iter=5).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.optimizer_.state().to_json() == fitted.optimizer_.state().to_json()
    np.testing.assert_array_equal(again.optimizer_.ask(), fitted.optimizer_.ask())
    pickle.loads(pickle.dumps(search()))


def test_a_search_is_shown_as_a_study_with_the_names_of_its_parameters():
    with pytest.raises(AttributeError, match="before it is fitted"):
        search().study_  # noqa: B018
    fitted = pickle.loads(pickle.dumps(search(n_iter=8).fit(X, Y)))
    study = fitted.study_
    assert study.best["parameters"] == fitted.best_params_
    assert study.best["value"] == fitted.best_score_
    assert [parameters for _, parameters in study.told()] == fitted.cv_results_["params"]
    axes = plotting.plot_slices(study).axes
    assert {"svc__C", "svc__kernel"} <= {panel.get_xlabel() for panel in axes}
    scales = {panel.get_xlabel(): panel.get_xscale() for panel in axes}
    assert scales["svc__C"] == "log"


def test_known_constraints_hold_and_survive_pickling():
    from boring.parameters import ParameterSpace

    space = ParameterSpace(
        [Integer("level", 0, 9), Categorical("bad", [(), (99,)])], constraints=["level <= 4"]
    )
    fitted = search(estimator=Moody(), parameters=space).fit(X, Y)
    assert max(p["level"] for p in fitted.cv_results_["params"]) <= 4
    again = pickle.loads(pickle.dumps(fitted))
    assert again.optimizer_.domain.is_constrained


def test_the_subspace_is_described_by_the_names_of_the_parameters():
    fitted = search(
        estimator=LogisticRegression(),
        parameters=[Real("C", 1e-3, 1e3, log=True), Real("intercept_scaling", 0.5, 2.0)],
        scoring="neg_log_loss",
        optimizer="boring",
        options={"n_initial": 5},
        n_iter=9,
        cv=KFold(3),
    ).fit(X, Y)
    assert "C" in str(fitted.describe_subspace())
    with pytest.raises(NotFittedError):
        search().describe_subspace()
    with pytest.raises(InvalidInputError, match="'sobol'"):
        search(n_iter=2).fit(X, Y).describe_subspace()


def test_a_search_with_conditions_and_constraints_goes_through_pickle():
    space = ParameterSpace(
        [
            Real("C", 1e-2, 1e2, log=True),
            Categorical("kernel", ["rbf", "linear"]),
            Real("gamma", 1e-3, 1.0, log=True, when="kernel == 'rbf'"),
        ],
        constraints=["C <= 50 or kernel == 'rbf'"],
    )
    fitted = BoringSearchCV(SVC(), space, n_iter=6, cv=2, random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.optimizer_.ask(), fitted.optimizer_.ask())
    assert again.space_ == fitted.space_


@pytest.mark.parametrize("n_points", [1, 2])
def test_a_space_of_fewer_configurations_is_searched_whole(n_points):
    few = search(
        estimator=Moody(), parameters=[Integer("level", 5, 7)], n_iter=8, n_points=n_points
    )
    with pytest.warns(BudgetWarning, match="all 3 were evaluated, received n_iter=8"):
        few.fit(X, Y)
    assert sorted(row["level"] for row in few.cv_results_["params"]) == [5, 6, 7]
    assert few.best_params_ == {"level": 6}
    again = search(
        estimator=Moody(),
        parameters=[Integer("level", 5, 7)],
        n_points=n_points,
        options={"repeats": True},
    )
    assert len(again.fit(X, Y).cv_results_["params"]) == 6


class Picky(Moody):
    """Insists on a pair, as scikit-learn's ``ngram_range`` does."""

    def fit(self, X, y):
        if not (isinstance(self.level, tuple) and isinstance(self.bad, tuple)):
            raise TypeError("no tuple")
        return super().fit(X, y)

    def score(self, X, y):
        return float(sum(self.level))


@pytest.mark.parametrize(
    "parameters",
    [
        [Categorical("level", [(1, 1), (1, 2)]), Fixed("bad", (3,))],
        {"level": [(1, 1), (1, 2)], "bad": Fixed("bad", ())},
        [Ordinal("level", [(1, 1), (1, 2), [1, 3]])],
    ],
    ids=["categorical", "dict", "ordinal"],
)
def test_estimators_get_the_tuples_that_were_declared(parameters):
    n_choices = 3 if len(parameters) == 1 else 2
    found = search(estimator=Picky(), parameters=parameters, n_iter=n_choices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (FitFailedWarning, NonFiniteWarning))
        found = pickle.loads(pickle.dumps(clone(found).fit(X, Y)))
    assert found.best_params_["level"] == (1, 2)
    levels = [row["level"] for row in found.cv_results_["params"]]
    assert sorted(map(type, levels), key=str) == [list, tuple, tuple][3 - n_choices :]
    assert list(found.cv_results_["param_level"]) == levels


def test_choices_in_a_dict_may_be_any_objects():
    parameters = {
        "svc__class_weight": [None, "balanced", {0: 1, 1: 5}],
        "standardscaler": [StandardScaler(), MinMaxScaler(), "passthrough"],
        "svc__kernel": ["linear", linear_kernel],
        "svc__C": (0.1, 10.0),
    }
    fitted = search(parameters=parameters, n_iter=12, n_points=4).fit(X, Y)
    fitted = pickle.loads(pickle.dumps(fitted))
    rows = fitted.cv_results_["params"]
    weights = [row["svc__class_weight"] for row in rows]
    assert all(weight in (None, "balanced", {0: 1, 1: 5}) for weight in weights)
    assert {0: 1, 1: 5} in weights
    assert {type(row["standardscaler"]) for row in rows} == {StandardScaler, MinMaxScaler, str}
    assert {row["svc__kernel"] for row in rows} == {"linear", linear_kernel}
    assert list(fitted.cv_results_["param_svc__class_weight"]) == weights
    best = fitted.best_params_
    assert fitted.best_estimator_["svc"].class_weight == best["svc__class_weight"]
    names = fitted.space_.column_names
    assert {"svc__class_weight={0: 1, 1: 5}", "standardscaler=StandardScaler()"} <= set(names)
    assert "svc__kernel=<function linear_kernel>" in names
    assert fitted.optimizer_.n_told == 12


def test_objects_that_look_alike_stay_apart_and_keep_their_conditions():
    texts = [Fixed("x", "y"), Fixed("x", "y"), repr(Fixed("x", "y"))]
    parameters = {
        "level": texts,
        "bad": {"type": "integer", "low": 0, "high": 3, "when": f'level == "{texts[2]}"'},
    }

    class Chosen(Moody):
        def fit(self, X, y):
            return self

        def score(self, X, y):
            return float(texts.index(self.level))

    fitted = search(estimator=Chosen(), parameters=parameters, n_iter=6).fit(X, Y)
    for row in fitted.cv_results_["params"]:
        assert ("bad" in row) == isinstance(row["level"], str)
    assert fitted.space_.parameters["level"].choices[:2] == (f"{texts[2]} (2)", f"{texts[2]} (3)")


@pytest.mark.parametrize("make", [Categorical, lambda name, choices: Fixed(name, choices[1])])
def test_where_choices_cannot_be_objects_it_is_said_where_they_can(make):
    with pytest.raises(InvalidInputError, match=r"takes objects in a dict .*\[\.\.\.\]"):
        make("class_weight", [None, {0: 1, 1: 5}])


class Whole(Moody):
    """Insists on an integer, as scikit-learn's ``max_depth`` does."""

    def fit(self, X, y):
        if not isinstance(self.level, int):
            raise TypeError("no integer")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::boring.exceptions.NonFiniteWarning")
def test_where_no_fit_succeeds_ranges_between_whole_numbers_are_named():
    failing = search(estimator=Whole(), parameters={"level": (1, 5)}, n_iter=2)
    with pytest.raises(ValueError, match="no integer") as caught:
        failing.fit(X, Y)
    assert "['level'] have decimal numbers" in caught.value.__notes__[0]
    failing = search(estimator=Whole(), parameters={"level": (0.5, 5)}, n_iter=2)
    with pytest.raises(ValueError, match="no integer") as caught:
        failing.fit(X, Y)
    assert not hasattr(caught.value, "__notes__")
    search(estimator=Whole(), parameters=[Integer("level", 1, 5)], n_iter=2).fit(X, Y)
