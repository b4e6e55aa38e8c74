"""Configuration of the documentation site; ``make docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import boring  # noqa: E402

project = "boring-bo"
author = "boring-bo contributors"
copyright = author
release = version = boring.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "api_pages",
    "gallery_pages",
    "native_math",
]
exclude_patterns = ["_build", "_ext", "gallery/_*"]
# A word in single backquotes may be an attribute of several classes.
suppress_warnings = ["ref.python"]

# Pages that have their place in the navigation before they are written.
TO_COME = ("parameters", "study")

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3

# Single backquotes in docstrings name objects of the same module, and may be plain words.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"show-inheritance": True}
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = ["Warns"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "boring-bo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


def leave_out_what_is_to_come(_app: object, name: str, source: list[str]) -> None:
    """Take pages that do not exist yet out of the navigation."""
    if name == "index":
        missing = {page for page in TO_COME if not (HERE / f"{page}.md").exists()}
        lines = source[0].split("\n")
        source[0] = "\n".join(line for line in lines if line not in missing)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("source-read", leave_out_what_is_to_come)
