"""Some of the cases of ``attack/places.py`` and a round of ``attack/two_users.py``, and that both notice."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ATTACK = Path(__file__).parents[2] / "attack"


@pytest.fixture(scope="module")
def places() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ATTACK))
    yield importlib.import_module("places")
    sys.path.remove(str(ATTACK))


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


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: beside a second user")
def test_a_second_user_reaches_nothing_of_root(places: ModuleType, tmp_path: Path) -> None:
    two_users = importlib.import_module("two_users")
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:2]:
        folder.chmod(0o755)
    chosen = ("run", "through the other's link")
    assert two_users.attack(1, tmp_path, places.INPUTS, chosen) == []
