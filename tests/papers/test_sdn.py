"""The SDN thesis is reproduced: printed numbers exactly, and the folder that a user gets."""

import json
from pathlib import Path

import pytest

from anabranch.errors import ReproductionError
from anabranch.papers import PAPERS, Context, Reproduction, reproduce
from anabranch.papers.model import number

SDN = PAPERS["sdn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduce")


def made(figure: str, folder: Path) -> Reproduction:
    return reproduce(SDN, figure, Context(folder, quick=True, jobs=2))


@pytest.mark.parametrize(
    ("figure", "findings"), [("3.10", 4), ("4.11", 7), ("4.13", 11), ("4.16", 2), ("A.1", 32), ("A.3", 9)]
)
def test_printed_numbers_come_out(figure: str, findings: int, folder: Path) -> None:
    outcome = made(figure, folder)
    (result,) = outcome.figures
    assert len(result.findings) == findings
    assert {finding.what: finding.verdict for finding in result.findings if not finding.agrees} == {}
    own = folder / f"figure-{figure}"
    assert len(list(own.glob("*.png"))) == len(list(own.glob("*.svg"))) == len(result.figures) >= 1
    assert len(list(own.glob("*.csv"))) == len(result.tables) >= 1


def test_curves_share_one_study_and_say_what_the_text_says(folder: Path) -> None:
    context = Context(folder, quick=True, jobs=2)
    verdicts = {}
    for key in ("5.4", "5.5", "5.6", "5.7", "5.8"):
        (result,) = reproduce(SDN, key, context).figures
        verdicts |= {(key, finding.what): finding.verdict for finding in result.findings}
    assert len(verdicts) >= 10
    assert set(verdicts.values()) == {"agrees"}
    assert [path.name for path in (folder / "studies").iterdir()] == ["inter-arrival-quick"]
    assert (folder / "studies" / "inter-arrival-quick" / "study.xlsx").is_file()


def test_the_summary_counts_verdicts(folder: Path) -> None:
    outcome = made("4.13", folder)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["counts"] == {"agrees": 11, "differs, and it is known why": 0, "differs": 0}
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert page.count("| agrees |") == 11
    assert "(figure-4.13/flow0.png)" in page
    assert outcome.data()["figures"][0]["findings"][2]["published"] == "49.16 us"


def test_a_number_that_differs_is_told() -> None:
    close = number("x", 1172.17, 1172.174, unit="us", digits=2)
    assert (close.verdict, close.ours) == ("agrees", "1172.17 us")
    other = number("x", 1172.17, 1172.19, unit="us", digits=2)
    assert other.verdict == "differs"
    known = number("x", 1172.17, 1172.19, unit="us", digits=2, reason="another clock")
    assert known.verdict == "differs, and it is known why"


def test_every_figure_of_the_issue_is_there() -> None:
    keys = [figure.key for figure in SDN.figures]
    assert len(keys) == len(set(keys))
    assert {f"5.{n}" for n in range(4, 21)} | {
        "3.10",
        "4.11",
        "4.13",
        "4.16",
        "A.1",
        "A.3",
        "incast-stretched",
        "comparison",
    } == set(keys)


def test_an_unknown_figure_names_the_nearest(folder: Path) -> None:
    with pytest.raises(ReproductionError, match=r'no figure "5.3"; nearest: "5\.'):
        made("5.3", folder)
