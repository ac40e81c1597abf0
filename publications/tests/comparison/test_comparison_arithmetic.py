"""Definitions against values reckoned by hand."""

import numpy as np
import polars as pl
import pytest

from anabranch_publications.comparison.failure import cost
from anabranch_publications.comparison.measures import MEASURES, expected, measured
from anabranch_publications.comparison.paired import Ratio
from anabranch_publications.comparison.statics import destination_entries, path_entries
from anabranch_publications.comparison.subjects import Failure, Part
from anabranch_publications.comparison.systems import SYSTEMS, chosen_systems
from anabranch_publications.comparison.workload import LEAST_LOSS, MOST_LOSS, link_loss
from anabranch_publications.errors import ComparisonError

LINE = ([0, 1, 2], [0, 1], [1, 2], [2, 1, 0], [1, 0], [2, 1])
"""The paths of all pairs of routers in a line 0 - 1 - 2."""


def test_destination_entries_are_the_other_routers() -> None:
    # Every router of a line knows a next hop for both others, however many paths lead through it.
    assert destination_entries(LINE) == {0: 2, 1: 2, 2: 2}


def test_path_entries_count_what_begins_or_leads_through() -> None:
    # Router 1 forwards its own two and both paths between 0 and 2; the last router of a path needs no entry.
    assert path_entries(LINE) == {0: 2, 1: 4, 2: 2}
    # A second path of a pair is an entry more wherever it leads.
    assert path_entries([*LINE, [0, 3, 2]]) == {0: 3, 1: 4, 2: 2, 3: 1}


FAILURE = Failure("a - b", before_s=2.0, at_s=10.0, lasting_s=15.0, until_s=20.0)
TIME_S = np.arange(1, 201) / 10


def test_what_a_failure_costs() -> None:
    # 10 Mbps before; nothing for two seconds; then 8 Mbps for good: of 100 Mbit in ten seconds 64 arrive.
    total = np.where(TIME_S <= 10, 10.0, np.where(TIME_S <= 12, 0.0, 8.0))
    loss_of_failure = cost(TIME_S, total, FAILURE)
    assert loss_of_failure is not None
    assert loss_of_failure.lost_percent == pytest.approx(36.0)
    assert loss_of_failure.lasting_percent == pytest.approx(80.0)
    # A second's mean reaches 0.95 of 8 where at most 0.05 s of it are empty: samples are 0.1 s, so at 12 s.
    assert loss_of_failure.back_s == pytest.approx(2.0)


def test_a_failure_that_nobody_notices_costs_nothing() -> None:
    loss_of_failure = cost(TIME_S, np.full(200, 5.0), FAILURE)
    assert loss_of_failure is not None
    assert (
        loss_of_failure.lost_percent,
        loss_of_failure.lasting_percent,
        loss_of_failure.back_s,
    ) == pytest.approx((0.0, 100.0, 0.0))


def test_a_dip_is_over_when_a_second_of_the_lasting_level_begins() -> None:
    # Half of the level from 10 to 13 s, then all of it: a second has 95 % when 0.9 of it lie behind 13 s.
    loss_of_failure = cost(TIME_S, np.where((TIME_S > 10) & (TIME_S <= 13), 5.0, 10.0), FAILURE)
    assert loss_of_failure is not None
    assert loss_of_failure.lost_percent == pytest.approx(15.0)
    assert loss_of_failure.lasting_percent == pytest.approx(100.0)
    assert loss_of_failure.back_s == pytest.approx(2.9)


def test_without_goodput_before_it_a_failure_has_no_cost() -> None:
    assert cost(TIME_S, np.where(TIME_S <= 10, 0.0, 5.0), FAILURE) is None


def tables() -> dict[str, pl.DataFrame]:
    """Two long flows and three transfers over links of which one is at a host; samples at 1, 2 and 3 s."""
    flows = pl.DataFrame(
        {
            "flow": [0, 1, 2, 3, 4],
            "name": ["long.0", "long.1", "short.0", "short.1", "short.2"],
            "start_s": [0.0, 0.0, 0.5, 1.0, 2.9],
            # Over the whole run, and not what is measured in the window.
            "goodput_mbps": [50.0, 50.0, 1.0, 1.0, 1.0],
            "completion_s": [None, None, 0.2, 0.4, None],
            "segments_sent": [60, 20, 10, 10, 0],
            "packets_received": [55, 20, 10, 10, 5],
            "retransmissions": [5, 0, 0, 0, 0],
            "spurious_retransmissions": [4, 0, 0, 0, 0],
            "delivered_bytes": [3000, 1000, 0, 0, 0],
            "reordered_packets": [0, 10, 0, 0, 0],
            "drops_queue": [2, 0, 0, 0, 0],
        }
    )
    flow_series = pl.DataFrame(
        {
            "time_s": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
            "flow": [0, 1, 0, 1, 0, 1],
            "goodput_mbps": [99.0, 99.0, 6.0, 2.0, 6.0, 2.0],
        }
    )
    links = pl.DataFrame(
        {"link": [0, 1], "name": ["a->b", "host->a"], "capacity_mbps": [8.0, 8.0], "bytes": [9000, 4500]}
    )
    link_series = pl.DataFrame(
        {
            "time_s": [2.0, 3.0, 2.0, 3.0],
            "link": [0, 0, 1, 1],
            "queue_bytes": [1000, 4000, 90_000, 90_000],
            "throughput_mbps": [2.0, 6.0, 8.0, 8.0],
        }
    )
    return {"flows": flows, "flow_series": flow_series, "links": links, "link_series": link_series}


def test_measures_of_a_run() -> None:
    part = Part("flows", {}, 3.0, window_s=(1.0, 3.0))
    measures = measured(part, tables() | {"flows": tables()["flows"].head(2)}, frozenset({"a->b"}))
    assert measures["goodput_mbps"] == pytest.approx(8.0)
    assert measures["flow_goodput_mbps"] == pytest.approx(4.0)
    # Linear between two values: 2 + 0.05 * 4.
    assert measures["flow_goodput_p5_mbps"] == pytest.approx(2.2)
    # Jain: 8^2 / (2 * (36 + 4)).
    assert measures["jain_index"] == pytest.approx(0.8)
    # 1000 and 4000 B at 8 Mbps are 1 and 4 ms, weighted 2 to 6; the host's link does not count.
    assert measures["queue_mean_ms"] == pytest.approx((2 * 1 + 6 * 4) / 8)
    assert measures["queue_p95_ms"] == pytest.approx(4.0)
    assert measures["drops_percent"] == pytest.approx(100 * 2 / 80)
    assert measures["retransmitted_percent"] == pytest.approx(100 * 5 / 80)
    assert measures["spurious_percent"] == pytest.approx(100 * 4 / 80)
    assert measures["crossings"] == pytest.approx(9000 / 4000)
    assert measures["reordered_percent"] == pytest.approx(100 * 10 / 75)
    assert set(measures) == set(expected(part))


def test_transfers_are_no_flows_that_starve() -> None:
    # Long flows get 6 and 2 Mbps; transfers that ended before the window would be three with nothing.
    part = Part("flows", {}, 3.0, window_s=(1.0, 3.0), transfers=("short",))
    measures = measured(part, tables(), frozenset({"a->b"}))
    assert measures["goodput_mbps"] == pytest.approx(8.0)
    assert measures["jain_index"] == pytest.approx(0.8)
    assert measures["flow_goodput_mbps"] == pytest.approx(4.0)
    sized = Part("flows", {}, 3.0, window_s=(1.0, 3.0), transfers=("short", "long"))
    assert measured(sized, tables(), frozenset({"a->b"})).get("jain_index") is None


def test_transfers_that_do_not_end_are_the_longest() -> None:
    def completion(until_s: float) -> dict[str, float | None]:
        part = Part("transfers", {}, 3.0, counted_until_s=until_s, transfers=("short",))
        return measured(part, tables(), frozenset())

    # The last one began too late to count: 0.2 and 0.4 s are left.
    assert completion(2.0) == pytest.approx(
        {"completion_median_ms": 300.0, "completion_p95_ms": 390.0, "unfinished_percent": 0.0}
    )
    # With it the median is 0.4 s, and nobody knows the 95th percentile.
    late = completion(3.0)
    assert late["completion_median_ms"] == pytest.approx(400.0)
    assert late["completion_p95_ms"] is None
    assert late["unfinished_percent"] == pytest.approx(100 / 3)


def test_entries_and_messages_of_a_controller_are_measured() -> None:
    made = tables() | {
        "flow_tables": pl.DataFrame({"switch": ["a", "b"], "entries_max": [3, 7]}),
        "control_messages": pl.DataFrame({"kind": ["packet in", "set-up", "lost"], "messages": [4, 5, 9]}),
    }
    part = Part("transfers", {}, 3.0, counted_until_s=2.0, transfers=("short",))
    measures = measured(part, made, frozenset())
    # What is lost has been counted when it was sent.
    assert (measures["entries_mean"], measures["entries_max"], measures["control_messages_per_s"]) == (
        5.0,
        7.0,
        3.0,
    )


def test_systems_are_told_apart_by_their_interval_alone() -> None:
    assert Ratio(1.2, 0.1).tells
    assert Ratio(0.8, 0.1).tells
    assert not Ratio(1.2, 0.25).tells
    # One replication has no interval.
    assert not Ratio(3.0, None).tells


def test_every_measure_has_a_unit_or_is_a_plain_number() -> None:
    plain = {"jain_index", "worst_load", "worst_failure_load", "entries_mean", "entries_max", "crossings"}
    units = ("_mbps", "_ms", "_s", "_percent")
    assert len(MEASURES) > 15
    assert [name for name in MEASURES if not name.endswith(units) and name not in plain] == []


def test_losses_hang_on_names_alone_and_span_two_orders() -> None:
    assert link_loss("a", "b") == link_loss("b", "a")
    entries = [link_loss(str(a), str(b)) for a in range(40) for b in range(a)]
    assert all(LEAST_LOSS <= loss <= MOST_LOSS for loss in entries)
    # Log-uniform: the median of 780 draws of the exponent is within 0.2 of the middle; its standard
    # deviation is 1 / sqrt(780) = 0.036 of the two decades.
    assert sorted(entries)[390] == pytest.approx(1e-4, rel=0.4)


def test_systems_are_known_by_name() -> None:
    assert len(SYSTEMS) == 9
    assert [system.name for system in chosen_systems(["sdn-paced", "hops"])] == ["hops", "sdn-paced"]
    with pytest.raises(ComparisonError, match=r'no system "semper"; nearest: "semper-mptcp"'):
        chosen_systems(["semper", "hops"])
    with pytest.raises(ComparisonError, match="names none"):
        chosen_systems([])
