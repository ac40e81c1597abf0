"""Section 4.1 of Vilela 2022 on real switches: flows that move, because a link fails or becomes slow."""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.live_runs import LiveRuns, check_live
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.live.testbed import controller, network_table

RECONVERGED_S: Final = 1.0
"""From the notice of a failure to the new path."""


def moving(event: dict[str, Any], duration_s: int) -> dict[str, Any]:
    """A flow between hosts at 1 and at 10, on links without loss, and what happens after five seconds."""
    table = network_table()
    for link in table["link"]:
        link["loss"] = 0.0
    table["node"] = [
        *({"name": node["name"], "kind": "switch"} for node in table["node"]),
        *({"name": name, "kind": "host"} for name in ("a", "b")),
    ]
    table["link"] += [{"between": ends, "new": True, "delay": "10 us"} for ends in (["a", "1"], ["10", "b"])]
    rate = {"kind": "constant-rate", "message": "1 kB", "rate": "2 Mbps"}
    flow = {"name": "flow", "from": "a", "to": "b", "application": rate, "stop": f"{duration_s - 3} s"}
    application = {"algorithm": "tcpbp", "sample_packets": 50}
    return {
        "network": table,
        "controller": controller(application, statistics_interval="1 s"),
        "routing": {"reaction": "200 ms"},
        "traffic": [{**flow, "transport": "linux-cubic"}],
        "event": [{"at": "5 s", "link": ["4", "10"], **event}],
        "run": {"duration": f"{duration_s} s", "flow_series": False, "link_series": False},
    }


def reconvergence(context: Context) -> FigureResult:
    """Section 4.1: a link that fails, and one that becomes slow, under measured links."""
    check_live()
    runs = LiveRuns()
    times = 1 if context.quick else 3
    failed = [runs.run(moving({"state": "down"}, 10)) for _ in range(times)]
    slowed = [runs.run(moving({"delay": "30 ms"}, 14)) for _ in range(times)]
    waits = []
    for result in failed:
        moves = result.tables["route_changes"].filter(pl.col("time_s") >= 5.2)["time_s"].to_list()
        waits.append(moves[0] - 5.2 if moves else math.inf)
    lost, sent = 0, 0
    for result in slowed:
        count = {(a, b): n for a, b, n in result.links.select("from", "to", "packets").iter_rows()}
        sent += count["a", "1"]
        lost += count["a", "1"] - count["10", "b"]
    moved = [
        result.tables["route_changes"].height if "route_changes" in result.tables else 0 for result in slowed
    ]
    wait_s = max(waits)
    findings = (
        Finding(
            f"new path after the notice of a failed link, slowest of {times} runs",
            f"under {RECONVERGED_S:g} s",
            f"{1e3 * wait_s:.0f} ms" if math.isfinite(wait_s) else "none",
            wait_s < RECONVERGED_S,
            "from the time when the ports lose their light, 200 ms after the failure",
            "bound",
        ),
        Finding(
            f"packets lost by a planned move, {times} runs",
            "none",
            f"{lost} of {sent}; {', '.join(map(str, moved))} moves",
            lost == 0 and min(moved) > 0,
            "as many leave the last switch as enter the first, and the flow has moved",
            "bound",
        ),
    )
    table = pl.DataFrame(
        {"run": range(1, times + 1), "wait_ms": [1e3 * wait for wait in waits], "moves": moved}
    )
    return FigureResult(
        "re-convergence",
        "A link fails, and a link becomes slow",
        findings,
        {"re-convergence": table},
        shown={"Time to the new path after the failure, and moves off the slow link": table},
        note="The flow leaves 1 for 10 on links without loss, where d sqrt(p) is 0 and the path of least "
        f"delay, 1-5-4-10, is taken; then 4-10 fails, or has 30 ms. {runs.note()}",
    )
