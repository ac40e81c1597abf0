"""A few of the lines of ``checks/attack/interrupts.py``, and that it notes what is wrong."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anabranch.terminal import cli


@pytest.fixture(scope="module")
def interrupts(attack: Callable[[str], ModuleType]) -> ModuleType:
    return attack("interrupts")


@pytest.fixture(scope="module")
def ground(interrupts: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A short command, over a result of its own."""
    faults = interrupts.faults
    (command,) = (command for command in faults.COMMANDS if command.name == "routes")
    return faults.prepared(command, tmp_path_factory.mktemp("ground"))


def test_three_lines_of_a_command_lose_nothing(interrupts: ModuleType) -> None:
    complaints: list[str] = []
    outcomes = interrupts.check_all(3, "1", chosen=("run",), say=complaints.append)
    assert [outcome.complaints for outcome in outcomes] == [[], [], []]
    assert complaints == ["run: Ctrl-C at 3 lines"]
    (of_command,) = interrupts.counts(outcomes).values()
    assert (of_command["lines"], of_command["otherwise"], of_command["wrong"]) == (3, 0, 0)


def test_the_signal_comes_at_the_line(interrupts: ModuleType, ground: Any, tmp_path: Path) -> None:
    lines = dict(interrupts.lines_of(ground, tmp_path))
    source, first = inspect.getsourcelines(cli.routes)
    of_command = [f"terminal/cli.py:{first + number}" for number in range(len(source))]
    place = next(line for line in of_command if lines.get(line, 0) > 1)
    outcome = interrupts.interrupted(ground, f"{place}:2", tmp_path / "at")
    assert (outcome.status, outcome.complaints) == (130, [])
    beyond = interrupts.interrupted(ground, f"{place}:{lines[place] + 1}", tmp_path / "beyond")
    assert (beyond.status, beyond.complaints) == (0, [])


def test_another_end_than_an_interrupt_is_noted(
    interrupts: ModuleType, ground: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fails.py"
    program.write_text("raise OSError(9, 'Bad file descriptor')\n", encoding="utf-8")
    monkeypatch.setattr(interrupts, "AT_LINE", program)
    outcome = interrupts.interrupted(ground, "some.py:1:1", tmp_path / "at")
    assert outcome.status == 1
    traceback, status = outcome.complaints
    assert traceback.startswith("some.py:1:1: a traceback: ")
    assert status.startswith("some.py:1:1: status 1 after Ctrl-C: ")
