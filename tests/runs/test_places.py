"""Cases of ``checks/attack/places.py`` and a round of ``two_users.py`` beside it, and that both notice."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def places(attack: Callable[[str], ModuleType]) -> ModuleType:
    return attack("places")


def test_nothing_outside_is_touched(places: ModuleType, tmp_path: Path) -> None:
    """Each case with one of the commands."""
    templates = places.templates(tmp_path / "templates")
    outcomes = [
        places.attempt(command, case, templates[command.name], tmp_path)
        for index, command in enumerate(places.COMMANDS)
        for case in places.CASES[index :: len(places.COMMANDS)]
        if places.fits(command, case)
    ]
    assert len(outcomes) > 70
    assert [outcome for outcome in outcomes if outcome.wrong] == []
    assert {outcome.answer for outcome in outcomes} == {"done", "refused"}


def test_what_is_touched_is_noticed(
    places: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(_: object, folder: Path, __: float) -> tuple[str, str]:
        (folder / "out" / "summary.json").write_text("")
        return "done", ""

    monkeypatch.setattr("worker.call", careless)
    (tmp_path / "template").mkdir()
    case = next(case for case in places.CASES if case.name == "summary.json is a link to a file")
    outcome = places.attempt(places.COMMANDS[0], case, tmp_path / "template", tmp_path)
    assert outcome.wrong == ("outside: thesis.tex",)


@pytest.mark.parametrize("answer", ["interrupted", "in part"])
def test_a_command_that_does_not_end_by_itself_is_wrong(
    answer: str, places: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.call", lambda *_: (answer, "it waits"))
    (tmp_path / "template").mkdir()
    case = next(case for case in places.CASES if case.name == "summary.json is a pipe")
    outcome = places.attempt(places.COMMANDS[0], case, tmp_path / "template", tmp_path)
    assert outcome.wrong == (f"{answer}: it waits",)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: beside a second user")


@pytest.fixture
def two_users(attack: Callable[[str], ModuleType]) -> ModuleType:
    module = attack("two_users")
    if why := module.hindrance():
        pytest.skip(f"needs root: that can be another user: {why}")
    return module


@needs_root
@pytest.mark.parametrize("command", ["run", "through the other's link"])
def test_a_second_user_reaches_nothing_of_root(
    command: str, places: ModuleType, two_users: ModuleType
) -> None:
    with tempfile.TemporaryDirectory(prefix="anabranch-two-users-") as name:
        Path(name).chmod(0o755)
        assert two_users.attack(len(two_users.WAYS), Path(name), places.INPUTS, [command]) == []


@needs_root
def test_a_second_user_who_reaches_nothing_is_noticed(
    places: ModuleType, two_users: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is in one that only root may enter; whoever plants there ends, and does nothing else."""
    tmp_path.chmod(0o700)
    monkeypatch.setattr(two_users, "_PATIENCE_S", 5.0)
    monkeypatch.setattr(two_users, "COMMANDS", {"none": ("--version",)})
    wrong = two_users.attack(1, tmp_path, places.INPUTS, ["none"])
    assert wrong == [f"none, {mode}: the other user could plant nothing" for mode in ("0o1777", "0o777")]


@needs_root
def test_ids_that_cannot_be_taken_are_told(
    places: ModuleType, two_users: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setuid", refused)
    wrong = two_users.attack(1, tmp_path, places.INPUTS, ["run"])
    assert wrong == ["not tried: [Errno 1] Operation not permitted"]
    assert list(tmp_path.iterdir()) == []
