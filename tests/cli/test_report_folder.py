"""``anabranch report``: it takes the place of its own page, and of nobody else's."""

from pathlib import Path

from anabranch import Result
from anabranch.results.folders import foreign

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


STUDY = """
scenario = "small.toml"
replications = 3
[[factor]]
field = "run.duration"
levels = ["1 s", "2 s"]
[[factor]]
field = "traffic[0].transport"
levels = ["cubic", "newreno"]
[output]
spreadsheet = false
figures = []
"""


def test_tables_and_figures_for_a_paper_are_written_and_written_anew(
    small: Path, anabranch: Anabranch, tmp_path: Path
) -> None:
    assert small.name == "small.toml"
    (tmp_path / "grid.toml").write_text(STUDY)
    assert anabranch("study", "grid.toml", "--out", "out").returncode == 0
    paper = ("--table", "tex", "--table", "md", "--figures", "pdf", "--size", "acm")
    first, second = (anabranch("report", "out", *paper, "--metric", "delivered_mbps") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert second.stdout == first.stdout
    names = {line.removeprefix("out/") for line in first.stdout.splitlines()}
    assert {"tables/delivered_mbps.tex", "tables/delivered_mbps.md", "figures/delivered_mbps.pdf"} < names
    assert set(foreign(tmp_path / "out")) <= {"journal.jsonl"}
    # A study knows which way its metrics are better.
    text = (tmp_path / "out" / "tables" / "delivered_mbps.tex").read_text()
    assert "Bold: the largest of a row" in text or "mathbf" not in text
    for arguments, message in (
        (("--size", "acm"), "--size: changes nothing without --figures pdf; give that, too\n"),
        (("--metric", "x"), "--metric: changes nothing without --table tex; give that, too\n"),
        (("--table", "html"), "table: no form 'html'; choose from tex, md\n"),
    ):
        refused = anabranch("report", "out", *arguments)
        assert (refused.returncode, refused.stderr) == (2, message)


def test_a_run_has_no_tables_for_papers(small: Path, anabranch: Anabranch) -> None:
    assert anabranch("run", small, "--no-page", "--out", "out").returncode == 0
    refused = anabranch("report", "out", "--table", "tex")
    assert refused.stderr == "out: tables for papers are those of a study; leave out --table\n"
