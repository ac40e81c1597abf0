"""MPRC is reproduced: what its thesis claims, and the references that it is checked against."""

import math
from pathlib import Path

import polars as pl
import pytest

from anabranch_publications.papers import PAPERS, Context, reproduce
from anabranch_publications.papers.mprc import CURVES
from anabranch_publications.papers.mprc.curves import Curves, half_of_the_paths, peak_of_bbr
from anabranch_publications.papers.mprc.figures import by_choice
from anabranch_publications.papers.mprc.network import MENDED_BBR, TODAY_CHOICE, lost, scenario
from anabranch_publications.papers.mprc.ns3 import ClaimsInNs3, not_in_ns3
from anabranch_publications.papers.mprc.studies import compare, median, variants
from anabranch_publications.papers.sql import query

MPRC = PAPERS["mprc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mprc")


def verdicts(figure: str, folder: Path) -> dict[str, str]:
    (result,) = reproduce(MPRC, figure, Context(folder, quick=True, jobs=2)).figures
    assert result.shown or figure in ("5.9", "5.10")
    return {finding.what: finding.verdict for finding in result.findings}


def test_mprc_fills_the_grid_and_the_peers_do_as_in_ns3(folder: Path) -> None:
    verdict_of = verdicts("2.4", folder)
    for transport in ("newreno", "cubic", "bbr-mended"):
        assert verdict_of[f"{transport}, ns-3 3.48 as the reference"] == "agrees"
    assert verdict_of["MPRC on the grid"] == "agrees"
    assert verdict_of["BBR after its peak of 15 Mbps"] == "agrees"


def test_bbr_collapses_with_the_error_of_ns_3_only(folder: Path) -> None:
    verdict_of = verdicts("5.5", folder)
    assert verdict_of["BBR after its peak of 15 Mbps"] == "agrees"
    assert verdict_of["MPRC"] == "agrees"
    runs = Context(folder, quick=True, jobs=2)
    mended = by_choice(runs, "Abilene, short", "disjoint", errors=False)[TODAY_CHOICE]
    assert median(mended, "goodput_mbps", transport=MENDED_BBR) > 5


def test_mprc_fills_three_paths_and_retransmits_hardly_anything_without_need(folder: Path) -> None:
    verdict_of = verdicts("5.6", folder)
    assert verdict_of["MPRC"] == verdict_of["MPRC's spurious retransmissions"] == "agrees"


def test_mprc_is_like_cubic_on_one_path(folder: Path) -> None:
    verdict_of = verdicts("5.3", folder)
    assert verdict_of["MPRC over CUBIC"] == verdict_of["mprc fills the path"] == "agrees"


def test_errors_leave_mprc_what_the_law_of_loss_says(folder: Path) -> None:
    verdict_of = verdicts("5.7", folder)
    assert verdict_of["newreno"] == "agrees"
    assert verdict_of["MPRC holds the usable bandwidth"] == "differs as predicted"


def test_errors_of_bytes_lose_packets_by_their_size() -> None:
    """1500 bytes with 1e-5 each: 1 - exp(-0.015) = 1.49 %."""
    assert lost(1500) == pytest.approx(-math.expm1(-0.015), rel=1e-4)
    links = scenario("Abilene, short", "disjoint", errors=True)["network"]["link"]
    assert [link["loss"] for link in links if "loss" in link] == [lost(1500), lost(64)]
    assert sum(float(link["delay"].removesuffix(" ms")) for link in links if "delay" in link) == 15


def test_a_k_that_follows_rtt_diversity_spares_the_rare_slow_path(folder: Path) -> None:
    verdict_of = verdicts("diversity", folder)
    assert set(verdict_of.values()) == {"agrees"}


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


def curves(**runs: list[list[float]]) -> Curves:
    """Samples of half a second by transport, a list for each seed."""
    rows = [
        (transport, seed, 0.5 * (place + 1), mbps)
        for transport, seeds in runs.items()
        for seed, samples in enumerate(seeds)
        for place, mbps in enumerate(samples)
    ]
    return Curves(pl.DataFrame(rows, ["transport", "run", "time_s", "mbps"], orient="row"))


def test_a_curve_is_a_median_over_seeds() -> None:
    # From 1 to 1.5 s: 9, 3 and 10 Mbps; one seed of three that stood still decides nothing.
    panel = curves(mprc=[[1, 2, 9, 10], [1, 2, 3, 10], [1, 2, 10, 10]])
    assert panel.mean("mprc", 1.0, 1.5) == 9
    assert panel.peak("mprc", 0) == 10
    assert panel.each("mprc", 0, 1.0) == [[1, 2], [1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("mbps", "verdict"), [(7.9, "differs"), (8.1, "agrees"), (11.9, "agrees"), (12.1, "differs")]
)
def test_half_of_two_paths_of_10_mbps_is_bounded_on_both_sides(mbps: float, verdict: str) -> None:
    panel = curves(newreno=[[0] * 10 + [mbps, 1.0]])
    assert half_of_the_paths(panel, 20)[0].verdict == verdict


@pytest.mark.parametrize(("peak", "verdict"), [(11.9, "differs"), (15, "agrees"), (18.1, "differs")])
def test_the_peak_of_bbr_is_bounded_on_both_sides(peak: float, verdict: str) -> None:
    panel = curves(bbr=[[1, peak] + [1.0] * 12])
    assert peak_of_bbr(15, 2.5)(panel, 20)[0].verdict == verdict


MPRC_ALONE = {"mprc": {"traffic[0].transport": "mprc"}}


def test_what_arrives_counts_copies_and_holes_that_are_not_filled_yet(tmp_path: Path) -> None:
    """Over one path of 10 Mbps no half second has more than the link carries, though goodput in order has."""
    base = scenario("Abilene", "single path")
    result = compare(
        Context(tmp_path, quick=True, jobs=1), "one", "one path", base, [variants("transport", MPRC_ALONE)]
    )
    arriving = Curves.of(result, "Atlanta")
    most = max(max(samples) for samples in arriving.each("mprc", 0))
    assert 9.9 < most <= 10.03
    goodput = query(result, "select max(goodput_mbps) as most from flow_series")["most"].item()
    assert goodput > 10.5


def test_the_same_routing_with_and_without_errors() -> None:
    """Section 5.3 changes the error rate only: what 5.8 is held to has the paths of 5.5."""
    routing = {key: how for key, _, _, how, *_ in CURVES}
    assert routing["5.5"] == routing["5.8"] == "disjoint"
    assert routing["5.3"] == routing["5.7"] == "single path"


def test_ns_3_refutes_what_no_seed_of_it_gives() -> None:
    slow = not_in_ns3("5.8", "newreno")
    assert slow.holds
    assert slow.text.startswith(
        "newreno in ns-3 3.39 itself has 8.25 (8.06 to 8.52) over two paths of 8 and 7 ms"
    )
    # ns-3 3.39 gives what is printed of CUBIC and BBR; of MPRC it has nothing.
    assert not any(not_in_ns3(*claim).holds for claim in (("5.8", "cubic"), ("5.6", "bbr"), ("5.8", "mprc")))
    assert not_in_ns3("5.3", "cubic").holds


def test_claims_in_ns_3_of_another_form_are_told(tmp_path: Path) -> None:
    stored = ClaimsInNs3.load()
    stored.save(tmp_path / "ns3.json")
    assert ClaimsInNs3.load(tmp_path / "ns3.json") == stored
    (tmp_path / "ns3.json").write_text('{"version": "3.39"}')
    with pytest.raises(ValueError, match=r"ns3\.json: not what ns3_claims\.py writes .*; run it again"):
        ClaimsInNs3.load(tmp_path / "ns3.json")
