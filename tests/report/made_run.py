"""Runs to make figures of, with numbers that are known by a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch import Result

TIMES = (1.0, 2.0, 3.0, 4.0)
"""Instants of the samples, in seconds."""


def goodput(flow: int, time_s: float) -> float:
    """Of a flow at an instant, in Mbps."""
    return flow + time_s


def made_run(
    transports: Sequence[str] = ("cubic", "bbr"),
    *,
    names: Sequence[str] | None = None,
    series: bool = True,
    completion_s: Sequence[float] | None = None,
    ratios: Sequence[float] | None = None,
    times: Sequence[float] = TIMES,
    summary: dict[str, Any] | None = None,
) -> Result:
    """Flows over three links between a, b and c: link n has a queue of n packets at 1 s, 2 n at 2 s, ..."""
    flows = np.arange(len(transports))
    tables: dict[str, dict[str, Any]] = {
        "flows": {
            "flow": flows,
            "name": list(names or [f"t.{flow}" for flow in flows]),
            "from": ["a"] * len(flows),
            "to": ["c"] * len(flows),
            "transport": list(transports),
            "completion_s": np.array(completion_s or [np.nan] * len(flows), dtype=float),
            "delivered_bytes": flows + 1,
            "packets_received": np.full(len(flows), 100),
            "reordered_packets": np.full(len(flows), 1),
            "reordering_ratio": np.array(ratios or [0.01] * len(flows), dtype=float),
            "reordering_extent_max": np.full(len(flows), 3.0),
        },
        "links": {
            "link": np.arange(3),
            "name": ["a->b", "b->c", "c->b"],
            "from": ["a", "b", "c"],
            "to": ["b", "c", "b"],
            "capacity_mbps": np.array([10.0, 100.0, 10.0]),
            "delay_ms": np.ones(3),
            "utilization": np.array([0.5, 0.25, 0.0]),
            "queue_max_packets": np.array([0, 4, 8]),
            "drops_queue": np.array([0, 4, 5]),
            "drops_random": np.array([0, 0, 3]),
            "drops_down": np.array([0, 0, 0]),
            "drops_codel": np.array([0, 0, 0]),
        },
        "nodes": {
            "node": np.arange(3),
            "name": ["a", "b", "c"],
            "latitude_deg": np.full(3, np.nan),
            "longitude_deg": np.full(3, np.nan),
        },
        "events": {
            "time_s": np.array([2.0, 2.5, 3.0]),
            "kind": ["link down", "new routes", "link up"],
            "subject": ["a->b", "", "a->b"],
        },
    }
    if series:
        at, flow = np.repeat(times, len(flows)), np.tile(flows, len(times))
        tables["flow_series"] = {
            "time_s": at, "flow": flow, "goodput_mbps": goodput(flow, at),
            "cwnd_bytes": (flow + 1) * 1e4 * at, "srtt_ms": 10.0 + flow,
        }  # fmt: skip
        at, link = np.repeat(times, 3), np.tile(np.arange(3), len(times))
        tables["link_series"] = {
            "time_s": at, "link": link, "queue_packets": link * at, "throughput_mbps": (3.0 - link) * at,
            "drops": (link * at).astype(int),
        }  # fmt: skip
    own_fields = {"title": "made $x$ _run", "ended_s": float(max(times)), "interrupted": False}
    return Result.from_columns(tables, own_fields | (summary or {}))


def drawn(plot: Any) -> dict[str, tuple[list[float], list[float]]]:
    """The data of each line in a figure, by its label; uprights at events left out."""
    return {
        line.get_label().strip("\u200b").replace("\\$", "$"): (list(line.get_xdata()), list(line.get_ydata()))
        for line in plot.axes.get_lines()
        if not line.get_label().startswith(("link ", "_nolegend_"))
    }
