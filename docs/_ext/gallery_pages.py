"""Draw the gallery before Sphinx reads its sources."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from experiments.gallery.page import write_page


def write_gallery(app: Sphinx) -> None:
    """Write the page and its pictures, unless they are newer than the scripts."""
    write_page(Path(app.srcdir) / "gallery")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
