"""Latency in figures and on the page: what is drawn is what the tables hold."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from html_runs import document, numbers, shown

from anabranch import Result, ResultError, Scenario
from anabranch.media.page.charts import MOST_STEPS
from anabranch.report.html.page import run_report

RRUL = Path(__file__).parents[2] / "examples" / "rrul.toml"


@pytest.fixture(scope="module")
def rrul() -> Result:
    """A ping and a call each way beside transfers."""
    return Scenario.load(RRUL, {"run.duration": "8 s"}).run()


@pytest.fixture(scope="module")
def pinged() -> Result:
    """Nothing but 120 pings of each other's pair."""
    text = RRUL.read_text(encoding="utf-8")
    ping = '[[traffic]]\nfrom = "left1"\nto = "right1"\nflows = 120\napplication = { kind = "ping" }\n'
    return Scenario.loads(f'{text[: text.index("[[traffic]]")]}{ping}[run]\nduration = "3 s"\n').run()


def test_lines_over_time_are_the_samples(rrul: Result) -> None:
    plot = rrul.plot.latency(flows="ping.0", start_s=1, end_s=7)
    (line,) = plot.axes.get_lines()
    rows_of_one = rrul.datagram_series.filter((pl.col("flow") == 0) & pl.col("time_s").is_between(1, 7))
    rows_of_one = rows_of_one.drop_nulls("latency_mean_ms")
    assert line.get_label() == "ping.0 (RTT)"
    assert np.array_equal(line.get_xydata(), rows_of_one.select("time_s", "latency_mean_ms").to_numpy())
    assert len(rrul.plot.latency().axes.get_lines()) == 3
    assert {"latency"} <= set(rrul.plot.names())


def test_curves_are_the_distribution(rrul: Result) -> None:
    lines = {line.get_label(): line for line in rrul.plot.latency(by="distribution").axes.get_lines()}
    assert list(lines) == ["ping.0 (RTT)", "call.0 (one way)", "call.1 (one way)"]
    for flow, line in enumerate(lines.values()):
        row = rrul.datagram_flows.row(flow, named=True)
        x, y = np.asarray(line.get_xydata()).T
        assert (x[0], x[-1], y[0], y[-1]) == (row["latency_min_ms"], row["latency_max_ms"], 0, 1)
        for share, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
            # The curve has the upper end of a bucket, the quantile its middle.
            at = float(x[np.searchsorted(y, share)])
            assert row[f"latency_{name}_ms"] <= at <= row[f"latency_{name}_ms"] * (1 + 1 / 255)


def test_what_cannot_be_drawn_is_said(rrul: Result, pinged: Result) -> None:
    with pytest.raises(ResultError, match=r"by: no way 'both' to draw"):
        rrul.plot.latency(by="both")  # type: ignore[arg-type]
    with pytest.raises(ResultError, match=r'flows: no flow "pong"; nearest: "ping\.0"'):
        rrul.plot.latency(flows="pong")
    with pytest.raises(ResultError, match="120 flows cannot be told apart; choose at most 32"):
        pinged.plot.latency(flows="*")
    assert "The first 8 of 120 flows are shown." in pinged.plot.latency().notes
    plain = Scenario.loads(RRUL.read_text(encoding="utf-8").split('[[traffic]]\nname = "ping"')[0] + "[run]\n"
                           'duration = "1 s"\n').run()  # fmt: skip
    assert "latency" not in plain.plot.names()
    with pytest.raises(ResultError, match="has no table datagram_flows; give traffic the application ping"):
        plain.plot.latency()


def test_the_page_has_table_lines_and_curves(rrul: Result) -> None:
    data = document(run_report(rrul))["latency"]
    columns = shown(data["table"])
    assert columns["name"] == ["ping.0", "call.0", "call.1"]
    assert columns["measures"] == ["RTT", "one way", "one way"]
    assert columns["latency_p99_ms"] == pytest.approx(rrul.datagram_flows["latency_p99_ms"].to_numpy())
    assert columns["loss_ratio"] == pytest.approx(100 * rrul.datagram_flows["loss_ratio"].to_numpy())
    times = numbers(data["series"]["times"])
    lines = numbers(data["series"]["axes"][0]["values"]).reshape(3, -1)
    assert [line["label"] for line in data["series"]["lines"]] == [
        "ping.0 (RTT)",
        "call.0 (one way)",
        "call.1 (one way)",
    ]
    for flow in range(3):
        rows_of_one = rrul.datagram_series.filter(pl.col("flow") == flow).drop_nulls("latency_mean_ms")
        places = np.searchsorted(times, rows_of_one["time_s"])
        assert lines[flow][places] == pytest.approx(rows_of_one["latency_mean_ms"].to_numpy(), rel=1e-6)
        assert np.isnan(np.delete(lines[flow], places)).all()
        curve = data["distribution"]["curves"][flow]
        assert numbers(curve["shares"])[-1] == 1
        assert numbers(curve["values"])[-1] == rrul.datagram_flows["latency_max_ms"][flow]
        assert len(numbers(curve["shares"])) <= MOST_STEPS + 1


def test_a_page_of_pings_alone_says_what_it_leaves_out(pinged: Result) -> None:
    page = run_report(pinged)
    data = document(page)["latency"]
    assert (data["table"]["rows"], len(data["distribution"]["curves"])) == (120, 100)
    assert "Latency: 100 of 120 flows have lines and curves, the first ones." in page
    assert "p99 of traffic[0]." in page
