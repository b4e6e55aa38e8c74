"""The site's pages are true: their Python blocks run as printed, and their links lead somewhere.

The blocks of a page run one after the other. In the fast tier a budget of more than fifteen
evaluations counts as fifteen, and subspaces are learned in haste; the slow tier runs what is
printed.
"""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import baselines  # noqa: F401 - its names belong in the real registry, not in a test's copy
import boring
from boring import registry

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MADE = {"_build", "gallery", "api"}
PAGES = sorted(page for page in DOCS.rglob("*.md") if not MADE & set(page.relative_to(DOCS).parts))
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
FEW = 15


def name_of(page):
    return page.relative_to(DOCS).as_posix()


def blocks(page):
    return [
        code for kind, code in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "python"
    ]


def has_its_own_test(page):
    others = (path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    return any(f'"{page.name}"' in path.read_text(encoding="utf-8") for path in others)


RUNNABLE = [page for page in PAGES if blocks(page) and not has_its_own_test(page)]


def run(page, directory, monkeypatch, most=None):
    monkeypatch.chdir(directory)
    monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    namespace = {"__name__": page.stem}
    for code in blocks(page):
        if most is not None:
            code = re.sub(
                r"(n_evaluations=)(\d+)", lambda m: m[1] + str(min(int(m[2]), most)), code
            )
        exec(compile(code, name_of(page), "exec"), namespace)


@pytest.mark.usefixtures("quick_subspaces")
@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_blocks_run_with_small_budgets(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in RUNNABLE if "n_evaluations" in p.read_text(encoding="utf-8")], ids=name_of
)
def test_blocks_run_as_printed(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_tutorial_reaches_what_it_says(tmp_path, monkeypatch, capsys):
    run(DOCS / "tutorial.md", tmp_path, monkeypatch)
    out = capsys.readouterr().out
    assert 99.0 < float(re.search(r"best taste (\S+)", out)[1]) < 99.114
    assert {path.name for path in tmp_path.glob("*.png")} == {"convergence.png", "loadings.png"}


class Anchors(HTMLParser):
    """What a page links to within the site, its anchors, and its pictures without a text."""

    def __init__(self, page):
        super().__init__()
        self.links, self.anchors, self.without_text = set(), set(), 0
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values.get("id"), values.get("name")}
        self.without_text += tag == "img" and not values.get("alt")
        found = (urlsplit(values.get(key) or "") for key in ("href", "src"))
        self.links |= {
            (unquote(link.path), unquote(link.fragment))
            for link in found
            if not link.scheme and not link.netloc
        }


def broken_links(site):
    """Return the links of a site that lead to no file, or to no anchor of a page."""
    files = {os.path.normpath(file) for file in site.rglob("*")}
    pages = {file: Anchors(Path(file)) for file in files if file.endswith(".html")}
    broken = set()
    for page, own in pages.items():
        for path, fragment in own.links:
            target = os.path.normpath(f"{os.path.dirname(page)}/{path}") if path else page
            lacks = fragment and target in pages and fragment not in pages[target].anchors
            if lacks or target not in files:
                broken.add((os.path.basename(page), path, fragment))
    assert not any(own.without_text for own in pages.values())
    return broken


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a id="x" href="b.html#y">b</a> <a href="#z">z</a>')
    (tmp_path / "b.html").write_text('<a id="y" href="a.html#x">a</a> <a href="c.html">c</a>')
    assert broken_links(tmp_path) == {("a.html", "", "z"), ("b.html", "c.html", "")}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path):
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package)
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", DOCS, tmp_path / "html"],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > 100
    fetched = re.compile(r'(?:<(?:script|img|iframe)[^>]*src|<link[^>]*href)="(?:https?:)?//[^"]*"')
    assert [found for page in pages for found in fetched.findall(page.read_text("utf-8"))] == []
    assert broken_links(tmp_path / "html") == set()


def slug(heading):
    """Return the anchor of a heading, as GitHub and MyST make it."""
    text = re.sub(r"[`*]|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if path.is_relative_to(DOCS) and path.relative_to(DOCS).parts[0] in MADE:
            continue  # the build makes it, and checks the link
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {slug(h) for h in headings}, f"{page.name} links to {target}"


def test_calls_in_the_text_need_no_import_beside_that_of_boring():
    for page in [*PAGES, *sorted(ROOT.glob("*.md"))]:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for call, name in re.findall(r"\b(boring\.(\w+)[\w.]*\()", text):
            assert name in boring.__all__, f"{page.name} says {call}...): write its import"


def test_every_page_is_in_the_navigation():
    entries = set(re.findall(r"^[\w/-]+\*?$", (DOCS / "index.md").read_text(), flags=re.MULTILINE))
    for page in PAGES:
        name = name_of(page).removesuffix(".md")
        assert name == "index" or {name, f"{name}*"} & entries, f"docs/index.md lacks {name}"


def test_commands_in_the_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in [*PAGES, ROOT / "README.md"]:
        for kind, code in FENCE.findall(page.read_text(encoding="utf-8")):
            if kind != "python":
                assert set(re.findall(r"^make ([a-z-]+)", code, flags=re.MULTILINE)) <= targets
                for module in re.findall(r"python -m (experiments(?:\.\w+)+)", code):
                    assert (ROOT / Path(*module.split("."))).with_suffix(".py").exists() or (
                        ROOT / Path(*module.split(".")) / "__main__.py"
                    ).exists()
