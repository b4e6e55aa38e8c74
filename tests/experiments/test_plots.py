import sys

import matplotlib as mpl
import numpy as np
import pytest

from boring.exceptions import InvalidInputError
from boring.subspace.stiefel import random_frame
from experiments.curves import BestSoFarCurves
from experiments.plots import (
    REGRET_FLOOR,
    new_figure,
    plot_convergence,
    plot_subspace,
    plot_surrogate,
    save,
    style_of,
)


@pytest.fixture
def curves(rng):
    def falling():
        return BestSoFarCurves(np.exp(-np.cumsum(rng.random((5, 30)), axis=1)))

    return {label: falling() for label in ("boring", "sobol", "mine")}


def test_convergence_has_labels_units_bands_and_medians(curves):
    axes = plot_convergence(curves, n_initial=5, title="camelback")
    assert axes.get_xlabel() == "number of evaluations"
    assert "units" in axes.get_ylabel()
    assert axes.get_yscale() == "log"
    assert "camelback" in axes.get_title()
    assert "5 seeds" in axes.get_title()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["boring", "sobol", "mine", "initial design"]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), curves["boring"].median())
    assert len(axes.collections) == 3


def test_zero_regret_is_drawn_at_the_floor():
    axes = plot_convergence({"boring": BestSoFarCurves(np.array([[1.0, 0.0]]))})
    assert axes.lines[0].get_ydata()[-1] == REGRET_FLOOR


def test_infinite_regret_leaves_a_gap_and_failures_are_named():
    curves = BestSoFarCurves(np.array([[np.inf, 1.0], [np.inf, 2.0]]), n_failed=1)
    axes = plot_convergence({"gp": curves})
    assert np.isnan(axes.lines[0].get_ydata()[0])
    assert "1 of 2 failed" in axes.get_legend().get_texts()[0].get_text()


def test_values_may_be_negative_on_a_linear_axis():
    axes = plot_convergence(
        {"gp": BestSoFarCurves(np.array([[-1.0, -3.0]]))}, log=False, ylabel="best value (units)"
    )
    assert axes.get_yscale() == "linear"
    assert axes.lines[0].get_ydata().tolist() == [-1.0, -3.0]


def test_methods_differ_in_more_than_colour():
    known = [style_of(name, 0) for name in ("boring", "boring-thesis", "rembo", "gp", "sobol")]
    for part in ("color", "linestyle", "marker"):
        assert len({str(style[part]) for style in known}) == len(known)


def test_convergence_draws_on_given_axes_and_refuses_nothing(curves):
    axes = new_figure().add_subplot()
    assert plot_convergence(curves, axes) is axes
    with pytest.raises(InvalidInputError, match="at least one"):
        plot_convergence({})


def test_subspace_bars_are_aligned_before_they_are_compared(rng):
    truth = random_frame(6, 2, rng)
    learned = truth @ random_frame(2, 2, rng)
    figure = plot_subspace(learned, truth)
    assert len(figure.axes) == 2
    for column, axes in enumerate(figure.axes):
        heights = np.array([bar.get_height() for bar in axes.patches])
        np.testing.assert_allclose(heights[:6], truth[:, column])
        np.testing.assert_allclose(heights[6:], truth[:, column], atol=1e-12)
        assert f"direction {column + 1}" in axes.get_ylabel()
    assert "parameter" in figure.axes[-1].get_xlabel()
    assert "0.0°, 0.0°" in figure.get_suptitle()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "true",
        "learned",
    ]


def test_subspace_of_many_parameters_shows_the_largest(rng):
    truth = np.zeros((100, 1))
    truth[[7, 93]] = np.sqrt(0.5)
    figure = plot_subspace(random_frame(100, 1, rng), truth)
    labels = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert len(labels) == 40
    assert {"x7", "x93"} <= set(labels)


def test_subspace_refuses_wrong_names(rng):
    W = random_frame(4, 1, rng)
    with pytest.raises(InvalidInputError, match="4 entries"):
        plot_subspace(W, W, names=["a"])


@pytest.mark.parametrize(("effective_dim", "n_axes"), [(1, 1), (2, 4), (3, 2)])
def test_surrogate_panels(rng, effective_dim, n_axes):
    Z = rng.uniform(-1, 1, (60, effective_dim))
    real = (Z**2).sum(axis=1)
    figure = plot_surrogate(Z, real, real + 0.1, unit="m")
    assert len(figure.axes) == n_axes
    assert "60 points unseen" in figure.get_suptitle()
    labels = [axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes]
    assert all(labels)
    if effective_dim == 2:
        assert [axes.get_title() for axes in figure.axes[1:3]] == ["real value", "mean prediction"]
        assert figure.axes[0].get_zlabel() == "value (m)"


def test_surrogate_of_a_constant_function_is_drawn(tmp_path, rng):
    figure = plot_surrogate(rng.uniform(-1, 1, (20, 2)), np.ones(20), np.ones(20))
    assert save(figure, tmp_path / "x.png").stat().st_size > 0


def test_surrogate_refuses_wrong_shapes(rng):
    with pytest.raises(InvalidInputError, match="shape"):
        plot_surrogate(np.zeros((5, 2)), np.zeros(4), np.zeros(5))
    with pytest.raises(InvalidInputError, match="four points"):
        plot_surrogate(np.zeros((3, 1)), np.zeros(3), np.zeros(3))


def test_plots_are_written_without_pyplot_or_changed_settings(tmp_path, curves, rng):
    before = dict(mpl.rcParams)
    had_pyplot = "matplotlib.pyplot" in sys.modules
    figure = new_figure()
    plot_convergence(curves, figure.add_subplot())
    path = save(figure, tmp_path / "deep" / "x.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    W = random_frame(5, 2, rng)
    save(plot_subspace(W, W), tmp_path / "y.png")
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot


def test_no_two_methods_of_one_picture_look_alike(curves):
    curve = curves["mine"]
    labels = ["boring", "boring-thesis", "rembo", "gp", "sobol", "random"]
    labels += [f"peer {i}" for i in range(12)]
    lines = plot_convergence(dict.fromkeys(labels, curve)).lines
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines]
    assert len(set(looks)) == len(labels)


def test_inks_follow_a_dark_background(curves, rng):
    figure = new_figure(background="dark")
    axes = plot_convergence(curves, figure.add_subplot(), n_initial=5)
    W = random_frame(30, 2, rng)
    bars = plot_subspace(W, W, names=[f"parameter {i}" for i in range(30)], figure=figure)
    for text in (axes.xaxis.label, axes.title, *axes.get_xticklabels(), bars._suptitle):
        assert min(mpl.colors.to_rgb(text.get_color())) > 0.8
