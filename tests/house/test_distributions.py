"""The two distributions: each declares what it imports, and they have one version."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = {
    "anabranch": (ROOT / "pyproject.toml", ROOT / "python" / "anabranch"),
    "anabranch-publications": (
        ROOT / "publications" / "pyproject.toml",
        ROOT / "publications" / "anabranch_publications",
    ),
}
PART_OF = {"pydantic-core": "pydantic"}
"""Distributions that come with another one, in a version of its choice."""
NOT_IMPORTED = {"topohub"}
"""Archives of data, whose files are read."""


def project(name: str) -> dict[str, Any]:
    """The table ``project`` of a distribution."""
    table: dict[str, Any] = tomllib.loads(DISTRIBUTIONS[name][0].read_text(encoding="utf-8"))["project"]
    return table


def normal(requirement: str) -> str:
    """The name in a requirement, as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def imported(source: str) -> Iterator[str]:
    """The top-level modules that a source file imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def needed(folder: Path) -> set[str]:
    """The distributions of everything that a package imports beyond Python and itself."""
    files = sorted(folder.rglob("*.py"))
    assert len(files) > 40
    modules = {name for file in files for name in imported(file.read_text(encoding="utf-8"))}
    expected = packages_distributions()
    modules -= set(sys.stdlib_module_names) | {folder.name}
    # One that is installed for editing is not listed with its modules.
    entries = {normal(distribution) for module in modules for distribution in expected.get(module, [module])}
    return {PART_OF.get(distribution, distribution) for distribution in entries}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_declares_what_it_imports_and_nothing_else(name: str) -> None:
    table = project(name)
    declared = {normal(requirement) for requirement in table["dependencies"]}
    extras = table.get("optional-dependencies", {})
    chosen = ("cluster", "learning", "live", "openflow", "pandas", "spreadsheet", "studio")
    optional = {normal(one) for extra in chosen for one in extras.get(extra, ())}
    assert len(declared) >= 6
    outcome = needed(DISTRIBUTIONS[name][1])
    assert sorted(outcome - declared - optional) == []
    assert sorted(declared - outcome - NOT_IMPORTED) == []


def test_only_the_publications_stand_on_the_other_distribution() -> None:
    assert "anabranch" in project("anabranch-publications")["dependencies"]
    assert not [one for one in project("anabranch")["dependencies"] if normal(one).startswith("anabranch")]


def test_both_have_the_version_of_the_crates() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    expected = workspace["package"]["version"]
    assert [version(name) for name in DISTRIBUTIONS] == [expected, expected]
    assert all("version" in project(name)["dynamic"] for name in DISTRIBUTIONS)


@pytest.mark.parametrize("licence", ["LICENSE-APACHE", "LICENSE-MIT"])
def test_both_have_the_same_licences(licence: str) -> None:
    texts = {(file.parent / licence).read_text(encoding="utf-8") for file, _ in DISTRIBUTIONS.values()}
    assert len(texts) == 1
