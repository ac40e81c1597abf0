"""Fukushima et al. 2016 is reproduced: printed loads, section 4's threshold, and ns-2's rules over the same
paths."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.topology import load
from anabranch_publications.papers import PAPERS, Context, reproduce
from anabranch_publications.papers.robust.network import LINKS, ROUTERS, parallel, router
from anabranch_publications.papers.robust.replay import Connection, Paths

ROBUST = PAPERS["robust"]


def test_the_network_is_that_of_sndlib_with_the_printed_delays() -> None:
    """Section 5 prints the longest of two shortest paths for five pairs: 9.8, 7.5, 13.3, 21.0 and 15.9 ms."""
    names = load("sndlib/nobel-us")
    there = {frozenset((link.a, link.b)) for link in names.links}
    assert {frozenset((router(a), router(b))) for a, b, _ in LINKS} == there
    assert len(LINKS) == len(there) == 21
    assert set(ROUTERS) == {node.name for node in names.nodes}
    delay = {frozenset(pair): ms for *pair, ms in LINKS}
    paths = {9.8: (1, 3, 2), 7.5: (1, 2, 3), 13.3: (1, 3, 2, 4), 15.9: (1, 2, 3, 6)}
    for printed, path in paths.items():
        own = sum(delay[frozenset(hop)] for hop in itertools.pairwise(path))
        assert own == pytest.approx(printed, abs=0.051)


def test_loads_have_their_figure(tmp_path: Path) -> None:
    (result,) = reproduce(ROBUST, "12", Context(tmp_path, quick=True, jobs=2)).figures
    assert len(result.findings) == 8
    verdicts = {finding.what: finding.verdict for finding in result.findings}
    assert verdicts["ALL"] == verdicts["HYBRID-HOP, X = 20"] == verdicts["HYBRID-HOP over X"] == "agrees"
    assert (tmp_path / "figure-12" / "map.png").stat().st_size > 20_000


def totals(d_ms: float, *, spaced: bool) -> float:
    found = Scenario.from_data(parallel("SSLL", d_ms, spaced=spaced, duration_s=3.0)).run()
    return float(found.flows["goodput_mbps"].sum())


def test_segments_that_are_spaced_keep_the_rule_of_three_gaps() -> None:
    """Section 4.2: full throughput up to three intersegment times of 0.4 ms; bursts break it earlier."""
    assert totals(1.1, spaced=True) > 97
    assert totals(1.3, spaced=True) < 75
    assert totals(1.1, spaced=False) < 75


@pytest.mark.parametrize(("combination", "printed"), [("SLLL", 87.0), ("SSLL", 64.0), ("SSSL", 50.0)])
def test_the_rules_of_ns_2_give_the_printed_totals(combination: str, printed: float) -> None:
    paths = Paths([2.0 if letter == "S" else 3.3 for letter in combination], [0.25] * 4)
    total = 0.0
    for seed in range(5):
        connection = Connection(paths, paths, 0.4, 0.4, access_ms=0.4, seed=seed)
        connection.run(10_000)
        total += connection.delivered * 8e3 / 10_000 / 1e3
    assert total == pytest.approx(printed, rel=0.15)
