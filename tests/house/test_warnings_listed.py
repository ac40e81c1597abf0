"""docs/warnings.md lists every warning of the code, and each one that it lists is provoked by a test."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from documents import ROOT

PACKAGE = ROOT / "python" / "anabranch"
SOURCES = {
    "runs/cautions.py": None,
    "results/censored.py": {"unfinished_note", "late_note"},
    "runs/runner.py": {
        "_measured",
        "_waiting",
        "_unfinished",
        "_full_logs",
        "_lost_captures",
        "_divided",
        "_breaches",
    },
    "plans/routes.py": {"warnings", "_says_nothing"},
    "plans/capacity.py": {"_least", "solve", "_cut"},
    "plans/transfers.py": {"_warnings"},
    "plans/weight_search.py": {"_warnings"},
    "plans/weight_tables.py": {"_notes"},
    "plans/worst_loads.py": {"_without_traffic"},
    "routing/concurrent_flow.py": {"_warnings"},
    "routing/planned.py": {"clock_warnings"},
    "routing/robust_planner.py": {"_warnings", "_survivable", "_with_fewest_splits"},
    "routing/tcpbp_exact.py": {"plan", "_said", "_planned_once"},
    "routing/weights_planner.py": {"_warnings"},
    "setup/given.py": {"_warnings"},
    "topology/attributes/unread.py": {"notes", "_unsure"},
    "topology/gaps.py": {"without_placeholders"},
}
"""The functions that say warnings, by file; None: all of them."""
SHORTEST = 30
"""Letters from which on a text is a sentence. Shorter ones are its parts."""


def listed() -> list[str]:
    """The warnings in the tables of the page."""
    text = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def sentences(file: str, functions: set[str] | None) -> Iterator[str]:
    """What the functions of a file say: texts with a mark for each value in them."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or (functions is not None and node.name not in functions):
            continue
        defined = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
        docstrings = {ast.get_docstring(function, clean=False) for function in defined}
        inner = {
            id(part)
            for joined in ast.walk(node)
            if isinstance(joined, ast.JoinedStr)
            for part in joined.values
        }
        for part in ast.walk(node):
            text = ""
            if isinstance(part, ast.JoinedStr):
                text = "".join(str(p.value) if isinstance(p, ast.Constant) else "\0" for p in part.values)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in inner:
                text = part.value
            if len(text) >= SHORTEST and text not in docstrings:
                yield text


def test_every_warning_of_the_code_is_listed() -> None:
    phrases = listed()
    assert len(phrases) >= 20
    assert len(set(phrases)) == len(phrases)
    said = [text for file, functions in SOURCES.items() for text in sentences(file, functions)]
    assert len(said) >= len(phrases)
    missing = [text for text in said if not any(phrase in text for phrase in phrases)]
    assert missing == []
    assert [phrase for phrase in phrases if not any(phrase in text for text in said)] == []


def test_no_other_function_says_warnings() -> None:
    """Those that a run collects, and the planners that return some."""
    runner = ast.parse((PACKAGE / "runs" / "runner.py").read_text(encoding="utf-8"))
    (entry,) = (
        value
        for node in ast.walk(runner)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "warnings"
    )
    collected = {ast.unparse(part).partition("(")[0] for part in getattr(entry, "elts", [])}
    names = {"warnings", "cautions", "planned.warnings"} | (SOURCES["runs/runner.py"] or set())
    assert {name.lstrip("*") for name in collected} == names
    planners = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Call) and ast.unparse(node.func) == "Planned" and len(node.args) > 1
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        )
    }
    own_fields = {"routing/own_scheme.py"}  # what a class of the user's says are errors
    assert planners - own_fields == {
        "plans/routes.py",
        "routing/concurrent_flow.py",
        "routing/given.py",  # hands on those of setup/given.py
        "routing/robust_planner.py",
        "routing/tcpbp_exact.py",
        "routing/weights_planner.py",
    }


@pytest.mark.parametrize("phrase", listed())
def test_every_listed_warning_is_provoked_by_a_test(phrase: str) -> None:
    assert any(phrase in text for text in _texts())


@cache
def _texts() -> list[str]:
    """The texts of each file of tests but this one."""
    return [_joined(file) for file in (ROOT / "tests").rglob("test_*.py") if file != Path(__file__)]


def _joined(file: Path) -> str:
    """The texts of a file, neighbours joined as Python joins them."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return "\n".join(
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
