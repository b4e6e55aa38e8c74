"""The page: sections put together, and written."""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template

import boring
from boring._whole_file import check_is_no_journal, whole_file
from boring.exceptions import InvalidInputError
from boring.outlook import objective_model
from boring.study.recorded import RecordedStudy
from boring.study.report import make_report
from boring.study.study import Study
from boring.validation import as_real

from ._drawing import WIDE_FROM, Drawn, Picture, draw
from ._evaluations import evaluations_table
from ._figures import pictures
from ._prose import about, findings, settings_on_paper, state_line
from ._source import Source
from ._text import escape, tag

__all__ = ["html_report", "watch_html_report", "write_html_report"]

DARK = "screen and (prefers-color-scheme: dark)"

SECTIONS = (
    ("findings", "What was found"),
    ("course", "How the search went"),
    ("matters", "What matters, and how"),
    ("points", "All evaluations"),
)


def html_report(
    study: Study,
    *,
    title: str | None = None,
    value_label: str = "value",
    with_subspace: bool = True,
    refresh: float | None = None,
) -> str:
    """Return a study as one HTML page that needs nothing beside itself.

    Parameters
    ----------
    study : Study
    title : str, optional
        By default the name of the study's file.
    value_label : str, default "value"
        What the values are, with their unit.
    with_subspace : bool, default True
        Whether to estimate the active subspace, which takes longest.
    refresh : float, optional
        Seconds after which a browser loads the page again.

    Returns
    -------
    str
        HTML5. Figures are drawn for light and for dark pages; with scripts, the table of
        evaluations can be sorted. The page forbids itself to load anything.

    Raises
    ------
    InvalidInputError
        If ``refresh`` is less than a second, or what is reported on is no study.
    ImportError
        If matplotlib is not installed.
    """
    if not isinstance(study, RecordedStudy):
        raise InvalidInputError(
            f"A report is of a study; received {type(study).__name__}. Open a file by "
            "Study.open(path, read_only=True); add the points and values of a run to a Study."
        )
    if refresh is not None and not as_real(refresh, "refresh") >= 1.0:
        raise InvalidInputError(f"refresh must be a second or more; received {refresh!r}.")
    report = make_report(study, with_subspace=with_subspace)
    estimate = study.subspace if with_subspace and report.directions else None
    source = Source(study, report, estimate, objective_model(study.optimizer), value_label)
    found = pictures(source)
    content = {key: _figures(chosen) for key, chosen in found.items() if chosen}
    content["findings"] = findings(source)
    content["points"] = content.get("points", "") + _all_evaluations(study, value_label)
    name = title or (study.path.stem if study.path is not None else "Study")
    style, script = (_resource(file).strip() for file in ("style.css", "sort.js"))
    shown = [(key, heading) for key, heading in SECTIONS if key in content]
    sections = [_section(key, heading, content[key]) for key, heading in shown]
    if settings := settings_on_paper(source):
        sections.append(_section("settings", "All best settings", settings, kind="on-paper"))
    return Template(_resource("page.html")).substitute(
        title=escape(name),
        about=escape(about(study)),
        state=escape(state_line(study.status(), time.strftime("%Y-%m-%d %H:%M:%S %z"))),
        links="".join(f'<li><a href="#{key}">{heading}</a></li>' for key, heading in shown),
        sections="\n".join(sections),
        version=escape(boring.__version__),
        refresh="" if refresh is None else f'<meta http-equiv="refresh" content="{refresh:.0f}">\n',
        style=style,
        script=script,
        style_hash=_digest(style),
        script_hash=_digest(script),
    )


def write_html_report(
    study: Study,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    value_label: str = "value",
    with_subspace: bool = True,
    refresh: float | None = None,
) -> Path:
    """Write `html_report` to a file in one step: a browser sees the old page or the new one.

    Parameters
    ----------
    study : Study
    path : path-like
        Must end in .html or .htm.
    title, value_label, with_subspace, refresh
        See `html_report`.

    Returns
    -------
    Path

    Raises
    ------
    JournalError
        If the file is a study or another journal.
    """
    target = _target(path)
    text = html_report(
        study,
        title=title,
        value_label=value_label,
        with_subspace=with_subspace,
        refresh=refresh,
    )
    with whole_file(target) as file:
        file.write(text)
    return target


def watch_html_report(
    study_path: str | os.PathLike[str],
    path: str | os.PathLike[str],
    seconds: float,
    *,
    title: str | None = None,
    value_label: str = "value",
    with_subspace: bool = True,
    on_page: Callable[[int], None] | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Write a page again whenever its study changes, until interrupted.

    Parameters
    ----------
    study_path, path : path-like
        Of the study, which is only read, and of the page.
    seconds : float
        Between two looks at the study, and between two loads of the page by a browser; at least 1.
    title, value_label, with_subspace
        See `html_report`.
    on_page : callable, optional
        Called with the number of values after each page.
    wait : callable
        Waits for so many seconds.

    Raises
    ------
    KeyboardInterrupt
        After a last page that no longer loads itself.
    """
    seconds = as_real(seconds, "seconds")
    if not seconds >= 1.0:
        raise InvalidInputError(f"seconds must be 1 or more; received {seconds!r}.")
    _target(path)
    seen = None

    def write(refresh: float | None) -> int:
        study = Study.open(study_path, read_only=True)
        write_html_report(
            study,
            path,
            title=title,
            value_label=value_label,
            with_subspace=with_subspace,
            refresh=refresh,
        )
        return study.status().n_told

    try:
        while True:
            now = _state_of(Path(study_path))
            if now != seen:
                n_told = write(seconds)
                seen = now
                if on_page is not None:
                    on_page(n_told)
            wait(seconds)
    except KeyboardInterrupt:
        write(None)
        raise


def _state_of(path: Path) -> tuple[int, int, bool]:
    from boring.study._lock import writer_of

    found = path.stat()
    return found.st_size, found.st_mtime_ns, writer_of(path) is not None


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInputError(f"The name of a page must end in .html; received {str(path)!r}.")
    check_is_no_journal(target)  # before a page is made, which may take minutes
    return target


def _resource(name: str) -> str:
    return (files("boring.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _section(key: str, heading: str, content: str, *, kind: str | None = None) -> str:
    return tag("section", f"\n{tag('h2', heading)}\n{content}\n", id=key, class_=kind)


def _all_evaluations(study: Study, value_label: str) -> str:
    if not study.status().n_told:
        return tag("p", "There is no evaluation yet.")
    return tag("h3", "As a table") + evaluations_table(study, value_label)


def _figures(chosen: list[Picture]) -> str:
    return f'<div class="figures">{"".join(map(_figure, chosen))}</div>'


def _figure(picture: Picture) -> str:
    drawn = draw(picture)
    heading = tag("h3", escape(picture.heading))
    kind = "card wide" if picture.is_wide else "card"
    if isinstance(drawn, str):
        return tag(
            "div", heading + tag("p", escape(drawn), class_="reason"), class_=kind, id=picture.key
        )
    caption = tag("figcaption", escape(picture.caption))
    return tag("figure", heading + _image(picture, drawn) + caption, class_=kind, id=picture.key)


def _image(picture: Picture, drawn: Drawn) -> str:
    """Return a picture element: the browser takes the figure that suits window and background."""
    sources = []
    for width, media in (("wide", WIDE_FROM), ("narrow", None)):
        for background in ("dark", "light"):
            address = drawn.sources.get((width, background))
            if address is None or (width, background) == ("narrow", "light"):
                continue
            conditions = [DARK] if background == "dark" else []
            conditions += [] if media is None else [media]
            sources.append(f'<source media="{" and ".join(conditions)}" srcset="{address}">')
    return (
        f"<picture>{''.join(sources)}"
        f'<img src="{drawn.sources["narrow", "light"]}" alt="{escape(picture.alt)}" '
        f'width="{drawn.width}" height="{drawn.height}"></picture>'
    )
