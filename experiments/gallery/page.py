"""Write the page of the gallery and its pictures: ``python -m experiments.gallery.page FOLDER``."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import experiments.gallery as gallery
from boring import plotting
from boring.plotting._canvas import Background
from experiments.script import draw_into, run_script

__all__ = ["names", "write_page"]

DPI = 110
BACKGROUNDS: tuple[Background, ...] = ("light", "dark")
HEAD = """# Gallery

Every picture takes a result, an optimiser or an estimate, and your axes or figure if you have some.
Each is shown on the background of this page; below it is all that draws it. The run, the points and
the estimate are made in `experiments/gallery/_data.py`; `python -m experiments.gallery.page FOLDER`
makes the pictures anew.
"""


def names() -> list[str]:
    """Return the names of the scripts."""
    found = (module.name for module in pkgutil.iter_modules(gallery.__path__))
    return sorted(name for name in found if name.startswith("plot_"))


def write_page(folder: Path) -> Path:
    """Draw every picture on both backgrounds, and write the page that shows them.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist. A page that is newer than all scripts is left as it is.
    """
    page = Path(folder) / "index.md"
    if page.exists() and page.stat().st_mtime > _newest_source():
        return page
    parts = [HEAD]
    for name in names():
        module = import_module(f"{gallery.__name__}.{name}")
        title, _, text = (inspect.getdoc(module) or "").partition("\n\n")
        parts.append(f"## {title}\n\n{text}\n")
        for background in BACKGROUNDS:
            file = f"{name.removeprefix('plot_')}-{background}.png"
            plotting.save(module.draw(background), page.parent / file, dpi=DPI)
            parts.append(f"```{{image}} {file}\n:alt: {title}\n:class: only-{background}\n```\n")
        body = inspect.getsource(module.draw).split('"""', 2)[2].strip("\n")
        parts.append(f"```python\n{inspect.cleandoc(body)}\n```\n")
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _newest_source() -> float:
    folders = [Path(path) for package in (gallery, plotting) for path in package.__path__]
    return max(file.stat().st_mtime for folder in folders for file in folder.glob("*.py"))


def main(argv: Sequence[str] | None = None) -> None:
    """Write the page into the folder that the command line names."""
    draw_into(write_page, "experiments.gallery.page", __doc__, argv=argv)


if __name__ == "__main__":
    run_script(main)
