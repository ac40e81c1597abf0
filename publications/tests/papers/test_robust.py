"""Fukushima et al. 2016 is reproduced: the inferred network, printed loads, section 4 with rules of ns-2."""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from anabranch import Scenario
from anabranch.topology import load
from anabranch_publications.papers import PAPERS, Context, reproduce
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.robust import inference, nsfnet, studies
from anabranch_publications.papers.robust.inference import MOVED, USUAL_MS, Loads
from anabranch_publications.papers.robust.network import LINKS, ROUTERS, parallel, router
from anabranch_publications.papers.robust.ns2 import LINE_MBPS, Lines, Ns2Runs, measured
from anabranch_publications.papers.robust.nsfnet import (
    above_hop,
    same_at_the_limit,
    throughput_claims,
    worst,
)
from anabranch_publications.papers.robust.parallel_paths import falls, lines_in_ns2
from anabranch_publications.papers.robust.printed import (
    EXAMPLE_MS,
    IMPROVEMENT_PERCENT,
    LOADS,
    PERCENTS,
    THROUGHPUT,
    THROUGHPUT_ALL,
)
from anabranch_publications.papers.robust.settings import met, misfit
from anabranch_publications.papers.robust.studies import CHOSEN, schemes

ROBUST = PAPERS["robust"]


def test_the_network_is_that_of_sndlib_with_one_link_moved() -> None:
    names = load("sndlib/nobel-us")
    there = {frozenset((link.a, link.b)) for link in names.links}
    assert {frozenset(map(router, link)) for link in USUAL_MS} == there
    ours = {(a, b) for a, b, _ in LINKS}
    assert (set(USUAL_MS) - ours, ours - set(USUAL_MS)) == ({MOVED[0]}, {MOVED[1]})
    assert len(ours) == len(there) == 21
    assert set(ROUTERS) == {node.name for node in names.nodes}


def test_the_example_has_its_delays() -> None:
    """Section 5 prints the longest of two shortest paths for five pairs: 9.8, 7.5, 13.3, 21.0 and 15.9 ms."""
    delay = {frozenset(pair): ms for *pair, ms in LINKS}
    paths = {9.8: (1, 3, 2), 7.5: (1, 2, 3), 13.3: (1, 3, 2, 4), 21.0: (1, 3, 6, 5), 15.9: (1, 2, 3, 6)}
    for printed, path in paths.items():
        ours = sum(delay[frozenset(hop)] for hop in itertools.pairwise(path))
        assert ours == pytest.approx(printed, abs=0.051)
    outcome = Loads({(a, b): ms for a, b, ms in LINKS}).example_ms()
    assert outcome == pytest.approx(list(EXAMPLE_MS.values()), abs=0.051)


@pytest.mark.parametrize("metric", ["hop", "delay"])
def test_all_loads_are_as_printed(metric: str) -> None:
    """Figures 12 and 13; two digits are printed."""
    ours = [worst(metric, x).max_load for x in PERCENTS]
    assert ours == pytest.approx(LOADS[metric], abs=0.005001)


def test_the_search_tells_graphs_apart() -> None:
    """The usual graph has another load at X = 100, and is not looked at further; the one with 5-11 fits."""
    graphs = list(inference.variants())
    assert len(graphs) == len({frozenset(inference.changed(*graph)) for graph in graphs}) > 400
    usual = inference.tried(None, None, lowest_first=True)
    assert not usual.fits
    assert usual.spread is None
    ours = inference.tried(*MOVED, lowest_first=True)
    assert ours.fits
    assert inference.follows(ours, 9.8) == (6, 3, True)
    assert inference.total_misfit({(a, b): ms for a, b, ms in LINKS}) == 0.0
    assert inference.total_misfit(inference.changed(*MOVED)) > 0.1


def test_loads_have_their_figure(tmp_path: Path) -> None:
    (result,) = reproduce(ROBUST, "12", Context(tmp_path, quick=True, jobs=2)).figures
    assert len(result.findings) == 8
    assert {finding.verdict for finding in result.findings} == {"agrees"}
    assert (tmp_path / "figure-12" / "map.png").stat().st_size > 20_000


def totals(combination: str, d_ms: float, *, spaced: bool) -> float:
    result = Scenario.from_data(parallel(combination, d_ms, spaced=spaced, duration_s=10.0)).run()
    return float(result.flows["goodput_mbps"].sum())


def test_segments_that_are_spaced_keep_the_rule_of_three_gaps() -> None:
    """Section 4.2: full throughput up to three intersegment times of 0.4 ms; bursts break it earlier."""
    assert totals("SSLL", 1.1, spaced=True) > 97
    assert totals("SSLL", 1.3, spaced=True) < 75
    assert totals("SSLL", 1.1, spaced=False) < 75


@pytest.mark.parametrize("lines", LINE_MBPS)
@pytest.mark.parametrize("combination", ["SLLL", "SSLL", "SSSL"])
def test_the_preset_is_as_ns_2_itself(combination: str, lines: Lines) -> None:
    """One seed of 10 s here, three in ns-2 2.35: 5 % of the throughput, and recoveries and what goes again.

    Without deflation by partial ACKs it has 96.0, 67.9 and 53.7 Mbps over spaced lines, and 97, 444 and 800
    recoveries; without the segment that each partial ACK sends, a third of what ns-2 sends again.
    """
    run = Scenario.from_data(parallel(combination, 1.3, spaced=lines == "spaced", duration_s=10.0)).run()
    stored = measured()
    again = statistics.fmean(one.retransmissions for one in stored.of(combination, 1.3, lines))
    recoveries, _ = stored.recoveries(combination, 1.3, lines)
    assert float(run.flows["goodput_mbps"].sum()) == pytest.approx(
        stored.mbps(combination, 1.3, lines)[0], rel=0.05
    )
    assert int(run.flows["fast_recoveries"].sum()) == pytest.approx(recoveries, rel=0.1, abs=20)
    assert int(run.flows["retransmissions"].sum()) == pytest.approx(again, rel=0.1, abs=150)


def test_no_access_line_gives_totals_and_recoveries_in_ns_2() -> None:
    refutation = lines_in_ns2()
    assert refutation.holds
    assert "lines of 20.8 Mbps" in refutation.text
    assert "lines of 50 Mbps" in refutation.text


def test_what_ns_2_says_is_refused_in_another_form(tmp_path: Path) -> None:
    file = tmp_path / "ns2.json"
    file.write_text('{"version": "2.35", "runs": []}')
    with pytest.raises(ValueError, match=r"not what ns2_claims.py writes .*; run it again"):
        Ns2Runs.load(file)
    measured().save(file)
    assert Ns2Runs.load(file) == measured()


def test_what_the_network_was_fitted_to_is_counted_apart(tmp_path: Path) -> None:
    """ALL and X = 0 and 100 of HYBRID-HOP chose the graph, HYBRID-DELAY the delays (inferred.py)."""
    (figure,) = reproduce(ROBUST, "12", Context(tmp_path, quick=True, jobs=2)).figures
    kinds = {finding.what: finding.kind for finding in figure.findings}
    fitted = {what for what, kind in kinds.items() if kind == "fitted"}
    assert fitted == {"ALL", "HYBRID-HOP, X = 0", "HYBRID-HOP, X = 100"}
    (figure,) = reproduce(ROBUST, "13", Context(tmp_path, quick=True, jobs=2)).figures
    free = {finding.what for finding in figure.findings if finding.kind == "printed"}
    assert free == {"HYBRID-DELAY, X = 60", "HYBRID-DELAY, X = 80", "HYBRID-DELAY, X = 100"}


def test_three_loads_of_figure_13_need_no_fitted_delay() -> None:
    """On the usual delays, with 9.8 ms or more for the link that moved."""
    for added_ms in (9.8, 10.5, 12.0, 14.0):
        loads = Loads(inference.changed(*MOVED, added_ms))
        ours = [loads.of("delay", x) for x in (60, 80, 100)]
        assert ours == pytest.approx([1.50, 1.56, 1.56], abs=0.005001)


def edges(just_below: float, above: float, inside: float, further: float, error: float = 0.1) -> pl.DataFrame:
    """Totals of SLLL at 1.1, 1.3, 1.5 and 1.7 ms."""
    totals = zip((1.1, 1.3, 1.5, 1.7), (just_below, above, inside, further), strict=True)
    return pl.DataFrame(
        [("SLLL", d_ms, total, error) for d_ms, total in totals],
        ["combination", "d_ms", "total_mbps", "total_error"],
        orient="row",
    )


@pytest.mark.parametrize(
    ("totals", "verdicts"),
    [
        ((98, 90, 88, 70), ["agrees", "agrees", "agrees"]),
        # A fall of 0.3 Mbps is less than three standard errors of a difference, 0.42 Mbps.
        ((98, 97.7, 95, 70), ["differs", "agrees", "agrees"]),
        # As much within 0.4 ms as half of what 0.4 ms do.
        ((98, 90, 79, 70), ["agrees", "differs", "agrees"]),
        ((98, 90, 88, 82), ["agrees", "agrees", "differs"]),
    ],
)
def test_how_throughput_falls_above_three_gaps(
    totals: tuple[float, float, float, float], verdicts: list[str]
) -> None:
    assert [finding.verdict for finding in falls(edges(*totals), "SLLL", 1.2, "printed")] == verdicts


def mean_mbps(**of_case: float) -> pl.DataFrame:
    """Throughputs of section 6 by case, with the settings of the figures; 5 Mbps where nothing is said."""
    cases = dict.fromkeys(schemes(), 5.0)
    cases |= {f"{name.replace('_', ' ')}, {CHOSEN.split}": ours for name, ours in of_case.items()}
    return pl.DataFrame({"case": list(cases), "mean_mbps": list(cases.values())})


def with_plans(table: pl.DataFrame, scheme: str, middle: float, fewest: float) -> pl.DataFrame:
    """The same with throughputs of a scheme by two other plans of the least load."""
    of_case = {f"{scheme}, the single program": middle, f"{scheme}, fewest splits": fewest}
    changed = pl.col("case").replace_strict(of_case, default=pl.col("mean_mbps"), return_dtype=pl.Float64)
    return table.with_columns(changed.alias("mean_mbps"))


@pytest.mark.parametrize(
    ("at_80", "verdict"), [(9.26, "differs as predicted"), (9.80, "agrees"), (8.9, "differs")]
)
def test_the_same_throughput_with_80_and_100_percent(at_80: float, verdict: str) -> None:
    table = mean_mbps(**{"HYBRID-HOP_80": at_80, "HYBRID-HOP_100": 9.84})
    printed = same_at_the_limit(with_plans(table, "HYBRID-HOP 80", 9.2, 9.84), CHOSEN)
    assert printed.verdict == verdict


@pytest.mark.parametrize(
    ("middle", "fewest", "verdict"),
    [
        (7.9, 9.9, "differs as predicted"),
        # Ours is outside of the plans of the least load: not that they are many makes the difference.
        (7.9, 8.9, "differs"),
        # The printed 8.32 Mbps is below all of them.
        (8.9, 9.9, "differs"),
    ],
)
def test_that_plans_of_the_least_load_are_many_explains_what_they_span(
    middle: float, fewest: float, verdict: str
) -> None:
    table = with_plans(mean_mbps(**{"HYBRID-DELAY_20": 9.1}), "HYBRID-DELAY 20", middle, fewest)
    findings = {finding.what: finding for finding in throughput_claims(table, "delay", CHOSEN)}
    assert findings["HYBRID-DELAY, X = 20"].verdict == verdict


def test_a_sentence_and_its_numbers_that_contradict_each_other_are_two_rows() -> None:
    hop = {f"HYBRID-HOP_{x}": 5.0 for x in PERCENTS}

    def rows(delay: list[float]) -> list[Finding]:
        own_fields = {f"HYBRID-DELAY_{x}": mbps for x, mbps in zip(PERCENTS, delay, strict=True)}
        return above_hop(mean_mbps(**hop, **own_fields), CHOSEN)

    sentence, numbers = rows([6.0] * len(PERCENTS))
    assert (sentence.verdict, numbers.verdict) == ("agrees", "differs")
    # As printed: 9.03 and 9.84 below 9.28 and 10.0.
    sentence, numbers = rows([6.0, 6.0, 6.0, 4.0, 4.0, 5.0])
    assert (sentence.verdict, numbers.verdict) == ("refuted", "agrees")
    assert sentence.refutation is not None
    assert "9.03 and 9.28 Mbps for X = 60" in sentence.refutation.text
    # Half a percent is what seeds change.
    sentence, _ = rows([5.025] * len(PERCENTS))
    assert sentence.ours == "for X = none"


def test_a_set_of_settings_is_held_to_all_claims_at_once() -> None:
    """With every printed number as ours all claims are met but two, of which each excludes the other."""
    printed = {
        f"HYBRID-{metric.upper()}_{x}": mbps
        for metric, ours in THROUGHPUT.items()
        for x, mbps in zip(PERCENTS, ours, strict=True)
    }
    table = mean_mbps(**printed)
    everything = pl.when(pl.col("case") == CHOSEN.everything).then(THROUGHPUT_ALL)
    table = table.with_columns(everything.otherwise(pl.col("mean_mbps")).alias("mean_mbps"))
    claims = met(table, CHOSEN)
    assert (len(claims), claims.count(False)) == (34, 1)
    assert sum(met(table, replace(CHOSEN, split="fewest splits"))) < 20
    assert misfit(table, CHOSEN) == 0.0
    twice = table.with_columns(pl.col("mean_mbps") * 2)
    assert misfit(twice, CHOSEN) == pytest.approx(math.log(2))


def test_section_6_simulates_each_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper has about six times the throughput (abstract); two seconds of it are held to half of that."""
    names = (CHOSEN.hybrid("hop", 60), CHOSEN.everything)
    two = {name: routing for name, routing in schemes().items() if name in names}
    monkeypatch.setattr(studies, "schemes", lambda: two)
    rows = studies.section6(Context(tmp_path, quick=True, jobs=2)).to_dicts()
    mbps = {row["case"]: row["mean_mbps"] for row in rows}
    assert set(mbps) == set(names)
    assert mbps[CHOSEN.hybrid("hop", 60)] > 3 * mbps[CHOSEN.everything]


def test_every_printed_improvement_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the runs measure, which take a minute."""
    monkeypatch.setattr(nsfnet, "section6", lambda _: mean_mbps())
    (figure,) = reproduce(ROBUST, "conclusion", Context(tmp_path, quick=True, jobs=2)).figures
    printed = {finding.published for finding in figure.findings if finding.what.endswith("over ALL")}
    assert printed == {f"{percent} %" for ours in IMPROVEMENT_PERCENT.values() for percent in ours}
    assert sum(finding.what.endswith("over ALL") for finding in figure.findings) == 12
