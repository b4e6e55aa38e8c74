"""Run the notebooks and keep their outputs."""

from __future__ import annotations

import argparse
import base64
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boring.exceptions import InvalidInputError

__all__ = ["execute", "sources"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = 900
"""A cell may take so long."""
COLOURS = 96
"""Of a picture kept in a notebook."""
EXTRA = "pip install -c constraints.txt -c constraints-docs.txt -e '.[notebooks]'"


def sources(names: Sequence[str] = ()) -> list[Path]:
    """Return the Markdown of all notebooks, or of those whose names begin with one of some texts.

    Raises
    ------
    InvalidInputError
        If a text is the beginning of none.
    """
    every = sorted(HERE.glob("*.md"))
    for name in names:
        if not any(path.stem.startswith(name) for path in every):
            raise InvalidInputError(
                f"no notebook begins with {name!r}; there are {', '.join(p.stem for p in every)}."
            )
    return [path for path in every if not names or path.stem.startswith(tuple(names))]


def execute(source: Path, target: Path) -> Path:
    """Run a notebook in a fresh kernel, in a folder of its own, and write it with its outputs.

    Parameters
    ----------
    source : path-like
        Markdown; every block of Python is a cell.
    target : path-like
        The ``.ipynb``.

    Raises
    ------
    ImportError
        If the extra ``notebooks`` is not installed.
    nbclient.exceptions.CellExecutionError
        If a cell raises.
    """
    try:
        import jupytext
        import nbformat
        from nbclient import NotebookClient
    except ImportError as error:
        raise ImportError(f"notebooks need jupytext, nbclient and ipykernel: {EXTRA}") from error
    notebook = jupytext.read(source)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel})
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{index}"
        cell["metadata"] = {}
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=SECONDS,
            record_timing=False,
            # A kernel on this machine warns all the same that others might listen.
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
            resources={"metadata": {"path": folder}},
        ).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = _smaller(output["data"]["image/png"])
    nbformat.write(notebook, target)
    return target


def _smaller(picture: str) -> str:
    """Return a PNG, in base64, in a palette of its own: a third of the size."""
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        few = image.convert("RGB").quantize(COLOURS)
    stream = io.BytesIO()
    few.save(stream, format="PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode("ascii")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the notebooks named, all by default."""
    parser = argparse.ArgumentParser(prog="python -m experiments.notebooks", description=__doc__)
    parser.add_argument("names", nargs="*", help="how the names begin, such as 03; default: all")
    parser.add_argument("--out", type=Path, default=HERE, help="default: beside their Markdown")
    arguments = parser.parse_args(argv)
    try:
        chosen = sources(arguments.names)
    except InvalidInputError as error:
        parser.error(str(error))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for source in chosen:
        print(execute(source, arguments.out / f"{source.stem}.ipynb"), file=sys.stderr)


if __name__ == "__main__":
    main()
