"""Whose a scenario is, and which list of answers is believed."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest
import tries
from other_user import OTHER_UID

from anabranch import Scenario
from anabranch.errors import ConsentError
from anabranch.own import consent
from anabranch.own.code_files import read_code
from anabranch.own.kept_answers import AnswersError, answers_file, keep_answers, read_answers

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a file of another user")


@pytest.fixture(autouse=True)
def _no_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Root is taken for any other user, with a list of his own."""
    monkeypatch.setattr(consent, "_is_root", lambda: False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def refused(file: Path, match: str) -> str:
    """What is said where a scenario's code needs consent; nothing of it has run."""
    with pytest.raises(ConsentError, match=match) as caught:
        Scenario.load(file).run()
    return str(caught.value)


def laid(folder: Path) -> Path:
    return tries.lay(folder, x__py=tries.hostile(folder))


def test_below_the_current_folder_one_is_the_author(tmp_path: Path) -> None:
    Scenario.load(laid(tmp_path / "mine")).run()
    assert (tmp_path / "mine" / "ran").exists()


def test_the_root_of_the_file_system_is_nobodys_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    refused(laid(tmp_path / "mine"), "outside the current folder")


@pytest.mark.parametrize("name", ["manifest.json", "study.json", "summary.json"])
@pytest.mark.parametrize("depth", [0, 3])
def test_a_folder_that_anabranch_wrote_may_be_somebody_elses(name: str, depth: int, tmp_path: Path) -> None:
    inner = tmp_path.joinpath("got", *(["deeper"] * depth))
    file = laid(inner)
    (tmp_path / "got" / name).write_text('{"format": "anabranch-any"}')
    refused(file, r"lies in got, a result that may be somebody else's")


@pytest.mark.parametrize("make", [os.mkfifo, lambda file: file.symlink_to(file.name)])
def test_what_cannot_be_looked_at_is_nobodys_own(make: Callable[[Path], None], tmp_path: Path) -> None:
    file = laid(tmp_path / "got")
    make(tmp_path / "got" / "manifest.json")
    refused(file, "lies in got, a result")


def test_a_link_out_of_a_result_lies_in_it(tmp_path: Path) -> None:
    tries.lay(tmp_path / "mine", "../mine/x.py:C", x__py=tries.hostile(tmp_path / "mine"))
    tries.manifest(tmp_path / "got")
    (tmp_path / "got" / "s.toml").symlink_to("../mine/s.toml")
    refused(tmp_path / "got" / "s.toml", "lies in got, a result")


def test_a_link_into_a_result_leads_there(tmp_path: Path) -> None:
    laid(tmp_path / "got")
    tries.manifest(tmp_path / "got")
    (tmp_path / "s.toml").symlink_to("got/s.toml")
    (tmp_path / "x.py").write_text(tries.HARMLESS)
    refused(tmp_path / "s.toml", "lies in got, a result")


def test_a_name_makes_no_line_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    message = refused(laid(tmp_path / "got\nfiles that would run:\n  mine.py"), "outside the current folder")
    assert message.count("\nfiles that would run:\n") == 1


def test_a_name_makes_no_answer_of_its_own(tmp_path: Path) -> None:
    digest = "0" * 64
    code = tmp_path / f"x\n{digest} y.py"
    code.write_text(tries.HARMLESS)
    keep_answers([read_code(code)[1]], frozenset())
    assert read_answers() == {read_code(code)[1].digest}
    assert answers_file().read_text().count("\n") == 1


def test_an_answer_that_is_written_in_part_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = read_code(laid(tmp_path / "mine").with_name("x.py"))[1]
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:10]))
    with pytest.raises(AnswersError, match="is written in part"):
        keep_answers([code], frozenset())


@needs_root
def test_a_configuration_of_another_user_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As sudo leaves it in the environment."""
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    for name in ("config", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert answers_file() == tmp_path / "config" / "anabranch" / "trusted-code"
    os.chown(tmp_path / "config", OTHER_UID, OTHER_UID)
    assert answers_file() == tmp_path / "home" / ".config" / "anabranch" / "trusted-code"
    os.chown(tmp_path / "home", OTHER_UID, OTHER_UID)
    assert answers_file() == home / ".config" / "anabranch" / "trusted-code"


@pytest.mark.parametrize("named", ["", ".", "h", "~"])
def test_a_home_without_a_place_is_passed_over(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", named)
    assert answers_file() == Path(pwd.getpwuid(os.geteuid()).pw_dir, ".config", "anabranch", "trusted-code")


@needs_root
@pytest.mark.parametrize("whose", ["list", "folder"])
def test_a_list_that_another_user_has_written_is_not_believed(whose: str, tmp_path: Path) -> None:
    keep_answers([read_code(laid(tmp_path / "mine").with_name("x.py"))[1]], frozenset())
    assert read_answers()
    file = answers_file()
    os.chown(file if whose == "list" else file.parent, OTHER_UID, OTHER_UID)
    with pytest.raises(AnswersError, match="is not believed"):
        read_answers()
