"""The figure of an event log: lines are its ACKs, marks its decisions, and what cannot be drawn is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_run import drawn

from anabranch import Result, ResultError, Scenario
from anabranch.report.plots.every import run_figures

EXAMPLES = Path(__file__).parents[2] / "examples"

MULTIPATH = """
[network]
topology = "parallel"
links = { capacity = "10 Mbps", delay = "5 ms", queue = "30 packets" }
[routing]
scheme = "disjoint"
load_balancing = "hash"
[[traffic]]
name = "m"
from = "source"
to = "sink"
transport = "mptcp"
[run]
duration = "2 s"
log = "*"
"""


@pytest.fixture(scope="module")
def logged() -> Result:
    """Ten flows that lose packets, of which two keep a log."""
    settings = {"run.duration": "3 s", "run.log": '["traffic[0].1", "traffic[0].3"]'}
    return Scenario.load(EXAMPLES / "dumbbell.toml", settings).run()


def rows(result: Result, flow: int, event: str) -> pl.DataFrame:
    return result.log.filter((pl.col("flow") == flow) & (pl.col("event") == event))


def known(line: tuple[list[float], list[float]]) -> tuple[list[float], list[float]]:
    """The points of a line that are drawn."""
    pairs = [(x, y) for x, y in zip(*line, strict=True) if np.isfinite(y)]
    return [x for x, _ in pairs], [y for _, y in pairs]


@pytest.mark.parametrize(
    ("measure", "columns", "factor"),
    [
        (
            "window",
            {
                "congestion window": "cwnd_bytes",
                "ssthresh": "ssthresh_bytes",
                "in flight": "in_flight_bytes",
            },
            1e-3,
        ),
        ("rtt", {"smoothed RTT": "srtt_ms", "sample": "rtt_ms", "smallest RTT": "rtt_min_ms"}, 1.0),
    ],
)
def test_lines_are_acks_and_marks_are_decisions(
    logged: Result, measure: str, columns: dict[str, str], factor: float
) -> None:
    plot = logged.plot.log("traffic[0].3", measure=measure)  # type: ignore[arg-type]
    lines, acks = drawn(plot), rows(logged, 3, "ack")
    assert acks.height > 500
    for label, column in columns.items():
        rows_of_one = acks.drop_nulls(column)
        x, y = known(lines[label])
        np.testing.assert_allclose(x, rows_of_one["time_s"])
        np.testing.assert_allclose(y, rows_of_one[column] * factor)
    for event in ("loss", "reduction"):
        decided = rows(logged, 3, event)
        assert decided.height > 0
        x, y = known(lines[f"{event} ({decided.height})"])
        np.testing.assert_allclose(x, decided["time_s"])
        np.testing.assert_allclose(y, decided[next(iter(columns.values()))] * factor)
        (line,) = [line for line in plot.axes.get_lines() if str(line.get_label()).startswith(event)]
        assert line.get_linestyle() == "None", "marks are not joined"
        assert len(line.get_markevery()) == decided.height, "each is marked"


def test_a_part_of_the_time_has_its_own_decisions(logged: Result) -> None:
    first = float(rows(logged, 1, "reduction")["time_s"][0])
    plot = logged.plot.log(end_s=first + 1e-9)
    labels = [str(line.get_label()) for line in plot.axes.get_lines()]
    assert "reduction (1)" in labels
    assert plot.axes.get_xlim()[1] == pytest.approx(first * (1e3 if first < 1 else 1))


def test_of_many_acks_some_are_drawn_and_every_decision(
    logged: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.report.views.decisions._MOST_ACKS", 100)
    acks, losses = rows(logged, 1, "ack").height, rows(logged, 1, "loss").height
    step = -(-acks // 100)
    plot = logged.plot.log()
    assert plot.notes == (f"Of {acks} ACKs one in {step} is drawn.",)
    lines = drawn(plot)
    assert len(lines["congestion window"][0]) == -(-acks // step) <= 100
    assert len(known(lines[f"loss ({losses})"])[0]) == losses


def test_subflows_are_drawn_one_by_one() -> None:
    result = Scenario.loads(MULTIPATH).run()
    for subflow, plot in ((0, result.plot.log()), (1, result.plot.log("m.0", subflow=1))):
        rows_of_one = rows(result, 0, "ack").filter(pl.col("subflow") == subflow)
        np.testing.assert_allclose(drawn(plot)["congestion window"][1], rows_of_one["cwnd_bytes"] * 1e-3)
    with pytest.raises(ResultError, match=r"subflow: m.0 has no subflow 2; it has 0, 1"):
        result.plot.log(subflow=2)


def test_every_log_has_its_figure_on_disk(logged: Result) -> None:
    names = [name for name, _ in run_figures(logged)]
    assert names[-2:] == ["log-1-traffic-0-.1", "log-3-traffic-0-.3"]


def test_what_cannot_be_drawn_is_said(logged: Result) -> None:
    with pytest.raises(
        ResultError,
        match=r'plot.log: flow "traffic\[0\].0" was not recorded; name it in run.log and run it '
        r'again. Recorded are "traffic\[0\].1", "traffic\[0\].3"',
    ):
        logged.plot.log("traffic[0].0")
    with pytest.raises(ResultError, match="measure: no measure 'cwnd' of a log; choose from window, rtt"):
        logged.plot.log(measure="cwnd")  # type: ignore[arg-type]
    with pytest.raises(ResultError, match=r"subflow: traffic\[0\].1 has no subflow 0; it has none"):
        logged.plot.log(subflow=0)
    with pytest.raises(ResultError, match="received no ACK in this time"):
        logged.plot.log(end_s=float(rows(logged, 1, "established")["time_s"][0]) + 1e-9)
    with pytest.raises(ResultError, match=r"has no table log; name flows in run.log"):
        Scenario.load(EXAMPLES / "dumbbell.toml", {"run.duration": "0.1 s"}).run().plot.log()
