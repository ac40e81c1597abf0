"""The future work that the thesis names: its protocol beside NewReno, CUBIC, BBR and clamped windows.

Every flow is set up by the controller, whatever its transport, so that all pay for that alike. The queue of
the bottleneck holds 100 packets, except for the published protocol: it cannot repeat what is lost, so that it
gets an unlimited one, and the length of that queue is its price.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from anabranch.report.study_figures import study_figure
from anabranch.study.model import Factor, Level, Metric, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sdn.network import dumbbell, published, stretched
from anabranch_publications.papers.sdn.studies import (
    COMPLETION,
    DROPS,
    MEAN_QUEUE,
    QUEUE,
    TABLES,
    flow_numbers,
)

SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "sdn-paced": ("sdn-paced", stretched()),
    "sdn-paced, published": ("published", published()),
    "window-clamp": ("newreno", {"application": "window-clamp"}),
    "newreno": ("newreno", {"application": "forwarding"}),
    "cubic": ("cubic", {"application": "forwarding"}),
    "bbr": ("bbr", {"application": "forwarding"}),
}
"""Transport and controller of each scheme."""

METRICS = [
    COMPLETION,
    Metric(
        name="completion_p99_ms",
        label="p99 of completion times (ms)",
        column="completion_s",
        statistic="p99",
        scale=1e3,
    ),
    Metric(name="finished_flows", label="flows that finished", column="completion_s", statistic="count"),
    Metric(name="jain_index", label="Jain index of goodputs", table="summary", column="jain_index"),
    QUEUE,
    MEAN_QUEUE.model_copy(update={"label": "mean queue of the bottleneck while flows are active (packets)"}),
    DROPS,
    Metric(
        name="control_messages",
        label="control messages",
        table="control_messages",
        column="messages",
        statistic="sum",
    ),
]

TRANSIENT_PACKETS = 4
"""Where flows come and go, up to two SYNs and FINs of 40 bytes wait beside two data packets (docs/sdn.md)."""

NETWORKS: dict[str, dict[str, str]] = {
    "LAN": {
        "capacity": "10 Gbps",
        "delay": "5 us",
        "spacing": "10 us",
        "duration": "10 s",
        "segments": "1000",
    },
    "WAN": {
        "capacity": "100 Mbps",
        "delay": "5 ms",
        "spacing": "1 ms",
        "duration": "60 s",
        "segments": "100",
    },
}


def _schemes(queue: str) -> Factor:
    levels = []
    for label, (transport, controller) in SCHEMES.items():
        settings: dict[str, Any] = {
            "traffic[0].transport": transport,
            "network.links.queue": "unlimited" if label.endswith("published") else queue,
        }
        settings |= {f"controller.{key}": value for key, value in controller.items()}
        levels.append(Level(label=label, settings=settings))
    return Factor(label="scheme", level=levels)


def _numbers(context: Context) -> Factor:
    return flow_numbers((10, 50) if context.quick else (10, 50, 100, 200))


def _study(context: Context, name: str) -> StudyResult:
    network = NETWORKS[name]

    def make() -> Study:
        scenario = dumbbell(
            10,
            int(network["segments"]),
            capacity=network["capacity"],
            delay=network["delay"],
            queue="100 packets",
            # The table's fields come with the levels.
            controller={},
            duration=network["duration"],
        )
        spacing = {"distribution": "exponential", "mean": network["spacing"]}
        scenario["traffic"][0]["stagger"] = spacing
        scenario["traffic"][0]["transport"] = "newreno"
        return Study(
            title=f"Paced senders beside TCP and clamped windows, {name}",
            scenario=scenario,
            factors=[_numbers(context), _schemes("100 packets")],
            metrics=METRICS,
            replications=3 if context.quick else 5,
            output=TABLES,
        )

    return context.study(f"comparison-{name.lower()}", make)


def comparison(context: Context) -> FigureResult:
    """Completion time, queue and fairness of all schemes."""
    tables: dict[str, pl.DataFrame] = {}
    figures = {}
    findings: list[Finding] = []
    shown: dict[str, pl.DataFrame] = {}
    for name in NETWORKS:
        result = _study(context, name)
        tables[name] = result.cells
        for metric in (
            "completion_ms",
            "completion_p99_ms",
            "queue_max_packets",
            "queue_mean_packets",
            "jain_index",
        ):
            figure = figures[f"{name}-{metric}"] = study_figure(result, metric)
            if metric.startswith("completion"):
                # From milliseconds to the seconds of retransmission timeouts.
                figure.axes[0].set_yscale("log")
        findings += _findings(name, result)
        shown[f"{name}, means of {result.replications} replications"] = _short(result)
    return FigureResult(
        "comparison",
        "Paced senders beside NewReno, CUBIC, BBR and clamped windows",
        tuple(findings),
        tables,
        figures,
        shown,
        "The thesis has no such comparison: these are measurements of ours, and what it claims of its "
        "protocol is checked against them.",
    )


def _short(result: StudyResult) -> pl.DataFrame:
    columns = [*(factor.name for factor in result.factors), *(metric.name for metric in result.metrics)]
    return result.cells.select(columns)


def _findings(name: str, result: StudyResult) -> list[Finding]:
    flows, scheme = (factor.name for factor in result.factors)
    paced = result.cells.filter(pl.col(scheme) == "sdn-paced")
    queue, lost, most = (_largest(paced, column) for column in ("queue_max_packets_max", "drops_max", flows))
    return [
        Finding(
            f"{name}: the protocol maintains a minimal queue (section 6.2)",
            "minimal queue length at the bottleneck link",
            f"at most {queue:g} packets wait with the stretched schedule, up to {most:g} flows",
            queue <= TRANSIENT_PACKETS,
            f"up to {TRANSIENT_PACKETS} packets may wait: two SYNs or FINs beside two data packets",
            "bound",
        ),
        Finding(
            f"{name}: no packet is lost", "no persistent queue", f"{lost:g} lost", lost == 0, kind="bound"
        ),
    ]


def _largest(frame: pl.DataFrame, column: str) -> float:
    return max(float(value) for value in frame[column].drop_nulls().to_list())
