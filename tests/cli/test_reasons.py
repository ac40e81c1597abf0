"""Why something cannot be read: never "None", where the system has no words for it."""

from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.study.files import InputFiles
from anabranch.topology import TopologyError, load

ROOT = Path(__file__).parents[2]


@pytest.fixture
def _wordless(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no words of the system's")

    for call in ("open", "read_bytes", "read_text", "stat"):
        monkeypatch.setattr(Path, call, fail)


@pytest.mark.usefixtures("_wordless")
def test_a_file_without_a_reason_of_the_system_has_the_library_s() -> None:
    with pytest.raises(ScenarioError, match=r"cannot be read: no words of the system's$"):
        Scenario.load("a.toml")
    with pytest.raises(TopologyError, match=r"cannot be read: no words of the system's; check the path"):
        load("file:a.graphml")


def test_so_does_the_topology_of_a_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.graphml").touch()

    def fail(*_: object, **__: object) -> None:
        raise OSError("no words of the system's")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(ValueError, match=r"cannot be read: no words of the system's$"):
        InputFiles(tmp_path).adopt("file:a.graphml", ("network", "topology"))


def test_one_function_says_why() -> None:
    files = [*ROOT.glob("python/anabranch/**/*.py"), *ROOT.glob("publications/anabranch_*/**/*.py")]
    assert len(files) > 150
    users = {file.relative_to(ROOT).as_posix() for file in files if "strerror" in file.read_text()}
    # The journal and folders make errors of their own, with the system's words.
    makers = {"python/anabranch/study/journal.py", "python/anabranch/results/folders/directory.py"}
    assert users == {"python/anabranch/errors.py", *makers}
