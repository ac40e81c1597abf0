"""Whether a difference is beyond the spread of runs: by hand, without a live run."""

import polars as pl
import pytest

from anabranch.live.against import compared, verdict
from anabranch.live.repeats import Repeats
from anabranch.results.result import Result


def flows(*goodputs_mbps: float) -> pl.DataFrame:
    """A table of flows with these goodputs."""
    names = [f"flow.{number}" for number in range(len(goodputs_mbps))]
    return pl.DataFrame({"flow": range(len(names)), "name": names, "goodput_mbps": goodputs_mbps})


def told(live: list[float], simulated: list[float]) -> tuple[str | None, dict[str, object]]:
    """The verdict of one flow over runs of both sides, and the summary."""
    table = flows(live[0]).with_columns(difference_percent=pl.lit(1.0))
    beside = Repeats([flows(one) for one in live], [flows(one) for one in simulated]).beside(table)
    return beside["within_spread"][0], verdict(beside, None)


@pytest.mark.parametrize(
    ("live", "simulated", "expected"),
    [
        # Means of 10 and 10.9, runs of the live side 2 apart.
        ([9.0, 10.0, 11.0], [10.9] * 5, "yes"),
        # Means of 10 and 11.5; runs of the simulation 1.4 apart, those of the live side 1.
        ([9.5, 10.0, 10.5], [10.8, 11.3, 11.5, 11.7, 12.2], "no"),
        # The same with runs of the simulation 2 apart.
        ([9.5, 10.0, 10.5], [10.5, 11.4, 11.5, 11.6, 12.5], "yes"),
        # One live run says nothing of its spread, unless that of the simulation is enough.
        ([10.0], [10.8, 11.3, 11.5, 11.7, 12.2], "unknown"),
        ([10.0], [9.0, 10.0, 11.0, 10.0, 10.0], "yes"),
    ],
)
def test_a_difference_is_held_to_the_spread_of_either_side(
    live: list[float], simulated: list[float], expected: str
) -> None:
    within, summary = told(live, simulated)
    assert within == expected
    assert summary["beyond_spread"] == (expected == "no")
    assert summary["spread_unknown"] == (expected == "unknown")
    assert (summary["live_runs"], summary["simulated_runs"]) == (len(live), len(simulated))


def test_a_flow_that_a_run_lacks_has_no_verdict() -> None:
    table = flows(10.0, 20.0).with_columns(difference_percent=pl.lit(1.0))
    beside = Repeats([flows(10.0, 20.0), flows(10.0)], [flows(10.0, 20.0)] * 2).beside(table)
    assert beside["within_spread"].to_list() == ["yes", None]
    assert beside["goodput_least_mbps"].to_list() == [10.0, None]


def test_the_round_trip_times_of_both_sides_are_means_over_time() -> None:
    counts = {"delivered_bytes": [1], "completion_s": [None], "completion_more_than_s": [None]}
    other = {"retransmissions": [0], "transport": ["linux-cubic"], "hosts": ["kernel"]}
    table = flows(10.0).with_columns(**{key: pl.Series(value) for key, value in (counts | other).items()})
    live = {"flows": table, "flow_series": pl.DataFrame({"flow": [0, 0], "srtt_ms": [40.0, 60.0]})}
    series = pl.DataFrame({"flow": [0, 0, 0], "srtt_ms": [30.0, 60.0, None]})
    # A mean over ACKs would be another number.
    simulated = Result({"flows": table.with_columns(rtt_mean_ms=pl.lit(7.0)), "flow_series": series}, {})
    (row,) = compared(live, simulated).rows(named=True)
    assert (row["srtt_mean_ms"], row["simulated_srtt_mean_ms"]) == (50.0, 45.0)
    assert "rtt_mean_ms" not in row
    without = Result({"flows": table}, {})
    assert compared(live, without)["simulated_srtt_mean_ms"].to_list() == [None]
