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
    for transport in ("newreno", "cubic", "bbr"):
        assert found[f"{transport}, ns-3 3.48 as the reference [1448 B, SACK]"] == "agrees"
    assert found["MPRC on the grid [1448 B, SACK]"] == "agrees"
    assert found["BBR after its peak of 15 Mbps [1448 B, SACK]"] == "differs"


def test_bbr_does_not_collapse_with_any_segments(folder: Path) -> None:
    found = verdicts("5.5", folder)
    collapse = "BBR after its peak of 15 Mbps"
    assert found[f"{collapse} [1448 B, SACK]"] == "differs"
    assert found[f"{collapse} [536 B, no SACK]"] == "differs"
    assert found["MPRC [1448 B, SACK]"] == "agrees"


def test_mprc_fills_three_paths_and_retransmits_hardly_anything_without_need(folder: Path) -> None:
    found = verdicts("5.6", folder)
    assert found["MPRC [1448 B, SACK]"] == found["MPRC's spurious retransmissions [1448 B, SACK]"] == "agrees"


def test_mprc_is_like_cubic_on_one_path(folder: Path) -> None:
    found = verdicts("5.3", folder)
    assert found["MPRC over CUBIC [1448 B, SACK]"] == found["mprc fills the path [1448 B, SACK]"] == "agrees"


def test_a_loss_that_is_rare_leaves_the_capacity_as_predicted(folder: Path) -> None:
    found = verdicts("5.7", folder)
    assert found["newreno [1448 B, SACK]"] == "differs as predicted"


def test_a_k_that_follows_rtt_diversity_spares_the_rare_slow_path(folder: Path) -> None:
    found = verdicts("diversity", folder)
    assert set(found.values()) == {"agrees"}


def test_every_figure_of_the_issue_is_there() -> None:
    keys = {figure.key for figure in MPRC.figures}
    printed = {"2.3", "2.4", *(f"5.{n}" for n in range(3, 11))}
    assert keys == printed | {
        "delay-ratio",
        "delay-ratio-random",
        "capacities",
        "diversity",
        "spread",
        "failure",
        "background",
        "coexistence",
    }
