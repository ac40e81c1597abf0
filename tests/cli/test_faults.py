"""A few of the faults of ``checks/attack/faults.py``, and that it notes what is wrong."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def faults(attack: Callable[[str], ModuleType]) -> ModuleType:
    return attack("faults")


def test_faults_lose_nothing(faults: ModuleType) -> None:
    complaints: list[str] = []
    outcomes = faults.attack(len(faults.FAULTS), 1, "3", chosen=("run",), say=complaints.append)
    outcome = faults.counts(outcomes)
    assert set(outcome["by fault"]) == set(faults.FAULTS)
    assert (outcome["faults"], outcome["wrong"]) == (len(faults.FAULTS) + 1, 0), complaints


START = """Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
"""
READS_ITS_SPECIFICATION = """  File "<frozen runpy>", line 78, in _run_code
  File "<frozen importlib._bootstrap>", line 398, in cached
  File "<frozen importlib._bootstrap_external>", line 134, in <genexpr>
"""
BEGINS = '  File "python/anabranch/__main__.py", line 4, in <module>\n'
MAIN = '  File "python/anabranch/__main__.py", line 9, in main\n'
IMPORTS = BEGINS + '    import gc\n  File "<frozen importlib._bootstrap>", line 1176, in _find_and_load\n'


@pytest.mark.parametrize(
    ("frames", "is_start"),
    [
        ("", True),
        (READS_ITS_SPECIFICATION, True),
        (BEGINS, True),
        (IMPORTS, False),
        (BEGINS + MAIN, True),
        (BEGINS + MAIN + '  File "python/anabranch/terminal/cli.py", line 3, in <module>\n', False),
        ('  File "python/anabranch/terminal/cli.py", line 3, in <module>\n', False),
    ],
)
def test_pythons_own_start_is_told_from_the_program(faults: ModuleType, frames: str, is_start: bool) -> None:
    assert faults.is_starting(f"{START}{frames}KeyboardInterrupt\n") == is_start


def test_what_is_lost_is_noted(faults: ModuleType, tmp_path: Path) -> None:
    before = {
        "notes.txt": "a",
        "out/notes.txt": "b",
        "out/flows.parquet": "c",
        "out/tables/flows/000001.parquet": "d",
    }
    command = faults.Command("study", (), ())
    template, work = tmp_path / "template", tmp_path / "work"
    (template / "out").mkdir(parents=True)
    (template / "out" / "journal.jsonl").write_text('{"run": 0}\n{"run": 1}\n')
    (work / "out").mkdir(parents=True)
    (work / "out" / "journal.jsonl").write_text('{"run": 0}\n')
    (work / "temporary").mkdir()
    (work / ".anabranch-0123456789abcdef").mkdir()
    (work / "out" / "flows.parquet").write_text("cut off")
    ground = faults.Ground(command, template, before, {}, 1.0, 1)
    outcome = faults.judged(ground, work, "SIGINT", 3, "Traceback (most recent call last)")
    assert outcome == [
        "ends with status 3: Traceback (most recent call last)",
        "a traceback: Traceback (most recent call last)",
        "lost: notes.txt",
        "lost: out/notes.txt",
        "lost: out/tables/flows/000001.parquet",
        "lost: out/journal.jsonl",
        "left lying: .anabranch-0123456789abcdef",
        "neither the earlier nor the new result: out/flows.parquet",
    ]
