"""Slices, components, surrogate; and that nothing is shown, left open, changed or illegible."""

import dataclasses
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from boring import plotting
from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.loop.portfolio import iso_model
from boring.loop.thesis import thesis_model
from boring.models.gp import prior_mode
from boring.plotting import SubspaceTrace, _canvas, _encoding, _labels, new_figure
from boring.space import Box
from boring.subspace.passive import qr_complement
from boring.subspace.rotation import readable_basis
from boring.surrogate import ObjectiveModel


@pytest.fixture(scope="module")
def real(make):
    """Return an optimiser that has really run, with the trace of its bases."""
    W = make.truth(4, 1)
    space = [(10.0, 30.0)] * 4
    optimizer = BoringOptimizer(
        space, direction="maximize", seed=1, n_initial=8, effective_dim=1, local_from=0
    )
    trace = SubspaceTrace()
    optimizer.run(
        lambda x: float(3.0 - ((x - 20.0) / 10.0 @ W)[0] ** 2),
        18,
        callback=trace,
        progress=False,
    )
    return optimizer, trace, W


def test_a_real_run_is_traced_and_drawn(real) -> None:
    optimizer, trace, W = real
    assert trace.bases
    axes = plotting.plot_angles(trace, truth=W)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), trace.counts)
    result = optimizer.result()
    assert result.space == optimizer.space
    assert len(result.subspace.fold_bases) >= 2
    for source in (optimizer, result):
        points = np.asarray(plotting.plot_sufficient_summary(source).collections[-1].get_offsets())
        np.testing.assert_array_equal(points[:, 1], result.y)


def test_slices_go_through_the_incumbent_along_the_parameters_that_matter(real) -> None:
    optimizer, _, _ = real
    names = ["pressure (bar)", "b", "c", "d"]
    x_best, model = optimizer.result().x_best, optimizer.surrogate
    figure = plotting.plot_slices(optimizer, names=names, top=3)
    assert len(figure.axes) == 3
    spreads = []
    for axes in figure.axes:
        index = names.index(axes.get_label())
        assert axes.get_xlabel() == names[index]
        t, mean = axes.lines[0].get_data()
        X = np.repeat(x_best[None], len(t), axis=0)
        X[:, index] = t
        expected, variance = model.predict(X)
        np.testing.assert_allclose(mean, expected)
        top = axes.collections[0].get_paths()[0].vertices[:, 1].max()
        assert top == pytest.approx((expected + 2.0 * np.sqrt(variance)).max())
        assert axes.lines[-1].get_xdata()[0] == x_best[index]
        assert axes.lines[-1].get_ydata()[0] == optimizer.result().y_best
        spreads.append(np.ptp(mean))
    assert spreads == sorted(spreads, reverse=True)


@pytest.mark.parametrize("dim", [1, 100])
def test_slices_of_a_result_without_subspace(make, dim) -> None:
    run = make.run(dim, n=12)
    assert len(plotting.plot_slices(run).axes) == min(dim, 6)
    assert len(plotting.plot_slices(run, new_figure(3.5, 2.8)).axes) == min(dim, 2)


def test_slices_refuse_missing_centers_and_values(make) -> None:
    gp = iso_model(1)
    model = ObjectiveModel(Box([0.0], [1.0]), gp, [prior_mode(gp)])
    model.fit(np.linspace(0, 1, 6)[:, None], np.linspace(0, 1, 6) ** 2)
    assert plotting.plot_slices(model, center=[0.5]).axes[0].get_xlim() == (0.0, 1.0)
    with pytest.raises(InvalidInputError, match="no incumbent"):
        plotting.plot_slices(model)
    with pytest.raises(InvalidInputError, match="point of the box"):
        plotting.plot_slices(model, center=[3.0])
    with pytest.raises(InvalidInputError, match="no finite values"):
        plotting.plot_slices(dataclasses.replace(make.run(2), y=np.full(30, np.nan)))
    with pytest.raises(InvalidInputError, match="two finite values that differ; there are 1"):
        plotting.plot_slices(dataclasses.replace(make.run(2), y=np.full(30, 7.0)))


def test_passive_components_are_the_posteriors(make) -> None:
    rng = np.random.default_rng(0)
    W = make.truth(5, 2)
    V = qr_complement(W, 2)
    model = thesis_model(W, V)
    X = rng.uniform(-1, 1, (25, 5))
    posterior = model.condition(prior_mode(model), X, make.value(X @ W))
    figure = plotting.plot_components(posterior)
    panels = {axes.get_label(): axes for axes in figure.axes}
    for j in range(2):
        v = V[:, j] * np.sign(V[np.argmax(np.abs(V[:, j])), j])
        t, mean = panels[f"passive {j + 1}"].lines[0].get_data()
        expected = posterior.components(t[:, None] * v)[0][:, 1 + j]
        np.testing.assert_allclose(mean, expected, atol=1e-10)
    assert panels["active"].collections
    assert panels["passive 1"].get_ylim() == panels["passive 2"].get_ylim()
    small = plotting.plot_components(posterior, new_figure(3.0, 2.4))
    assert "1 of 3" in small.get_suptitle().replace("\n", " ")


@pytest.mark.usefixtures("quick_subspaces")
def test_the_thesis_preset_brings_its_own_components() -> None:
    optimizer = BoringOptimizer.thesis(
        [(0.0, 2.0)] * 3, direction="minimize", seed=0, burn_in=8, effective_dim=1, n_restarts=1
    )
    optimizer.run(lambda x: float((x[0] - x[1]) ** 2 + 0.1 * x[2]), 10, progress=False)
    assert optimizer.surrogate.component_names == ("active", "passive 1")
    result = optimizer.result()
    mean, _ = optimizer.surrogate.predict(result.X)
    assert np.mean((mean - result.y) ** 2) < 0.25 * np.var(result.y)
    panels = plotting.plot_components(optimizer).axes
    assert [axes.get_label() for axes in panels] == ["active", "passive 1"]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_baseline_is_drawn_in_the_callers_units(direction) -> None:
    from baselines.additive.add_gp_ucb import AddGpUcbOptimizer

    optimizer = AddGpUcbOptimizer(
        [(0.0, 4.0), (-3.0, 1.0)], direction=direction, seed=0, decomposition=[[0], [1]]
    )
    X = optimizer.space.sample(20, np.random.default_rng(0))
    optimizer.tell(X, 1e3 + 50.0 * X[:, 0] + np.sin(3.0 * X[:, 1])).ask()
    best, model = optimizer.result().x_best, optimizer.surrogate
    drawn = {axes.get_label(): axes for axes in plotting.plot_slices(optimizer).axes}
    t, mean = drawn["x0"].lines[0].get_data()
    np.testing.assert_allclose(mean, model.predict(np.c_[t, np.full(len(t), best[1])])[0])
    np.testing.assert_allclose(mean[-1] - mean[0], 200.0, rtol=0.1)
    again = {axes.get_label(): axes for axes in plotting.plot_slices(model, center=best).axes}
    np.testing.assert_array_equal(again["x0"].lines[0].get_ydata(), mean)
    first = plotting.plot_components(optimizer).axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(np.ptp(first), 200.0, rtol=0.2)
    assert first[-1] > first[0]


def test_components_of_many_directions_are_refused(make) -> None:
    model = iso_model(4)
    with pytest.raises(InvalidInputError, match="plot_slices"):
        plotting.plot_components(model.condition(prior_mode(model), np.eye(4), np.arange(4.0)))
    with pytest.raises(InvalidInputError, match="fitted additive"):
        plotting.plot_components(make.run(3))


@pytest.mark.parametrize(("rank", "n_axes"), [(1, 1), (2, 4), (3, 2)])
def test_surrogate_against_truth(make, rank, n_axes) -> None:
    estimate, _, _ = make.estimate(6, rank, n=60)
    new = np.random.default_rng(9).uniform(-1, 1, (30, 6))
    W = make.truth(6, rank)
    figure = plotting.plot_surrogate(estimate, lambda x: make.value((x @ W)[None])[0], new)
    assert len(figure.axes) == n_axes
    assert "30 points" in figure.get_suptitle()
    if rank == 1:
        real, mean = (np.asarray(part.get_offsets()) for part in figure.axes[0].collections)
        readable, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
        np.testing.assert_allclose(real[:, 0], (new @ readable)[:, 0])
        np.testing.assert_allclose(real[:, 1], make.value(new @ W))
        np.testing.assert_allclose(mean[:, 1], estimate.predictor.predict(new)[0])
    assert "RMSE" not in plotting.plot_surrogate(estimate, X=new).get_suptitle()


@pytest.mark.parametrize(
    ("n_known", "heading"),
    [
        (0, "12 points unseen in training, RMSE"),
        (5, "12 points, 5 of them seen in training, RMSE"),
        (12, "12 points seen in training, RMSE"),
    ],
)
def test_surrogate_says_how_many_points_it_was_trained_on(make, real, n_known, heading) -> None:
    optimizer, _, _ = real
    estimate, known, _ = make.estimate(4, 1)
    new = np.random.default_rng(8).uniform(-0.9, 0.9, (12 - n_known, 4))
    told, unscale = optimizer.history.X, optimizer.space.unscale
    for source, points in (
        (estimate, np.vstack([known[:n_known], new])),
        (optimizer, np.vstack([told[:n_known], unscale(new)])),
    ):
        title = plotting.plot_surrogate(source, lambda x: x[0], points).get_suptitle()
        assert heading in title.replace("\n", " ")


def test_surrogate_of_a_run_is_in_the_callers_units(real) -> None:
    optimizer, _, _ = real
    figure = plotting.plot_surrogate(optimizer, n_points=20)
    heights = np.asarray(figure.axes[0].collections[0].get_offsets())[:, 1]
    X = optimizer.space.unscale(np.random.default_rng(0).uniform(-1, 1, (20, 4)))
    np.testing.assert_allclose(heights, optimizer.surrogate.predict(X)[0])
    with pytest.raises(InvalidInputError, match="four points"):
        plotting.plot_surrogate_values(np.zeros((3, 1)), None, np.zeros(3))


def all_pictures(make, figure_of):
    """Draw everything that needs no optimiser, on figures from a factory."""
    estimate, X, y = make.estimate(5, 2, n=20)
    run = make.run(5, n=25, subspace=estimate)

    def axes():
        return figure_of().add_subplot()

    return [
        plotting.plot_convergence(run, axes()),
        plotting.plot_sufficient_summary(estimate, X, y, axes()),
        plotting.plot_importance(run, axes()),
        plotting.plot_spectrum(run, axes()),
        plotting.plot_dimension(run, axes()),
        plotting.plot_angles(run, axes()),
        plotting.plot_parallel_coordinates(run, ax=axes()),
        plotting.plot_loadings(run, figure_of()),
        plotting.plot_surrogate(estimate, None, X, figure_of()),
        plotting.plot_slices(run, figure_of()),
    ]


def luminance(color):
    channels = np.array(_canvas.to_rgba(color)[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("background", ["light", "dark"])
def test_texts_are_legible_on_their_background_and_inside_the_picture(make, background) -> None:
    for drawn in all_pictures(make, lambda: new_figure(4.0, 3.0, background=background)):
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure
        figure.draw_without_rendering()
        page = luminance(figure.get_facecolor())
        for axes in figure.axes:
            outer = [axes.xaxis.label, axes.yaxis.label, axes._left_title]
            for text in [*outer, *axes.get_xticklabels(), *axes.get_yticklabels()]:
                ink = luminance(text.get_color())
                contrast = (max(ink, page) + 0.05) / (min(ink, page) + 0.05)
                assert not text.get_text() or contrast > 4.5, text
            for text in outer:
                box = text.get_window_extent()
                if text.get_text():
                    assert min(box.x0, box.y0) >= -2, text
                    assert box.x1 <= figure.bbox.x1 + 2, text
                    assert box.y1 <= figure.bbox.y1 + 2, text


def test_nothing_is_opened_shown_or_changed(make) -> None:
    before = dict(mpl.rcParams)
    had_pyplot = "matplotlib.pyplot" in sys.modules
    state = str(np.random.get_state())  # noqa: NPY002
    all_pictures(make, new_figure)
    assert dict(mpl.rcParams) == before
    assert str(np.random.get_state()) == state  # noqa: NPY002
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot
    if had_pyplot:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


def test_axes_given_are_axes_returned(make) -> None:
    figure = new_figure()
    axes = figure.add_subplot()
    assert plotting.plot_importance(make.estimate(5, 1)[0], axes) is axes
    assert figure.axes == [axes]


@pytest.mark.parametrize(
    "draw",
    [
        plotting.plot_angles,
        plotting.plot_convergence,
        plotting.plot_dimension,
        plotting.plot_importance,
        plotting.plot_parallel_coordinates,
        plotting.plot_spectrum,
        plotting.plot_sufficient_summary,
    ],
)
def test_what_is_no_axes_is_refused(real, draw) -> None:
    optimizer = real[0]
    figure = new_figure()
    for wrong in (figure, figure.subplots(1, 2), "ax", figure.add_subplot(projection="3d")):
        message = f"ax must be axes .* received {type(wrong).__name__}"
        with pytest.raises(InvalidInputError, match=message):
            draw(optimizer, ax=wrong)


@pytest.mark.parametrize(
    "draw",
    [
        plotting.plot_components,
        plotting.plot_loadings,
        plotting.plot_slices,
        plotting.plot_surrogate,
    ],
)
def test_what_is_no_figure_is_refused(real, draw) -> None:
    optimizer = real[0]
    for wrong in (new_figure().add_subplot(), "figure", ["x0"]):
        message = f"figure must be a figure .* received {type(wrong).__name__}"
        with pytest.raises(InvalidInputError, match=message):
            draw(optimizer, figure=wrong)
    with pytest.raises(InvalidInputError, match=r"truth must be a function .* received Figure"):
        plotting.plot_surrogate(optimizer, new_figure())
    with pytest.raises(InvalidInputError, match="values of truth must"):
        plotting.plot_surrogate(optimizer, lambda x: [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="n_initial must be an integer"):
        plotting.plot_convergence(optimizer, n_initial="5")


@pytest.mark.parametrize("theme", [_canvas.LIGHT, _canvas.DARK])
def test_no_two_of_twenty_curves_look_alike(theme) -> None:
    styles = [theme.style(position) for position in range(20)]
    for look in ("marker", "linestyle"):
        assert len({(style["color"], style[look]) for style in styles}) == 20


def test_the_theme_follows_the_background() -> None:
    for color, theme in (("white", _canvas.LIGHT), ("#101418", _canvas.DARK)):
        figure = new_figure()
        figure.set_facecolor(color)
        axes = figure.add_subplot()
        axes.set_facecolor("none")
        assert _canvas.theme_of(axes) is theme
    with pytest.raises(InvalidInputError, match="background"):
        new_figure(background="pink")


@pytest.mark.parametrize("theme", [_canvas.LIGHT, _canvas.DARK])
def test_text_and_marks_stand_out_from_the_background(theme) -> None:
    page = luminance(theme.background) + 0.05
    for color, least in (
        (theme.ink, 7.0),
        (theme.muted, 4.5),
        (theme.real, 3.0),
        (theme.model, 3.0),
    ):
        ink = luminance(color) + 0.05
        assert max(ink, page) / min(ink, page) >= least  # WCAG 2.2, 1.4.3, 1.4.6 and 1.4.11


def test_a_compact_figure_is_the_same_picture(make) -> None:
    from xml.dom.minidom import parseString

    figure = plotting.plot_convergence(make.run(3, n=60)).figure
    text = _encoding.encode(figure, "svg").decode()
    svg = parseString(text)
    marks = svg.getElementsByTagName("use")
    dots = [mark for mark in marks if mark.parentNode.hasAttribute("style")]
    assert len(dots) >= 60
    assert not any(mark.hasAttribute("style") for mark in dots)
    for group in {id(mark.parentNode): mark.parentNode for mark in dots}.values():
        assert "fill" in group.getAttribute("style")
    assert not re.search(r"\bd=\"[^\"]*\.\d{3}", text)
    first = '<use xlink:href="#a" x="1" y="2" style="s"/>'
    two = _encoding.compact(f'<g>{first}<use xlink:href="#a" x="3" y="4.5678" style="t"/></g>')
    assert two.count("style") == 2
    assert 'y="4.56"' in two


@pytest.mark.parametrize("theme", [_canvas.LIGHT, _canvas.DARK])
@pytest.mark.parametrize("low_is_best", [True, False])
def test_colours_of_values_keep_their_order_in_grey(theme, low_is_best) -> None:
    colors = _canvas.value_map(theme, low_is_best=low_is_best)(np.linspace(0, 1, 64))
    grey = np.array([luminance(color) for color in colors])
    assert np.all(np.diff(grey) > 0) or np.all(np.diff(grey) < 0)
    best = grey[0] if low_is_best else grey[-1]
    assert (
        abs(best - luminance(theme.background)) == np.abs(grey - luminance(theme.background)).max()
    )


def test_directions_in_words() -> None:
    def words(most):
        text = _labels.combination(np.array([0.7, -0.69, 0.1, 0.05]), list("abcd"), most)
        return text.replace("\N{NO-BREAK SPACE}", " ")

    assert words(4) == "0.70 a − 0.69 b"
    assert words(1) == "0.70 a + …"


def test_without_matplotlib_the_message_names_the_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from boring import plotting\n"
        "try:\n"
        "    plotting.new_figure()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "boring-bo[plot]" in done.stdout


@pytest.mark.parametrize("is_parallel", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        lambda z: 1e15 - 1e9 * z**2 * (z > 0.5),
        lambda z: 0.5 + 1e-5 * z + 5.0 * np.maximum(z, 0.4),
        lambda z: z,
    ],
)
def test_no_number_of_a_colour_bar_comes_twice(make, is_parallel, values) -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 5))
    y = values(X[:, 0])
    if is_parallel:
        axes = plotting.plot_parallel_coordinates(None, X, y, direction="maximize")
    else:
        axes = plotting.plot_sufficient_summary(make.estimate(5, 2)[0], X, y)
    axes.figure.draw_without_rendering()
    (bar,) = [other for other in axes.figure.axes if other is not axes]
    texts = [text.get_text() for text in bar.get_yticklabels()]
    assert 2 <= len(set(texts)) == len(texts)
    assert not any(text.startswith("10e") for text in texts)


def test_names_at_ticks_are_short_and_stay_apart() -> None:
    from boring.plotting._labels import SHORT_WIDTH, short_names

    assert short_names(["gain (dB)", "loss (train)", "loss (test)"]) == [
        "gain",
        "loss (train)",
        "loss (test)",
    ]
    alike = [f"quadrupole current {index}" for index in range(30)]
    found = short_names([*alike, "stage temperature in kelvin"])
    assert len(set(found)) == 31
    assert max(map(len, found)) <= SHORT_WIDTH
    assert found[7] == "quadrupole curr… 7"
    assert found[-1] == "stage temperature…"
