"""SEMPER is reproduced: shapes of its thesis, closed forms, and what its stateless balancer costs."""

from pathlib import Path

import polars as pl
import pytest

from anabranch import Scenario
from anabranch.models import coverage_distribution, mean_coverage
from anabranch_publications.papers import PAPERS, Context, reproduce
from anabranch_publications.papers.semper.network import down, scenario, single_tcps

SEMPER = PAPERS["semper"]
DATA = 1428 / 1500
"""Payload of a full segment over its packet: 40 bytes of headers, 12 of timestamps, 20 of the mapping."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("semper")


def verdicts(figure: str, folder: Path) -> dict[str, str]:
    (result,) = reproduce(SEMPER, figure, Context(folder, quick=True, jobs=2)).figures
    return {finding.what: finding.verdict for finding in result.findings}


def test_two_hosts_on_two_paths_fill_them(folder: Path) -> None:
    # Section V-D: 94 Mb/s of 100, whatever the measuring window.
    verdict_of = verdicts("6", folder)
    assert len(verdict_of) == 4
    assert set(verdict_of.values()) == {"agrees"}


def test_few_subflows_leave_paths_empty_as_the_closed_form_says(folder: Path) -> None:
    verdict_of = verdicts("7", folder)
    for k in (2, 8, 32):
        assert verdict_of[f"mean share of paths in use, N = 2, K = {k}: 1 - (1 - 1/P)^(N K)"] == "agrees"
    assert verdict_of["total of N = 2, K = 2 over the baseline"] == "agrees"
    assert verdict_of["total of N = 2, K = 32 over the links' bit rate"] == "agrees"
    for k in (2, 8, 32):
        assert verdict_of[f"total of N = 32, K = {k} over the baseline"] == "agrees"
    # A window counts what arrives in it on the subflows, not what waited for earlier data and is handed on.
    runs = pl.read_csv(folder / "figure-7" / "runs.csv")
    assert runs.height == 21
    assert max(runs["total_mbps"].to_list()) <= 400 * 1448 / 1500 + 0.5


def test_a_failed_path_takes_its_share_and_stalls_nobody(folder: Path) -> None:
    verdict_of = verdicts("9", folder)
    for scheme in ("SEMPER", "stateful"):
        assert verdict_of[f"{scheme}: total after the failure over that before"] == "agrees"
        # Section VI-C has "immediately", counted on the subflows; 2 s for the stream is what we ask of it.
        three = "total in the first, second and third second after the failure"
        assert verdict_of[f"{scheme}: {three}"] == "agrees"
        third = "third second after the failure"
        assert verdict_of[f"{scheme}: what applications get in order, {third}"] == "agrees"
        assert verdict_of[f"{scheme}: connections that stall, in 2 runs"] == "agrees"


def test_a_path_that_returns_is_used_at_once_if_routers_say_so(folder: Path) -> None:
    # Footnote 4.
    verdict_of = verdicts("9", folder)
    after = "10 s down: seconds from the path's return until the total is whole"
    assert verdict_of[f"SEMPER, routers notice within 100 ms, {after}"] == "agrees"
    # Without routers that notice, the next retransmission timeout decides: the sixth ends 63 times the first
    # one after the failure of 10 s (RFC 6298, section 5.5). That is 200 ms with duplicate ACKs: 2.6 s after
    # the return, so that the fourth second is whole. With RACK it is 200 ms above a round trip of 20 to
    # 44 ms, and some variation of the samples: 3.9 to 5.4 s, and 7 s with 270 ms.
    waits = pl.read_csv(folder / "figure-9" / "return.csv")
    by_variant = dict(waits.select("setting", "whole_s").iter_rows())
    assert by_variant["routers never notice, duplicate ACKs"] == pytest.approx(4)
    assert 5 <= by_variant["routers never notice, RACK"] <= 8


def test_enough_subflows_carry_the_wanted_share_as_often_as_computed(folder: Path) -> None:
    verdict_of = verdicts("sizing", folder)
    assert len(verdict_of) == 2
    assert set(verdict_of.values()) == {"agrees"}


def test_captures_of_the_paths_give_the_rates_of_the_run(folder: Path) -> None:
    verdict_of = verdicts("captures", folder)
    assert len(verdict_of) == 4
    assert set(verdict_of.values()) == {"agrees"}


def test_the_baseline_has_a_flow_on_each_path() -> None:
    result = Scenario.from_data(single_tcps(8, duration_s=8)).run()
    carried = result.links.filter(pl.col("name").str.starts_with("branch->headquarters"))
    assert carried.height == 8
    # Each flow fills a path of its own but for its slow start: so none shares one.
    assert min(carried["utilization"].to_list()) > 0.85


def test_all_paths_down_stop_a_connection_and_one_up_again_revives_it() -> None:
    document = scenario(2, 1, 4, duration_s=12)
    document["event"] = [down(1, 3), down(2, 3), {**down(2, 6), "state": "up"}]
    result = Scenario.from_data(document).run()
    rates = dict(result.flow_series.select("time_s", "goodput_mbps").iter_rows())
    assert [rates[second] for second in (5.0, 6.0)] == [0.0, 0.0]
    assert rates[12.0] > 0.9 * 50 * DATA


def test_an_empty_path_does_not_explain_figure_8() -> None:
    # 4 hosts, 32 subflows, 8 paths: the union bound is 8 (7/8)^128 = 3e-7.
    assert 1 - coverage_distribution(8, 4, 32)[-1] == pytest.approx(8 * (7 / 8) ** 128, rel=0.01)
    assert mean_coverage(8, 2, 2) == pytest.approx(0.414, abs=5e-4)


def test_every_figure_is_there() -> None:
    keys = [figure.key for figure in SEMPER.figures]
    assert keys == ["6", "7", "8", "9", "10", "11", "captures", "hybrid", "sizing", "sharing", "requests"]
