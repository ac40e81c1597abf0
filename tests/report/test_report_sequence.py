"""Sequence numbers against figure A.1 of the thesis on which the protocol rests."""

from pathlib import Path

import polars as pl
import pytest

from anabranch import Scenario
from anabranch.errors import ResultError
from anabranch.report.sequence import MOST_DRAWN_FLOWS, sequence_figure, sequence_table
from anabranch.report.style import save_figure

Event = tuple[float, str, int, int | None]

# Figure A.1: SYN at 0, SYN-ACK at 10.48 us; segment n leaves at 17.88 + n us, its ACK comes 12.16 us later.
SEGMENTS = 15
EVENTS: list[Event] = [
    (0.0, "syn", 0, None),
    (10.48, "syn-ack", 0, None),
    (16.72, "ctrl", 0, None),
    *((17.88 + n, "data", 1000 * (n - 1), n) for n in range(1, SEGMENTS + 1)),
    *((30.04 + n, "ack", 1000 * n, n) for n in range(1, SEGMENTS + 1)),
]


def frame(events: list[Event], flow: int = 3) -> pl.DataFrame:
    """The table ``sequence`` of a run: this flow, and another one that must not show up."""
    rows = [(us * 1e-6, flow, kind, position, 1000, n) for us, kind, position, n in events]
    rows.append((1e-6, flow + 1, "data", 0, 1000, 1))
    schema = {"time_s": pl.Float64, "flow": pl.Int64, "kind": pl.String}
    schema |= {"sequence_bytes": pl.Int64, "bytes": pl.Int64, "segment": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def drawn(figure: object) -> dict[str, tuple[list[float], list[float]]]:
    """The points by their name in the legend."""
    lines = figure.axes[0].get_lines()  # type: ignore[attr-defined]
    return {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in lines}


def test_the_table_is_that_of_figure_a1() -> None:
    table = sequence_table(frame(EVENTS), 3)
    assert table["sent_time_us"].to_list() == [0.0, *(round(17.88 + n, 6) for n in range(1, 16))]
    assert table["acked_time_us"].to_list() == [10.48, *(round(30.04 + n, 6) for n in range(1, 16))]
    assert table["sent_segment"].to_list() == table["acked_segment"].to_list() == list(range(16))
    assert table["sent_kind"].to_list() == ["syn", *["data"] * 15]
    assert table["acked_kind"].to_list() == ["syn-ack", *["ack"] * 15]


def test_the_shorter_half_ends_in_nulls_and_retransmissions_are_said_to_be_some() -> None:
    events: list[Event] = [(1.0, "data", 0, 1), (2.0, "data", 1000, 2), (9.0, "retransmission", 0, 1),
                           (12.0, "ack", 2000, 2), (13.0, "fin", 2000, None)]  # fmt: skip
    table = sequence_table(frame(list(reversed(events))), 3)
    assert table.rows() == [
        (1.0, 1, "data", 12.0, 2, "ack"),
        (2.0, 2, "data", None, None, None),
        (9.0, 1, "retransmission", None, None, None),
        (13.0, None, "fin", None, None, None),
    ]


def test_points_are_where_the_table_says_in_microseconds() -> None:
    figure = sequence_figure(frame(EVENTS), 3)
    points = drawn(figure)
    assert figure.axes[0].get_xlabel() == "time in us"
    assert figure.axes[0].get_ylabel() == "segment"
    assert points["data sent"][0] == pytest.approx([17.88 + n for n in range(1, 16)])
    assert points["data sent"][1] == list(range(1, 16))
    assert points["ACK received"][0] == pytest.approx([30.04 + n for n in range(1, 16)])
    assert points["SYN sent"] == ([0.0], [0])
    assert points["controller message"][0] == pytest.approx([16.72])
    assert "retransmission" not in points


def test_the_fin_stands_behind_the_last_segment() -> None:
    points = drawn(sequence_figure(frame([*EVENTS, (50.0, "fin", 15000, None)]), 3))
    assert points["FIN sent"][1] == [SEGMENTS + 1]


def test_an_ack_inside_a_segment_turns_the_axis_to_bytes() -> None:
    figure = sequence_figure(frame([*EVENTS, (60.0, "ack", 14500, None)]), 3)
    assert figure.axes[0].get_ylabel() == "position in the stream in bytes"
    assert drawn(figure)["data sent"][1][:2] == [0, 1000]


@pytest.mark.parametrize(("span_us", "unit"), [(5e6, "s"), (3e4, "ms"), (1.9e6, "ms"), (100.0, "us")])
def test_time_has_the_unit_that_fits(span_us: float, unit: str) -> None:
    figure = sequence_figure(frame([(0.0, "data", 0, 1), (span_us, "data", 1000, 2)]), 3)
    assert figure.axes[0].get_xlabel() == f"time in {unit}"


def test_only_the_time_asked_for_is_shown() -> None:
    points = drawn(sequence_figure(frame(EVENTS), 3, start_s=20e-6, end_s=25e-6))
    assert points.keys() == {"data sent"}
    assert points["data sent"][1] == [3, 4, 5, 6, 7]


def test_many_points_become_a_picture_in_a_small_file(tmp_path: Path) -> None:
    events: list[Event] = [(n * 1.0, "data", n * 1000, n + 1) for n in range(20_500)]
    figure = sequence_figure(frame(events), 3)
    save_figure(figure, tmp_path / "a.svg")
    # As shapes they would take more than 20 bytes each.
    assert (tmp_path / "a.svg").stat().st_size < 20 * len(events)
    assert b"<image" in (tmp_path / "a.svg").read_bytes()


def test_a_flow_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(ResultError, match="of flow 7; there are those of: 3, 4"):
        sequence_table(frame(EVENTS), 7)


def test_a_time_without_events_is_answered_with_the_time_that_has_some() -> None:
    with pytest.raises(ResultError, match=r"between 1 s and 2 s; its events .* 0 s and 4\.504e-05 s"):
        sequence_figure(frame(EVENTS), 3, start_s=1.0, end_s=2.0)


def test_another_table_is_refused() -> None:
    with pytest.raises(ResultError, match="no column kind, sequence_bytes, segment"):
        sequence_table(pl.DataFrame({"time_s": [0.0], "flow": [0]}), 0)


WATCHED = """
[network]
topology = "dumbbell"
[network.links]
capacity = "100 Mbps"
delay = "1 ms"
[[traffic]]
name = "web"
from = "left1"
to = "right1"
flows = 25
size = "10 kB"
transport = "TRANSPORT"
[run]
duration = "2 s"
sequences = "*"
"""


@pytest.mark.parametrize("transport", ["cubic", "sdn-paced"])
def test_a_run_leaves_a_table_and_a_plot_of_each_watched_flow(tmp_path: Path, transport: str) -> None:
    controller = (
        '[controller]\napplication = "sdn-paced"\n[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'
    )
    text = WATCHED.replace("TRANSPORT", transport) + (controller if transport == "sdn-paced" else "")
    result = Scenario.loads(text).run(out=tmp_path / "run")
    folder = tmp_path / "run" / "sequences"
    assert len(list(folder.glob("*.csv"))) == 25
    assert len(list(folder.glob("*.png"))) == MOST_DRAWN_FLOWS < 25
    table = pl.read_csv(folder / "24-web.24.csv")
    assert table.equals(sequence_table(result.sequence, 24))
    sent = table.filter(pl.col("sent_kind") == "data")["sent_segment"].to_list()
    assert sent == list(range(1, len(sent) + 1))
    figure = sequence_figure(result.sequence, 24, name="web.24")
    assert figure.axes[0].get_title(loc="left") == "web.24"
    if transport == "cubic":
        # Its FIN travels with the last data.
        assert "FIN sent" not in drawn(figure)
        return
    # The FIN is behind the last segment, and its ACK beside it.
    (fin,) = table.filter(pl.col("sent_kind") == "fin")["sent_segment"].to_list()
    assert fin == len(sent) + 1
    assert table.filter(pl.col("acked_kind") == "fin-ack")["acked_segment"].to_list() == [fin]
    assert drawn(figure)["FIN sent"][1] == drawn(figure)["ACK of the FIN"][1] == [fin]


def test_a_run_without_watched_flows_leaves_no_folder_of_sequences(tmp_path: Path) -> None:
    text = WATCHED.replace("TRANSPORT", "cubic").replace('sequences = "*"', "")
    Scenario.loads(text).run(out=tmp_path / "run")
    assert (tmp_path / "run" / "summary.json").is_file()
    assert not (tmp_path / "run" / "sequences").exists()
