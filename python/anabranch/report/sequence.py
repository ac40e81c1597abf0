"""Sequence numbers of a flow over time: the table and the plot with which a protocol is debugged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.errors import ResultError
from anabranch.media.palette import PALETTE
from anabranch.media.texts import printable
from anabranch.report.plots.plot import fitted
from anabranch.report.style import plain, save_figure, styled
from anabranch.results.event_log import flow_file_stem
from anabranch.results.result import csv_bytes
from anabranch.text.units import suited

SENT = ("syn", "data", "retransmission", "fin")
"""Kinds of segments that the sender sends."""
RECEIVED = ("syn-ack", "ack", "fin-ack")
"""Kinds of segments that the sender receives."""
CONTROL = "ctrl"
"""Kind of the controller's messages to the sender."""

_TITLE_SIZE, _TITLE_ROOM = 10.0, 360.0
"""Of the title, in points; the axes are some 400 wide."""
_ORDINARY = ("data", "retransmission", "ack")
_COLUMNS = ("time_s", "flow", "kind", "sequence_bytes", "segment")
_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK, _WINE = PALETTE

# Kind, name in the legend, and how its points are drawn: what is rare lies over what is frequent.
_POINTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("data", "data sent", {"color": _BLUE, "marker": "o"}),
    ("ack", "ACK received", {"color": _RED, "marker": "x", "markeredgewidth": 0.9}),
    ("retransmission", "retransmission", {"color": _BLACK, "marker": "^", "markersize": 6}),
    ("syn", "SYN sent", {"color": _GREEN, "marker": "s", "markersize": 5}),
    ("syn-ack", "SYN-ACK received", {"color": _GREEN, "marker": "s", "markersize": 5, "fillstyle": "none"}),
    ("fin", "FIN sent", {"color": _WINE, "marker": "D", "markersize": 5}),
    ("fin-ack", "ACK of the FIN", {"color": _WINE, "marker": "D", "markersize": 5, "fillstyle": "none"}),
)

_MOST_DRAWN_AS_SHAPES = 20_000
"""Points beyond which a PDF or SVG holds them as a picture, or no viewer could open it."""
MOST_DRAWN_FLOWS = 20
"""Flows that a result folder has a plot of; every watched flow has its table."""


def save_sequences(frame: pl.DataFrame, names: Mapping[int, str], folder: Path) -> list[Path]:
    """Writes the table (CSV) of each flow of a frame, and the plot (PNG) of the first of them.

    Args:
        frame: the table ``sequence`` of a run.
        names: the flows' names, by number.
        folder: where; made if there is anything to write. Files are named by number and name of the flow.

    Returns:
        The files, in the order of the flows.

    Raises:
        OSError: if a file cannot be written.
    """
    files: list[Path] = []
    # Taken apart once: a thousand flows would each look through all rows.
    for count, rows in enumerate(frame.sort("flow", maintain_order=True).partition_by("flow")):
        folder.mkdir(exist_ok=True)
        flow = int(rows["flow"][0])
        stem = flow_file_stem(flow, names[flow])
        files.append(folder / f"{stem}.csv")
        files[-1].write_bytes(csv_bytes(sequence_table(rows, flow)))
        if count < MOST_DRAWN_FLOWS:
            files.append(folder / f"{stem}.png")
            save_figure(sequence_figure(rows, flow, name=names[flow]), files[-1])
    return files


def sequence_table(frame: pl.DataFrame, flow: int) -> pl.DataFrame:
    """The segments that a flow sent and the ACKs that it received, as two lists side by side.

    Args:
        frame: the table ``sequence`` of a run.
        flow: number of the flow.

    Returns:
        ``sent_time_us``, ``sent_segment`` and ``sent_kind`` in the order of sending, and beside them
        ``acked_time_us``, ``acked_segment`` and ``acked_kind`` in the order of receipt. The n-th row holds
        the n-th of each, whatever they have to do with each other; the shorter list ends in nulls. The SYN
        and the SYN-ACK count as segment 0, the FIN and the ACK of it as the one after the last. Times are
        exact to the picosecond.

    Raises:
        ResultError: if the frame has no such flow, or is no such table.
    """
    rows = _rows_of(frame, flow)
    sent, acked = (_half(rows, SENT, "sent"), _half(rows, RECEIVED, "acked"))
    joined = sent.with_row_index("row").join(acked.with_row_index("row"), "row", how="full", coalesce=True)
    return joined.sort("row").drop("row")


def _half(rows: pl.DataFrame, kinds: Sequence[str], name: str) -> pl.DataFrame:
    """One of the two lists."""
    opening = pl.col("kind").is_in(["syn", "syn-ack"])
    segment = pl.when(opening).then(0).otherwise(pl.col("segment")).cast(pl.Int64)
    return rows.filter(pl.col("kind").is_in(kinds)).select(
        # The engine counts picoseconds: six decimals of a microsecond, and no more, mean something.
        (pl.col("time_s") * 1e6).round(6).alias(f"{name}_time_us"),
        segment.alias(f"{name}_segment"),
        pl.col("kind").alias(f"{name}_kind"),
    )


def sequence_figure(
    frame: pl.DataFrame,
    flow: int,
    start_s: float | None = None,
    end_s: float | None = None,
    *,
    name: str | None = None,
) -> Figure:
    """Segments sent and ACKs received over time; messages of a controller are ticks below.

    Positions are numbers of segments, or bytes where ACKs end inside of segments.

    Args:
        frame: the table ``sequence`` of a run.
        flow: number of the flow.
        start_s: beginning of the time shown; None for the first event.
        end_s: end of the time shown; None for the last event.
        name: name of the flow, for the title; None for its number.

    Raises:
        ResultError: if the frame has no such flow or is no such table, or nothing happened in this time.
    """
    rows = _rows_of(frame, flow)
    first, last = float(rows["time_s"][0]), float(rows["time_s"][-1])
    start, end = first if start_s is None else start_s, last if end_s is None else end_s
    shown = rows.filter(pl.col("time_s").is_between(start, end))
    if shown.is_empty():
        raise ResultError(
            f"flow {flow}: nothing happened between {start:g} s and {end:g} s; "
            f"its events lie between {first:g} s and {last:g} s"
        )
    # At least 2 of the unit.
    factor, unit = suited((end - start) / 2, "s")
    in_segments = not shown.filter(pl.col("kind").is_in(_ORDINARY))["segment"].null_count()
    # The SYN comes before the first byte, and the FIN after the last one.
    opening, closing = pl.col("kind").is_in(["syn", "syn-ack"]), pl.col("kind").is_in(["fin", "fin-ack"])
    numbers = (
        pl.when(opening).then(0).when(closing).then(_last_segment(rows) + 1).otherwise(pl.col("segment"))
    )
    shown = shown.with_columns(position=numbers if in_segments else pl.col("sequence_bytes"))
    with styled():
        figure = Figure(figsize=(6.3, 3.8), layout="constrained")
        axes = figure.subplots()
        _draw_points(axes, shown, factor)
        control = shown.filter(pl.col("kind") == CONTROL)["time_s"].to_numpy() * factor
        if control.size:
            axes.plot(
                control, np.full(control.size, 0.03), transform=axes.get_xaxis_transform(), linestyle="none",
                color=_PINK, marker="|", markersize=11, markeredgewidth=1.5, label="controller message",
            )  # fmt: skip
        axes.set_xlabel(f"time in {unit}")
        axes.set_ylabel("segment" if in_segments else "position in the stream in bytes")
        title = f"flow {flow}" if name is None else plain(fitted(printable(name), _TITLE_ROOM, _TITLE_SIZE))
        axes.set_title(title, loc="left", fontsize=_TITLE_SIZE)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _draw_points(axes: Axes, shown: pl.DataFrame, factor: float) -> None:
    """A point for each segment."""
    as_picture = len(shown) > _MOST_DRAWN_AS_SHAPES
    size = 4.0 if len(shown) <= 400 else 2.0
    for order, (kind, label, look) in enumerate(_POINTS):
        points = shown.filter(pl.col("kind") == kind)
        if points.is_empty():
            continue
        axes.plot(
            points["time_s"].to_numpy() * factor,
            points["position"].to_numpy(),
            **{"linestyle": "none", "markersize": size, "zorder": 2 + order, **look},
            rasterized=as_picture,
            label=label,
        )


def _last_segment(rows: pl.DataFrame) -> int:
    """Number of the last segment of the stream; 0 for a flow without data."""
    last = rows.filter(pl.col("kind").is_in(["data", "retransmission"]))["segment"].cast(pl.Int64).max()
    return last if isinstance(last, int) else 0


def _rows_of(frame: pl.DataFrame, flow: int) -> pl.DataFrame:
    """A flow's rows in order of time."""
    missing = [name for name in _COLUMNS if name not in frame.columns]
    if missing:
        raise ResultError(
            f"not a table of sequence numbers: it has no column {', '.join(missing)}; take the table sequence"
        )
    rows = frame.filter(pl.col("flow") == flow).sort("time_s", maintain_order=True)
    if rows.is_empty():
        flows = frame["flow"].unique().sort().to_list()
        few = ", ".join(map(str, flows[:10])) + (", ..." if len(flows) > 10 else "")
        raise ResultError(f"no sequence numbers of flow {flow}; there are those of: {few or 'no flow'}")
    return _with_closing_acks(rows)


def _with_closing_acks(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows; an ACK behind the last byte of the stream acknowledges the FIN."""
    end = rows.filter(pl.col("kind") == "fin")["sequence_bytes"].max()
    number = rows.filter(pl.col("kind") == "fin")["segment"].max()
    closing = pl.col("kind").is_in(["ack", "fin-ack"]) & (pl.col("sequence_bytes") > pl.lit(end))
    return rows.with_columns(
        kind=pl.when(closing).then(pl.lit("fin-ack")).otherwise(pl.col("kind")),
        segment=pl.when(closing).then(pl.lit(number)).otherwise(pl.col("segment")),
    )
