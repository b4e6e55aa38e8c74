import inspect
import os
from importlib import import_module

import numpy as np
import pytest

from boring import plotting
from boring.subspace.stiefel import largest_angle, random_frame
from experiments import learning_gif
from experiments.gallery import page


def scripts():
    return [import_module(f"experiments.gallery.{name}") for name in page.names()]


def test_every_function_that_draws_is_in_the_gallery():
    text = "".join(
        inspect.getsource(import_module(f"experiments.gallery.{n}")) for n in page.names()
    )
    drawing = {n for n in plotting.__all__ if n.startswith("plot_")} - {"plot_surrogate_values"}
    assert {name for name in drawing if f"plotting.{name}(" in text} == drawing


def test_every_script_says_what_it_shows():
    for name in page.names():
        title, _, text = inspect.getdoc(import_module(f"experiments.gallery.{name}")).partition(
            "\n\n"
        )
        assert "\n" not in title
        assert text.endswith(".")


def test_a_page_newer_than_its_scripts_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "names", lambda: [])
    written = page.write_page(tmp_path)
    written.write_text("mine", encoding="utf-8")
    assert page.write_page(tmp_path).read_text(encoding="utf-8") == "mine"
    os.utime(written, (1.0, 1.0))
    assert page.write_page(tmp_path).read_text(encoding="utf-8").startswith("# Gallery")


@pytest.mark.slow
def test_every_picture_is_drawn_on_both_backgrounds(tmp_path):
    text = page.write_page(tmp_path / "gallery").read_text(encoding="utf-8")
    assert len(list((tmp_path / "gallery").glob("*.png"))) == 2 * len(page.names())
    assert text.count("only-dark") == len(page.names())


def test_closest_basis_stays_in_the_span_and_finds_a_turned_truth():
    rng = np.random.default_rng(0)
    truth = random_frame(6, 2, rng)
    turned = truth @ random_frame(2, 2, rng)
    np.testing.assert_allclose(learning_gif.closest_basis(turned, truth), truth, atol=1e-12)
    other = random_frame(6, 2, rng)
    found = learning_gif.closest_basis(other, truth)
    assert largest_angle(found, other) < 1e-7
    assert np.linalg.norm(found - truth) <= np.linalg.norm(other - truth)
    line = learning_gif.closest_basis(other[:, :1], truth)
    assert np.linalg.matrix_rank(line) == 1


@pytest.mark.usefixtures("quick_subspaces")
def test_the_moving_picture_moves(tmp_path, monkeypatch):
    monkeypatch.setattr(learning_gif, "LAST_FRAMES", 1)
    path = learning_gif.draw(tmp_path / "run.gif", n_evaluations=12, every=3)
    from PIL import Image

    with Image.open(path) as picture:
        assert picture.n_frames == 3
    on_file = learning_gif.PICTURE
    assert on_file.stat().st_size < 1_500_000
