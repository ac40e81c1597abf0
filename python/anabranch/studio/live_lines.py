"""A live run as the page shows it while it goes on: the lines of its flows until now."""

from __future__ import annotations

import sys
import time
from typing import Any

import polars as pl

from anabranch.errors import LiveError
from anabranch.media.page.charts import chart_data, steps_of
from anabranch.report.html.run_data import MOST_FLOWS
from anabranch.report.views.over_time import every_flow_chart
from anabranch.results.result import Result
from anabranch.studio.pictures import empty_picture
from anabranch.studio.work import Data, Teller
from anabranch.text.units import measure

_BETWEEN_PICTURES_S = 0.4
_SERIES = {
    "time_s": pl.Float64, "flow": pl.UInt64, "goodput_mbps": pl.Float64, "cwnd_bytes": pl.Float64,
    "srtt_ms": pl.Float64,
}  # fmt: skip


def why_not_live() -> str:
    """Why this machine has no live runs, with what to do about it; empty where it has."""
    if not sys.platform.startswith("linux"):
        return f"live runs need Linux, and this is {sys.platform}"
    from anabranch.live.machine import check_machine  # noqa: PLC0415 - needs Linux

    try:
        check_machine()
    except LiveError as error:
        return str(error)
    return ""


class LiveLines:
    """Hears what the process of a live run tells (``live.py``), and tells the page."""

    def __init__(self) -> None:
        self._begun: Data = {}
        self._flows = pl.DataFrame()
        self._rows: list[dict[str, Any]] = []
        self._next_s = 0.0

    def hear(self, message: Data, tell: Teller) -> None:
        """Passes on what was told: samples as a picture, not more often than somebody can see."""
        if "begun" in message:
            self._begun = message["begun"]
            self._flows = pl.DataFrame(self._begun["flows"]).cast({"flow": pl.UInt64})
            tell({"picture": self._picture()})
        elif "samples" in message:
            self._rows += message["samples"]
            if time.monotonic() >= self._next_s:
                self._next_s = time.monotonic() + _BETWEEN_PICTURES_S
                tell({"picture": self._picture()})
        else:
            tell(message)

    def _picture(self) -> Data:
        """The network, and the lines until now."""
        rows = pl.DataFrame(self._rows, schema=_SERIES)
        # Flows that are simulated, or have not begun, have no samples.
        flows = self._flows.join(rows, on="flow", how="semi", maintain_order="left")
        summary = {"title": self._begun["title"], "ended_s": self._begun["duration_s"]}
        notes: list[str] = []
        series = None
        if rows.height:
            delivered = rows.group_by("flow").agg(delivered_bytes=pl.col("goodput_mbps").sum())
            flows = flows.join(delivered, on="flow", how="left", maintain_order="left")
            chart = every_flow_chart(Result({"flows": flows, "flow_series": rows}, summary), MOST_FLOWS)
            if chart is not None:
                series = chart_data(chart, steps_of(chart))
                notes += chart.notes
        return {
            **empty_picture("live"),
            **self._begun["network"],
            "kind": "live",
            "title": self._begun["title"],
            "cards": self._cards(rows),
            "marks": self._begun["marks"],
            "notes": notes,
            "flow_series": series,
            "ended_s": self._begun["duration_s"],
        }

    def _cards(self, rows: pl.DataFrame) -> list[dict[str, str]]:
        """What the latest sample of all flows says."""
        if rows.is_empty():
            return [
                {
                    "label": "Live",
                    "value": "begins",
                    "note": f"takes {measure(self._begun['duration_s'], 's')}",
                }
            ]
        latest = rows.filter(pl.col("time_s") == pl.col("time_s").max())
        at_s = float(latest["time_s"][0])
        goodput, rtt = latest["goodput_mbps"].sum(), latest["srtt_ms"].mean()
        count = f"{latest.height} real {'flow' if latest.height == 1 else 'flows'}"
        return [
            {
                "label": "Live",
                "value": measure(at_s, "s"),
                "note": f"of {measure(self._begun['duration_s'], 's')}",
            },
            {"label": "Goodput", "value": measure(float(goodput), "Mbps"), "note": f"now, of {count}"},
            {
                "label": "RTT",
                "value": measure(float(rtt), "ms") if isinstance(rtt, float) else "unknown",
                "note": "now, the mean over flows",
            },
        ]
