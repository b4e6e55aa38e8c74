"""Long names with units, many parameters, small figures: nothing is cut off, nothing collides."""

import itertools

import numpy as np
import pytest

import baselines  # noqa: F401 (registers sobol)
from boring import plotting
from boring.loop.thesis import thesis_model
from boring.models.gp import prior_mode
from boring.parameters import Categorical, Integer, Ordinal, Real
from boring.plotting import _furniture, _labels, new_figure
from boring.plotting._sweeps import range_of
from boring.study import Study
from boring.subspace.passive import qr_complement

# How well a subspace is learned matters to none of these pictures.
pytestmark = pytest.mark.usefixtures("quick_subspaces")

SMALL, LARGE = (3.5, 2.8), (7.0, 4.4)
YLABEL = "normalised emittance (mm mrad)"
NAMES = [
    "beam energy (MeV)",
    "quadrupole gradient QF1 (T/m)",
    "quadrupole gradient QD2 (T/m)",
    "solenoid current, upstream (A)",
    "ambient humidity at inlet (%)",
    *(
        f"corrector magnet {way} {i} (A)"
        for i in range(1, 49)
        for way in ("horizontal", "vertical")
    ),
]


def pictures(make, dim, new):
    """Return what draws each picture on a new figure, by name."""
    names = NAMES[:dim]
    one, X, y = make.estimate(dim, 1)
    two, _, values = make.estimate(dim, 2)
    three, _, _ = make.estimate(dim, 3)
    run = make.run(dim, n=40, subspace=two)
    large = make.run(dim, y=-1e5 * make.run(dim).y, direction="maximize")
    W = make.truth(dim, 2)
    model = thesis_model(W, qr_complement(W, 2))
    posterior = model.condition(prior_mode(model), X, 1234.5 * make.value(X @ W))

    def axes():
        return new().add_subplot()

    title = "Everything that was measured in the long campaign of March"
    return {
        "convergence": lambda: plotting.plot_convergence(
            large, axes(), ylabel=YLABEL, n_initial=9, title=title
        ),
        "summary-1": lambda: plotting.plot_sufficient_summary(
            one, X, 1e4 * y, axes(), names=names, ylabel=YLABEL
        ),
        "summary-2": lambda: plotting.plot_sufficient_summary(
            two, X, 1e-4 * values, axes(), names=names, ylabel=YLABEL, title=title
        ),
        "loadings": lambda: plotting.plot_loadings(three, new(), names=names),
        "spectrum": lambda: plotting.plot_spectrum(two, axes()),
        "dimension": lambda: plotting.plot_dimension(two, axes()),
        "importance": lambda: plotting.plot_importance(two, axes(), names=names),
        "angles": lambda: plotting.plot_angles(run, axes()),
        "parallel": lambda: plotting.plot_parallel_coordinates(
            run, ax=axes(), names=names, label=YLABEL, title=title
        ),
        "slices": lambda: plotting.plot_slices(run, new(), names=names, ylabel=YLABEL),
        "components": lambda: plotting.plot_components(
            posterior, new(), names=names, ylabel=YLABEL
        ),
        "surrogate": lambda: plotting.plot_surrogate_values(
            X[:, :1], 1e5 * y, 1e5 * y, figure=new(), unit="mm mrad"
        ),
    }  # fmt: skip


def texts_of(figure):
    """Return the texts that are drawn, with their boxes."""
    figure.draw_without_rendering()
    texts = [*figure.texts, figure._suptitle, figure._supylabel, figure._supxlabel]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        texts += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            texts += [axis.get_offset_text()]
            texts += [tick.label1 for tick in axis._update_ticks()]
            texts += [tick.label2 for tick in axis._update_ticks()]
        if axes.get_legend() is not None:
            texts += axes.get_legend().get_texts()
    drawn = {id(t): t for t in texts if t is not None and t.get_visible() and t.get_text().strip()}
    return [(text, text.get_window_extent()) for text in drawn.values()]


def overlap(a, b):
    return min(min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0))


def faults(figure):
    """Return texts that leave the picture, and pairs that collide."""
    found = texts_of(figure)
    width, height = figure.bbox.size
    cut = [
        text.get_text()
        for text, box in found
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    pairs = itertools.combinations(found, 2)
    return cut + [(t.get_text(), u.get_text()) for (t, a), (u, b) in pairs if overlap(a, b) > 1.5]


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_no_text_of_a_study_is_cut_off_or_meets_another(size) -> None:
    space = [Real(name[:-4].strip(), 1e-7, 1e-1, log=True, unit="MeV") for name in NAMES[:4]]
    space += [Categorical("optics of the arc", ["old lattice", "new lattice", "none"])]
    space += [Integer("number of bunches", 1, 9), Ordinal("aperture", ["small", "large"])]
    study = Study(space, direction="minimize", optimizer="sobol", seed=0)
    for suggestion in study.ask(20):
        study.tell(suggestion, sum(map(len, map(str, suggestion.parameters.values()))))
    for draw in (
        lambda: plotting.plot_slices(study, new_figure(*size), ylabel=YLABEL),
        lambda: plotting.plot_parallel_coordinates(
            study, ax=new_figure(*size).add_subplot(), label=YLABEL
        ),
    ):
        drawn = draw()
        found = faults(drawn if hasattr(drawn, "savefig") else drawn.figure)
        assert not found, found


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_values_and_ranges_far_from_zero_are_told_apart(size) -> None:
    """Energies differ in the fifth digit, radio frequencies in the seventh."""
    space = [Real("frequency", 499.654e6, 499.6545e6, unit="Hz"), Real("gain", 99.9, 100, log=True)]
    study = Study(space, direction="minimize", optimizer="gp", seed=0)
    for suggestion in study.ask(12):
        x = (suggestion.parameters["frequency"] - 499.654e6) / 500.0
        study.tell(suggestion, -76.41 + 1e-3 * x**2)
    for draw in (
        lambda: plotting.plot_slices(study, new_figure(*size)),
        lambda: plotting.plot_convergence(study.result(), new_figure(*size).add_subplot()),
        lambda: plotting.plot_parallel_coordinates(study, ax=new_figure(*size).add_subplot()),
    ):
        drawn = draw()
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure
        assert faults(figure) == []
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                ticks = [tick.label1.get_text() for tick in axis._update_ticks()]
                shown = [text for text in ticks if text]
                assert len(set(shown)) == len(shown)
    assert range_of(space[0]) == "499654000 … 499654500 Hz"


@pytest.mark.parametrize(("dim", "size"), [(5, LARGE), (100, SMALL)])
def test_no_text_is_cut_off_or_meets_another(make, dim, size) -> None:
    for name, draw in pictures(make, dim, lambda: new_figure(*size)).items():
        drawn = draw()
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure
        assert faults(figure) == [], name


def test_faults_would_be_seen() -> None:
    figure = new_figure(3.0, 2.0)
    axes = figure.add_subplot()
    axes.set_title("a title that is much too long for so small a figure", loc="left")
    axes.set_xticks([0.0, 0.01], ["one", "two"])
    found = faults(figure)
    assert axes.get_title(loc="left") in found
    assert ("one", "two") in found


def test_a_legend_over_points_that_are_everywhere_stands_above_the_axes(make) -> None:
    estimate, X, y = make.estimate(5, 1)
    for axes in (
        plotting.plot_convergence(make.run(5), title="A title"),
        plotting.plot_sufficient_summary(estimate, X, y, title="A title"),
        plotting.plot_parallel_coordinates(make.run(5), title="A title"),
    ):
        axes.figure.draw_without_rendering()
        legend = axes.get_legend().get_window_extent()
        assert legend.y0 >= axes.get_window_extent().y1 - 1.0
        assert overlap(legend, axes._left_title.get_window_extent()) <= 1.5


def test_names_that_share_beginning_and_end_stay_apart() -> None:
    found = _labels.short_names(NAMES)
    assert len(set(found)) == len(NAMES)
    assert max(map(len, found)) <= _labels.SHORT_WIDTH
    assert found[1:6] == [
        "quadrupole gr… QF1",
        "quadrupole gr… QD2",
        "solenoid current…",
        "ambient humidity…",
        "…horizontal 1",
    ]


LONG = {
    "words": ["a word or two " * 20, "a word or two " * 20 + "more (mm)", "one more (mm)"],
    "letters": ["q" * 300, "q" * 299 + "p", "p"],
    "middle": ["q" * 150 + letter + "q" * 150 for letter in "abc"],
    "units": [f"{name} ({'u' * 300})" for name in "abc"],
}


@pytest.mark.parametrize("kind", LONG)
def test_names_and_labels_of_any_length_leave_room_for_what_they_name(kind) -> None:
    """Where they do not, matplotlib warns, which is an error here."""
    study = Study([Real(name, 0, 1) for name in LONG[kind]], direction="minimize", seed=0)
    for suggestion in study.ask(6):
        study.tell(suggestion, sum(suggestion.parameters.values()) ** 2)
    label = "the loss " * 40
    figure = plotting.plot_slices(study, new_figure(5.2, 2.9), ylabel=label, title=label)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert len(set(labels)) == 3
    axes = plotting.plot_parallel_coordinates(study, ax=new_figure(5.2, 3.5).add_subplot())
    for drawn in (figure, axes.figure):
        drawn.draw_without_rendering()
        assert all(axes.get_window_extent().height > 0.8 * drawn.dpi for axes in drawn.axes)
    names = _labels.short_names(LONG[kind])
    assert len(set(names)) == 3
    assert max(map(len, names)) <= _labels.SHORT_WIDTH


def test_long_labels_are_cut_where_names_of_the_usual_length_are_whole() -> None:
    assert _labels.short_labels(["beam energy (MeV)", "q" * 300]) == [
        "beam energy (MeV)",
        "q" * (_labels.LABEL_WIDTH - 1) + "…",
    ]
    cut = _labels.wrap("several words " * 40, 2.0, 10.0).split("\n")
    assert len(cut) == _labels.MOST_LINES
    assert cut[-1].endswith("…")


def test_units_stay_on_one_line() -> None:
    assert _labels.wrap("normalised emittance (mm mrad)", 1.9, 10.0) == (
        "normalised emittance\n(mm mrad)"
    )


def test_formulas_are_neither_cut_nor_broken() -> None:
    names = [r"$\alpha_{\mathrm{quadrupole}}$", "ambient humidity of the hall", r"price in US\$"]
    assert _labels.short_names(names) == [names[0], "ambient humidity…", names[2]]
    text = rf"gradient of {names[0]} and $a_{{1}} + b_{{2}}$"
    assert _labels.wrap(text, 0.8, 10.0) == (
        "gradient\nof\n$\\alpha_{\\mathrm{quadrupole}}$\nand\n$a_{1} + b_{2}$"
    )


def test_colour_bars_say_few_digits_with_a_true_minus(make) -> None:
    estimate, X, y = make.estimate(5, 2)
    axes = plotting.plot_sufficient_summary(estimate, X, -1234.5678 * np.abs(y))
    bar = axes.figure.axes[-1]
    _furniture.settle(axes)
    texts = [tick.get_text() for tick in bar.get_yticklabels()]
    assert all(len(text) <= 6 for text in texts)
    assert any(text.startswith("−") for text in texts)


@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
def test_what_numbers_have_in_common_stays_legible_on_axes_of_the_caller(make, layout):
    """Without a layout, matplotlib works it out when it draws, too late for a legend above it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    run = make.run(3)
    run = make.run(3, y=1e6 + 1e-3 * run.y)
    figure = Figure(figsize=(16, 9), layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2)
    plotting.plot_convergence(run, axes[0, 0], ylabel="energy (J)")
    texts = texts_of(figure)
    assert "+1e6" in [text.get_text() for text, _ in texts]
    assert faults(figure) == []
