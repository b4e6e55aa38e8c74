"""The page: sound HTML that loads nothing, whatever the study holds."""

import base64
import re
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import count, pairwise

import numpy as np
import pytest

import baselines  # noqa: F401 (registers the optimiser without a subspace)
from boring.exceptions import InvalidInputError
from boring.loop.algorithm import BoringOptimizer
from boring.parameters import Categorical, Fixed, ParameterSpace, Real
from boring.report import _page, html_report, watch_html_report, write_html_report
from boring.study import Study
from boring.study.cli import main

pytest.importorskip("matplotlib")

VOID = {"meta", "link", "img", "source", "br"}
MAY_STAY_OPEN = {"td", "th", "tr", "p", "li"}
EVIL = "<script>alert('x')</script> & \"$gain$\" \x07"


class Page(HTMLParser):
    """Elements of a page; complains of tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open[-1] != tag and self.open[-1] in MAY_STAY_OPEN:
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    @property
    def levels(self):
        return [int(tag[1]) for tag, _ in self.elements if re.fullmatch("h[1-6]", tag)]


def check(text):
    """Return the page, after checks that hold for all of them."""
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    page = Page(text)
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(page.levels))
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for key in ("src", "srcset", "href"):
            address = attributes.get(key)
            assert address is None or address.startswith(("data:", "#"))
            assert address is None or not address.startswith("#") or address[1:] in ids
        assert not any(key.startswith("on") or key == "style" for key in attributes)
    assert all(len(a["alt"]) > 20 for a in page.all("img"))
    assert not re.search(r"https?:|url\(|@import", text)
    assert len(page.all("script")) == 1
    assert "default-src 'none'" in text
    return page


def quadratic(space, n, *, seed=0, **options):
    study = Study(space, direction="minimize", seed=seed, **options)
    rng = np.random.default_rng(seed)
    for configuration in study.space.decode(rng.uniform(-1, 1, (n, study.space.dim))):
        U = study.space.encode(configuration)[0]
        constraints = [1.0] * study.n_constraints
        study.tell(configuration, float((U[0] - 0.5 * U[-1]) ** 2), constraints or None)
    return study


def draw_once(picture, draw=_page.draw):
    """Draw the first form of a picture, light and narrow, and leave the others empty."""
    form = count()
    return draw(replace(picture, paint=lambda f: next(form) or picture.paint(f)))


@pytest.fixture
def drawn_once(monkeypatch):
    """For pages whose dark and wide figures are not looked at: `text` has them all."""
    monkeypatch.setattr(_page, "draw", draw_once)


@pytest.fixture(scope="module")
def study():
    space = [
        Real("gain", 0.1, 10.0, log=True, unit="dB"),
        Real(EVIL, -3.0, 5.0, unit="<mm>"),
        Categorical("kind", ["a", "b", "<c>"]),
    ]
    made = quadratic(ParameterSpace(space), 16)
    made.tell_failed(made.ask()[0].number, "<b>the lamp</b> broke")
    return made


@pytest.fixture(scope="module")
def text(study, in_haste):
    with in_haste():
        return html_report(study, title=EVIL, value_label="loss <m>")


def test_the_page_has_findings_figures_and_all_evaluations(study, text):
    page = check(text)
    for words in ("What was found", "Best settings", "gain", "dB", "loss <m>", "What decides"):
        assert words in page.text
    figures = [a["id"] for a in page.all("figure")]
    assert figures == [
        "convergence", "importance", "loadings", "summary", "slices", "spectrum", "dimension",
        "components", "parallel",
    ]  # fmt: skip
    rows = text.split("<table class=data>")[1].split("<tbody>")[1].count("<tr")
    assert rows == study.status().n_told == 17
    assert "class=failed" in text
    assert text.count("<tr class=best>") == 1
    assert "do not fit on paper" not in page.text


def test_text_of_the_user_is_text(text):
    assert "<script>alert" not in text
    assert "<b>the lamp" not in text
    assert "&lt;script&gt;alert" in text
    assert "\x07" not in text
    assert "<b>the lamp</b> broke (1)" in Page(text).text


def test_figures_suit_light_and_dark_pages(text):
    page = Page(text)
    dark = [a for a in page.all("source") if "dark" in a["media"]]
    assert len(dark) == len(page.all("img")) + 2  # two figures are drawn wide as well
    for kind, background in (("img", "#ffffff"), ("source", "#14181d")):
        key = "src" if kind == "img" else "srcset"
        first = next(a[key] for a in page.all(kind) if "svg" in a[key])
        assert background in base64.b64decode(first.split(",")[1]).decode().lower()


def test_only_what_the_page_brings_may_act(text):
    for tag in ("script", "style"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL).group(1)
        digest = base64.b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text


@pytest.mark.usefixtures("drawn_once")
def test_a_table_tells_numbers_of_a_narrow_range_apart():
    """Or a click on the heading could not sort them."""
    study = Study([Real("frequency", 499.654e6, 499.6545e6)], direction="minimize", seed=0)
    X = 499.654e6 + 60.0 * np.arange(8)
    study.add([{"frequency": x, "value": -76.41 + 1e-6 * i} for i, x in enumerate(X)])
    page = html_report(study, with_subspace=False)
    body = page.split("<table class=data>")[1].split("<tbody>")[1]
    rows = [re.findall(r"<td>([^<]*)", line)[:2] for line in body.split("<tr")[1:]]
    cells = np.char.replace(np.array(rows), "\N{MINUS SIGN}", "-")
    values, frequencies = cells.astype(float).T
    np.testing.assert_allclose(frequencies, X, atol=0.1)
    np.testing.assert_allclose(np.diff(values), 1e-6, rtol=1e-3)
    assert "499654000\xa0to\xa0499654500" in page


def test_without_evaluations():
    page = check(html_report(Study({"a": (0.0, 1.0)}, direction="maximize")))
    assert "There is no best value yet" in page.text
    assert "There is no evaluation yet." in page.text
    assert page.all("img") == []


@pytest.mark.usefixtures("drawn_once")
def test_one_evaluation():
    page = check(html_report(quadratic({"a": (0.0, 1.0), "b": (0.0, 2.0)}, 1)))
    assert [a["id"] for a in page.all("figure")] == ["convergence", "parallel"]


@pytest.mark.usefixtures("drawn_once", "quick_subspaces")
def test_a_name_in_another_script_is_no_warning():
    """Figures are measured while they are drawn: tests take warnings for errors."""
    page = check(html_report(quadratic({"温度" * 20: (0.0, 1.0), "b": (0.0, 2.0)}, 6)))
    assert "温度" in page.text
    assert page.all("img")


@pytest.mark.usefixtures("drawn_once", "quick_subspaces")
def test_names_of_any_length_are_whole_in_the_text_and_no_warning_of_the_figures():
    names = ["q" * 300, "q" * 299 + "p"]
    made = quadratic(ParameterSpace([Real(name, 0.0, 1.0) for name in names]), 6)
    text = html_report(made, value_label="loss " * 60)
    page = check(text)
    assert all(name in page.text for name in names)
    assert page.all("img")


def test_failures_alone():
    study = Study({"a": (0.0, 1.0), "b": (0.0, 2.0)}, direction="minimize")
    study.tell_failed({"a": 0.5, "b": 1.0}, "no beam")
    page = check(html_report(study))
    assert "no beam (1)" in page.text
    assert page.all("img") == []


def test_what_is_no_study_gets_the_remedy(tmp_path):
    optimizer = BoringOptimizer([(0, 1)], direction="minimize", seed=0)
    for wrong in ("run.jsonl", tmp_path, optimizer, optimizer.result()):
        message = rf"A report is of a study; received {type(wrong).__name__}.*Study.open"
        with pytest.raises(InvalidInputError, match=message):
            write_html_report(wrong, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_choice_of_none_is_told_from_an_inactive_parameter():
    study = Study(
        [
            Categorical("kind", [None, "sgd", "adam"]),
            Categorical("extra", [None, 1], when="kind == 'sgd'"),
        ],
        direction="minimize",
    )
    study.tell_failed({"kind": None}, "no beam")
    study.tell_failed({"kind": "sgd", "extra": None}, "no beam")
    rows = re.findall(r"<tr class=failed>.*", html_report(study))
    cells = [re.findall(r"<td(?: class=t)?>([^<]*)", row) for row in rows]
    assert [row[2:4] for row in cells] == [["None", ""], ["sgd", "None"]]


@pytest.mark.usefixtures("drawn_once")
def test_no_feasible_point_and_an_optimiser_without_subspace():
    study = quadratic({"a": (0.0, 1.0), "value": (0.0, 2.0)}, 4, n_constraints=1, optimizer="sobol")
    text = html_report(study)
    page = check(text)
    assert "no value meets the constraints" in page.all("img")[0]["alt"]
    assert "No point meets the constraints: all are drawn." in page.text
    assert "The optimiser 'sobol' learns none." in page.text
    assert "is expected to improve it by" not in page.text
    assert text.count("<tr class=infeasible>") == 4


@pytest.mark.usefixtures("drawn_once")
def test_infeasible_points_are_no_lines():
    study = quadratic({"a": (0.0, 1.0), "b": (0.0, 2.0)}, 3, n_constraints=1)
    study.tell({"a": 0.1, "b": 0.2}, 7.0, [-1.0])
    page = check(html_report(study, with_subspace=False))
    assert "1 evaluated point as a line" in page.all("img")[-1]["alt"]
    assert "Points that break a constraint are left out." in page.text
    assert "It was left out of this report." in page.text


def page_of(estimate, X, y):
    """Return the page of 100 parameters and a subspace that is known and not searched."""
    parameters = [Real(f"quadrupole current {i}", 0.0, 10.0, unit="A") for i in range(100)]
    study = Study(ParameterSpace(parameters), direction="minimize", seed=0)
    told = zip(study.space.decode(X), y, strict=True)
    study.add([{**configuration, "value": float(value)} for configuration, value in told])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoringOptimizer, "subspace", estimate)
        return html_report(study)


@pytest.fixture(scope="module")
def large(make):
    """The page of 250 values, each figure drawn once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_page, "draw", draw_once)
        return page_of(*make.estimate(100, 2, n=250))


def test_a_large_study_is_a_small_page_that_loads_nothing(large):
    page = check(large)
    assert len(page.all("figure")) == 9
    assert len(large.encode()) < 1_350_000
    assert len(large.split("<table class=data>")[1]) < 400_000
    assert large.count("<tr") > 250
    assert "<details><summary>All 100 settings</summary>" in large
    assert "the most important" in page.text
    assert "columns of this table do not fit on paper" in page.text


@pytest.mark.slow
def test_a_page_of_500_values_is_small_with_every_form_of_its_figures(make):
    text = page_of(*make.estimate(100, 2, n=500))
    assert len(check(text).all("figure")) == 9
    assert len(text.encode()) < 4_000_000
    assert len(text.split("<table class=data>")[1]) < 1_500_000
    assert text.count("<tr") > 500


def test_paper_has_all_settings_once_and_after_the_figures(large, text):
    findings, settings = large.split('<section id="settings" class="on-paper">')
    assert settings.count("<tr>") == 101
    assert findings.rindex("<figure") < len(findings)
    assert "<figure" not in settings
    assert "All settings stand in the last section." in findings
    assert 'href="#settings"' not in large, "no link to what the screen does not show"
    assert "details:not([open]) { display: none; }" in large.split("@media print")[1]
    assert 'id="settings"' not in text, "the findings show them all"


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "run.jsonl"
    space = ParameterSpace([Real("a", 0.0, 1.0), Real("b", 0.0, 1.0), Fixed("c", [1, "<"])])
    with Study(space, direction="minimize", path=target, optimizer="sobol", seed=0) as study:
        study.tell({"a": 0.25, "b": 0.5}, 1.0)
    return target


@pytest.mark.usefixtures("drawn_once")
def test_the_command_writes_a_page(path, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert main(["report", str(path), "-o", str(page), "--title", "Spring <1>"]) == 0
    assert "Written" in capsys.readouterr().out
    assert "Spring <1>" in check(page.read_text(encoding="utf-8")).text
    assert list(tmp_path.glob("*.partial")) == []
    assert main(["report", str(path), "-o", str(tmp_path / "report.pdf")]) == 1
    assert "must end in .html" in capsys.readouterr().err
    assert main(["report", str(path), "--watch", "5"]) == 2


@pytest.mark.usefixtures("drawn_once")
def test_watching_follows_the_study_and_ends_with_a_still_page(path, tmp_path):
    target, counts, waits = tmp_path / "report.html", [], []

    def wait(seconds):
        waits.append(seconds)
        text = target.read_text(encoding="utf-8")
        assert '<meta http-equiv="refresh" content="2">' in text
        if len(waits) == 1:
            with Study.open(path) as study:
                study.tell({"a": 0.75, "b": 0.5}, 0.5)
        if len(waits) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_html_report(path, target, 2.0, on_page=counts.append, wait=wait)
    assert counts == [1, 2]
    assert waits == [2.0] * 3
    assert 'http-equiv="refresh"' not in target.read_text(encoding="utf-8")


def test_a_refresh_must_be_a_second_or_more(path, tmp_path):
    study = Study.open(path, read_only=True)
    with pytest.raises(InvalidInputError, match="a second or more"):
        write_html_report(study, tmp_path / "report.html", refresh=0.1)
