"""Why a sample of goodput may lie above the rate of the links."""

from __future__ import annotations

import polars as pl

from anabranch.results.result import Result

_TOLERANCE = 1.001
_NOTE = (
    "Goodput counts bytes when the application can read them. A retransmission that fills a gap frees all "
    "bytes behind it at once, and several paths add up, so that a sample may exceed the rate of a link."
)


def goodput_notes(result: Result) -> list[str]:
    """A sentence for the reader where a flow has a sample above the capacity of each link at its source."""
    tables = result.tables
    if not {"flow_series", "links"} <= tables.keys() or result.flow_series.is_empty():
        return []
    peaks = result.flow_series.group_by("flow").agg(pl.col("goodput_mbps").max())
    capacity = result.links.group_by("from").agg(pl.col("capacity_mbps").max())
    beside = peaks.join(result.flows.select("flow", "from"), on="flow").join(capacity, on="from")
    above = beside["goodput_mbps"] > beside["capacity_mbps"] * _TOLERANCE
    return [_NOTE] if above.any() else []
