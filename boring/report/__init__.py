"""A study as one HTML page, with its figures, its findings and all its evaluations.

`html_report` returns the page, `write_html_report` writes it, `watch_html_report` writes it again
whenever the study changes; the command is ``boring report STUDY -o report.html``. It needs the
extras ``study`` and ``plot``.
"""

from ._page import html_report, watch_html_report, write_html_report

__all__ = ["html_report", "watch_html_report", "write_html_report"]
