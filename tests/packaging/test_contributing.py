"""The instructions for contributors are true: their Python blocks run, the paths exist."""

import re
from pathlib import Path

import pytest

from boring import registry

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_python_blocks_run_in_order(monkeypatch):
    monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    namespace = {"__name__": "contributing"}
    for block in blocks:
        exec(compile(block, "CONTRIBUTING.md", "exec"), namespace)
    assert "hill-climb" in registry.optimizer_names()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:\w+/)+[\w.]*)`", TEXT))))
def test_paths_exist(path):
    assert (ROOT / path).exists()
