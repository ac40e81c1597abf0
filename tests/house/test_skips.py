"""What is said of skipped tests, and that ``--no-skips`` fails only for what CI could have run."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = """
import pytest

def test_a():
    pytest.skip("{first}")

def test_b():
    pytest.skip("{second}")

def test_c():
    pass
"""
MISSING = "not installed: ovs-vswitchd"
CHANCE = "by chance: the machine is too busy: late"
DATA = "not here: the archive of the Topology Zoo"
KERNEL = "not here: a kernel with the switch module; apt install it"
RIGHTS = "needs root: for network namespaces"
UNKNOWN = "this kernel has no switch module loaded; apt install openvswitch-switch"


@pytest.mark.parametrize(
    ("reasons", "options", "status", "said"),
    [
        (
            (MISSING, CHANCE),
            [],
            0,
            "1 was skipped for want of something to install. As root: make test-tools",
        ),
        ((MISSING, MISSING), ["--no-skips"], 1, "2 were skipped for want of"),
        ((CHANCE, DATA), ["--no-skips"], 0, f"1 skipped: {DATA}"),
        ((KERNEL, KERNEL), ["--no-skips"], 0, f"2 skipped: {KERNEL}"),
        ((RIGHTS, RIGHTS), ["--no-skips"], int(os.geteuid() == 0), f"2 skipped: {RIGHTS}"),
        ((UNKNOWN, DATA), ["--no-skips"], 1, f"1 skipped: {UNKNOWN} (begins with none of"),
        ((MISSING, CHANCE), ["--no-skips", "--numprocesses", "2"], 1, "make test-tools"),
    ],
)
def test_a_skipped_test_is_told(
    reasons: tuple[str, str], options: list[str], status: int, said: str, tmp_path: Path
) -> None:
    shutil.copy2(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(CASES.format(first=reasons[0], second=reasons[1]))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(  # noqa: S603 - our own tests
        [sys.executable, "-m", "pytest", "-q", *options, "test_it.py"], cwd=tmp_path, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, "")
    assert said in done.stdout
    assert ("for want of something to install" in done.stdout) == (MISSING in reasons)


def test_every_reason_of_the_tests_begins_with_its_kind() -> None:
    """So that none is taken for one that fails, or for one that does not."""
    entries = [
        text
        for folder in ("tests", "publications/tests", "checks/validation")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for text in reasons_of(node)
    ]
    assert len(entries) >= 30
    kinds = ("not installed: ", "needs root: ", "not here: ", "by chance: ")
    assert [text for text in entries if not text.startswith(kinds)] == []


def reasons_of(call: ast.Call) -> list[str]:
    """The beginning of the reason that a call gives for a skip; an empty text where it gives none."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("skip", "skipif", "importorskip")):
        return []
    if ast.unparse(call.func.value) not in ("pytest", "pytest.mark"):
        return []
    given = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    if call.func.attr == "skip":
        given += call.args
    if not given:
        return [""]
    first = given[0].values[0] if isinstance(given[0], ast.JoinedStr) else given[0]
    return [str(first.value)] if isinstance(first, ast.Constant) else [""]
