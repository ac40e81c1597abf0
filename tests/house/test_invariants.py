"""What ARCHITECTURE.md says is absent is absent."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"

GIVEN_THE_TIME = (
    "link.rs",
    "queues",
    "loss.rs",
    "balancer",
    "forwarding.rs",
    "reordering.rs",
    "variate.rs",
)
"""Modules of the engine that do not know the event queue: files, and a folder."""

RULES = [
    # What, where, and what must not be there.
    ("no clock, sockets, files or threads in the transport", "transport/src",
     r"\bstd::(time|net|fs|io|thread|env)\b|\bSystemTime\b|\bInstant::now\b"),
    ("no randomness in the transport", "transport/src", r"\brand(_\w+)?::|\bRngCore\b|\bgetrandom\b"),
    ("no clock in the engine", "engine/src", r"\bstd::time::(?!Duration\b)|\bSystemTime\b|\bInstant::now\b"),
    ("no order of a hash map in any crate", "*/src", r"\bHash(Map|Set)\b|\bRandomState\b"),
    ("no Python outside its crate", "[!p]*/src", r"\bpyo3\b"),
    *(("no floating-point functions of the machine's library", f"{crate}/src",
       r"\.(a?cosh?|a?sinh?|a?tanh?|atan2|cbrt|exp|exp2|exp_m1|hypot|ln|ln_1p|log|log10|log2|powi|powf|sin_cos)\(")
      for crate in ("transport", "engine", "routing")),
    *((f"no event queue in {module}", f"engine/src/{module}", r"\b[Ss]chedule(::|\b)|\bSource\b")
      for module in GIVEN_THE_TIME),
]  # fmt: skip


def code_of(file: Path) -> str:
    """A source file without comments and without the tests at its end, which may do as they like."""
    text = file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"//.*", "", text)


def sources(pattern: str) -> list[Path]:
    """The Rust files that a pattern stands for, those of tests left out."""
    entries = [path for path in CRATES.glob(pattern) if path.suffix == ".rs"]
    entries += [path for folder in CRATES.glob(pattern) for path in folder.rglob("*.rs")]
    tests = ("tests", "testing", "properties")
    return sorted(p for p in entries if p.stem not in tests and "tests" not in p.parts)


@pytest.mark.parametrize(("rule", "where", "forbidden"), RULES, ids=[f"{r[0]}: {r[1]}" for r in RULES])
def test_what_must_be_absent_is_absent(rule: str, where: str, forbidden: str) -> None:
    files = sources(where)
    assert files, f"{rule}: nothing matches {where}"
    entries = [
        f"{file.relative_to(ROOT)}: {m.group()}"
        for file in files
        for m in re.finditer(forbidden, code_of(file))
    ]
    assert entries == []


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("no clock, sockets, files or threads in the transport", "use std::time::Instant;"),
        ("no randomness in the transport", "let x = rand::random();"),
        ("no order of a hash map in any crate", "use std::collections::HashMap;"),
        ("no Python outside its crate", "use pyo3::prelude::*;"),
        ("no floating-point functions of the machine's library", "let x = y.cbrt();"),
        ("no event queue in link.rs", "use crate::schedule::Schedule;"),
    ],
)
def test_each_rule_can_be_broken(rule: str, code: str) -> None:
    assert any(re.search(forbidden, code) for name, _, forbidden in RULES if name == rule)


def test_processes_of_python_are_started_in_one_place() -> None:
    """``python -m`` would take modules from the current folder, which may be somebody else's."""
    package = ROOT / "python" / "anabranch"
    files = [file for file in package.rglob("*.py") if "sys.executable" in file.read_text(encoding="utf-8")]
    assert [file.name for file in files] == ["python_process.py"]
