"""TCPBP is reproduced: the routes and counts of its tables, and how its throughputs rank."""

from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch_publications.papers import PAPERS, Context, reproduce
from anabranch_publications.papers.tcpbp.network import PAIRS, scenario
from anabranch_publications.papers.tcpbp.tables import by_algorithm_1, inverse, relaxed, routes

TCPBP = PAPERS["tcpbp"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tcpbp")


def verdicts(figure: str, folder: Path) -> dict[str, str]:
    (result,) = reproduce(TCPBP, figure, Context(folder, quick=True, jobs=2)).figures
    return {finding.what: finding.verdict for finding in result.findings}


def test_the_route_summary_is_that_of_the_exact_search(folder: Path) -> None:
    found = verdicts("table-2", folder)
    assert found["TCPBP = delay, exact search"] == found["TCPBP = hop count, exact search"] == "agrees"
    # The published search misses two best paths, 2-6 and 4-6 (spec: modified Dijkstra gives 37).
    missed = [pair for pair in PAIRS if routes("TCPBP")[pair] != routes("TCPBP exact")[pair]]
    assert missed == [("2", "6"), ("4", "6")]
    assert routes("TCPBP exact")["2", "6"] == ("2", "8", "5", "1", "6")


def test_the_formula_gives_the_numbers_worked_out_by_hand() -> None:
    # 1-5-10: 9 ms and 1 - 0.9819 * 0.9961; both ways 1 - (0.9819 * 0.9961)^2 = 0.043371.
    assert inverse(("1", "5", "10")) == pytest.approx(266.74, abs=0.01)


def test_throughput_ranks_as_printed_and_its_ratios_are_within_15_percent(folder: Path) -> None:
    found = verdicts("table-4", folder)
    assert found["order"] == "agrees"
    assert found["delay over hop count"] == "agrees"


def test_algorithm_1_read_a_third_time_finds_the_core_s_published_routes() -> None:
    assert all(relaxed(a)[b] == routes("TCPBP")[a, b] for a, b in PAIRS)
    assert by_algorithm_1("delay").value == 37
    assert by_algorithm_1("hop count").value == 28


def test_the_published_search_differs_as_predicted(folder: Path) -> None:
    found = verdicts("table-2", folder)
    assert found["TCPBP = delay, published search"] == "differs as predicted"
    assert found["TCPBP = hop count, published search"] == "differs as predicted"


def test_best_paths_of_the_thesis_disagree_and_never_loop() -> None:
    data = scenario("TCPBP exact", pairs=PAIRS[:1])
    found = Scenario.from_data(data).check_forwarding()
    # Three pairs of 90, counted by trying all paths (crates/routing/tests/hop_by_hop.rs).
    assert (len(found.astray), found.loops, found.search) == (3, 0, "exact")
    data["routing"] = {}
    assert Scenario.from_data(data).check_forwarding().agrees
