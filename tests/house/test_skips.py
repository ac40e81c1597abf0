"""What is said of skipped tests, and that ``--no-skips`` fails for want of a program, but not by chance."""

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
MISSING = "ovs-vswitchd is not installed"
CHANCE = "the machine is too busy: late"


@pytest.mark.parametrize(
    ("reasons", "options", "status", "said"),
    [
        ((MISSING, CHANCE), [], 0, "1 tests are skipped"),
        ((MISSING, MISSING), ["--no-skips"], 1, "2 skipped: ovs-vswitchd is not installed"),
        ((CHANCE, CHANCE), ["--no-skips"], 0, ""),
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
    assert said or "not tested here" not in done.stdout
