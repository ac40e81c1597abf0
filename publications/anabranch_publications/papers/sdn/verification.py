"""Sections 3.3 and 4.4 and appendix A.1 of Gholizadeh 2019: the verification tests."""

from __future__ import annotations

from typing import Any

import polars as pl

from anabranch import Scenario
from anabranch.report.sequence import sequence_figure, sequence_table
from anabranch.results.result import Result
from anabranch_publications.papers.findings import Finding, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sdn.network import (
    FLOW,
    FREE_QUEUE,
    FREE_QUEUE_PACKETS,
    PAYLOAD_BYTES,
    dumbbell,
    published,
    size,
)

GBPS, DELAY = "8 Gbps", "1 us"
CONTROL_SEGMENT_US = 40 * 8 / 8e3
"""Time that 40 bytes take at 8 Gbps: CTRLDelay has the CTRL twice, the message that sets up the flow before
it on the control link, and an ACK before it on the access link."""

FIGURE_A1 = (
    (0.00, 10.48),
    *((18.88 + row, 31.04 + row) for row in range(15)),
)
"""Rows of figure A.1: when segment n leaves and when its ACK arrives, in us; segment 0 is the SYN."""

CYCLES = ((18.88, 17), (49.16, 8), (119.56, 5), (208.96, 8), (280.00, 17))
"""Section 4.4.2: when each sending cycle starts, in us, and its sWnd."""


def _run(scenario: dict[str, Any]) -> Result:
    return Scenario.from_data(scenario).run()


def _times_us(result: Result, flow: int, kind: str) -> list[float]:
    rows = result.tables["sequence"].filter((pl.col("flow") == flow) & (pl.col("kind") == kind))
    return [time * 1e6 for time in rows["time_s"].to_list()]


def _us(what: str, published_us: float, ours_us: float) -> Finding:
    return number(what, published_us, ours_us, unit="us", digits=2)


def _sequence(
    key: str, title: str, result: Result, flow: int, findings: list[Finding], note: str = ""
) -> FigureResult:
    frame = result.tables["sequence"]
    return FigureResult(
        key,
        title,
        tuple(findings),
        {"sequence": sequence_table(frame, flow)},
        {"sequence": sequence_figure(frame, flow)},
        note=note,
    )


def sliding_window(_: Context) -> FigureResult:
    """Section 3.3, figure 3.10: a window of five over the shorter of two ways."""
    switches = [f"Sw{number}" for number in range(4)]
    edges = [("S0", "Sw0"), ("Sw0", "Sw1"), ("Sw1", "Sw3"), ("Sw0", "Sw2"), ("Sw2", "Sw3"), ("Sw3", "R0")]
    slow = {("Sw0", "Sw2"), ("Sw2", "Sw3")}
    result = _run(
        {
            "network": {
                "node": [
                    *({"name": name, "kind": "switch"} for name in switches),
                    *({"name": name, "kind": "host"} for name in ("S0", "R0")),
                ],
                "link": [
                    {"between": list(ends), "new": True, "capacity": "4 Gbps" if ends in slow else GBPS}
                    for ends in edges
                ],
                "links": {"capacity": GBPS, "delay": DELAY, "queue": "unlimited"},
            },
            "controller": {
                "application": "forwarding",
                # Of two ways with the same propagation delay, the one with the faster links.
                "metric": "inverse-capacity",
                "switches": switches,
                "linger": "0 s",
                "links": {"capacity": GBPS, "delay": DELAY},
            },
            "traffic": [
                {"from": "S0", "to": "R0", "size": f"{10 * PAYLOAD_BYTES} B", "transport": "sliding-window"}
            ],
            "run": {"duration": "1 ms", "flow_series": False, "link_series": False, "sequences": "*"},
        }
    )
    data, acks = _times_us(result, 0, "data"), _times_us(result, 0, "ack")
    set_up = _times_us(result, 0, "syn-ack")[0]
    used = set(result.links.filter(pl.col("bytes") >= 10 * PAYLOAD_BYTES)["name"].to_list())
    route = all(name in used for name in ("Sw0->Sw1", "Sw1->Sw3")) and "Sw0->Sw2" not in used
    in_flight = sum(1 for time in data if time < acks[0])
    findings = [
        _us("flow set-up delay", 10.44, set_up),
        _us("rtt of the first segment", 12.16, acks[0] - data[0]),
        number("segments in flight before the first ACK", 5, in_flight, unit="segments", digits=0),
        Finding("route", "Sw0-Sw1-Sw3", "Sw0-Sw1-Sw3" if route else "another", route),
    ]
    return _sequence("3.10", "Verification: a sliding window of five (section 3.3)", result, 0, findings)


def _single() -> Result:
    return _run(
        dumbbell(1, 50, capacity=GBPS, delay=DELAY, controller=published(1.0, 1.5, 1.5), sequences=True)
    )


def single_flow(_: Context) -> FigureResult:
    """Section 4.4.1, table 4.4 and figure 4.11."""
    result = _single()
    data, acks = _times_us(result, 0, "data"), _times_us(result, 0, "ack")
    (ctrl,) = _times_us(result, 0, "ctrl")
    synack = _times_us(result, 0, "syn-ack")[0]
    # The SYN is at the controller after the access link and the control link, 1.04 us each.
    at_controller = 2 * 1.04
    window = _burst(data, 1.0)
    findings = [
        _us("sInterval", 18.24, data[window] - data[0]),
        _us("sInterSegmentDelay", 1.00, data[1] - data[0]),
        _us("SYNACKDelay + sInitialDelay (0.00): from the CTRL to the first segment", 14.68, data[0] - ctrl),
        _us("rtt", 12.16, acks[0] - data[0]),
        number("sWnd", 17, window, unit="segments", digits=0),
        _us("measured SYNACKDelay: from the controller to the sender", 8.40, synack - at_controller),
        _us("measured CTRLDelay", 2.12, ctrl - at_controller),
        _us("CTRLDelay by equations 4.6 and 4.8", 2.16, 2 * 1.0 + 4 * CONTROL_SEGMENT_US),
    ]
    return _sequence("4.11", "Verification: a single flow (section 4.4.1, table 4.4)", result, 0, findings)


def appendix_table(_: Context) -> FigureResult:
    """Figures A.1 and A.2: sequence numbers of the single flow."""
    result = _single()
    sent = [*_times_us(result, 0, "syn"), *_times_us(result, 0, "data")]
    received = [*_times_us(result, 0, "syn-ack"), *_times_us(result, 0, "ack")]
    findings = []
    for segment, ((leaves, answered), ours, back) in enumerate(zip(FIGURE_A1, sent, received, strict=False)):
        findings += [
            _us(f"segment {segment} leaves", leaves, ours),
            _us(f"its ACK {segment} arrives", answered, back),
        ]
    return _sequence("A.1", "Sequence numbers as table and graph (figures A.1 and A.2)", result, 0, findings)


def _three_flows(scenario: dict[str, Any]) -> dict[str, Any]:
    """Table 4.5: flows of their own size, at their own time."""
    (entry,) = scenario["traffic"]
    scenario["traffic"] = [
        {**entry, "name": f"{FLOW}{n}", "from": [f"left{n + 1}"], "to": [f"right{n + 1}"]}
        | {"start": f"{start} us", "size": size(segments)}
        for n, (start, segments) in enumerate(((0, 150), (30, 80), (100, 20)))
    ]
    return scenario


def homogeneous(_: Context) -> FigureResult:
    """Section 4.4.2, figures 4.13 to 4.15: three flows over equal access links."""
    result = _run(
        _three_flows(
            dumbbell(3, 1, capacity=GBPS, delay=DELAY, controller=published(1.0, 1.5, 1.5), sequences=True)
        )
    )
    bursts = _bursts(_times_us(result, 0, "data"), 1.0)
    findings = []
    for cycle, (start, window) in enumerate(CYCLES):
        begin, length = min(bursts, key=lambda burst: abs(burst[0] - start))
        findings += [
            _us(f"start of cycle {cycle}", start, begin),
            number(f"sWnd of cycle {cycle}", window, length, unit="segments", digits=0),
        ]
    first_of_second = _times_us(result, 1, "data")[0]
    findings.append(_us("sInitialDelay of flow 1 in cycle 1", 9.12, first_of_second - CYCLES[1][0]))
    outcome = _sequence("4.13", "Verification: three flows (figures 4.13 to 4.15)", result, 0, findings)
    frame = result.tables["sequence"]
    return FigureResult(
        outcome.key,
        outcome.title,
        outcome.findings,
        {f"{FLOW}{flow}": sequence_table(frame, flow) for flow in range(3)},
        {f"{FLOW}{flow}": sequence_figure(frame, flow) for flow in range(3)},
    )


def heterogeneous(_: Context) -> FigureResult:
    """Section 4.4.2, figure 4.16: access links of 2, 4 and 1 us."""
    result = _run(
        _three_flows(
            dumbbell(
                3,
                1,
                capacity=GBPS,
                delay=DELAY,
                access_delays=["2 us", "4 us", "1 us"],
                controller=published(1.0, 1.5, 1.5),
                sequences=True,
            )
        )
    )
    ctrl = _times_us(result, 0, "ctrl")
    queue = int(
        result.links.filter(pl.col("name") == "router-left->router-middle1")["queue_max_packets"].sum()
    )
    findings = [
        number("sending cycles of flow 0", 5, len(ctrl), unit="cycles", digits=0),
        Finding(
            "queue of the bottleneck",
            "no persistent queue",
            f"at most {queue} waiting",
            queue <= FREE_QUEUE_PACKETS,
            FREE_QUEUE,
        ),
    ]
    return _sequence("4.16", "Verification: unequal access links (figure 4.16)", result, 0, findings)


def _burst(times_us: list[float], spacing_us: float) -> int:
    """Segments of the first burst."""
    return _bursts(times_us, spacing_us)[0][1]


def _bursts(times_us: list[float], spacing_us: float) -> list[tuple[float, int]]:
    """Start and length of each run of segments that are one spacing apart."""
    bursts: list[tuple[float, int]] = []
    last = float("-inf")
    for time in times_us:
        if abs(time - last - spacing_us) < 1e-6:
            start, length = bursts[-1]
            bursts[-1] = (start, length + 1)
        else:
            bursts.append((time, 1))
        last = time
    return bursts
