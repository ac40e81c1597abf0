"""MPRC is reproduced: what its thesis claims, and the references that it is checked against."""

from pathlib import Path

import pytest

from anabranch_publications.papers import PAPERS, Context, reproduce

MPRC = PAPERS["mprc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mprc")


def verdicts(figure: str, folder: Path) -> dict[str, str]:
    (result,) = reproduce(MPRC, figure, Context(folder, quick=True, jobs=2)).figures
    assert result.shown or figure in ("5.9", "5.10")
    return {finding.what: finding.verdict for finding in result.findings}


def test_mprc_fills_the_grid_and_the_peers_do_as_in_ns3(folder: Path) -> None:
    found = verdicts("2.4", folder)
    assert found.pop("BBR after its peak of 15 Mbps") == "differs, and it is known why"
    assert len(found) == 6
    assert set(found.values()) == {"agrees"}


def test_mprc_fills_three_paths_and_retransmits_hardly_anything_without_need(folder: Path) -> None:
    found = verdicts("5.6", folder)
    assert found["MPRC"] == found["MPRC's spurious retransmissions"] == "agrees"


def test_mprc_is_like_cubic_on_one_path(folder: Path) -> None:
    assert set(verdicts("5.3", folder).values()) == {"agrees"}


def test_every_figure_of_the_issue_is_there() -> None:
    keys = {figure.key for figure in MPRC.figures}
    printed = {"2.3", "2.4", *(f"5.{n}" for n in range(3, 11))}
    assert keys == printed | {
        "delay-ratio",
        "delay-ratio-random",
        "capacities",
        "spread",
        "failure",
        "background",
        "coexistence",
    }
