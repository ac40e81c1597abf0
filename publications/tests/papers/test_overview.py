"""All publications on one page: made-up papers whose counts are known, and the pages that are published."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from anabranch import AnabranchError
from anabranch.media.markdown import article_text
from anabranch.media.pieces import Article, DataTable, Section
from anabranch.terminal.cli import app
from anabranch_publications import papers
from anabranch_publications.papers import Context, FigureResult, Finding, Paper, Reproduction
from anabranch_publications.papers.findings import KINDS, VERDICTS, Prediction, number, predicts
from anabranch_publications.papers.model import FigureSpec
from anabranch_publications.papers.overview import PAPERS, Overview, count_numbers, reproduce_all

AGREES = number("a number", 10.0, 10.0, unit="Mbps", digits=1)


@predicts
def twice() -> Prediction:
    """What another number comes to."""
    return Prediction(20.5, 0.5, "twice | as fast")


KNOWN = number("another", 10.0, 20.0, unit="Mbps", digits=1, prediction=twice())
DIFFERS = Finding("a statement", "it falls", "it rises", agrees=False, remark="the wind")
FITTED = number("a fit", 3.0, 3.0, unit="Mbps", digits=1, kind="fitted")
OWN = Finding("a bound", "at most 1", "0.5", agrees=True, judged="at most 1", kind="bound")
ASKED = Finding("a question", "more", "less", agrees=False, kind="question")


def drawn() -> Figure:
    figure = Figure(figsize=(2, 2))
    figure.add_subplot().plot([1, 2])
    return figure


def paper(key: str, *findings: Finding, fails: BaseException | None = None) -> Paper:
    """A paper of one figure with these findings; or one that fails when it is made."""

    def make(_: Context) -> FigureResult:
        if fails is not None:
            raise fails
        table = pl.DataFrame({"x": [1, 2]})
        return FigureResult(
            "1.2", "A curve", findings, {"points": table}, {"curve": drawn()}, {"Points": table}, "A note."
        )

    return Paper(key, f"Paper {key}", f"Author of {key}", (FigureSpec("1.2", "A curve", make),))


Run = Callable[..., tuple[Overview, list[str]]]


def printed(overview: Overview) -> list[int]:
    """Printed claims by verdict."""
    return list(overview.counts()["printed"].values())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Reproduces papers, and returns the overview and the complaints."""

    def run(*chosen: Paper, quick: bool = False) -> tuple[Overview, list[str]]:
        complaints: list[str] = []
        overview = reproduce_all(
            chosen,
            tmp_path,
            lambda folder: Context(folder, quick=quick, jobs=1),
            complain=complaints.append,
            show=lambda _outcome, _folder: None,
        )
        return overview, complaints

    return run


def test_the_counts_are_over_all_papers(run: Run, tmp_path: Path) -> None:
    overview, complaints = run(
        paper("one", AGREES, KNOWN), paper("two", AGREES, AGREES, DIFFERS, FITTED, OWN, ASKED)
    )
    assert complaints == []
    assert printed(overview) == [3, 1, 0, 1]
    assert overview.sentence() == (
        "of 5 printed claims 3 agree, 1 differ as predicted and 1 differ; "
        "of 1 printed claims that hold by construction 1 agree, 0 differ as predicted and 0 differ; "
        "of 1 bounds of ours 1 agree, 0 differ as predicted and 0 differ; "
        "of 1 questions of ours 0 agree, 0 differ as predicted and 1 differ"
    )
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["counts"]["printed"] == {
        "agrees": 3,
        "differs as predicted": 1,
        "refuted": 0,
        "differs": 1,
    }
    assert (
        summary["counts"]["fitted"]["agrees"]
        == summary["counts"]["bound"]["agrees"]
        == summary["counts"]["question"]["differs"]
        == 1
    )
    by_paper = [(row["paper"], row["counts"]["printed"]["agrees"], row["quick"]) for row in summary["papers"]]
    assert by_paper == [("one", 1, False), ("two", 2, False)]
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert overview.sentence() in text
    # Twice the published number, and a prediction that must not end its cell.
    assert (
        "| 1.2 | another | printed | 10.0 Mbps | 20.0 Mbps | 2 | equal in every printed digit | differs as "
        "predicted: 20 to 21 predicted by " in text
    )
    assert "test_overview.twice: twice \\| as fast |" in text
    statement = "| 1.2 | a statement | printed | it falls | it rises |  | as stated | differs: "
    assert f"{statement}not tested: the wind |" in text
    assert re.search(
        r"^\| all \|  \| 5 \| 3 \| 1 \| 0 \| 1 \| 1 \| 1 \| 1 \| 1 \| 1 \| 0 \|", text, re.MULTILINE
    )
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.count('class="badge good"') == 5
    assert html.count('class="badge known"') == 1
    assert html.count('class="badge bad"') == 2
    # Links lead to files and sections that are there.
    for name, section in re.findall(r'href="([^"#]+)(?:#([^"]*))?"', html):
        assert (tmp_path / name).is_file(), name
        assert not section or f'id="{section}"' in (tmp_path / name).read_text(encoding="utf-8")
    assert 'href="two/report.html#section-1.2"' in html


def test_a_paper_has_a_page_with_its_figures(run: Run, tmp_path: Path) -> None:
    run(paper("one", AGREES, KNOWN), quick=True)
    html = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    assert "Figure 1.2: A curve" in html
    assert "a quick run" in html
    assert "A note." in html
    assert html.count('<img src="data:image/svg+xml') == 1
    (drawing,) = re.findall(r'href="([^"#]+)"', html)
    assert (tmp_path / "one" / drawing).is_file()
    assert "<caption>Points</caption>" in html


@pytest.mark.parametrize(
    "error", [AnabranchError("the folder holds another study"), ZeroDivisionError("a / 0")]
)
def test_a_paper_that_fails_costs_no_other(error: Exception, run: Run, tmp_path: Path) -> None:
    overview, complaints = run(paper("one", AGREES), paper("two", fails=error), paper("three", KNOWN))
    assert len(complaints) == 1
    assert complaints[0].startswith("two failed:")
    assert str(error) in complaints[0]
    assert printed(overview) == [1, 1, 0, 0]
    assert [outcome.paper.key for outcome in overview.failed()] == ["two"]
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| two |")]
    assert "failed: " in row
    assert str(error) in row
    # Once it works, its reason is gone.
    mended, _ = run(paper("one", AGREES), paper("two", AGREES), paper("three", KNOWN))
    assert mended.failed() == []
    assert printed(mended) == [2, 1, 0, 0]


def test_parts_of_other_days_are_told_apart(run: Run, tmp_path: Path) -> None:
    chosen = (paper("one", AGREES), paper("two", KNOWN), paper("three"))
    run(chosen[0])
    run(chosen[1], quick=True)
    Reproduction(chosen[0], quick=False, figures=(), version="0.0.9", date="2026-01-31").save(
        tmp_path / "one"
    )
    text = Overview.read(chosen, tmp_path).markdown()
    assert "| Anabranch 0.0.9, 2026-01-31, in full |" in text
    assert re.search(r"\| Anabranch [\d.]+, \d{4}-\d\d-\d\d, quick \|", text)
    assert "| not yet run |" in text


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"paper": "other"}', '{"format": 3, "paper": "one", "figures": [{"figure": "1"}]}'],
)
def test_a_summary_that_cannot_be_read_is_said(content: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "summary.json").write_text(content, encoding="utf-8")
    overview = Overview.read([paper("one")], tmp_path)
    (failed,) = overview.failed()
    assert "summary.json cannot be read" in failed.failed
    assert "run it again" in failed.failed
    overview.save(tmp_path)


def test_a_summary_of_an_older_version_is_said(tmp_path: Path) -> None:
    old = Reproduction(paper("one"), quick=False, figures=(), version="0.0.9").data()
    del old["format"]
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "summary.json").write_text(json.dumps(old), encoding="utf-8")
    overview = Overview.read([paper("one")], tmp_path)
    (failed,) = overview.failed()
    assert "Anabranch 0.0.9 wrote it, whose verdicts were of another kind" in failed.failed
    assert failed.failed.endswith("run it again: anabranch reproduce one")
    # The page has no counts of it.
    assert sum(printed(overview)) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [("verdict", "agrees as predicted"), ("kind", "guess"), ("value", 30.0), ("prediction", {"value": 1})],
)
def test_a_summary_that_contradicts_itself_is_refused(field: str, value: object) -> None:
    made = paper("one", KNOWN)
    data = Reproduction(made, quick=True, figures=(FigureResult("1.2", "A curve", (KNOWN,)),)).data()
    data["figures"][0]["findings"][0][field] = value
    with pytest.raises((ValueError, KeyError)):
        Reproduction.from_data(made, data)


def test_findings_come_back_from_a_file_as_they_were() -> None:
    made = paper("one", AGREES, KNOWN, DIFFERS, FITTED, OWN, ASKED)
    figure = FigureResult("1.2", "A curve", (AGREES, KNOWN, DIFFERS, FITTED, OWN, ASKED), note="A note.")
    outcome = Reproduction(made, quick=True, figures=(figure,), date="2026-11-22")
    again = Reproduction.from_data(made, json.loads(json.dumps(outcome.data())))
    assert again == outcome


@pytest.mark.parametrize(
    ("published", "ours", "ratio"),
    [
        ("10 Mbps", "9.5 Mbps", 0.95),
        ("30 %", "33 %", 1.1),
        ("2", "1.0", 0.5),
        ("10 Mbps", "9.5 ms", None),
        ("10", "9.5 Mbps", None),
        ("0", "1", None),
        ("1", "0", None),
        ("about 10", "10", None),
        ("10 Mbps", "9.5 Mbps or more", None),
    ],
)
def test_two_printed_numbers_have_a_ratio(published: str, ours: str, ratio: float | None) -> None:
    assert Finding("x", published, ours, agrees=True).ratio == (
        None if ratio is None else pytest.approx(ratio)
    )


def test_the_command_without_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [paper("one", AGREES, KNOWN), paper("two", fails=ValueError("no")), paper("three", AGREES)]
    monkeypatch.setattr(papers, "PAPERS", {made.key: made for made in chosen})
    shown = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(tmp_path)])
    assert shown.exit_code == 1
    last = shown.stdout.split("The publications, printed beside ours")[1]
    assert re.search(r"^all +3 +2 +1 +0 +0( +0){6} *$", last, re.MULTILINE)
    assert re.search(r"^two +failed: ValueError: no +- +- +- +-", last, re.MULTILINE)
    as_json = CliRunner().invoke(app, ["reproduce", "--json", "--out", str(tmp_path)])
    documents = json.loads(as_json.stdout)
    assert [document["paper"] for document in documents] == ["one", "three", "two", "all"]
    assert [document["failed"] for document in documents[:3]] == ["", "", "ValueError: no"]
    assert documents[-1]["counts"]["printed"] == {
        "agrees": 2,
        "differs as predicted": 1,
        "refuted": 0,
        "differs": 0,
    }
    assert all(document.keys() >= documents[0].keys() for document in documents)


def test_an_interrupt_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [paper("one", AGREES), paper("two", fails=KeyboardInterrupt()), paper("three", AGREES)]
    monkeypatch.setattr(papers, "PAPERS", {made.key: made for made in chosen})
    stopped = CliRunner().invoke(app, ["reproduce", "--out", str(tmp_path)])
    assert stopped.exit_code == 130
    assert "goes on from there" in stopped.stderr
    assert "| not yet run |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    # One paper on its own refreshes the page over all of them, too.
    single = CliRunner().invoke(app, ["reproduce", "three", "--out", str(tmp_path)])
    assert single.exit_code == 0
    assert (
        json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["counts"]["printed"]["agrees"]
        == 2
    )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("quick",), "yes"),
        (("version",), 3),
        (("failed",), []),
        (("figures", 0, "title"), None),
        (("figures", 0, "findings", 0, "what"), 1),
        (("figures", 0, "findings", 0, "value"), "fast"),
        (("figures", 0, "findings", 0, "value"), True),
        (("figures", 0, "findings", 0, "ratio"), float("inf")),
        (("figures", 0, "findings", 0, "ratio"), [1.0]),
        (("figures", 0, "findings", 0, "remark"), {}),
        (("figures",), {"1": 2}),
    ],
)
def test_a_value_of_a_summary_that_cannot_be_is_said(
    run: Run, tmp_path: Path, place: tuple[str | int, ...], value: object
) -> None:
    chosen = paper("one", AGREES)
    run(chosen)
    file = tmp_path / "one" / "summary.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    assert Overview.read([chosen], tmp_path).failed() == []
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    file.write_text(json.dumps(data), encoding="utf-8")
    (failed,) = Overview.read([chosen], tmp_path).failed()
    assert "summary.json cannot be read" in failed.failed


def test_two_columns_of_counts_with_one_heading_are_two() -> None:
    """How many of what holds by construction agrees, and how many of the bounds of ours."""
    counts = {kind: dict.fromkeys(VERDICTS, 0) for kind in KINDS}
    counts["fitted"]["agrees"], counts["bound"]["agrees"] = 9, 4
    numbers = count_numbers(counts)
    table = DataTable.of_rows("papers", "Counts", PAPERS, [["tcpbp", "", *numbers, ""]])
    rows = article_text(Article("", [], [], [Section("papers", "", tables=[table])])).splitlines()
    assert [cell.strip() for cell in rows[-1].split("|")[3:14]] == [str(number) for number in numbers]
