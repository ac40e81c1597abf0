"""Section 3.6.1 of Vilela 2022: one pipe of 1 Gbps, and one, two or three connections through it."""

from __future__ import annotations

import math
from typing import Any, Final

import polars as pl

from anabranch.models import PathConditions, mathis
from anabranch.report.study_figures import study_figure
from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding, Tolerance, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.network import TRANSPORT

RTT_S: Final = 0.01
LOSS: Final = 1e-5
MSS_BYTES: Final = 1460
PUBLISHED_MBPS: Final = {1: 348.0, 2: 692.0, 3: 900.0}
"""In total, by the number of connections."""

FITTED_WINDOW, FITTED_CAPACITY = "520 kB", "950 Mbps"
"""With which one, two and three connections have the printed rates here. The thesis names 950 Mbps as what
real Gigabit Ethernet has, and says that its link has 1 Gbps."""

_PIPES: Final = {"fitted": (FITTED_WINDOW, FITTED_CAPACITY), "not limited": ("64 MB", "1 Gbps")}
"""Window of a connection and capacity of the link."""
_REPLICATIONS: Final = 5


def case_study(context: Context) -> FigureResult:
    """The three tests without a limit to the window, and with one that explains the first of them."""
    result = context.study("case-study", lambda: _study(quick=context.quick))
    totals = _totals(result)
    law_mbps = MSS_BYTES * 8 / (RTT_S * math.sqrt(LOSS)) / 1e6
    with_constant = mathis(PathConditions(rtt_s=RTT_S, loss=LOSS, mss_bytes=MSS_BYTES)).mbps
    findings = [
        number("MSS / (RTT sqrt(p)), C = 1", 369.4, law_mbps, unit="Mbps", digits=1),
        *(_total(result, "fitted", connections) for connections in PUBLISHED_MBPS),
        *(_total(result, "not limited", connections) for connections in PUBLISHED_MBPS),
    ]
    free = totals.filter(pl.col("window") == "not limited")["total_mbps"].to_list()
    findings.append(
        Finding(
            "three connections take what two leave unused, and are bound by the link",
            "692 to 900 of 1000 Mbps",
            f"{free[1]:.0f} to {free[2]:.0f} Mbps without a limit to the window",
            free[1] < free[2] <= 1000 < 1.5 * free[1],
            "three have more than two, and less than three times half of what two have",
        )
    )
    note = (
        "The thesis did not tune TCP: one connection had 348 Mbps and each of two 350 and 342, which looks "
        "like a window that a round trip empties rather than random losses, under which two flows are seldom "
        f"so alike. A window of {FITTED_WINDOW} and a link of {FITTED_CAPACITY} were fitted to the three "
        "numbers: so much is real Gigabit Ethernet, by a footnote which also says that the thesis's link is "
        f"a full 1 Gbps. Over that, and without a limit to the window, CUBIC takes {free[0]:.0f} Mbps, "
        f"above the square-root law with C = sqrt(3/2) ({with_constant:.0f} Mbps), because it reduces by 0.7 "
        "rather than by half. The queue holds 1000 packets, netem's default."
    )
    return FigureResult(
        "3.6.1",
        "Case study: parallel connections through one pipe",
        tuple(findings),
        {"runs": result.runs, "totals": totals},
        {"total": study_figure(result, "total_mbps")},
        {f"Total goodput, median of {result.replications} seeds": totals},
        note=note,
    )


def _study(*, quick: bool) -> Study:
    pipe: dict[str, Any] = {
        "node": [{"name": "A"}, {"name": "B"}],
        "links": {"capacity": "1 Gbps", "delay": "5 ms", "queue": "1000 packets"},
        # One way only: the emulator stands at the interface towards the receiver.
        "link": [
            {"between": ["A", "B"], "new": True},
            {"between": ["A", "B"], "direction": "forward", "loss": LOSS},
        ],
    }
    scenario = {
        "network": pipe,
        "transport": TRANSPORT,
        "traffic": [{"from": "A", "to": "B", "transport": "tcpbp-cubic", "flows": 1}],
        "run": {
            "duration": "30 s" if quick else "300 s",
            "flow_series": False,
            "link_series": False,
        },
    }
    pipes = [
        Level(
            label=name,
            settings={
                "transport.tcpbp-cubic.receive_buffer": window,
                "network.links.capacity": capacity,
            },
        )
        for name, (window, capacity) in _PIPES.items()
    ]
    return Study(
        title="Vilela 2022, section 3.6.1",
        scenario=scenario,
        factors=[
            Factor(label="window", level=pipes),
            Factor(field="traffic[0].flows", label="connections", levels=list(PUBLISHED_MBPS)),
        ],
        metrics=[
            Metric(name="total_mbps", label="total goodput (Mbps)", column="goodput_mbps", statistic="sum")
        ],
        replications=3 if quick else _REPLICATIONS,
        keep="metrics",
        output=Output(figures=[]),
    )


def _totals(result: StudyResult) -> pl.DataFrame:
    return (
        result.runs.group_by("window", "connections", maintain_order=True)
        .agg(pl.col("total_mbps").median())
        .with_columns(pl.col("total_mbps").round(1))
    )


def _total(result: StudyResult, window: str, connections: int) -> Finding:
    """As printed, within what the thesis's two connections differ by."""
    rows = result.runs.filter((pl.col("window") == window) & (pl.col("connections") == connections))
    (ours,) = rows.select(pl.col("total_mbps").median()).row(0)
    fitted = window == "fitted"
    return number(
        f"{connections} connection{'' if connections == 1 else 's'}, "
        + (
            f"window of {FITTED_WINDOW}, link of {FITTED_CAPACITY}, fitted to the three"
            if fitted
            else "window not limited"
        ),
        PUBLISHED_MBPS[connections],
        ours,
        unit="Mbps",
        digits=0,
        tolerance=Tolerance(8.0 * connections, "the rates of the thesis's two connections are 8 Mbps apart"),
        # A window and a capacity, fitted to three numbers.
        kind="fitted" if fitted else "question",
        remark="" if fitted else "a default window that the thesis did not tune held the connections back",
    )
