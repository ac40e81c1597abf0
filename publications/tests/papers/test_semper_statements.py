"""Queries behind the findings of SEMPER, on rows whose answer can be counted."""

import polars as pl
import pytest

from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.semper.fairness import lowest, sharing_a_path
from anabranch_publications.papers.semper.figures import fair
from anabranch_publications.papers.semper.recovery import Outage, next_try_s, whole_sql
from anabranch_publications.papers.semper.studies import Method
from anabranch_publications.papers.sql import with_metrics

OUTAGE = Outage(settled_s=2, fails_s=6, returns_s=10, duration_s=20, runs=1)


def result(runs: pl.DataFrame, **tables: pl.DataFrame) -> StudyResult:
    done = runs.with_columns(pl.lit("ok").alias("status"))
    return StudyResult.from_runs(
        title="", confidence=0.95, replications=1, factors=(), metrics=(), runs=done, tables=tables
    )


def series(*totals: list[float]) -> pl.DataFrame:
    """Two subflows with half of the total each, a row for each second, for each run."""
    return pl.DataFrame(
        [
            (run, 0, subflow, float(second + 1), total / 2)
            for run, ours in enumerate(totals)
            for second, total in enumerate(ours)
            for subflow in (0, 1)
        ],
        schema=["run", "flow", "subflow", "time_s", "throughput_mbps"],
        orient="row",
    )


def waits(*totals: list[float]) -> list[float | None]:
    runs = pl.DataFrame({"run": range(len(totals)), "cell": 0, "replication": range(len(totals))})
    measured = with_metrics(
        result(runs, subflow_series=series(*totals)), {MetricInfo("whole_s", "wait"): whole_sql(OUTAGE)}
    )
    return measured.runs.sort("run")["whole_s"].to_list()


BEFORE = [100.0] * 6 + [75.0] * 4


def test_the_total_is_whole_from_the_first_of_three_seconds() -> None:
    # Whole in the second that ends 3 s after the return; a single second of 97 before it does not count.
    assert waits([*BEFORE, 75, 80, 96, 97, 98, *[99] * 5]) == [3]
    assert waits([*BEFORE, 97, 80, 80, 96, *[99] * 6]) == [4]


def test_a_total_that_stays_behind_is_not_whole() -> None:
    assert waits([*BEFORE, *[94.9] * 10], [*BEFORE, *[95.1] * 10]) == [None, 1]


def test_two_seconds_at_the_end_do_not_make_three() -> None:
    assert waits([*BEFORE, *[75] * 8, 100, 100], [*BEFORE, *[75] * 7, 100, 100, 100]) == [None, 8]


def test_what_came_before_it_settled_does_not_count() -> None:
    # Slow start above the capacity: buffers fill. 100 is whole, not 200.
    assert waits([200, 200, *[100] * 4, *[75] * 4, *[100] * 10]) == [1]


def test_the_next_try_is_at_twice_the_time_of_the_last_one() -> None:
    # Tries end 0.2, 0.6, 1.4 and 3 s after the failure: each timeout is twice the one before.
    assert next_try_s(0.2, 0.1) == pytest.approx(0.1)
    assert next_try_s(0.2, 1.0) == pytest.approx(0.4)
    assert next_try_s(0.2, 2.9) == pytest.approx(0.1)


def test_hosts_whose_subflows_share_a_path() -> None:
    # Four hosts, one with both subflows on one path and half the rate of the others.
    rates = {0: (10.0, 10.0), 1: (10.0, 10.0), 2: (5.0, 5.0), 3: (10.0, 10.0)}
    subflows = pl.DataFrame(
        [(0, flow, number, "b#2" if flow == 2 or number else "b") for flow in rates for number in (0, 1)],
        schema=["run", "flow", "subflow", "path"],
        orient="row",
    )
    delivered = pl.DataFrame(
        [(0, flow, number, 5.0, rate) for flow, pair in rates.items() for number, rate in enumerate(pair)],
        schema=["run", "flow", "subflow", "time_s", "throughput_mbps"],
        orient="row",
    )
    stream = delivered.select("run", "flow", "time_s", pl.col("throughput_mbps").alias("goodput_mbps"))
    runs = pl.DataFrame({"run": [0], "cell": [0], "replication": [0], "setting": ["N = 4, K = 2"]})
    few, cause = sharing_a_path(
        result(runs, subflows=subflows, subflow_series=delivered, flow_series=stream),
        Method(5, 5, 1),
        4,
        "N = 4, K = 2",
    )
    assert few.ours.startswith("0.250 ")
    assert few.ours.endswith("; 0.50")
    # A quarter of all hosts is not "very few".
    assert few.verdict == "differs"
    # All: (20 + 20 + 10 + 20)^2 / (4 (400 + 400 + 100 + 400)) = 0.942; the other three are alike.
    assert cause.ours == "1.000, for 0.942 with all"
    assert cause.verdict == "agrees"


@pytest.mark.parametrize(("dropped", "verdict"), [("few", "agrees"), ("many", "differs")])
def test_a_drop_is_below_all_others(dropped: str, verdict: str) -> None:
    runs = pl.DataFrame(
        {
            "run": [0, 1, 2],
            "cell": [0, 1, 2],
            "replication": [0, 0, 0],
            "setting": ["K = 2", "K = 8", "K = 32"],
            "jain": [0.91, 0.98, 0.97],
        }
    )
    labels = {"few": "K = 2", "some": "K = 8", "many": "K = 32"}
    finding = lowest(result(runs), labels, dropped, where="all", published="a drop")
    assert finding.verdict == verdict


@pytest.mark.parametrize(("median", "verdict"), [(0.949, "differs"), (0.951, "agrees")])
def test_an_index_is_close_to_one_where_it_rounds_to_it(median: float, verdict: str) -> None:
    runs = pl.DataFrame({"run": [0], "cell": [0], "replication": [0], "setting": ["x"], "jain": [median]})
    finding = fair(result(runs), "x", "close to 1")
    assert (finding.published, finding.verdict) == ("close to 1", verdict)


def test_what_placement_alone_gives_is_predicted() -> None:
    """N = 16, K = 2 of figure 10: equal parts of random placements have 0.892."""
    runs = pl.DataFrame({"run": [0], "cell": [0], "replication": [0], "setting": ["x"], "jain": [0.908]})
    finding = fair(result(runs), "x", "close to 1", (16, 2))
    assert finding.verdict == "differs as predicted"
