"""Write one page of reference for each public module, before Sphinx reads its sources.

Public is every module of the three packages whose path has no leading underscore. An object is
described where it is defined; what a package takes from one of its public modules is linked there,
and what is taken from a private one is described by the innermost public module that has it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

PACKAGES = ("boring", "synthetic", "baselines")
FOLDER = "api"


def public_modules(package: str) -> Iterator[str]:
    """Yield the dotted names of a package and of its public modules, in order."""
    root = importlib.import_module(package)
    yield package
    names = {found.name for found in pkgutil.walk_packages(root.__path__, f"{package}.")}
    yield from sorted(n for n in names if not any(p.startswith("_") for p in n.split(".")))


def exported(
    module: ModuleType, described: dict[tuple[str, str], str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names that a module's page describes, and those it links to with their homes."""
    own, elsewhere = [], []
    for name in _present(module):
        target = getattr(module, name)
        home = described[_key(target)] if _is_object(target) else module.__name__
        if home != module.__name__:
            elsewhere.append((name, f"{home}.{name}"))
        elif not name.startswith("_"):
            own.append(name)
    return own, elsewhere


def homes(modules: list[str]) -> dict[tuple[str, str], str]:
    """Return the module whose page describes each object, by where and as what it is defined."""
    found: dict[tuple[str, str], str] = {}
    for name in sorted(modules, key=lambda name: -name.count(".")):
        module = importlib.import_module(name)
        for target in (getattr(module, name) for name in _present(module)):
            if _is_object(target):
                key = _key(target)
                found.setdefault(key, key[0] if key[0] in modules else name)
    return found


def _present(module: ModuleType) -> list[str]:
    """Return what a module declares, without what is made on first use of another project."""
    there = {*vars(module), *getattr(module, "_HOMES", ())}
    return [name for name in _declared(module) if name in there]


def _declared(module: ModuleType) -> list[str]:
    """Return ``__all__``, or what is public and defined in the module."""
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return list(declared)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _is_object(target: object) -> bool:
    return inspect.isclass(target) or inspect.isroutine(target)


def _key(target: Any) -> tuple[str, str]:
    return target.__module__, target.__qualname__


def page(name: str, described: dict[tuple[str, str], str]) -> str:
    """Return the text of a module's page."""
    module = importlib.import_module(name)
    own, elsewhere = exported(module, described)
    lines = [name, "=" * len(name), "", f".. automodule:: {name}"]
    if own:
        lines.append(f"   :members: {', '.join(own)}")
    if elsewhere:
        lines += ["", ".. rubric:: Taken from other modules", ""]
        for short, full in elsewhere:
            doc = inspect.getdoc(getattr(module, short)) or ""
            first = doc.strip().split("\n\n")[0].replace("\n", " ")
            lines.append(f"- :py:obj:`{short} <{full}>`: {first}")
    return "\n".join(lines) + "\n"


def write_pages(app: Sphinx) -> None:
    """Write the pages and their index, leaving files alone that have not changed."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    names = {package: list(public_modules(package)) for package in PACKAGES}
    documented = sorted(name for own in names.values() for name in own)
    described = homes(documented)
    pages = {f"{name}.rst": page(name, described) for name in documented}
    index = ["API reference", "=============", ""]
    index += ["Written from the docstrings. Begin with :py:mod:`boring`.", ""]
    for package, own in names.items():
        index += [f".. toctree::\n   :maxdepth: 1\n   :caption: {package}\n"]
        index += [f"   {name}" for name in own] + [""]
    pages["index.rst"] = "\n".join(index)
    for stale in set(path.name for path in folder.glob("*.rst")) - set(pages):
        (folder / stale).unlink()
    for file, text in pages.items():
        path = folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def keep_bars(
    _app: object, _what: str, _name: str, _obj: object, _opt: object, lines: list[str]
) -> None:
    """Escape the bars of norms, which reStructuredText takes for substitutions."""
    literal, last = False, ""
    for index, line in enumerate(lines):
        literal = line.startswith(" ") or not line if literal else last.endswith("::")
        last = line or last
        if "|" in line and not literal and not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``|`.*?`)", line)
            lines[index] = "".join(p if p.startswith("`") else p.replace("|", r"\|") for p in parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", keep_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
