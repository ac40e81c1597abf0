"""From nothing to a study with figures: the commands of docs/own.md, as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import Scenario, Study
from anabranch.errors import AnabranchError
from anabranch.own.kinds import KINDS
from anabranch.own.new import new
from anabranch.study.check import design

PAGE = Path(__file__).parents[2] / "docs" / "own.md"
MOST_COMMANDS = 10


def test_the_commands_of_the_page_lead_to_a_study_with_figures(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line for line in block.splitlines() if line and not line.startswith("#")]
    assert len(commands) <= MOST_COMMANDS
    # What the page's user has written himself needs no question; root is asked, and has said yes before.
    _, scenario, _ = new("congestion-control", "gentle", tmp_path / "looked-at")
    Scenario.load(scenario, {"run.duration": "1 ms"}).run(trust=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(  # noqa: S603 - the page's own commands
        ["/bin/sh", "-ec", block], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True, timeout=300
    )
    figures = sorted((tmp_path / "gentle" / "results" / "gentle_study" / "figures").iterdir())
    assert {file.suffix for file in figures} == {".png", ".pdf"}
    assert all(file.stat().st_size > 1000 for file in figures)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_new_runs_and_can_be_studied(kind: str, tmp_path: Path) -> None:
    module, scenario, study = new(kind, "my-own", tmp_path / "here")
    assert [file.name for file in (module, scenario, study)] == [
        "my_own.py",
        "my_own.toml",
        "my_own_study.toml",
    ]
    assert "class MyOwn" in module.read_text()
    assert not re.search("mine", (module.read_text() + scenario.read_text() + study.read_text()).lower())
    result = Scenario.load(scenario, {"run.duration": "1 s"}).run(trust=True)
    assert result.flows["goodput_mbps"].min() > 0
    assert design(Study.load(study).trusted()).runs >= 18


REFUSED = [
    ("congestion", "x", 'kind "congestion" is not known; '),
    ("congestion-control", "My", '"My" is no name of a module; '),
    ("congestion-control", "1st", '"1st" is no name of a module; '),
    ("congestion-control", "class", '"class" is no name of a module; '),
    ("congestion-control", "a/b", '"a/b" is no name of a module; '),
    ("congestion-control", "taken", "taken/ is there already; "),
    ("congestion-control", "zed_study", '"zed_study" ends in _study, as the study of "zed" does: '),
    ("congestion-control", "zed-study", '"zed-study" ends in _study, as the study of "zed" does: '),
    ("congestion-control", "file/x", '"file/x" is no name'),
]


@pytest.mark.parametrize(("kind", "name", "message"), REFUSED)
def test_a_mistake_is_told(
    kind: str, name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    with pytest.raises(AnabranchError) as refused:
        new(kind, name)
    assert str(refused.value).startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
