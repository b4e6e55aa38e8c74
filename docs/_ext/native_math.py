"""Formulas as MathML, which browsers draw by themselves: nothing is fetched when a page is read."""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOG = logging.getLogger(__name__)


def mathml(node: nodes.Node, as_block: bool = False) -> str:
    """Return a formula as MathML, or its LaTeX, with a warning, if it holds an unknown command."""
    latex = node.astext()
    try:
        return str(tex2mathml(latex, as_block=as_block))
    except MathError as error:
        LOG.warning("no MathML for %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
