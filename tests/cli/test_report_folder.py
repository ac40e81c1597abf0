"""``anabranch report``: it takes the place of its own page, and of nobody else's."""

from pathlib import Path

from anabranch import Result
from anabranch.folders import foreign

from .conftest import Anabranch


def test_a_page_of_the_users_stays(small: Path, anabranch: Anabranch, tmp_path: Path) -> None:
    assert anabranch("run", small, "--no-page", "--out", "out").returncode == 0
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "notes.txt").write_text("mine")
    (tmp_path / "out" / "report.html").write_text("mine")
    for folder, arguments, named in (("out", (), "report.html"), ("pages", ("--out", "pages"), "notes.txt")):
        refused = anabranch("report", "out", *arguments)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"{folder}: has what Anabranch did not write there: {named}; ")
        for _ in range(2):
            done = anabranch("report", "out", *arguments, "--figures", "svg", "--replace")
            assert done.returncode == 0, done.stderr
            assert f"{folder}/report.html\n" in done.stdout
        assert (tmp_path / folder / "report.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "out" / "report.html.~1~").read_text() == "mine"
    assert foreign(tmp_path / "out") == ["report.html.~1~"]
    assert foreign(tmp_path / "pages") == ["notes.txt"]
    assert not list(tmp_path.rglob(".anabranch*"))
    assert Result.load(tmp_path / "out").flows.height == 1


def test_a_page_does_not_go_into_another_result(small: Path, anabranch: Anabranch, tmp_path: Path) -> None:
    for out in ("one", "two"):
        assert anabranch("run", small, "--no-page", "--out", out).returncode == 0
    refused = anabranch("report", "one", "--out", "two", "--replace")
    assert (refused.returncode, refused.stderr) == (
        2, "two: has a result of another kind (run); choose another name\n",
    )  # fmt: skip
    assert not (tmp_path / "two" / "report.html").exists()
