"""Convergence, angles, parallel coordinates, summary and subspace: drawn is what was given."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from boring import plotting
from boring.effort import MOST_POINTS
from boring.exceptions import InvalidInputError
from boring.models.gp import GaussianProcessModel
from boring.plotting import SubspaceTrace
from boring.plotting._surfaces import fit_over, levels_of
from boring.result import best_index
from boring.space import Box
from boring.subspace.gradient_samples import active_subspace
from boring.subspace.rotation import loading_errors, readable_basis

DIMS = [1, 5, 25, 100]


def texts(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


def constrained(make, dim, *, direction="minimize", share=0.5):
    """Return a run whose better half, or all but a share of it, breaks its constraint."""
    run = make.run(dim, direction=direction)
    worse = run.y if direction == "minimize" else -run.y
    limit = np.quantile(worse, 1.0 - share) if share else worse.max() + 1.0
    rows = (limit - worse)[:, None]
    best = best_index(run.y, direction, rows)
    return dataclasses.replace(run, constraints=rows, x_best=run.X[best], y_best=run.y[best])


def test_convergence_draws_median_and_quartiles_of_the_runs(make) -> None:
    runs = [make.run(5, seed=seed) for seed in range(5)]
    axes = plotting.plot_convergence({"ours": runs, "other": runs[0]}, ylabel="loss (m)")
    table = np.array([run.best_so_far() for run in runs])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), np.median(table, axis=0))
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), runs[0].best_so_far())
    corners = axes.collections[0].get_paths()[0].vertices[:, 1]
    quartiles = np.quantile(table, [0.25, 0.75], axis=0)
    assert (corners.min(), corners.max()) == pytest.approx((quartiles.min(), quartiles.max()))
    assert axes.get_ylabel() == "loss (m)"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours", "other"]
    assert "5 runs" in axes.get_title(loc="left")


def test_gap_to_the_optimum_is_logarithmic_and_floored(make) -> None:
    y = np.r_[4.0, np.nan, 2.0, np.full(27, 1.0)]
    axes = plotting.plot_convergence({"a": [make.run(2, y=y)] * 2}, optimum=1.0)
    assert axes.get_yscale() == "log"
    np.testing.assert_allclose(axes.lines[0].get_ydata()[:4], [3.0, 3.0, 1.0, 1e-9])
    up = make.run(2, y=y, direction="maximize")
    axes = plotting.plot_convergence([up, up], optimum=6.0)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), 2.0)


def test_a_run_better_than_the_optimum_says_so(make) -> None:
    runs = [make.run(3), make.run(3, seed=4)]
    lowest = min(run.y_best for run in runs)
    beyond = plotting.plot_convergence(runs, optimum=lowest + 2.0).get_title("left")
    assert beyond == ("median and quartiles over 2 runs; best run 2 better than the optimum given")
    assert "better" not in plotting.plot_convergence(runs, optimum=lowest).get_title("left")
    upwards = make.run(3, direction="maximize")
    title = plotting.plot_convergence(upwards, optimum=upwards.y_best - 0.5).get_title("left")
    assert title == "best run 0.5 better than the optimum given"


@pytest.mark.parametrize("n", [2, 22, 30])
def test_evaluations_are_counted_in_whole_numbers(make, n) -> None:
    axes = plotting.plot_convergence(make.run(3, n=n))
    ticks = axes.get_xticks()
    assert len(ticks) > 1
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_ticks_of_the_caller_are_left_alone(make) -> None:
    axes = plotting.new_figure().add_subplot()
    axes.set_xscale("log")
    plotting.plot_convergence(make.run(3), axes)
    assert axes.get_xscale() == "log"


def test_a_single_run_shows_its_values_and_marks_those_beyond_the_axis(make) -> None:
    y = np.r_[3.0, 1000.0, np.linspace(2.0, 1.0, 28)]
    axes = plotting.plot_convergence(make.run(3, y=y))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), y)
    assert axes.get_ylim()[1] < 10.0
    beyond = next(line for line in axes.lines if line.get_label() == "beyond the axis")
    assert list(beyond.get_xdata()) == [2]


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("has_optimum", [False, True])
def test_infeasible_evaluations_are_marked_at_the_edge(make, direction, has_optimum) -> None:
    run = constrained(make, 3, direction=direction)
    rows = run.feasible
    optimum = run.y_best + (-0.01 if direction == "minimize" else 0.01) if has_optimum else None
    axes = plotting.plot_convergence(run, optimum=optimum)
    lines = {line.get_label(): line for line in axes.lines}
    shown = run.y[rows] if optimum is None else np.abs(run.y[rows] - optimum)
    np.testing.assert_allclose(lines["evaluated"].get_ydata(), shown)
    np.testing.assert_array_equal(lines["evaluated"].get_xdata(), np.flatnonzero(rows) + 1)
    np.testing.assert_array_equal(lines["infeasible"].get_xdata(), np.flatnonzero(~rows) + 1)
    assert set(lines["infeasible"].get_ydata()) <= {0.015, 0.985}, "shares of the axis"
    low, high = axes.get_ylim()
    assert low <= np.nanmin(lines["best so far"].get_ydata()) <= high, "the curve is in view"
    if has_optimum:
        assert low > 0.005


@pytest.mark.parametrize("optimum", [None, 1.0])
def test_convergence_without_a_feasible_point_says_so(make, optimum) -> None:
    axes = plotting.plot_convergence(constrained(make, 3, share=0.0), optimum=optimum)
    assert axes.get_title(loc="left") == "no point is feasible"
    assert [len(line.get_xdata()) for line in axes.lines[:2]] == [0, 30]


@pytest.mark.parametrize("rank", [1, 2])
def test_summary_tells_infeasible_points_apart(make, rank) -> None:
    run = constrained(make, 3)
    run = dataclasses.replace(run, account=lambda: make.estimate(3, rank)[0])
    axes = plotting.plot_sufficient_summary(run)
    sizes = {c.get_label(): len(c.get_offsets()) for c in axes.collections}
    assert (sizes["evaluated"], sizes["infeasible"]) == (15, 15)
    assert "infeasible" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_shorter_run_keeps_its_last_best_value(make) -> None:
    short, long = make.run(2, n=25, seed=1), make.run(2, n=30, seed=2)
    drawn = plotting.plot_convergence([short, long]).lines[0].get_ydata()
    assert drawn[-1] == pytest.approx(0.5 * (short.best_so_far()[-1] + long.best_so_far()[-1]))


def test_convergence_refuses_what_it_cannot_draw(make) -> None:
    with pytest.raises(InvalidInputError, match="at least one run"):
        plotting.plot_convergence({})
    with pytest.raises(InvalidInputError, match="float"):
        plotting.plot_convergence([1.0])
    with pytest.raises(InvalidInputError, match="draw them apart"):
        plotting.plot_convergence([make.run(2), make.run(2, direction="maximize")])


def test_recorded_angles_are_drawn_in_degrees(make) -> None:
    line = plotting.plot_angles(make.run(3)).lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(21, 31))
    np.testing.assert_allclose(line.get_ydata(), np.degrees(0.01 * np.arange(20, 30)))
    with pytest.raises(InvalidInputError, match="no former bases"):
        plotting.plot_angles(make.run(3), truth=np.eye(3)[:, :1])
    with pytest.raises(InvalidInputError, match="no basis was recorded"):
        plotting.plot_angles(SubspaceTrace())
    with pytest.raises(InvalidInputError, match="is needed"):
        plotting.plot_angles("run")


def test_a_trace_keeps_new_bases_and_gives_their_angles() -> None:
    trace = SubspaceTrace()
    for n, angle in ((4, 0.0), (5, 0.0), (7, 0.2), (9, 0.5)):
        W = [[np.cos(angle)], [np.sin(angle)], [0.0]]
        optimizer = SimpleNamespace(memory={"W": W}, space=Box([0] * 3, [1] * 3), n_told=n)
        trace(optimizer, None)
    assert trace.counts == [4, 7, 9]
    axes = plotting.plot_angles(trace, truth=np.eye(3)[:, :1])
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [4, 7, 9])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), np.degrees([0, 0.2, 0.5]), atol=1e-6)
    steps = plotting.plot_angles(trace).lines[0]
    np.testing.assert_allclose(steps.get_ydata(), np.degrees([0.2, 0.3]))
    with pytest.raises(InvalidInputError, match="3 rows"):
        plotting.plot_angles(trace, truth=np.eye(4)[:, :1])


@pytest.mark.parametrize("dim", DIMS)
def test_parallel_coordinates_draw_every_point(make, dim) -> None:
    run = make.run(dim)
    axes = plotting.plot_parallel_coordinates(run)
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    shown = [int(name.removeprefix("x")) for name in names]
    assert len(shown) == min(dim, 25)
    assert 0 in shown, "the one parameter that matters"
    scaled = run.space.scale(run.X)[np.argsort(-run.y, kind="stable")][:, shown]
    lines = axes.collections[0]
    drawn = np.array([segment[:, 1] for segment in lines.get_segments()])
    np.testing.assert_allclose(drawn[:, : len(shown)], scaled)
    assert np.all(np.diff(lines.get_array()) <= 0)
    best = next(line for line in axes.lines if line.get_label() == "best")
    np.testing.assert_allclose(best.get_ydata()[: len(shown)], scaled[-1])


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("dim", [1, 5])
def test_parallel_coordinates_draw_feasible_points_alone(make, dim, direction) -> None:
    run = constrained(make, dim, direction=direction)
    axes = plotting.plot_parallel_coordinates(run)
    assert axes.get_title(loc="left") == "15 infeasible left out"
    drawn = np.array([segment[:, 1] for segment in axes.collections[0].get_segments()])
    shown = run.space.scale(run.X[run.feasible])
    assert sorted(drawn[:, 0]) == pytest.approx(sorted(shown[:, 0]))
    np.testing.assert_allclose(axes.lines[-1].get_ydata()[:dim], run.space.scale(run.x_best))


def test_parallel_coordinates_without_a_feasible_point_say_so(make) -> None:
    run = constrained(make, 3, share=0.0)
    axes = plotting.plot_parallel_coordinates(run)
    assert axes.get_title(loc="left") == "no point is feasible"
    assert len(axes.collections[0].get_segments()) == 30
    np.testing.assert_allclose(axes.lines[-1].get_ydata(), run.space.scale(run.x_best))


def test_parameters_are_chosen_by_the_best_feasible_points(make) -> None:
    rng = np.random.default_rng(0)
    run = make.run(3, n=200, y=rng.uniform(size=200))
    scaled = run.space.scale(run.X)
    feasible = np.arange(200) < 100
    y = np.where(feasible, np.abs(scaled[:, 2]), np.abs(scaled[:, 0]) - 5.0)
    run = dataclasses.replace(run, y=y, constraints=np.where(feasible, -1.0, 1.0)[:, None])
    axes = plotting.plot_parallel_coordinates(run, most=1)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x2"]


def test_parallel_coordinates_of_data_without_a_direction(make) -> None:
    _, X, y = make.estimate(30, 1)
    axes = plotting.plot_parallel_coordinates(None, X, y, most=4)
    assert len(axes.get_xticklabels()) == 4
    assert axes.get_legend() is None
    with pytest.raises(InvalidInputError, match="no finite values"):
        plotting.plot_parallel_coordinates(None, X, np.full(len(X), np.nan))


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize(("scale", "offset"), [(1e-12, 0.0), (1e12, 0.0), (1.0, 1e9)])
def test_levels_follow_the_values(make, scale, offset, even) -> None:
    values = make.estimate(4, 2)[2]
    same = offset + scale * levels_of(values, even=even)
    np.testing.assert_allclose(
        levels_of(offset + scale * values, even=even), same, rtol=1e-14, atol=1e-6 * scale
    )


@pytest.mark.parametrize(
    "values", [np.zeros(9), np.full(9, 1e9), np.full(9, -1e-12), 1e9 + np.eye(9)[0]]
)
def test_levels_of_few_values_differ_and_hold_them(values) -> None:
    levels = levels_of(values)
    assert np.all(np.diff(levels) > 0.0)
    assert levels[0] <= values.min() <= levels[-1]
    assert levels[-1] - levels[0] <= max(2.0, 1e-11 * abs(values[0]))


@pytest.mark.parametrize(("scale", "offset"), [(1e-12, 0.0), (1e12, 0.0), (1.0, 1e9)])
def test_colours_of_a_summary_do_not_depend_on_the_unit(make, scale, offset) -> None:
    estimate, X, y = make.estimate(4, 2)

    def colours(values):
        points = plotting.plot_sufficient_summary(estimate, X, values).collections[-1]
        return points.to_rgba(points.get_array())

    usual = colours(y)
    assert len(np.unique(usual, axis=0)) > 10
    np.testing.assert_array_equal(colours(offset + scale * y), usual)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_contours_of_a_surrogate_do_not_depend_on_the_unit(make, scale) -> None:
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    y = make.value(Z)

    def levels(values):
        figure = plotting.new_figure(5.0, 3.0)
        plotting.plot_surrogate_values(Z, values, values, figure=figure)
        return figure.axes[0].collections[0].levels

    np.testing.assert_allclose(levels(scale * y), scale * levels(y), atol=1e-9 * scale)


def test_summary_of_one_coordinate_has_points_a_mean_and_a_band_that_covers(make) -> None:
    estimate, X, y = make.estimate(5, 1, n=60)
    noisy = y + 0.2 * np.random.default_rng(0).standard_normal(60)
    axes = plotting.plot_sufficient_summary(estimate, X, noisy, ylabel="y (m)")
    points = np.asarray(axes.collections[-1].get_offsets())
    W, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
    np.testing.assert_allclose(points[:, 0], (X @ W)[:, 0])
    np.testing.assert_array_equal(points[:, 1], noisy)
    t, mean = axes.lines[0].get_data()
    assert np.sqrt(np.mean((np.interp(points[:, 0], t, mean) - y) ** 2)) < 0.15
    band = axes.collections[0].get_paths()[0]
    assert np.mean([band.contains_point(point) for point in points]) >= 0.9
    assert axes.get_xlabel().startswith("z1 = ")
    assert axes.get_ylabel() == "y (m)"


def test_summary_of_two_coordinates_has_all_finite_points_coloured_by_value(make) -> None:
    estimate, X, y = make.estimate(6, 2, n=50)
    y = np.where(np.arange(50) == 3, np.nan, y)
    names = [f"knob{i} (mm)" for i in range(6)]
    axes = plotting.plot_sufficient_summary(estimate, X, y, names=names)
    drawn = next(c for c in axes.collections if c.get_label() == "evaluated")
    good = np.isfinite(y)
    W, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
    np.testing.assert_allclose(drawn.get_offsets(), (X @ W)[good])
    np.testing.assert_array_equal(drawn.get_array(), y[good])
    assert "knob" in axes.get_xlabel()
    assert "(mm)" not in axes.get_xlabel()
    one = plotting.plot_sufficient_summary(estimate, X, y, coordinates=1, rotate=False)
    z = np.asarray(one.collections[-1].get_offsets())[:, 0]
    np.testing.assert_allclose(z, (X @ estimate.active_basis)[good, 0])
    assert "1 of 2" in one.get_title(loc="left")


@pytest.mark.parametrize("dim", [1, 100])
def test_summary_of_a_result_scales_by_its_box(make, dim) -> None:
    estimate, _, _ = make.estimate(dim, 1, n=20)
    run = make.run(dim, subspace=estimate)
    z = np.asarray(plotting.plot_sufficient_summary(run).collections[-1].get_offsets())[:, 0]
    W, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
    np.testing.assert_allclose(z, (run.space.scale(run.X) @ W)[:, 0])


def test_summary_refuses_missing_and_unfitting_data(make) -> None:
    estimate, X, y = make.estimate(5, 2)
    for arguments, options, message in (
        ((estimate,), {}, "does not hold them"),
        ((estimate, X), {}, "belong together"),
        ((estimate, X[:, :4], y), {}, "5 columns"),
        ((estimate, 9.0 * X, y), {}, "space="),
        ((estimate, X, y), {"coordinates": 3}, "coordinates"),
        ((estimate, X, np.ones(len(X))), {}, "that differ"),
        ((make.run(5),), {}, "no subspace"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            plotting.plot_sufficient_summary(*arguments, **options)


@pytest.mark.parametrize("dim", DIMS)
def test_importance_is_sorted_and_the_rest_is_summed(make, dim) -> None:
    estimate, _, _ = make.estimate(dim, 1, n=20)
    axes = plotting.plot_importance(estimate)
    widths = np.array([bar.get_width() for bar in axes.patches])
    order = np.argsort(-estimate.importance, kind="stable")
    shown = len(widths) if len(widths) == dim else len(widths) - 1
    assert shown <= 20
    np.testing.assert_allclose(widths[:shown], estimate.importance[order[:shown]])
    assert widths.sum() == pytest.approx(1.0)
    assert texts(axes)[0] == f"x{order[0]}"
    assert len(widths) == dim or texts(axes)[-1] == f"other {dim - shown}"
    whiskers = [segment[:, 0] for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(whiskers, estimate.importance_interval[order[:shown]])


def test_importance_without_intervals_and_with_a_given_number(make) -> None:
    nothing = np.full((25, 2), np.nan)
    estimate, _, _ = make.estimate(25, 1, n=20)
    bare = dataclasses.replace(estimate, importance_interval=nothing, trust={}, trusted=False)
    axes = plotting.plot_importance(bare, top=3)
    assert len(axes.patches) == 4
    assert not axes.collections
    assert "not checked" in axes.get_title(loc="left")
    with pytest.raises(InvalidInputError, match="top"):
        plotting.plot_importance(bare, top=0)
    with pytest.raises(InvalidInputError, match="25 parameters"):
        plotting.plot_importance(bare, names=["a"])
    with pytest.raises(InvalidInputError, match="is needed"):
        plotting.plot_importance("estimate")


@pytest.mark.parametrize(("dim", "rank"), [(1, 1), (5, 2), (25, 3), (100, 2)])
def test_loadings_are_the_readable_basis_with_the_jackknifes_errors(make, dim, rank) -> None:
    estimate, _, _ = make.estimate(dim, rank, n=20)
    figure = plotting.plot_loadings(estimate)
    assert [axes.get_label() for axes in figure.axes] == [f"z{i + 1}" for i in range(rank)]
    W, _ = readable_basis(estimate.active_basis, estimate.lengthscales)
    errors = loading_errors(W, estimate.fold_bases)
    shown = [int(text.removeprefix("x")) for text in texts(figure.axes[0])]
    ends = np.clip([W - errors, W + errors], -1.0, 1.0)[:, shown]
    for column, axes in enumerate(figure.axes):
        widths = [bar.get_width() for bar in axes.patches]
        np.testing.assert_allclose(widths, W[shown, column], atol=1e-12)
        drawn = [segment[:, 0] for segment in axes.collections[0].get_segments()]
        np.testing.assert_allclose(drawn, ends[:, :, column].T, atol=1e-12)


def test_loadings_tell_groups_of_parameters_apart(make) -> None:
    for axes in plotting.plot_loadings(make.estimate(6, 2, n=20)[0]).axes:
        assert sum(abs(bar.get_width()) > 1e-6 for bar in axes.patches) == 3


def test_loadings_of_an_array_and_what_is_refused(make) -> None:
    W = make.truth(5, 2)
    figure = plotting.plot_loadings(W, errors=np.full((5, 2), 0.1), rotate=False)
    assert len(figure.axes) == 2
    with pytest.raises(InvalidInputError, match="orthonormal"):
        plotting.plot_loadings(2.0 * W)
    with pytest.raises(InvalidInputError, match="rotate=False"):
        plotting.plot_loadings(W, errors=np.ones((5, 2)))
    with pytest.raises(InvalidInputError, match="brings its own"):
        plotting.plot_loadings(make.estimate(5, 2)[0], errors=np.ones((5, 2)))


def test_spectrum_of_an_estimate_and_of_gradients(make) -> None:
    estimate, _, _ = make.estimate(25, 2, n=20)
    axes = plotting.plot_spectrum(estimate, most=10)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), estimate.singular_values[:10])
    assert len(axes.lines[1].get_ydata()) == 2
    rng = np.random.default_rng(0)
    gradients = rng.standard_normal((40, 6)) * [5, 3, 0.1, 0.1, 0.1, 0.1]
    sample = active_subspace(gradients, rng=rng, n_bootstrap=20)
    axes = plotting.plot_spectrum(sample)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), sample.eigenvalues)
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(sample.eigenvalue_band.max())


def test_bic_is_drawn_above_the_lowest(make) -> None:
    estimate, _, _ = make.estimate(5, 2, n=20)
    axes = plotting.plot_dimension(estimate)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [10.0, 0.0, 10.0, 20.0])
    np.testing.assert_allclose(axes.lines[1].get_ydata(), [13.0, 3.0, 13.0, 23.0])
    with pytest.raises(InvalidInputError, match="effective_dim=None"):
        plotting.plot_dimension(dataclasses.replace(estimate, dimension_table=()))


def test_a_direction_says_which_end_of_the_colours_stands_out(make) -> None:
    estimate, X, y = make.estimate(4, 2)

    def lowest_and_highest(**options):
        points = plotting.plot_sufficient_summary(estimate, X, y, **options).collections[-1]
        colors = points.to_rgba([y.min(), y.max()])
        return [float(np.dot(color[:3], [0.2126, 0.7152, 0.0722])) for color in colors]

    low, high = lowest_and_highest(direction="minimize")
    assert low < high, "the dark end stands out on a light page"
    assert lowest_and_highest(direction="maximize") == lowest_and_highest()
    low, high = lowest_and_highest()
    assert low > high
    run = make.run(4, subspace=estimate)
    own = plotting.plot_sufficient_summary(run).collections[-1].to_rgba([run.y.min()])
    same = plotting.plot_sufficient_summary(run, direction=run.direction)
    np.testing.assert_array_equal(own, same.collections[-1].to_rgba([run.y.min()]))
    with pytest.raises(InvalidInputError, match=r'must be "minimize".*received \'down\''):
        plotting.plot_sufficient_summary(estimate, X, y, direction="down")


@pytest.mark.parametrize(("direction", "pick"), [("minimize", np.argmin), ("maximize", np.argmax)])
def test_bare_points_have_a_best_one_where_a_direction_is_given(make, direction, pick) -> None:
    _, X, y = make.estimate(4, 2)
    axes = plotting.plot_parallel_coordinates(None, X, y, direction=direction)
    np.testing.assert_allclose(axes.lines[-1].get_ydata(), X[pick(y)])
    assert not plotting.plot_parallel_coordinates(None, X, y).lines


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"X must have shape \(n, D\).*received shape \(3,\)"),
        ([["a", "b"]] * 3, "X must hold real numbers"),
        ([[1.0, 2.0], [3.0], [4.0]], "X must be a rectangular array"),
        (np.full((3, 2), 1j), "X must hold real numbers"),
        (np.full((3, 2), 5.0), r"lie in \[-1, 1\] or in the box.*Pass space="),
    ],
)
def test_bare_points_are_checked(X, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        plotting.plot_parallel_coordinates(None, X, [1.0, 2.0, 3.0])


def test_of_very_many_points_a_surface_is_fitted_to_some(monkeypatch) -> None:
    fitted = []
    fit_best = GaussianProcessModel.fit_best

    def counted(self, X, *arguments, **options):
        fitted.append(len(X))
        return fit_best(self, X, *arguments, **options)

    monkeypatch.setattr(GaussianProcessModel, "fit_best", counted)
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1.0, 1.0, (900, 2))
    y = np.sin(3.0 * Z[:, 0]) * Z[:, 1] + 0.1 * rng.standard_normal(900)
    for n in (200, 900):
        predict, r_squared = fit_over(Z[:n], y[:n], np.ones(2), "squared-exponential")
        assert r_squared > 0.9
        np.testing.assert_allclose(predict(np.array([[0.5, 0.5]]))[0], 0.5 * np.sin(1.5), atol=0.1)
    assert fitted == [200, MOST_POINTS]
