"""Studies are drawn as their optimisers are, with the names of their columns."""

import numpy as np
import pytest

import baselines  # noqa: F401 (registers sobol)
from boring import plotting
from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.plotting._sweeps import range_of
from boring.report._text import shown
from boring.study import Study

# How well a subspace is learned matters to none of these pictures.
pytestmark = pytest.mark.usefixtures("quick_subspaces")


@pytest.fixture(scope="module")
def study(in_haste):
    """Return a study with a subspace."""
    space = ParameterSpace(
        [
            Real("gain", 0, 10, unit="dB"),
            Real("phase", -180, 180, unit="deg"),
            Real("bias", 0, 1),
            Categorical("optics", ["old", "new"]),
        ]
    )
    found = Study(space, direction="minimize", seed=0, n_initial=20)
    with in_haste():
        found.run(lambda p: (p["gain"] / 5 + p["phase"] / 180 - 1) ** 2, 24, progress=False)
        assert found.subspace is not None
    return found


def test_columns_bring_their_names_unless_others_are_given(study) -> None:
    columns = study.space.column_names
    axes = plotting.plot_importance(study)
    assert {text.get_text() for text in axes.get_yticklabels()} <= {
        name for column in columns for name in (column, column.split(" (")[0])
    }
    axes = plotting.plot_importance(study, names=["a", "b", "c", "d"])
    assert {text.get_text() for text in axes.get_yticklabels()} == {"a", "b", "c", "d"}
    with pytest.raises(InvalidInputError, match="each of the 4 parameters; received 1"):
        plotting.plot_importance(study, names=["a"])


@pytest.mark.parametrize(
    "name",
    [
        "sufficient_summary",
        "surrogate",
        "loadings",
        "spectrum",
        "dimension",
        "slices",
        "parallel_coordinates",
        "angles",
    ],
)
def test_every_picture_takes_a_study(study, name) -> None:
    draw = getattr(plotting, f"plot_{name}")
    assert draw(study) is not None


def test_the_truth_of_a_study_takes_configurations(study) -> None:
    seen = []

    def truth(parameters):
        seen.append(parameters)
        return (parameters["gain"] / 5 + parameters["phase"] / 180 - 1) ** 2

    plotting.plot_surrogate(study, truth, n_points=12)
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 4))
    assert seen == study.space.decode(study.optimizer.domain.snap(drawn))
    assert {p["optics"] for p in seen} == {"old", "new"}


def test_studies_and_optimisers_stand_for_their_results_so_far(study) -> None:
    optimizer = BoringOptimizer([(-1, 1)] * 2, direction="minimize", seed=0)
    optimizer.tell([[0.0, 0.5], [0.5, 0.0]], [3.0, 2.0])
    axes = plotting.plot_convergence({"study": study, "both": [optimizer, optimizer.result()]})
    np.testing.assert_array_equal(axes.lines[0].get_ydata()[:24], study.result().best_so_far())
    np.testing.assert_array_equal(axes.lines[1].get_ydata()[:2], [3.0, 2.0])
    with pytest.raises(InvalidInputError, match="no evaluations"):
        plotting.plot_convergence(BoringOptimizer([(-1, 1)], direction="minimize"))


@pytest.mark.parametrize("source", ["text", None, 3, {"a": 1}])
def test_what_is_no_source_is_refused(source) -> None:
    for draw in (plotting.plot_loadings, plotting.plot_convergence, plotting.plot_slices):
        with pytest.raises(InvalidInputError):
            draw(source)


def test_axes_are_saved_as_their_figure_is(study, tmp_path) -> None:
    axes = plotting.plot_convergence(study)
    assert plotting.save(axes, tmp_path / "made" / "axes.png").stat().st_size > 1000
    assert plotting.save(axes.figure, tmp_path / "figure.svg").exists()
    part = axes.figure.subfigures(1, 2)[0]
    for picture in (part, part.add_subplot()):
        assert plotting.save(picture, tmp_path / "part.png").stat().st_size > 1000
    with pytest.raises(InvalidInputError, match=r"\.png.*received .*picture\.xyz"):
        plotting.save(axes, tmp_path / "picture.xyz")
    with pytest.raises(InvalidInputError, match="A figure or axes are needed; received list"):
        plotting.save([axes], tmp_path / "list.png")


# Slices and parallel coordinates in the parameters' own units.

TYPED = [
    Real("gain", 0.1, 10.0, log=True, unit="dB"),
    Integer("bunches", 1, 4),
    Fixed("site", "A"),
    Categorical("optics", ["old", "new", "third"]),
    Ordinal("size", ["S", "M"]),
    Real("rate", 1e-6, 1e-2, log=True, when="optics != 'old'"),
    Integer("turns", 0, 500),
    Real("shift", 0.0, 1.0, step=0.25),
]


@pytest.fixture(scope="module")
def typed():
    """Return a study of every kind of parameter, told 24 values."""
    found = Study(TYPED, direction="minimize", optimizer="sobol", seed=0)
    for suggestion in found.ask(24):
        p = suggestion.parameters
        value = np.log(p["gain"]) ** 2 + (p["optics"] != "new") + 0.1 * p["bunches"] + p["shift"]
        found.tell(suggestion, value)
    return found


def panels_of(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def test_choices_are_written_as_reports_write_them() -> None:
    kind = Categorical("kind", [None, True, "old", ["é", 1]])
    (axes,) = plotting.plot_slices(of_choices(kind)).axes
    ticks = {text.get_text() for text in axes.get_xticklabels()}
    assert ticks == {"None", "True", "old", '["é", 1]'} == {shown(c) for c in kind.choices}
    assert range_of(Categorical("kind", [None, False])) == "None, False"
    assert ParameterSpace([kind]).column_names[0] == "kind=None"


def of_choices(kind):
    study = Study([kind], direction="minimize", seed=0, optimizer="sobol")
    for value, choice in enumerate(kind.choices):
        study.tell({"kind": choice}, float(value))
    return study


def test_slices_run_through_the_values_of_each_parameter(typed) -> None:
    panels = panels_of(plotting.plot_slices(typed, top=9))
    best = typed.best["parameters"]
    always = {"gain (dB)", "bunches", "optics", "size", "turns", "shift"}
    assert set(panels) == always | ({"rate"} & set(best))
    gain, optics = panels["gain (dB)"], panels["optics"]
    assert (gain.get_xscale(), optics.get_xscale()) == ("log", "linear")
    assert gain.get_xlim() == (0.1, 10.0)
    assert [text.get_text() for text in gain.get_xticklabels()] == ["0.1", "1", "10"]
    assert [text.get_text() for text in optics.get_xticklabels()] == ["old", "new", "third"]
    np.testing.assert_array_equal(panels["bunches"].lines[0].get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(panels["shift"].lines[0].get_xdata(), [0, 0.25, 0.5, 0.75, 1])
    assert len(panels["turns"].lines[0].get_xdata()) > 100
    for name, axes in (("gain", gain), ("bunches", panels["bunches"]), ("turns", panels["turns"])):
        assert axes.lines[-1].get_xdata()[0] == best[name]
        assert axes.lines[-1].get_ydata()[0] == typed.best["value"]
    assert optics.lines[-1].get_xdata()[0] == ["old", "new", "third"].index(best["optics"])


def test_slices_are_what_the_study_predicts(typed) -> None:
    center = {"gain": 2.0, "bunches": 3, "optics": "new", "size": "S", "rate": 1e-4}
    center |= {"turns": 250, "shift": 0.5, "site": "A"}
    panels = panels_of(plotting.plot_slices(typed, center=center, top=9))
    assert "rate" in panels
    t, mean = panels["gain (dB)"].lines[0].get_data()
    expected, _ = typed.predict([{**center, "gain": float(gain)} for gain in t])
    np.testing.assert_allclose(mean, expected, rtol=1e-6)
    settings = [{**center, "optics": kind} for kind in ("old", "new", "third")]
    del settings[0]["rate"]  # not active there
    mean = panels["optics"].lines[0].get_ydata()
    expected, sd = typed.predict(settings)
    # The middle is where a parameter goes that becomes active; here the rate is there.
    np.testing.assert_allclose(mean, expected, rtol=1e-6)
    bars = panels["optics"].collections[0].get_segments()
    np.testing.assert_allclose([bar[1, 1] - bar[0, 1] for bar in bars], 4.0 * sd, rtol=1e-6)
    without = panels_of(plotting.plot_slices(typed, center=settings[0], top=9))
    assert "rate" not in without
    with pytest.raises(InvalidInputError, match="configuration where a Study is drawn"):
        plotting.plot_slices(typed.optimizer, center=center)
    with pytest.raises(InvalidInputError, match="each of the 7 parameters; received 1"):
        plotting.plot_slices(typed, names=["a"])


def test_slices_go_through_a_feasible_point() -> None:
    study = Study({"a": (0.0, 1.0)}, direction="minimize", n_constraints=1, seed=0)
    study.add([{"a": i / 4, "value": i, "constraint_1": 0.5 if i < 2 else -0.5} for i in range(5)])
    axes = plotting.plot_slices(study).axes[0]
    assert (axes.lines[-1].get_xdata()[0], axes.lines[-1].get_ydata()[0]) == (0.5, 2.0)


def test_parallel_coordinates_pass_below_what_is_inactive() -> None:
    kinds = Categorical("kind", ["a", "b"])
    only_b = [Real("x", 0.0, 1.0, when="kind == 'b'"), Integer("n", 1, 3, when="kind == 'b'")]
    only_a = Categorical("how", ["p", "q", "r"], when="kind == 'a'")
    study = Study([kinds, *only_b, only_a, Real("y", 0.0, 1.0)], direction="minimize", seed=0)
    study.tell({"kind": "a", "how": "q", "y": 0.5}, 1.0)
    study.tell({"kind": "b", "x": 0.5, "n": 2, "y": 0.5}, 2.0)
    axes = plotting.plot_parallel_coordinates(study)
    assert axes.get_yticklabels()[-1].get_text() == "inactive"
    below = axes.get_yticks()[-1]
    assert axes.get_ylim()[0] < below < -1.0
    heights = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    assert heights == [[1.0, 0.0, 0.0, below, 0.0], [-1.0, below, below, 0.0, 0.0]]


def test_parallel_coordinates_have_one_line_for_each_parameter(typed) -> None:
    wide = plotting.new_figure(14.0, 4.0).add_subplot()
    axes = plotting.plot_parallel_coordinates(typed, ax=wide)
    texts = [text.get_text().replace("\n", " ") for text in axes.get_xticklabels()]
    assert texts == [
        "gain 0.1 … 10 dB, log", "bunches 1 … 4", "optics old, new, third", "size S, M",
        "rate 1e−6 … 0.01, log", "turns 0 … 500", "shift 0 … 1",
    ]  # fmt: skip
    best = axes.lines[-1].get_ydata()
    setting = typed.best["parameters"]
    assert best[0] == pytest.approx(np.log10(setting["gain"]))
    assert best[2] == ["old", "new", "third"].index(setting["optics"]) - 1.0
    narrow = plotting.new_figure(3.5, 2.8).add_subplot()
    texts = plotting.plot_parallel_coordinates(typed, ax=narrow).get_xticklabels()
    assert [text.get_text() for text in texts][:2] == ["gain", "bunches"]


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (Real("a", 3e-7, 2e5, log=True), {"1e−4", "0.1", "100"}),
        (Real("a", 2.0, 2.5, log=True), {"2", "2.5"}),
        (Integer("a", 1, 1000, log=True), {"1", "10", "100", "1000"}),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_few_and_round(parameter, expected) -> None:
    study = Study([parameter], direction="maximize", optimizer="sobol", seed=0)
    for suggestion in study.ask(6):
        study.tell(suggestion, np.log(suggestion.parameters["a"]))
    axes = plotting.plot_slices(study).axes[0]
    texts = [text.get_text() for text in axes.get_xticklabels()]
    assert expected <= set(texts)
    assert len(texts) <= 6
    for place, text in zip(axes.get_xticks(), texts, strict=True):
        assert float(text.replace("−", "-")) == pytest.approx(place)
    assert not axes.get_xticks(minor=True).size


def test_names_of_choices_are_cut_or_stand_upright_where_there_are_many() -> None:
    kinds = [f"kind number {i}" for i in range(9)]
    study = Study({"kind": kinds, "a": (0.0, 1.0)}, direction="maximize", optimizer="sobol", seed=0)
    for suggestion in study.ask(12):
        study.tell(suggestion, kinds.index(suggestion.parameters["kind"]))
    axes = panels_of(plotting.plot_slices(study))["kind"]
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {90.0}
    assert len({text.get_text() for text in axes.get_xticklabels()}) == 9


@pytest.fixture(scope="module")
def ranked():
    """Return a study of eight parameters and their names, the most important one first."""
    study = Study({f"x{i}": (-1.0, 1.0) for i in range(8)}, direction="minimize", seed=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        u = rng.uniform(-1.0, 1.0, 8)
        study.tell({f"x{i}": v for i, v in enumerate(u)}, (u[5] - u[2]) ** 2 + 0.1 * rng.normal())
    return study, [row.parameter for row in study.report().importances]


def test_slices_and_report_rank_the_parameters_alike(ranked):
    """The mean varies through the incumbent along what does nothing; importance is the box's."""
    study, names = ranked
    drawn = [panel.get_label() for panel in plotting.plot_slices(study, top=4).axes[:4]]
    assert drawn == names[:4]
    assert set(drawn[:2]) == {"x2", "x5"}
    center = np.zeros(8)
    of_a_model = plotting.plot_slices(study.optimizer.surrogate, center=center, top=2).axes[:2]
    assert {panel.get_label() for panel in of_a_model} == {"x2", "x5"}


def test_parallel_coordinates_and_report_rank_the_parameters_alike(ranked):
    """The best points lie anywhere along the valley: they do not agree on what decides."""
    study, names = ranked
    for most in (2, 4):
        axes = plotting.plot_parallel_coordinates(study, most=most)
        shown = [tick.get_text().split("\n")[0] for tick in axes.get_xticklabels()]
        assert shown == sorted(names[:most])
    for source in (study.optimizer, study.result()):
        axes = plotting.plot_parallel_coordinates(source, most=2)
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x2", "x5"]
    scaled, y = study.optimizer.history.X, study.optimizer.history.y
    of_points = plotting.plot_parallel_coordinates(study.optimizer, scaled, y, most=2)
    assert [tick.get_text() for tick in of_points.get_xticklabels()] != ["x2", "x5"]


@pytest.mark.parametrize(
    "name", ["slices", "parallel_coordinates", "loadings", "importance", "sufficient_summary"]
)
def test_a_tab_in_a_name_is_a_space_in_a_picture(name):
    """Fonts have a box for it, of which matplotlib warns; warnings are errors here."""
    space = [Real("a\tb", 0, 1, unit="d\tB"), Categorical("c\td", ["x\ty", "z", "u"])]
    study = Study(space, direction="minimize", seed=0, n_initial=10)
    for suggestion in study.ask(10):
        study.tell(suggestion, suggestion.parameters["a\tb"])
    drawn = getattr(plotting, f"plot_{name}")(study)
    (drawn if hasattr(drawn, "savefig") else drawn.figure).draw_without_rendering()


@pytest.mark.parametrize("low", [2**63, 2**70])
def test_integers_beyond_64_bits_are_drawn(low) -> None:
    space = [Integer("h", low, low + 4), Integer("wide", -(2**70), 2**70, step=2**40)]
    study = Study(space, direction="minimize", optimizer="sobol", seed=0)
    for asked in study.ask(8):
        study.tell(asked, float(asked.parameters["h"] - low))
    plotting.plot_parallel_coordinates(study).figure.draw_without_rendering()
    panels = panels_of(plotting.plot_slices(study))
    # Float64 does not tell these apart: they stand side by side, as names do.
    np.testing.assert_array_equal(panels["h"].lines[0].get_xdata(), np.arange(5))
    assert panels["wide"].get_xlim() == (-(2.0**70), 2.0**70)
