"""What a type checker says of code that uses the package."""

import subprocess
import sys

import pytest

FIELDS = """
from anabranch.scenario import Codel, GilbertElliott, Span
codel = Codel(target=Span('5 ms'), ecn=True)
reveal_type(codel.target)
Codel(tarjet=Span('5 ms'))
Codel(ecn='yes')
GilbertElliott(to_bad=0.1)
codel.ecn = False
"""
NAMES = """
from anabranch.scenario.algorithms.queue import Threshold
from anabranch.scenario.leaves import LinksChange
from anabranch.setup import Setup
def use(setup: Setup) -> None:
    discipline = setup.links[0].queue.discipline
    if isinstance(discipline, Threshold):
        reveal_type(discipline.mark_at)
    discipline.mark_at
    setup.controller['node']
    change = setup.events[0].change
    change.kind == 'linx'
    LinksChange(links=[1], upp=True)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of both: reading the package is most of its work."""
    folder = tmp_path_factory.mktemp("checked")
    for name, program in (("fields.py", FIELDS), ("names.py", NAMES)):
        (folder / name).write_text(program.removeprefix("\n"), encoding="utf-8")
    options = ["--strict", "--no-error-summary", "--config-file", ""]
    done = subprocess.run(  # noqa: S603 - our own tests
        [sys.executable, "-m", "mypy", *options, "fields.py", "names.py"], cwd=folder, capture_output=True,
        text=True, check=False, timeout=300,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_fields_are_known(said: list[str]) -> None:
    lines = [line for line in said if line.startswith("fields.py")]
    assert [line.split(":")[1] for line in lines] == ["3", "4", "5", "6", "7"]
    assert 'Revealed type is "anabranch.scenario.quantity.Span"' in lines[0]
    assert [line.rpartition("[")[2] for line in lines[1:]] == ["call-arg]", "arg-type]", "call-arg]", "misc]"]


def test_wrong_names_are_found(said: list[str]) -> None:
    lines = [line for line in said if line.startswith("names.py")]
    assert {line.split(":")[1] for line in lines} == {"7", "8", "9", "11", "12"}
    assert any('Revealed type is "anabranch.scenario.quantity.PacketCount"' in line for line in lines)
