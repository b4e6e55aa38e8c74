"""The page of requirements names tests that exist, and leaves no verdict open."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "what-users-ask.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
THREAD = re.compile(r"\b[\w.-]+(?:/[\w.-]+)?#\d+")
VERDICTS = {"met", "partly", "not"}


def rows():
    text = PAGE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "Theme"]


def test_every_named_test_exists():
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 40
    for file, function in named:
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in names, f"{file} has no {function}"


def test_every_row_has_threads_a_test_and_a_verdict():
    assert len(rows()) >= 20
    for theme, symptoms, _, tests, verdict in rows():
        assert verdict.split(":")[0].strip("* ") in VERDICTS, theme
        assert THREAD.search(symptoms), theme
        assert NAMED.search(tests), theme
