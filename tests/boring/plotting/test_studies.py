"""Studies are drawn as their optimisers are, with the names of their columns."""

import numpy as np
import pytest

from boring import plotting
from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.parameters import Categorical, ParameterSpace, Real
from boring.study import Study


@pytest.fixture(scope="module")
def study():
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
    found.run(lambda p: (p["gain"] / 5 + p["phase"] / 180 - 1) ** 2, 24, progress=False)
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
    with pytest.raises(InvalidInputError, match=r"\.png.*received .*picture\.xyz"):
        plotting.save(axes, tmp_path / "picture.xyz")
    with pytest.raises(InvalidInputError, match="A figure or axes are needed; received list"):
        plotting.save([axes], tmp_path / "list.png")
