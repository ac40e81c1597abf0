"""The SDN thesis is reproduced: printed numbers exactly, and the folder that a user gets."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from anabranch.study.result import FactorInfo, MetricInfo, StudyResult
from anabranch_publications.errors import ReproductionError
from anabranch_publications.papers import PAPERS, Context, Reproduction, reproduce
from anabranch_publications.papers.findings import number
from anabranch_publications.papers.sdn.figures import gamma_helps, incast_limits
from anabranch_publications.papers.sdn.shapes import more_linear, steep_above, turns

SDN = PAPERS["sdn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduce")


def made(figure: str, folder: Path) -> Reproduction:
    return reproduce(SDN, figure, Context(folder, quick=True, jobs=2))


@pytest.mark.parametrize(
    ("figure", "findings"), [("3.10", 4), ("4.11", 8), ("4.13", 11), ("4.16", 2), ("A.1", 32), ("A.3", 9)]
)
def test_printed_numbers_come_out(figure: str, findings: int, folder: Path) -> None:
    outcome = made(figure, folder)
    (result,) = outcome.figures
    assert len(result.findings) == findings
    assert {finding.what: finding.verdict for finding in result.findings if not finding.agrees} == {}
    place = folder / f"figure-{figure}"
    assert len(list(place.glob("*.png"))) == len(list(place.glob("*.svg"))) == len(result.figures) >= 1
    assert len(list(place.glob("*.csv"))) == len(result.tables) >= 1


def test_curves_share_one_study_and_say_what_the_text_says(folder: Path) -> None:
    context = Context(folder, quick=True, jobs=2)
    verdicts = {}
    for key in ("5.4", "5.5", "5.6", "5.7", "5.8"):
        (result,) = reproduce(SDN, key, context).figures
        verdicts |= {(key, finding.what): finding.verdict for finding in result.findings}
    assert len(verdicts) >= 10
    # Flows of 1 MB still overlap when those of 100 KB are over, so that their fairness is another one.
    assert (
        verdicts.pop(("5.5", "fairness at an inter-arrival time of 500 us, 100 KB, 500 KB, 1 MB"))
        == "differs"
    )
    # At the same overlap, too.
    assert verdicts.pop(("5.5", "fairness at half of each size's own completion time")) == "differs"
    (idle,) = [verdict for (key, _), verdict in verdicts.items() if key == "5.8"]
    assert idle == "differs as predicted"
    assert {verdict for (key, _), verdict in verdicts.items() if key != "5.8"} == {"agrees"}
    assert [path.name for path in (folder / "studies").iterdir()] == ["inter-arrival-quick"]
    assert (folder / "studies" / "inter-arrival-quick" / "study.xlsx").is_file()


def test_the_summary_counts_verdicts(folder: Path) -> None:
    outcome = made("4.13", folder)
    # A single figure has its own page, and leaves alone that of the whole paper.
    assert not (folder / "README.md").exists()
    place = folder / "figure-4.13"
    summary = json.loads((place / "summary.json").read_text(encoding="utf-8"))
    assert summary["counts"]["printed"] == {
        "agrees": 11,
        "differs as predicted": 0,
        "refuted": 0,
        "differs": 0,
    }
    page = (place / "README.md").read_text(encoding="utf-8")
    assert page.count("| agrees |") == 11
    images = re.findall(r"\]\((.+?\.png)\)", page)
    assert "flow0.png" in images
    assert all((place / image).is_file() for image in images)
    assert outcome.data()["figures"][0]["findings"][2]["published"] == "49.16 us"


def test_a_number_that_differs_is_told() -> None:
    close = number("x", 1172.17, 1172.174, unit="us", digits=2)
    assert (close.verdict, close.ours) == ("agrees", "1172.17 us")
    other = number("x", 1172.17, 1172.19, unit="us", digits=2)
    assert other.verdict == "differs"
    finding = number("x", 1172.17, 1172.19, unit="us", digits=2, remark="another clock")
    assert finding.verdict == "differs"


def outcome_of(
    factor: str, other: str, rows: Sequence[tuple[float, float | str, float]], metric: str
) -> StudyResult:
    """A study's result with these cells: two levels and a metric."""
    names = (factor, other, metric)
    cells = pl.DataFrame(rows, names, orient="row")
    info = [
        FactorInfo(name, name, "continuous", None, tuple(cells[name].unique().sort().to_list()))
        for name in names[:2]
    ]
    return StudyResult(
        title="made up",
        factors=tuple(info),
        metrics=(MetricInfo(metric, metric),),
        replications=1,
        confidence=0.95,
        runs=cells,
        cells=cells,
    )


@pytest.mark.parametrize(
    ("breaks", "verdicts"),
    [
        # An interval of gamma round trips has room for 54, 81 and 108 segments of 0.8 us.
        ((55.0, 82.0, 109.0), ("agrees", "agrees", "agrees")),
        # 100 flows are what the study has at most: more is no contradiction, and less is.
        ((55.0, 82.0, 150.0), ("agrees", "agrees", "agrees")),
        ((55.0, 82.0, 82.0), ("agrees", "agrees", "differs")),
        ((41.0, 82.0, 109.0), ("differs", "agrees", "agrees")),
        ((55.0, 109.0, 109.0), ("agrees", "differs", "agrees")),
    ],
)
def test_flows_that_an_interval_can_handle(
    breaks: tuple[float, float, float], verdicts: tuple[str, ...]
) -> None:
    counts = (20.0, 40.0, 41.0, 54.0, 55.0, 81.0, 82.0, 108.0, 109.0, 150.0)
    rows = [
        (count, gamma, 0.0 if count < limit else 50.0 + count)
        for gamma, limit in zip((1.0, 1.5, 2.0), breaks, strict=True)
        for count in counts
    ]
    findings = incast_limits(outcome_of("flows", "gamma", rows, "queue_mean_packets"))
    assert tuple(findings[place].verdict for place in (0, 1, 2)) == verdicts
    if breaks[:2] == (55.0, 82.0):
        # 54 and 81 are 50 % apart, where section 6.2 says 60 %.
        assert (findings[3].ours, findings[3].verdict) == ("50 %", "differs as predicted")


CURVE = {0.0: 1.0, 100.0: 0.9, 200.0: 0.8, 400.0: 0.6, 500.0: 0.7, 900.0: 0.9, 1000.0: 1.0}


@pytest.mark.parametrize(
    ("changed", "verdicts"),
    [
        ({}, ["agrees", "agrees"]),
        # Level for a part of the way, as 5.6 is.
        ({100.0: 0.8}, ["agrees", "agrees"]),
        ({100.0: 0.7}, ["differs", "agrees"]),
        ({900.0: 0.7}, ["agrees", "differs"]),
        # Level all the way.
        ({0.0: 0.6, 100.0: 0.6, 200.0: 0.6}, ["differs", "agrees"]),
    ],
)
def test_a_curve_that_turns_at_half_overlap(changed: dict[float, float], verdicts: list[str]) -> None:
    rows = [(gap, "1 MB", y) for gap, y in (CURVE | changed).items()]
    outcome = turns(outcome_of("gap", "size", rows, "fairness"), "fairness", "falls", "the text")
    assert [finding.verdict for finding in outcome] == verdicts
    # The other way round both differ.
    other = turns(outcome_of("gap", "size", rows, "fairness"), "fairness", "rises", "the text")
    assert {finding.verdict for finding in other} == {"differs"}
    # Two points of a study in quick mode show no shape.
    few = [(gap, "1 MB", y) for gap, y in CURVE.items() if gap in (0.0, 500.0)]
    assert turns(outcome_of("gap", "size", few, "fairness"), "fairness", "falls", "the text") == []


@pytest.mark.parametrize(("last", "verdict"), [(400.0, "agrees"), (110.0, "differs"), (20.0, "differs")])
def test_what_rises_very_quickly_beyond_the_limit(last: float, verdict: str) -> None:
    # 1 for each flow up to 54.
    rows = [(count, 1.0, count) for count in (1.0, 20.0, 54.0)] + [(55.0, 1.0, 56.0), (100.0, 1.0, last)]
    assert steep_above(outcome_of("flows", "gamma", rows, "fct_us"), "fct_us", 54).verdict == verdict


def test_more_linear_at_full_overlap() -> None:
    gammas = [float(gamma) for gamma in range(1, 9)]
    line = [(gamma, 0.0, 3 * gamma) for gamma in gammas]
    bent = [(gamma, 500.0, min(gamma, 3.0)) for gamma in gammas]
    assert more_linear(outcome_of("gamma", "gap", [*line, *bent], "fsd_us"), "fsd_us").verdict == "agrees"
    turned = [(gamma, 500.0 - gap, y) for gamma, gap, y in (*line, *bent)]
    assert more_linear(outcome_of("gamma", "gap", turned, "fsd_us"), "fsd_us").verdict == "differs"


@pytest.mark.parametrize(
    ("last", "verdict"), [(919.6, "agrees"), (903.84, "differs as predicted"), (600.0, "differs")]
)
def test_a_little_effect_of_gamma_is_predicted_and_a_large_one_is_not(last: float, verdict: str) -> None:
    # 19 intervals of 43.328 us with gamma = 1, one burst of 1000 segments with 200: 16.7 us less.
    rows = [(1.0, 0.0, 300.0), (200.0, 0.0, 200.0), (1.0, 1000.0, 920.54), (200.0, 1000.0, last)]
    rows += [(1.0, 500.0, 250.0), (200.0, 500.0, 240.0)]
    together, alone, half = gamma_helps("fct_us")(outcome_of("gamma", "gap", rows, "fct_us"))
    assert (together.verdict, alone.verdict, half.verdict) == ("agrees", verdict, "agrees")


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
    with pytest.raises(ReproductionError, match=r'figure of sdn: "5.3" is not known; nearest: "5\.'):
        made("5.3", folder)
